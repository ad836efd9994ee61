//! A failing schedule: who did what in which order, as text for a terminal and as a picture for a page.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// What happened until a property failed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Schedule {
    /// The threads' names; the first is the test itself.
    pub threads: Vec<String>,
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// The event that decided it.
    pub decisive: Option<usize>,
}

/// One thread did one thing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Which one, as an index of [`Schedule::threads`].
    pub thread: usize,
    /// What it did.
    pub action: Action,
    /// At which line of the learner's file.
    pub line: Option<u32>,
}

/// What a thread can do. Locks and condition variables are numbered in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// A step of the property, in words.
    Step(String),
    /// Started a thread.
    Spawn(usize),
    /// Ended.
    End {
        /// By a panic.
        panicked: bool,
    },
    /// Has waited for a thread to end.
    Join(usize),
    /// Took a lock.
    Lock(usize),
    /// Let go of it.
    Unlock(usize),
    /// Let go of the lock to wait on a condition variable.
    Wait(usize),
    /// Came back from there, with the lock.
    Wake {
        /// The condition variable.
        condvar: usize,
        /// Though nobody had notified it.
        spurious: bool,
    },
    /// Notified a condition variable.
    Notify {
        /// The condition variable.
        condvar: usize,
        /// All that wait, not one.
        all: bool,
    },
}

/// The most lines a picture in the terminal has.
const MOST_ROWS: usize = 34;
/// The width of the terminal that pictures are made for.
const WIDTH: usize = 112;

/// A line of a picture: what one thread did without a break.
struct Row {
    thread: usize,
    text: String,
    decisive: bool,
}

impl Schedule {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// A column for each thread, time from top to bottom. What is too much for a screen is left out at the top.
    pub fn text(&self, colour: bool) -> String {
        let columns = self.columns();
        let width = ((WIDTH - 4) / columns.len().max(1)).clamp(16, 44);
        let mut text = String::from("    ");
        for &thread in &columns {
            let _ = write!(text, "{:width$}", clip(&self.threads[thread], width - 2));
        }
        let text_width = 4 + width * columns.len();
        let mut text = format!("{}\n    {}\n", text.trim_end(), "─".repeat(text_width.saturating_sub(6)));
        let (rows, left_out) = self.visible_rows();
        if left_out > 0 {
            let _ = writeln!(text, "    … {left_out} earlier lines …");
        }
        for row in rows {
            let column = columns.iter().position(|&thread| thread == row.thread).unwrap_or(0);
            let room = text_width.max(WIDTH) - 4 - column * width;
            let mark = if row.decisive { "►" } else { " " };
            let line = format!("{mark}   {}{}", " ".repeat(column * width), clip(&row.text, room));
            if row.decisive && colour {
                let _ = writeln!(text, "\x1b[1;31m{line}\x1b[0m");
            } else {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }

    /// The threads that did something.
    fn columns(&self) -> Vec<usize> {
        (0..self.threads.len())
            .filter(|&thread| self.events.iter().any(|event| event.thread == thread))
            .collect()
    }

    fn visible_rows(&self) -> (Vec<Row>, usize) {
        let mut rows = self.rows();
        let mut left_out = rows.len().saturating_sub(MOST_ROWS);
        // The decisive line is always there, with a little of what led to it.
        if let Some(decisive) = rows.iter().position(|row| row.decisive)
            && decisive < left_out + 3
        {
            left_out = decisive.saturating_sub(3);
            rows.truncate(left_out + MOST_ROWS);
        }
        rows.drain(..left_out);
        (rows, left_out)
    }

    /// Joins what belongs together: taking a lock and what is done under it is one line if nobody else did anything
    /// in between.
    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (n, event) in self.events.iter().enumerate() {
            let decisive = self.decisive == Some(n);
            let text = self.words(event);
            let short = matches!(
                event.action,
                Action::Lock(_) | Action::Unlock(_) | Action::Wait(_) | Action::Notify { .. }
            );
            match rows.last_mut() {
                Some(row)
                    if short
                        && !decisive
                        && !row.decisive
                        && row.thread == event.thread
                        && row.text.len() < 24
                        && !matches!(self.events[n - 1].action, Action::Step(_)) =>
                {
                    row.text.push_str(", ");
                    row.text.push_str(&text);
                }
                _ => rows.push(Row { thread: event.thread, text, decisive }),
            }
        }
        rows
    }

    fn words(&self, event: &Event) -> String {
        let text = match &event.action {
            Action::Step(what) => what.lines().next().unwrap_or_default().to_owned(),
            Action::Spawn(thread) => format!("starts {}", self.threads[*thread]),
            Action::End { panicked: false } => "ends".into(),
            Action::End { panicked: true } => "ENDED BY A PANIC".into(),
            Action::Join(thread) => format!("has joined {}", self.threads[*thread]),
            Action::Lock(lock) => format!("locks{}", number(*lock)),
            Action::Unlock(lock) => return format!("unlocks{}", number(*lock)),
            Action::Wait(condvar) => format!("waits{}", number(*condvar)),
            Action::Wake { spurious: false, condvar } => format!("wakes up{}", number(*condvar)),
            Action::Wake { spurious: true, .. } => "wakes up, unnotified".into(),
            Action::Notify { all: false, condvar } => format!("notify_one{}", number(*condvar)),
            Action::Notify { all: true, condvar } => format!("notify_all{}", number(*condvar)),
        };
        event.line.map_or(text.clone(), |line| format!("{text} :{line}"))
    }
}

/// The first lock and the first condition variable are simply "the" ones.
fn number(n: usize) -> String {
    if n == 0 { String::new() } else { format!(" #{}", n + 1) }
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

// ----- the picture for a page -----

const COLUMN: usize = 270;
const LINE: usize = 22;
const TOP: usize = 56;

// It brings its own paper: the page around it can be dark while the system is light, and the other way round.
const STYLE: &str = "<style>
  svg { font: 12px ui-monospace, monospace } .name, .mark { font-weight: bold }
  .paper { fill: #fff } text, .dot { fill: #222 } .life { stroke: #999 } .mark { fill: #b00020 }
  @media screen and (prefers-color-scheme: dark) {
    .paper { fill: #1b1b1b } text, .dot { fill: #ddd } .life { stroke: #777 } .mark { fill: #ff8a80 }
  }
</style>
";

/// Draws a schedule as SVG, for light and dark pages and for print.
pub fn svg(schedule: &Schedule, title: &str) -> String {
    let columns = schedule.columns();
    let (rows, left_out) = schedule.visible_rows();
    let width = 20 + COLUMN * columns.len().max(1);
    let height = TOP + LINE * (rows.len() + 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n{STYLE}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escape(title)
    );
    for (n, &thread) in columns.iter().enumerate() {
        let x = 20 + n * COLUMN;
        let _ = writeln!(
            svg,
            "<text class=\"name\" x=\"{x}\" y=\"24\">{}</text>",
            escape(&schedule.threads[thread])
        );
        let _ =
            writeln!(svg, "<line class=\"life\" x1=\"{x}\" y1=\"34\" x2=\"{x}\" y2=\"{}\"/>", height - 10);
    }
    if left_out > 0 {
        let _ = writeln!(svg, "<text x=\"32\" y=\"{}\">… {left_out} earlier steps …</text>", TOP - 8);
    }
    for (n, row) in rows.iter().enumerate() {
        let column = columns.iter().position(|&thread| thread == row.thread).unwrap_or(0);
        let (x, y) = (20 + column * COLUMN, TOP + LINE * n + 10);
        let (dot, text) = if row.decisive { ("mark", " class=\"mark\"") } else { ("dot", "") };
        let room = (width - x - 12) / 7;
        let radius = if row.decisive { 6 } else { 4 }; // in print there may be no colour to tell it by
        let _ = writeln!(svg, "<circle class=\"{dot}\" cx=\"{x}\" cy=\"{}\" r=\"{radius}\"/>", y - 4);
        let _ =
            writeln!(svg, "<text{text} x=\"{}\" y=\"{y}\">{}</text>", x + 12, escape(&clip(&row.text, room)));
    }
    svg.push_str("</svg>\n");
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: usize, action: Action, line: u32) -> Event {
        Event { thread, action, line: Some(line) }
    }

    fn lost_wake_up() -> Schedule {
        Schedule {
            threads: vec!["test".into(), "idle".into(), "a <waiter>".into()],
            events: vec![
                event(0, Action::Spawn(2), 3),
                event(2, Action::Lock(0), 10),
                event(2, Action::Unlock(0), 11),
                event(0, Action::Notify { condvar: 0, all: true }, 20),
                event(2, Action::Lock(0), 12),
                event(2, Action::Wait(0), 13),
            ],
            decisive: Some(3),
        }
    }

    #[test]
    fn the_text_has_a_column_for_each_thread_that_did_something_and_marks_the_decisive_step() {
        let text = lost_wake_up().text(false);
        assert!(text.lines().next().unwrap().contains("a <waiter>") && !text.contains("idle"), "{text}");
        assert!(text.contains("locks :10, unlocks"), "{text}");
        let marked: Vec<&str> = text.lines().filter(|line| line.starts_with('►')).collect();
        assert_eq!(marked, ["►   notify_all :20"]);
        assert!(lost_wake_up().text(true).contains("\x1b[1;31m►"));
    }

    #[test]
    fn a_long_schedule_fits_on_a_screen_and_keeps_its_decisive_step() {
        let mut schedule = lost_wake_up();
        schedule.decisive = None;
        for n in 0..500 {
            schedule.events.push(event(n % 2 * 2, Action::Lock(0), 1));
        }
        assert!(schedule.text(false).lines().count() <= 40);
        assert!(schedule.text(false).contains("earlier lines"));
        schedule.decisive = Some(100);
        assert!(schedule.text(false).lines().any(|line| line.starts_with('►')));
        assert!(schedule.text(false).lines().count() <= 40);
    }

    #[test]
    fn the_svg_is_closed_escaped_and_marks_one_step() {
        let svg = svg(&lost_wake_up(), "lost & found");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("<title>lost &amp; found</title>") && svg.contains("a &lt;waiter&gt;"));
        assert_eq!(svg.matches("<circle class=\"mark\"").count(), 1);
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    #[test]
    fn the_svg_has_paper_of_its_own_behind_everything_light_in_print() {
        let svg = svg(&lost_wake_up(), "lost");
        let (style, drawing) = svg.split_once("</style>").unwrap();
        assert!(drawing.trim_start().starts_with("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>"));
        let (light, dark) = style.split_once("@media screen and (prefers-color-scheme: dark)").unwrap();
        for kind in [".paper {", "text, .dot {", ".life {", ".mark {"] {
            assert!(light.contains(kind) && dark.contains(kind), "{kind} {style}");
        }
    }
}
