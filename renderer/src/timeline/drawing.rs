//! Draws bars as SVG. The meaning of a bar is shown by its colour, by its height, and in words by its
//! tooltip.

use super::{Activity, Drawn, Noted};
use std::fmt::{self, Write};
use std::time::Duration;

const LEFT: f64 = 170.0;
const WIDTH: f64 = 660.0;
const TOP: f64 = 76.0;
const LANE: f64 = 26.0;
const BAR: f64 = 18.0;

/// How many lanes are drawn: those of the busiest threads.
const MOST_LANES: usize = 40;

/// The width of a letter, in pixels. It decides how much of its name is written into a bar.
const LETTER: f64 = 6.2;

/// How many characters of a name are drawn at most.
const LONGEST_NAME: usize = 60;

const STYLE: &str = "<style>
  text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 } .in { font-size: 11px; fill: #fff }
  .paper { fill: #fff } .grid { stroke: #ccc } .mark { stroke: #222; stroke-dasharray: 4 3 }
  .w { fill: none; stroke: #888; stroke-dasharray: 3 2 } .f { fill: #2f6f9f } .d { fill: #b0541c } .p { fill: #2e7d4f } .o { fill: #6a4fa0 }
  @media screen and (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .in { fill: #111 } .paper { fill: #1b1b1b } .grid { stroke: #444 }
    .mark { stroke: #ddd } .w { stroke: #999 } .f { fill: #6fb3e0 } .d { fill: #f0985c } .p { fill: #6fcf97 } .o { fill: #b79cf0 }
  }
</style>
";

pub(super) fn svg(noted: &Noted, title: &str) -> String {
    let mut svg = String::new();
    draw(&mut svg, noted, title).expect("a String takes everything");
    svg
}

fn draw(to: &mut String, noted: &Noted, title: &str) -> fmt::Result {
    let shown = lanes(noted);
    let end = noted
        .bars
        .iter()
        .map(|bar| bar.to)
        .chain(noted.marks.iter().map(|(at, _)| *at))
        .max()
        .unwrap_or_default();
    let step = step(end);
    let whole = step * u32::try_from(end.as_nanos().div_ceil(step.as_nanos())).unwrap_or(u32::MAX).max(1);
    let x = |at: Duration| LEFT + WIDTH * at.as_secs_f64() / whole.as_secs_f64();
    let bottom = TOP + LANE * shown.len() as f64;
    let (width, height) = (LEFT + WIDTH + 30.0, bottom + 46.0);
    let title = escaped(title);
    writeln!(
        to,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">"#
    )?;
    to.push_str(STYLE);
    writeln!(to, r#"<title>{title}</title><rect class="paper" width="{width}" height="{height}"/>"#)?;
    writeln!(to, r#"<text x="12" y="22">{title}</text>"#)?;
    legend(to, noted)?;
    let mut at = Duration::ZERO;
    while at <= whole {
        let x = x(at);
        writeln!(to, r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom:.1}"/>"#)?;
        writeln!(
            to,
            r#"<text class="small" x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            bottom + 16.0,
            time(at)
        )?;
        at += step;
    }
    for (row, lane) in shown.iter().enumerate() {
        let y = TOP + LANE * row as f64;
        let name = escaped(&noted.lanes[*lane].1);
        writeln!(
            to,
            r#"<text class="small" x="{}" y="{:.1}" text-anchor="end">{name}</text>"#,
            LEFT - 8.0,
            y + 17.0
        )?;
        let mut bars: Vec<_> = noted.bars.iter().filter(|bar| bar.lane == *lane).collect();
        bars.sort_by_key(|bar| (bar.from, std::cmp::Reverse(bar.to))); // inner bars on top
        for bar in bars {
            draw_bar(to, bar, x(bar.from), x(bar.to), y + f64::midpoint(LANE, BAR))?;
        }
    }
    for (row, (at, what)) in noted.marks.iter().enumerate() {
        let (x, y) = (x(*at), TOP - 4.0 - 11.0 * (row % 2) as f64);
        writeln!(to, r#"<line class="mark" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom:.1}"/>"#)?;
        writeln!(to, r#"<text class="small" x="{x:.1}" y="{y:.1}" text-anchor="middle">{what}</text>"#)?;
    }
    let hidden = noted.lanes.len() - shown.len();
    if hidden + noted.left_out > 0 {
        let words = format!("not drawn: {hidden} threads, {} bars", noted.left_out);
        writeln!(to, r#"<text class="small" x="12" y="{:.1}">{words}</text>"#, bottom + 36.0)?;
    }
    to.push_str("</svg>\n");
    Ok(())
}

/// The lanes to draw, in the order in which the threads began: those that were busy longest.
fn lanes(noted: &Noted) -> Vec<usize> {
    let mut busy: Vec<_> = (0..noted.lanes.len()).map(|lane| (Duration::ZERO, lane)).collect();
    for bar in &noted.bars {
        busy[bar.lane].0 += bar.to.saturating_sub(bar.from);
    }
    busy.sort_by_key(|(time, lane)| (std::cmp::Reverse(*time), *lane));
    let mut shown: Vec<_> = busy.into_iter().take(MOST_LANES).map(|(_, lane)| lane).collect();
    shown.sort_unstable();
    shown
}

fn draw_bar(to: &mut String, bar: &Drawn, left: f64, right: f64, bottom: f64) -> fmt::Result {
    let (class, verb, height) = look(bar.activity);
    let y = bottom - height;
    let (what, width) = (shortened(&bar.what), (right - left).max(0.8));
    let tip = format!("{verb} {what}, {} to {}", time(bar.from), time(bar.to));
    writeln!(
        to,
        r#"<g><title>{}</title><rect class="{class}" x="{left:.1}" y="{y:.1}" width="{width:.1}" height="{height}" rx="2"/>"#,
        escaped(&tip)
    )?;
    let room = ((width - 6.0) / LETTER).max(0.0);
    if bar.activity != Activity::Waiting && what.chars().count() as f64 <= room {
        writeln!(
            to,
            r#"<text class="in" x="{:.1}" y="{:.1}">{}</text>"#,
            left + 4.0,
            y + 13.0,
            escaped(&what)
        )?;
    }
    to.push_str("</g>\n");
    Ok(())
}

/// Writes the legend of the colours; that of the frames only if there are frames.
fn legend(to: &mut String, noted: &Noted) -> fmt::Result {
    let has_frames = noted.bars.iter().any(|bar| bar.activity == Activity::Writing);
    let all =
        [Activity::Waiting, Activity::Fetching, Activity::Decoding, Activity::Painting, Activity::Writing];
    for (number, activity) in all.into_iter().take(4 + usize::from(has_frames)).enumerate() {
        let (x, (class, verb, height)) = (LEFT + 110.0 * number as f64, look(activity));
        let y = 47.0 - height;
        writeln!(to, r#"<rect class="{class}" x="{x}" y="{y}" width="16" height="{height}" rx="2"/>"#)?;
        writeln!(to, r#"<text class="small" x="{}" y="44">{verb}</text>"#, x + 21.0)?;
    }
    Ok(())
}

/// The class of a bar, its words, and its height.
fn look(activity: Activity) -> (&'static str, &'static str, f64) {
    match activity {
        Activity::Waiting => ("w", "waiting for", BAR),
        Activity::Fetching => ("f", "fetching", BAR),
        Activity::Decoding => ("d", "decoding", BAR * 0.7),
        Activity::Painting => ("p", "painting", BAR * 0.4),
        Activity::Writing => ("o", "writing", BAR),
    }
}

/// The time between two lines of the grid: ten of them at most, at round times.
fn step(end: Duration) -> Duration {
    let round =
        (1..).flat_map(|power| [1, 2, 5].map(|digit| Duration::from_micros(digit * 10_u64.pow(power))));
    round.take(30).find(|step| *step * 10 >= end).unwrap_or(Duration::from_hours(1))
}

fn time(at: Duration) -> String {
    if at >= Duration::from_millis(10) || at.is_zero() {
        format!("{} ms", at.as_millis())
    } else {
        format!("{:.2} ms", at.as_secs_f64() * 1e3)
    }
}

/// A name from the page, shortened.
fn shortened(name: &str) -> String {
    name.chars().filter(|c| is_plain(*c)).take(LONGEST_NAME).collect()
}

fn escaped(text: &str) -> String {
    let clean: String = text.chars().filter(|c| is_plain(*c)).collect();
    clean.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Whether XML may have this character.
fn is_plain(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')
}
