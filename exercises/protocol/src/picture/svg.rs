//! The picture for a page: the lanes and rows, with the promise and the observation above them.
//!
//! On a page of the book, the picture has the colours of the reader's theme. Outside of the book it has the
//! colours of the system, and on paper it is black on white. Colour is never the only sign that shows a
//! state. Text is set in columns, each as wide as its longest line, so texts never overlap.

use std::fmt::Write as _;

use super::{Bar, Doing, Picture, Row};
use crate::failure::Failure;
use crate::terminal::{clip, clip_middle, wrap};

const MOST_ROWS: usize = 60;
const MOST_LANES: usize = 8;
/// The largest number of characters of a name, of a step, and of a line of the learner's file.
const NAME: usize = 16;
const WORDS: usize = 44;
const CODE: usize = 58;
/// The number of characters in a line of the text above the picture.
const TEXT: usize = 100;

/// The largest width of a character, in a font of 13 pixels in which all characters have the same width.
const SIGN: usize = 8;
const LINE: usize = 18;
const ROW_GAP: usize = 5;
const LANE: usize = 34;
const BAR: usize = 11;
const MARGIN: usize = 14;
const GAP: usize = 18;

/// On a page of the book, `--fg` and `--bg` are defined by the theme. Elsewhere these variables are not
/// defined, and the system's preference decides.
const STYLE: &str = "<style>
.schedule { --ink: var(--fg, #222); --paper: var(--bg, #fff); --hold: #2f6fb3; --want: #c98a1b; --bad: #b00020 }
@media (prefers-color-scheme: dark) { .schedule { --ink: var(--fg, #ddd); --paper: var(--bg, #1b1b1b) } }
@media (prefers-color-scheme: dark) { .schedule:root { --hold: #6aa9e9; --want: #e2b04f; --bad: #ff8a80 } }
:is(.coal, .navy, .ayu) .schedule { --hold: #6aa9e9; --want: #e2b04f; --bad: #ff8a80 }
@media print { .schedule.schedule { --ink: #000; --paper: #fff; --hold: #2f6fb3; --want: #c98a1b; --bad: #b00020 } }
.schedule .paper { fill: var(--paper) }
.schedule text { font: 13px ui-monospace, 'DejaVu Sans Mono', monospace; fill: var(--ink); white-space: pre }
.schedule .strong { font-weight: bold }
.schedule .code { opacity: .75 }
.schedule .dot, .schedule .head { fill: var(--ink) }
.schedule .runs, .schedule .arrow { stroke: var(--ink); stroke-width: 1.5 }
.schedule .waits { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 2 4 }
.schedule .started { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 6 }
.schedule .holds { fill: var(--hold) }
.schedule .wants { fill: var(--paper); stroke: var(--want); stroke-width: 2 }
.schedule .sleeps { fill: var(--paper); stroke: var(--ink); stroke-dasharray: 3 2 }
.schedule .bad { fill: var(--bad); font-weight: bold }
.schedule .mark { fill: none; stroke: var(--bad); stroke-width: 1.5 }
</style>
";

/// The horizontal positions of the columns.
struct Columns {
    lanes: usize,
    names: usize,
    words: usize,
    code: usize,
    width: usize,
}

/// A drawing to which lines are added at the bottom.
struct Drawing {
    svg: String,
    /// The vertical position of the next line of text.
    y: usize,
}

/// Draws the schedule of a failure. `title` names the subject of the picture.
pub fn svg(failure: &Failure, title: &str) -> String {
    let picture = Picture::of(&failure.schedule, MOST_ROWS, MOST_LANES);
    let columns = Columns::of(&picture);
    let mut drawing = Drawing { svg: String::new(), y: MARGIN + LINE };
    head(&mut drawing, failure, title, &columns);
    if let Some(left_out) = picture.left_out() {
        drawing.text("", columns.lanes, &format!("({left_out})"));
        drawing.y += LINE;
    }
    let top = names(&mut drawing, &picture, &columns);
    let mut bars: Vec<(usize, Bar)> = picture.before.iter().map(|&bar| (top, bar)).collect();
    let mut last = None;
    let mut steps = Drawing { svg: String::new(), y: drawing.y };
    for row in &picture.rows {
        let y = steps.y - 4;
        for &thread in &picture.lanes {
            let (since, bar) = bars[thread];
            if row.after[thread] != bar {
                drawing.bar(columns.lane(&picture, thread), since, y, bar);
                bars[thread] = (y, row.after[thread]);
            }
        }
        let name = if last == Some(row.thread) { "" } else { &picture.schedule.threads[row.thread].name };
        last = Some(row.thread);
        step(&mut steps, &picture, row, name, &columns);
    }
    let bottom = steps.y;
    for &thread in &picture.lanes {
        let (since, bar) = bars[thread];
        drawing.bar(columns.lane(&picture, thread), since, bottom, bar);
    }
    drawing.svg.push_str(&steps.svg);
    drawing.y = bottom + LINE;
    let ends = picture.ends().map(|(name, end)| format!("{name} {end}"));
    drawing.paragraph("in the end", &ends.collect::<Vec<_>>().join("\n"));
    legend(&mut drawing, &picture);
    frame(&drawing, &columns, failure, title)
}

/// Makes the whole image from a drawing: adds its size, its style, and the text that a screen reader reads
/// aloud.
fn frame(drawing: &Drawing, columns: &Columns, failure: &Failure, title: &str) -> String {
    let (width, height) = (columns.width, drawing.y);
    let words = [&failure.promise, &failure.seen, &failure.cause].map(|text| escape(text.trim()));
    let [promise, seen, cause] = words;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"schedule\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         role=\"img\">\n<title>{}</title>\n<desc>Promise: {promise}\nSeen: {seen}\nCause: {cause}</desc>\n{STYLE}\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
        escape(title),
        drawing.svg
    )
}

impl Columns {
    fn of(picture: &Picture<'_>) -> Self {
        let longest = |texts: &mut dyn Iterator<Item = &str>, most: usize| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0).min(most) * SIGN
        };
        let told: Vec<String> = picture.rows.iter().map(Row::told).collect();
        let lanes = MARGIN + BAR;
        let names = lanes + LANE * picture.lanes.len();
        let words = names + longest(&mut (0..picture.lanes.len()).map(|lane| picture.name(lane)), NAME) + GAP;
        let code = words + longest(&mut told.iter().map(String::as_str), WORDS) + GAP;
        let mut quoted = picture.rows.iter().filter_map(|row| picture.schedule.line(row.line?));
        let quoted = longest(&mut quoted, CODE);
        let end = if quoted == 0 { code } else { code + 5 * SIGN + quoted };
        Self { lanes, names, words, code, width: (end + MARGIN).max(2 * MARGIN + TEXT * SIGN) }
    }

    /// Returns the horizontal position of the middle of a thread's lane.
    fn lane(&self, picture: &Picture<'_>, thread: usize) -> usize {
        self.lanes + LANE * picture.lane(thread).unwrap_or(0)
    }
}

impl Drawing {
    fn text(&mut self, class: &str, x: usize, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.svg, "<text{class} x=\"{x}\" y=\"{}\">{}</text>", self.y, escape(text));
    }

    /// Adds a title, with a text beside it.
    fn paragraph(&mut self, title: &str, body: &str) {
        let beside = MARGIN + 12 * SIGN;
        for (n, line) in body.lines().flat_map(|line| wrap(line, TEXT - 12)).enumerate() {
            if n == 0 {
                self.text("strong", MARGIN, title);
            }
            let line = clip(&line, TEXT - 12, false);
            self.text("", beside, &line);
            self.y += LINE;
        }
    }

    /// Draws the activity of a thread, from one height to another.
    fn bar(&mut self, x: usize, from: usize, to: usize, bar: Bar) {
        let mut line = |class: &str| {
            let _ = writeln!(
                self.svg,
                "<line class=\"{class}\" x1=\"{x}\" y1=\"{from}\" x2=\"{x}\" y2=\"{to}\"/>"
            );
        };
        match bar.doing {
            Doing::Nothing => return,
            Doing::Started => line("started"),
            Doing::Runs => line("runs"),
            Doing::Waits => line("waits"),
            Doing::WantsLock | Doing::Sleeps => {}
        }
        let height = to.saturating_sub(from);
        let mut rect = |class: &str, x: usize, width: usize| {
            let _ = writeln!(
                self.svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{from}\" width=\"{width}\" height=\"{height}\"/>"
            );
        };
        match bar.doing {
            Doing::WantsLock => rect("wants", x - BAR / 2, BAR),
            Doing::Sleeps => rect("sleeps", x - BAR / 2, BAR),
            _ => {}
        }
        if bar.holds {
            rect("holds", x - BAR / 2, if bar.doing == Doing::Runs { BAR } else { BAR / 2 });
        }
    }
}

/// Writes the promise, the observation and the likely cause.
fn head(drawing: &mut Drawing, failure: &Failure, title: &str, columns: &Columns) {
    let room = (columns.width - 2 * MARGIN) / SIGN;
    drawing.text("strong", MARGIN, &clip(title, room, false));
    drawing.y += LINE + ROW_GAP;
    // The last state of each thread is not written here, but below the picture.
    let seen: Vec<&str> = failure.seen.lines().filter(|line| !line.starts_with("  ")).collect();
    for (title, body) in
        [("promise", failure.promise.as_str()), ("seen", &seen.join("\n")), ("cause", &failure.cause)]
    {
        drawing.paragraph(title, body);
    }
    drawing.y += LINE / 2;
}

/// Draws the name of each lane above the lane, each name in a separate line. Returns the height at which the
/// lanes begin.
fn names(drawing: &mut Drawing, picture: &Picture<'_>, columns: &Columns) -> usize {
    let top = drawing.y + LINE * picture.lanes.len().saturating_sub(1);
    for (lane, &thread) in picture.lanes.iter().enumerate() {
        let x = columns.lane(picture, thread);
        let room = (columns.width - x - MARGIN) / SIGN;
        drawing.text("strong", x - BAR / 2, &clip_middle(picture.name(lane), room, false));
        let from = drawing.y + 4;
        if from < top {
            let (to, class) = (top + 4, "started");
            let _ = writeln!(
                drawing.svg,
                "<line class=\"{class}\" x1=\"{x}\" y1=\"{from}\" x2=\"{x}\" y2=\"{to}\"/>"
            );
        }
        drawing.y += LINE;
    }
    drawing.y += ROW_GAP;
    top + 4
}

fn step(drawing: &mut Drawing, picture: &Picture<'_>, row: &Row, name: &str, columns: &Columns) {
    let (x, y) = (columns.lane(picture, row.thread), drawing.y - 4);
    for to in picture.targets(row) {
        let to = columns.lanes + LANE * to;
        let (tip, tail) = if to > x { (to - BAR / 2 - 1, -7) } else { (to + BAR / 2 + 1, 7) };
        let back = tip.saturating_add_signed(tail);
        let _ = writeln!(
            drawing.svg,
            "<line class=\"arrow\" x1=\"{x}\" y1=\"{y}\" x2=\"{back}\" y2=\"{y}\"/>\
             <path class=\"head\" d=\"M{tip} {y} L{back} {} L{back} {} z\"/>",
            y - 4,
            y + 4
        );
    }
    let class = if row.fails || row.mark { "bad" } else { "dot" };
    let _ = writeln!(drawing.svg, "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>");
    if row.mark {
        let _ = writeln!(drawing.svg, "<circle class=\"mark\" cx=\"{x}\" cy=\"{y}\" r=\"8\"/>"); // tells it without colour
    }
    if !name.is_empty() {
        drawing.text("strong", columns.names, &clip_middle(name, NAME, false));
    }
    if let Some((number, code)) = row.line.and_then(|number| Some((number, picture.schedule.line(number)?))) {
        drawing.text("code", columns.code, &format!("{number:>3}  {}", clip(code, CODE, false)));
    }
    for words in wrap(&row.told(), WORDS) {
        let class = if row.fails || row.mark { "bad" } else { "" };
        drawing.text(class, columns.words, &clip(&words, WORDS, false));
        drawing.y += LINE;
    }
    drawing.y += ROW_GAP;
}

/// Explains the signs that are drawn.
fn legend(drawing: &mut Drawing, picture: &Picture<'_>) {
    drawing.y += LINE / 2;
    let drawn: Vec<Bar> = picture.bars().collect();
    let does = |doing: Doing| drawn.iter().any(|bar| bar.doing == doing);
    let bar = |doing, holds| Some(Bar { doing, holds });
    let entries = [
        (does(Doing::Started), bar(Doing::Started, false), "has done nothing yet"),
        (does(Doing::Runs), bar(Doing::Runs, false), "runs"),
        (drawn.iter().any(|bar| bar.holds), bar(Doing::Runs, true), "holds a lock"),
        (does(Doing::WantsLock), bar(Doing::WantsLock, false), "waits for a lock"),
        (does(Doing::Sleeps), bar(Doing::Sleeps, false), "sleeps on a Condvar"),
        (does(Doing::Waits), bar(Doing::Waits, false), "waits for something else"),
        (picture.rows.iter().any(|row| row.mark), None, "the step that decided it"),
    ];
    let room = MARGIN + TEXT * SIGN;
    let mut x = MARGIN;
    for (_, sign, what) in entries.into_iter().filter(|(is_drawn, ..)| *is_drawn) {
        let width = 22 + what.len() * SIGN + GAP;
        if x + width > room {
            (x, drawing.y) = (MARGIN, drawing.y + LINE + ROW_GAP);
        }
        let (middle, y) = (x + BAR / 2 + 3, drawing.y);
        match sign {
            Some(bar) => drawing.bar(middle, y - 13, y + 3, bar),
            None => {
                let _ = writeln!(
                    drawing.svg,
                    "<circle class=\"bad\" cx=\"{middle}\" cy=\"{0}\" r=\"4\"/><circle class=\"mark\" cx=\"{middle}\" \
                     cy=\"{0}\" r=\"8\"/>",
                    y - 4
                );
            }
        }
        drawing.text("", x + 22, what);
        x += width;
    }
    drawing.y += LINE + ROW_GAP;
    if picture.rows.iter().any(|row| !picture.targets(row).is_empty()) {
        drawing.text(
            "",
            MARGIN,
            "An arrow leads to the thread that goes on: it was started, woken, or left the lock.",
        );
        drawing.y += LINE;
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
