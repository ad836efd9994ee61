use crate::{Anchor, Axis, Drawing, escaped};
use std::fmt::Write;

const WIDTH: f64 = 780.0;
/// The space that a panel has in addition to its lines: on the left for labels, and on the right for half a
/// label.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 22.0;

/// The width of a digit of a label in the widest font that is commonly used.
const CHARACTER: f64 = 7.0;

/// The number of colours for lines. Additional lines use the same colours again, and are dashed.
const COLOURS: usize = 5;

/// If a line has at most this number of points, it has a marker at each point, and a tooltip at the marker
/// shows the value.
const MARKED: usize = 32;

/// A chart with panels next to each other, and one legend.
#[derive(Debug)]
pub struct Chart<'a> {
    pub title: &'a str,
    /// A text below the panels, which may say, for instance, where and when the values were measured.
    pub note: &'a str,
    /// The names in the legend; each panel lists its lines in the same order.
    pub names: Vec<&'a str>,
    pub panels: Vec<Panel<'a>>,
}

/// A diagram that shows how one number depends on another number.
#[derive(Debug)]
pub struct Panel<'a> {
    x: Axis<'a>,
    y: Axis<'a>,
    lines: Vec<Vec<(f64, f64)>>,
    pub bands: Vec<Band>,
}

/// A part of the lower axis that has a name. The name of this part is written above the lines.
#[derive(Debug)]
pub struct Band {
    pub from: f64,
    pub to: f64,
    pub name: String,
    pub is_shaded: bool,
}

/// The rectangle on the paper in which a panel draws its lines.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Chart<'_> {
    pub fn svg(&self) -> String {
        let mut drawing = Drawing::default();
        let (mut x, mut y) = (12.0, 44.0);
        for (number, name) in self.names.iter().enumerate() {
            let width = 52.0 + CHARACTER * name.chars().count() as f64;
            if x > 12.0 && x + width > WIDTH {
                (x, y) = (12.0, y + 18.0);
            }
            drawing.line(&class(number), (x, y), (x + 22.0, y));
            drawing.label(x + 28.0, y + 4.0, Anchor::Start, name);
            x += width;
        }
        let (top, width) = (y + 44.0, WIDTH / self.panels.len() as f64);
        let height = if self.panels.len() == 1 { 260.0 } else { 180.0 };
        for (column, panel) in self.panels.iter().enumerate() {
            let left = width * column as f64 + LEFT;
            let frame = Frame { left, top, width: width - LEFT - RIGHT, height };
            panel.draw_axes(&mut drawing, &frame);
            panel.draw_lines(&mut drawing, &frame, &self.names);
        }
        let mut bottom = top + height + 42.0;
        if !self.note.is_empty() {
            drawing.label(12.0, bottom + 16.0, Anchor::Start, self.note);
            bottom += 24.0;
        }
        drawing.svg(self.title, &self.in_words(), WIDTH, bottom)
    }

    /// Returns a text for readers who cannot see the lines; it says where each line begins and ends.
    fn in_words(&self) -> String {
        let mut words = String::new();
        for Panel { x, y, lines, .. } in &self.panels {
            let _ = write!(words, "{} over {}: ", y.name, x.name);
            for (number, points) in lines.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
                let end = |(at, value): (f64, f64)| format!("{} at {}", (y.label)(value), (x.label)(at));
                let (first, last) = (end(points[0]), end(points[points.len() - 1]));
                let _ = write!(words, "{} from {first} to {last}. ", self.names.get(number).unwrap_or(&""));
            }
        }
        words + self.note
    }
}

impl<'a> Panel<'a> {
    /// Makes a panel whose axes are long enough for all lines. A point whose value is not a number is left
    /// out.
    pub fn new(x: Axis<'a>, y: Axis<'a>, mut lines: Vec<Vec<(f64, f64)>>) -> Panel<'a> {
        for points in &mut lines {
            points.retain(|(x, y)| x.is_finite() && y.is_finite());
        }
        let points = || lines.iter().flatten();
        let (x, y) = (x.covering(points().map(|(x, _)| *x)), y.covering(points().map(|(_, y)| *y)));
        Panel { x, y, lines, bands: Vec::new() }
    }

    fn draw_axes(&self, drawing: &mut Drawing, frame: &Frame) {
        for Band { from, to, name, is_shaded } in &self.bands {
            let ((from, top), (to, _)) =
                (frame.at(self.x.place(*from), 1.0), frame.at(self.x.place(*to), 1.0));
            if *is_shaded {
                let (width, height) = (to - from, frame.height);
                drawing.add(format_args!(
                    r#"<rect class="band" x="{from:.1}" y="{top}" width="{width:.1}" height="{height}"/>"#
                ));
            }
            drawing.label(f64::midpoint(from, to), top - 10.0, Anchor::Middle, name);
        }
        for (place, label) in self.y.ticks() {
            let (left, y) = frame.at(0.0, place);
            drawing.line("grid", (left, y), frame.at(1.0, place));
            drawing.label(left - 6.0, y + 4.0, Anchor::End, &label);
        }
        let (middle, bottom) = frame.at(0.5, 0.0);
        let (end, mut free) = (frame.at(1.0, 0.0).0 + RIGHT, f64::NEG_INFINITY);
        for (place, label) in self.x.ticks() {
            let (x, half) = (frame.at(place, 0.0).0, CHARACTER * label.chars().count() as f64 / 2.0);
            if x - half >= free {
                drawing.line("grid", (x, frame.top), (x, bottom));
                drawing.label(x.min(end - half), bottom + 17.0, Anchor::Middle, &label);
                free = x + half + 1.0;
            }
        }
        drawing.label(middle, bottom + 33.0, Anchor::Middle, self.x.name);
        drawing.label(frame.left, frame.top - 10.0, Anchor::Start, self.y.name);
    }

    fn draw_lines(&self, drawing: &mut Drawing, frame: &Frame, names: &[&str]) {
        for (number, points) in self.lines.iter().enumerate() {
            let at = |(x, y): &(f64, f64)| frame.at(self.x.place(*x), self.y.place(*y));
            let path: Vec<_> = points.iter().map(at).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let (class, path) = (class(number), path.join(" "));
            drawing.add(format_args!(r#"<polyline class="{class}" points="{path}"/>"#));
            for point in points.iter().filter(|_| points.len() <= MARKED) {
                let ((x, y), name) = (at(point), names.get(number).unwrap_or(&""));
                let tip = escaped(&format!("{name}: {}", (self.y.label)(point.1)));
                drawing.add(format_args!(
                    r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3"><title>{tip}</title></circle>"#
                ));
            }
        }
    }
}

impl Frame {
    /// `x` and `y` are fractions of the frame, counted from its left edge and from its lower edge.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * (1.0 - y))
    }
}

/// Returns the classes of a line, and the attributes that distinguish it from other lines.
fn class(number: usize) -> String {
    let again = if number < COLOURS { "" } else { "\" stroke-dasharray=\"5 3" };
    format!("curve s{}{again}", number % COLOURS)
}
