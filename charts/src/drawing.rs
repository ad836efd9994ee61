use std::fmt::{Display, Write};

/// In addition to the classes for single elements, there are classes `s0` to `s4`: they set the colour of a
/// `curve` and of the inside of a `bar`.
const STYLE: &str = "<style>
  text { font: 13px sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 } .within { font-size: 11px; fill: #fff }
  .paper { fill: #fff } .grid { stroke: #ccc } .mark { stroke: #222; stroke-dasharray: 4 3 }
  .curve { fill: none; stroke: currentColor; stroke-width: 2 } .bar { fill: currentColor } .band { fill: #c2571a22 }
  .empty { fill: none; stroke: #888; stroke-dasharray: 3 2 }
  .s0 { color: #2f6f9f } .s1 { color: #b0541c } .s2 { color: #2e7d4f } .s3 { color: #8e4ec6 } .s4 { color: #6f6f6f }
  @media screen and (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .within { fill: #111 } .paper { fill: #1b1b1b } .grid { stroke: #444 }
    .mark { stroke: #ddd } .band { fill: #f0985c33 }
    .s0 { color: #6fb3e0 } .s1 { color: #f0985c } .s2 { color: #6fcf97 } .s3 { color: #c9a2f0 } .s4 { color: #aaa }
  }
</style>";

/// The content of a sheet of paper: plain SVG without fonts or scripts. On the screen, the colours of the
/// drawing follow the reader's theme; on paper they are the light colours.
#[derive(Debug, Default)]
pub struct Drawing(String);

/// Says which part of a text is at the given position.
#[derive(Debug, Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    /// Adds an element without changes.
    pub fn add(&mut self, element: impl Display) {
        writeln!(self.0, "{element}").expect("a String takes everything");
    }

    /// Adds a text in the size of labels.
    pub fn label(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let (anchor, text) = (["start", "middle", "end"][anchor as usize], escaped(text));
        self.add(format_args!(
            r#"<text class="small" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
        ));
    }

    /// Adds a straight line. A line of the class `grid` is faint, and a line of the class `mark` is
    /// dashed.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }

    /// Returns the drawing on its sheet of paper. A screen reader reads the title and the description aloud.
    pub fn svg(self, title: &str, description: &str, width: f64, height: f64) -> String {
        let (title, description, drawn) = (escaped(title), escaped(description), self.0);
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<title>{title}</title><desc>{description}</desc>
{STYLE}<rect class="paper" width="{width}" height="{height}"/>
<text x="12" y="22">{title}</text>
{drawn}</svg>
"#
        )
    }
}

/// Escapes a text for XML. Characters that XML does not allow are left out.
pub fn escaped(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'), "");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
