//! The results as a picture: [`bars`] for a single number of connections and at most one rate, [`curves`] for
//! several.
//!
//! Plain SVG without fonts or scripts. Its colours follow the reader's theme; on paper they are the light
//! ones.

mod bars;
mod curves;

use super::report::Report;
use std::fmt::{self, Write};

const STYLE: &str = "<style>
  text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 }
  .bar { fill: #2f6f9f } .line { stroke: #2f6f9f; stroke-width: 2 } .grid { stroke: #ccc }
  .paper { fill: #fff } .curve { fill: none; stroke-width: 2 }
  .s0 { stroke: #2f6f9f } .s1 { stroke: #c2571a } .s2 { stroke: #2e8b57 } .s3 { stroke: #8e4ec6 } .s4 { stroke: #777 }
  @media screen and (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .bar { fill: #6fb3e0 } .line { stroke: #6fb3e0 }
    .grid { stroke: #444 } .paper { fill: #1b1b1b }
    .s0 { stroke: #6fb3e0 } .s1 { stroke: #f0985c } .s2 { stroke: #6fcf97 } .s3 { stroke: #c9a2f0 } .s4 { stroke: #aaa }
  }
</style>
";

/// Draws a report.
pub(crate) fn svg(report: &Report) -> String {
    let mut svg = String::new();
    let written = match report.plan.varied() {
        None => bars::write(&mut svg, report),
        Some(varied) => curves::write(&mut svg, report, varied),
    };
    written.expect("a String takes everything");
    svg
}

/// Begins a picture, with the load at the top, and place and time at the bottom.
fn begin(to: &mut String, report: &Report, width: f64, height: f64) -> fmt::Result {
    let title = escaped(&report.title());
    writeln!(
        to,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">"#
    )?;
    to.push_str(STYLE);
    writeln!(to, r#"<title>{title}</title><rect class="paper" width="{width}" height="{height}"/>"#)?;
    writeln!(to, r#"<text x="12" y="22">{title}</text>"#)?;
    writeln!(
        to,
        r#"<text class="small" x="12" y="{}">{}</text>"#,
        height - 8.0,
        escaped(&report.setting.text())
    )
}

fn end(to: &mut String) -> fmt::Result {
    to.write_str("</svg>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
