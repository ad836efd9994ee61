//! The picture for a terminal: lanes on the left, then the steps of the threads, then the learner's lines if
//! the terminal is wide enough.

use std::fmt::Write as _;

use super::{Bar, Doing, Picture, Row};
use crate::failure::Failure;
use crate::terminal::{Terminal, clip, clip_middle, wrap};

/// The largest number of lines for the steps.
const MOST_ROWS: usize = 36;
/// The columns of a lane: one for its bar, and two for an arrow to the next lane.
const LANE: usize = 3;
/// The columns for the mark on the left.
const MARK: usize = 4;
/// The largest number of columns for a thread's name beside its steps.
const NAME: usize = 16;
/// The smallest and the largest number of columns for words.
const WORDS: std::ops::RangeInclusive<usize> = 20..=46;
/// The smallest number of columns for the learner's lines beside the steps; if there are fewer columns, the
/// lines are written below the steps.
const CODE: usize = 40;
/// The largest number of the learner's lines that are written below the steps.
const MOST_CODE: usize = 12;

/// The widths of the parts of a picture, in columns.
struct Columns {
    name: usize,
    words: usize,
    /// The width of the learner's lines beside the steps; `None` if the lines are written below the steps.
    code: Option<usize>,
}

/// Draws the schedule of a failure, with the necessary legend.
pub(crate) fn text(failure: &Failure, terminal: &Terminal) -> String {
    let most_lanes = terminal.width.saturating_sub(MARK + NAME + 2 + *WORDS.start()) / LANE;
    let picture = Picture::of(&failure.schedule, MOST_ROWS, most_lanes.clamp(2, 12));
    let columns = Columns::of(&picture, terminal);
    let mut text = String::from("\n");
    let marked = picture.rows.iter().any(|row| row.mark);
    let mark = if marked { " ► marks the step that decided it." } else { "" };
    let what = format!("Who did what, from top to bottom. After a colon: the line of your file.{mark}");
    for line in wrap(&what, terminal.width) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    if let Some(left_out) = picture.left_out() {
        let _ = writeln!(text, "{:MARK$}({left_out})", "");
    }
    for lane in 0..picture.lanes.len() {
        let lead = format!("│{:1$}", "", LANE - 1).repeat(lane);
        let room = terminal.width.saturating_sub(MARK + LANE * lane);
        let _ = writeln!(text, "{:MARK$}{lead}{}", "", clip_middle(picture.name(lane), room, terminal.ascii));
    }
    let mut last = None;
    for row in &picture.rows {
        let name = if last == Some(row.thread) { "" } else { &picture.schedule.threads[row.thread].name };
        last = Some(row.thread);
        draw(&mut text, &picture, row, name, &columns, terminal);
    }
    if let Some(last) = picture.rows.last() {
        let _ = writeln!(text, "{:MARK$}{}", "", lanes(&picture, &last.after).trim_end());
    }
    text.push_str(&ends(&picture, failure, terminal));
    text.push_str(&legend(&picture, terminal));
    if columns.code.is_none() {
        text.push_str(&listing(&picture, terminal));
    }
    text
}

impl Columns {
    fn of(picture: &Picture<'_>, terminal: &Terminal) -> Self {
        let width = |text: &str| text.chars().count();
        let names = (0..picture.lanes.len()).map(|lane| width(picture.name(lane)));
        let name = names.max().unwrap_or(0).min(NAME);
        let room = terminal.width.saturating_sub(MARK + LANE * picture.lanes.len() + name + 2);
        let longest = picture.rows.iter().map(|row| width(&row.told())).max().unwrap_or(0);
        let words = longest.clamp(*WORDS.start(), *WORDS.end());
        let code = room.saturating_sub(words + 2);
        if code >= CODE && !picture.schedule.code.is_empty() {
            Self { name, words, code: Some(code) }
        } else {
            Self { name, words: room.max(*WORDS.start()), code: None }
        }
    }
}

/// Draws a step: one line, or more lines if its words are long.
fn draw(
    text: &mut String,
    picture: &Picture<'_>,
    row: &Row,
    name: &str,
    columns: &Columns,
    terminal: &Terminal,
) {
    let code = row.line.and_then(|number| Some((number, picture.schedule.line(number)?)));
    for (n, words) in wrap(&row.told(), columns.words).iter().enumerate() {
        let first = n == 0;
        let mark = if row.mark && first { "►" } else { "" };
        let lanes = if first { lanes_with_arrows(picture, row) } else { lanes(picture, &row.after) };
        let name = if first { clip_middle(name, columns.name, terminal.ascii) } else { String::new() };
        let words = clip(words, columns.words, terminal.ascii);
        let mut line = format!("{mark:MARK$}{lanes}{name:0$}  {words}", columns.name);
        if let (true, Some(room), Some((number, code))) = (first, columns.code, code) {
            let code = clip(&format!("{number:>3}  {code}"), room, terminal.ascii);
            let so_far = line.chars().count();
            let beside = MARK + LANE * picture.lanes.len() + columns.name + 2 + columns.words + 2;
            let _ = write!(line, "{:1$}{code}", "", beside.saturating_sub(so_far));
        }
        let line = line.trim_end();
        let _ = if (row.mark || row.fails) && terminal.colour {
            writeln!(text, "\x1b[1;31m{line}\x1b[0m")
        } else {
            writeln!(text, "{line}")
        };
    }
}

fn sign(bar: Bar) -> char {
    match bar {
        Bar { doing: Doing::Nothing, .. } => ' ',
        Bar { doing: Doing::Started, .. } => '·',
        Bar { doing: Doing::Runs, holds: false } => '│',
        Bar { doing: Doing::Runs, holds: true } => '█',
        Bar { holds: true, .. } => '▓',
        Bar { doing: Doing::WantsLock, .. } => '░',
        Bar { doing: Doing::Sleeps, .. } => 'z',
        Bar { doing: Doing::Waits, .. } => '┊',
    }
}

fn lanes(picture: &Picture<'_>, bars: &[Bar]) -> String {
    picture.lanes.iter().flat_map(|&thread| [sign(bars[thread]), ' ', ' ']).collect()
}

/// Draws the lanes beside a step: a dot for the thread that makes the step, and an arrow to each thread that
/// goes on because of the step.
fn lanes_with_arrows(picture: &Picture<'_>, row: &Row) -> String {
    let mut signs: Vec<char> = lanes(picture, &row.after).chars().collect(); // `LANE` for each
    let Some(from) = picture.lane(row.thread) else { return signs.into_iter().collect() };
    for to in picture.targets(row) {
        let (left, right) = (from.min(to) * LANE, from.max(to) * LANE);
        for (n, sign) in signs.iter_mut().enumerate().take(right).skip(left + 1) {
            *sign = if n % LANE == 0 && !matches!(*sign, ' ' | '─') { '┼' } else { '─' };
        }
    }
    for to in picture.targets(row) {
        let at = if to > from { to * LANE - 1 } else { to * LANE + 1 };
        signs[at] = if to > from { '→' } else { '←' };
    }
    signs[from * LANE] = if row.fails { '✗' } else { '●' };
    signs.into_iter().collect()
}

/// Describes what each thread was doing at the end, unless the text of the failure already does so.
fn ends(picture: &Picture<'_>, failure: &Failure, terminal: &Terminal) -> String {
    let mut text = String::new();
    for (name, end) in picture.ends().filter(|(_, end)| !failure.seen.contains(end)) {
        let lead = if text.is_empty() { "In the end:" } else { "" };
        text.push_str(&terminal.paragraph(&format!("{:MARK$}{lead:11}", ""), &format!("{name} {end}")));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn legend(picture: &Picture<'_>, terminal: &Terminal) -> String {
    let drawn: Vec<char> = picture.bars().map(sign).collect();
    let signs = [
        ('·', "has done nothing yet"),
        ('│', "runs"),
        ('█', "holds a lock"),
        ('▓', "waits, and holds a lock"),
        ('░', "waits for a lock"),
        ('z', "sleeps on a Condvar"),
        ('┊', "waits for something else"),
    ];
    let mut lines = vec![String::new()];
    for (sign, what) in signs.into_iter().filter(|(sign, _)| drawn.contains(sign)) {
        let entry = format!("{sign} {what}");
        let last = lines.last_mut().expect("there is one");
        if last.is_empty() {
            *last = entry;
        } else if MARK + last.chars().count() + 3 + entry.chars().count() <= terminal.width {
            last.push_str("   ");
            last.push_str(&entry);
        } else {
            lines.push(entry);
        }
    }
    let arrow = picture.rows.iter().any(|row| !picture.targets(row).is_empty());
    if arrow {
        lines.push("→ starts or wakes a thread, or leaves it the lock".into());
    }
    lines.iter().fold(String::from("\n"), |text, line| text + &format!("{:MARK$}{line}\n", ""))
}

/// Returns the learner's lines that the steps name. If there are too many lines, only the last lines are
/// shown.
fn listing(picture: &Picture<'_>, terminal: &Terminal) -> String {
    let mut numbers: Vec<u32> = Vec::new();
    let marked = picture.rows.iter().filter(|row| row.mark);
    for number in marked.chain(picture.rows.iter().rev()).filter_map(|row| row.line) {
        if numbers.len() < MOST_CODE && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    let mut text = String::new();
    for number in numbers {
        if let Some(code) = picture.schedule.line(number) {
            let line = clip(&format!("{number:>7}  {code}"), terminal.width, terminal.ascii);
            let _ = writeln!(text, "{line}");
        }
    }
    if text.is_empty() { text } else { format!("\n    Lines of src/exercise.rs:\n{text}") }
}
