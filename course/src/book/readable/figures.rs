//! Checks that the texts of a figure lie inside the figure and inside their boxes, and do not cover each
//! other.
//!
//! The width of a text depends on the reader's fonts. This module uses the widths of the widest common font.

use executor::CancelToken;
use hypertext::html::{self, Reader, Tag};

/// The size of letters in pixels; the next constant is the size of letters with one of the classes in
/// [`SMALL`]. The theme, the charts and the pictures of failures use the same sizes.
const SIZE: f64 = 13.0;
const SMALL_SIZE: f64 = 11.0;
const SMALL: [&str; 2] = ["small", "within"];

/// The distance that a text may reach beyond a border or into another text; this is harmless because letters
/// have some space around them.
const TOLERANCE: f64 = 1.0;

/// The widths of characters in `DejaVu Sans`, in hundredths of the font size. A character that is in no row
/// has the width [`MOST`].
const WIDTHS: [(f64, &str); 9] = [
    (29.0, "IJijl'"),
    (36.0, " ,.:;-/\\|f"),
    (41.0, "()[]!rt"),
    (52.0, "\"?*_`·sz"),
    (61.0, "FLTYPckvxy"),
    (70.0, "ABCKRVXZ"),
    (79.0, "DGHNOQU&"),
    (84.0, "+<=>#^~w×−"),
    (100.0, "MWm@%…→►"),
];
const MOST: f64 = 64.0;
/// The width of every character in a font with a fixed width.
const MONO: f64 = 61.0;

/// The parts of a figure.
#[derive(Default)]
pub(super) struct Figure {
    pub(super) style: String,
    size: [f64; 2],
    boxes: Vec<Area>,
    texts: Vec<Text>,
    is_mono: bool,
    /// The distance by which each group around the next element is moved.
    groups: Vec<[f64; 2]>,
    now: Within,
}

/// The kind of the element that contains the next characters.
#[derive(Default, PartialEq)]
enum Within {
    Style,
    Text,
    #[default]
    Else,
}

/// A rectangle in a figure.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

struct Text {
    words: String,
    at: [f64; 2],
    /// The fraction of the text's width that lies to the left of the position `at`.
    before: f64,
    size: f64,
    is_mono: bool,
}

/// Reads a figure from its SVG text.
///
/// # Errors
/// Returns an error if the program is told to stop.
pub(super) fn read(svg: &str) -> anyhow::Result<Figure> {
    Ok(html::read(svg, Figure::default(), &CancelToken::current())?)
}

/// Returns the texts of a figure that are cut off, leave their box, or cover each other.
pub(super) fn faults(name: &str, figure: &Figure) -> Vec<String> {
    let [width, height] = figure.size;
    let paper = Area { left: 0.0, right: width, top: 0.0, bottom: height };
    let mut faults = Vec::new();
    for (number, text) in figure.texts.iter().enumerate() {
        let (area, words) = (text.area(), &text.words);
        if !paper.has(&area) {
            faults.push(format!("{name}: `{words}` reaches beyond the figure"));
        }
        let around = figure.boxes.iter().filter(|one| one.has_middle_of(&area));
        let around = around.min_by(|one, other| one.size().total_cmp(&other.size()));
        if let Some(around) = around.filter(|around| !around.is_as_wide_as(&area)) {
            let [needs, has] = [&area, around].map(|area| area.right - area.left);
            faults.push(format!("{name}: `{words}` needs {needs:.0} pixels, and its box has {has:.0}"));
        }
        if let Some(other) = figure.texts[..number].iter().find(|other| other.area().covers(&area)) {
            faults.push(format!("{name}: `{words}` and `{}` cover each other", other.words));
        }
    }
    faults
}

impl Text {
    fn area(&self) -> Area {
        let width = |character: char| match WIDTHS.iter().find(|(_, row)| row.contains(character)) {
            _ if self.is_mono => MONO,
            Some((width, _)) => *width,
            None => MOST,
        };
        let width = self.words.chars().map(width).sum::<f64>() * self.size / 100.0;
        let ([x, y], left) = (self.at, self.before * width);
        Area { left: x - left, right: x - left + width, top: y - 0.72 * self.size, bottom: y }
    }
}

impl Area {
    fn size(&self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top)
    }

    fn is_as_wide_as(&self, other: &Area) -> bool {
        other.left > self.left - TOLERANCE && other.right < self.right + TOLERANCE
    }

    fn has(&self, other: &Area) -> bool {
        self.is_as_wide_as(other)
            && other.top > self.top - TOLERANCE
            && other.bottom < self.bottom + TOLERANCE
    }

    fn has_middle_of(&self, other: &Area) -> bool {
        let x = f64::midpoint(other.left, other.right);
        let y = f64::midpoint(other.top, other.bottom);
        (self.left..self.right).contains(&x) && (self.top..self.bottom).contains(&y)
    }

    fn covers(&self, other: &Area) -> bool {
        let shared = |from: f64, to: f64| to - from > TOLERANCE;
        shared(self.left.max(other.left), self.right.min(other.right))
            && shared(self.top.max(other.top), self.bottom.min(other.bottom))
    }
}

impl Figure {
    /// Returns the coordinates in a tag, moved by the groups around the tag.
    fn place(&self, tag: &Tag<'_>) -> [f64; 2] {
        let moved = |axis: usize| self.groups.iter().map(|group| group[axis]).sum::<f64>();
        [number(tag, "x") + moved(0), number(tag, "y") + moved(1)]
    }
}

fn number(tag: &Tag<'_>, name: &str) -> f64 {
    tag.get(name).and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

/// Returns the last two numbers of a list: the size in a view box, or the distance in `translate(x y)`.
fn last_two(list: &str) -> [f64; 2] {
    let numbers = list.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    if let [.., x, y] = numbers[..] { [x, y] } else { [0.0; 2] }
}

impl Reader for Figure {
    fn is_xml(&self, _name: &str) -> bool {
        true
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        self.now = Within::Else;
        let has = |class: &str| tag.get("class").is_some_and(|of| of.split(' ').any(|one| one == class));
        match (tag.name(), tag.is_end) {
            ("g", true) => drop(self.groups.pop()),
            (_, true) => {}
            ("svg", _) => {
                self.size = last_two(tag.get("viewbox").unwrap_or_default());
                self.is_mono = has("schedule");
            }
            ("g", _) => self.groups.push(last_two(tag.get("transform").unwrap_or_default())),
            ("style", _) => self.now = Within::Style,
            ("rect", _) => {
                let [left, top] = self.place(tag);
                let (right, bottom) = (left + number(tag, "width"), top + number(tag, "height"));
                self.boxes.push(Area { left, right, top, bottom });
            }
            ("text", _) => {
                self.now = Within::Text;
                let before = match tag.get("text-anchor") {
                    Some("middle") => 0.5,
                    Some("end") => 1.0,
                    _ => 0.0,
                };
                let size = if SMALL.into_iter().any(has) { SMALL_SIZE } else { SIZE };
                let (at, words, is_mono) = (self.place(tag), String::new(), self.is_mono);
                self.texts.push(Text { words, at, before, size, is_mono });
            }
            _ => {}
        }
    }

    fn characters(&mut self, text: &str) {
        match (&self.now, self.texts.last_mut()) {
            (Within::Style, _) => self.style.push_str(text),
            (Within::Text, Some(last)) => last.words.push_str(text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(inside: &str) -> Vec<String> {
        let svg =
            format!("<svg viewBox=\"0 0 200 50\"><style>a {{}}</style><title>a title</title>{inside}</svg>");
        let figure = read(&svg).unwrap();
        assert_eq!(figure.style, "a {}");
        faults("a.svg", &figure)
    }

    #[test]
    fn texts_that_have_room_are_fine() {
        let figure = "<rect class=\"box\" x=\"10\" y=\"10\" width=\"80\" height=\"30\"/>\
            <text class=\"small\" x=\"50\" y=\"30\" text-anchor=\"middle\">running</text>\
            <g transform=\"translate(100 0)\"><rect width=\"60\" height=\"40\"/><text x=\"4\" y=\"20\">done</text></g>\
            <text x=\"198\" y=\"48\" text-anchor=\"end\">a legend</text>";
        assert_eq!(faults_of(figure), Vec::<String>::new());
    }

    #[test]
    fn each_text_without_room_is_named() {
        for (figure, fault) in [
            (
                "<text x=\"64\" y=\"20\" text-anchor=\"middle\">taken out, queued elsewhere</text>",
                "reaches beyond",
            ),
            (
                "<text x=\"150\" y=\"20\">at the right</text>",
                "a.svg: `at the right` reaches beyond the figure",
            ),
            ("<text x=\"20\" y=\"5\">on top</text>", "reaches beyond the figure"),
            (
                "<rect x=\"90\" y=\"0\" width=\"20\" height=\"40\"/>\
                 <text class=\"small\" x=\"100\" y=\"20\" text-anchor=\"middle\">B22 &amp; on</text>",
                "a.svg: `B22 & on` needs 52 pixels, and its box has 20",
            ),
            (
                "<text x=\"20\" y=\"20\">120</text><g transform=\"translate(10 0)\"><text x=\"20\" y=\"22\">140</text></g>",
                "a.svg: `140` and `120` cover each other",
            ),
        ] {
            let faults = faults_of(figure);
            assert!(faults.len() == 1 && faults[0].contains(fault), "{figure}: {faults:?}");
        }
    }

    #[test]
    fn a_picture_with_letters_of_one_width_needs_more_room() {
        let of = |class: &str| {
            let svg = format!(
                "<svg class=\"{class}\" viewBox=\"0 0 100 50\"><text x=\"4\" y=\"20\">it will fill it</text></svg>"
            );
            faults("a.svg", &read(&svg).unwrap()).len()
        };
        assert_eq!((of("schedule"), of("")), (1, 0));
    }
}
