//! How long the calls took, as a curve: rarer calls to the right, longer ones upwards, both axes logarithmic.

use super::report::Report;
use std::fmt::{self, Write};

const LEFT: f64 = 80.0;
const TOP: f64 = 40.0;
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 260.0;

/// The horizontal axis: one call in ten, in a hundred, and so on.
const DECADES: u32 = 6;

/// The vertical axis: powers of ten, 10 ns to 10 s.
const SHORTEST: f64 = 1.0;
const LONGEST: f64 = 10.0;

const STYLE: &str = "<style>
  text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 } .paper { fill: #fff }
  .grid { stroke: #ccc } .curve { fill: none; stroke: #2f6f9f; stroke-width: 2 }
  @media screen and (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .paper { fill: #1b1b1b } .grid { stroke: #444 } .curve { stroke: #6fb3e0 }
  }
</style>
";

pub(super) fn svg(report: &Report<'_>) -> String {
    let mut svg = String::new();
    draw(&mut svg, report).expect("a String takes everything");
    svg
}

fn draw(to: &mut String, report: &Report<'_>) -> fmt::Result {
    let (width, height) = (LEFT + WIDTH + 20.0, TOP + HEIGHT + 50.0);
    let title = format!("How long a call took: {}", report.title());
    writeln!(
        to,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">"#
    )?;
    to.push_str(STYLE);
    writeln!(to, r#"<title>{title}</title><rect class="paper" width="{width}" height="{height}"/>"#)?;
    writeln!(to, r#"<text x="12" y="22">{title}</text>"#)?;
    let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
    for (power, name) in
        (1..).zip(["10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"])
    {
        let y = y(f64::from(power));
        writeln!(to, r#"<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>"#)?;
        writeln!(
            to,
            r#"<text class="small" x="{}" y="{:.1}" text-anchor="end">{name}</text>"#,
            LEFT - 8.0,
            y + 4.0
        )?;
    }
    for (decade, name) in
        (0..=DECADES).zip(["all", "1 in 10", "1 in 100", "1 in 1000", "in 10⁴", "in 10⁵", "in 10⁶"])
    {
        let x = x(f64::from(decade));
        writeln!(to, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}"/>"#)?;
        writeln!(
            to,
            r#"<text class="small" x="{x:.1}" y="{}" text-anchor="middle">{name}</text>"#,
            bottom + 18.0
        )?;
    }
    writeln!(
        to,
        r#"<text class="small" x="{LEFT}" y="{}">so many calls took at least as long</text>"#,
        bottom + 38.0
    )?;
    write!(to, r#"<polyline class="curve" points=""#)?;
    // The curve ends at the call that took longest.
    let rarest = (report.calls.len().max(1) as f64).log10().min(f64::from(DECADES));
    for step in 0..=10 * DECADES {
        let decade = f64::from(step) / 10.0;
        if decade <= rarest {
            let nanoseconds = report.calls.value_at_quantile(1.0 - 10_f64.powf(-decade));
            write!(to, "{:.1},{:.1} ", x(decade), y((nanoseconds.max(1) as f64).log10()))?;
        }
    }
    writeln!(to, "\"/>\n</svg>")
}

fn x(decade: f64) -> f64 {
    LEFT + WIDTH * decade / f64::from(DECADES)
}

/// The height of a time. `power`: of ten, in nanoseconds.
fn y(power: f64) -> f64 {
    TOP + HEIGHT * (LONGEST - power.clamp(SHORTEST, LONGEST)) / (LONGEST - SHORTEST)
}
