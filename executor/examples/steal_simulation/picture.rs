//! The small run as a picture, in the colours of the book's figures: for each worker, the picture shows what
//! the worker runs, and below that the worker's queue.

use super::lanes::{name, small_run};
use super::log::{Event, What};
use super::tree::Tree;
use std::fmt::Write;

const LEFT: u64 = 70;
const WIDTH: u64 = 620;
const ROW: u64 = 20;
/// The largest width of a character in a name.
const CHARACTER: u64 = 7;
/// The rows of a worker in the picture: one row shows what the worker runs, and one row for each size of
/// halves shows its queue.
const ROWS: u64 = 5;

struct Drawing {
    tree: Tree,
    end: u64,
    svg: String,
}

pub fn of(workers: usize) -> String {
    let (tree, run) = small_run(workers);
    let height = workers as u64 * ROWS * ROW + 24;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {height}\" width=\"{0}\" role=\"img\" aria-label=\"What {workers} workers run over time, and which halves lie in their queues\">\n\
         <defs><marker id=\"tip-steal-{workers}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"currentColor\"/></marker></defs>\n",
        LEFT + WIDTH + 30,
    );
    let mut drawing = Drawing { tree, end: run.time, svg };
    for worker in 0..workers {
        let y = worker as u64 * ROWS * ROW + 4;
        drawing.text("", 4, y + 15, &format!("worker {}", worker + 1));
        drawing.text("small", 4, y + ROW + 15, "queue");
    }
    drawing.waits(&run.log);
    drawing.works(&run.log);
    drawing.queues(&run.log, workers);
    drawing.times(height);
    drawing.svg + "</svg>\n"
}

impl Drawing {
    fn x(&self, time: u64) -> u64 {
        LEFT + time * WIDTH / self.end
    }

    fn text(&mut self, class: &str, x: u64, y: u64, text: &str) {
        writeln!(self.svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>")
            .expect("a string has room");
    }

    /// Draws a box with a name in it, from one time to another.
    fn bar(&mut self, class: &str, (from, until): (u64, u64), y: u64, name: &str) {
        let (x, width) = (self.x(from), (self.x(until) - self.x(from)).max(1));
        let fill = match class {
            "busy" => "#2f6fb3",
            "wait" => "#b35c00",
            _ => "#ddd", // for the file on its own, outside the book
        };
        writeln!(
            self.svg,
            "<rect class=\"{class}\" fill=\"{fill}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" rx=\"2\"/>",
            ROW - 3
        )
        .expect("a string has room");
        if name.is_empty() {
            return;
        }
        // A name that is wider than its box is written to the right of the box.
        let fits = name.len() as u64 * CHARACTER <= width;
        let class = if class == "busy" && fits { "small on-colour" } else { "small" };
        let (at, anchor) = if fits { (x + width / 2, "middle") } else { (x + width + 4, "start") };
        let baseline = y + 12;
        writeln!(
            self.svg,
            "<text class=\"{class}\" x=\"{at}\" y=\"{baseline}\" text-anchor=\"{anchor}\">{name}</text>"
        )
        .expect("a string has room");
    }

    /// Draws that a worker waits or sleeps, until the worker continues its own work or takes a piece.
    fn waits(&mut self, log: &[Event]) {
        for (number, event) in log.iter().enumerate() {
            let ends = |what| matches!(what, What::GoesOn(_) | What::Helps(..) | What::Steals(..));
            let until = log[number..].iter().find(|next| next.worker == event.worker && ends(next.what));
            let until = until.map_or(self.end, |next| next.at);
            let y = event.worker as u64 * ROWS * ROW + 4;
            match event.what {
                What::Waits(_) | What::Ends(_) if until > event.at && Self::waits_after(log, number) => {
                    self.bar("wait", (event.at, until), y, "");
                }
                _ => {}
            }
        }
    }

    /// Returns true if, after this event, the worker waits for a half.
    fn waits_after(log: &[Event], number: usize) -> bool {
        let own = log[..=number].iter().filter(|event| event.worker == log[number].worker);
        own.fold(0, |waits, event| match event.what {
            What::Waits(_) => waits + 1,
            What::GoesOn(_) => waits - 1,
            _ => waits,
        }) > 0
    }

    fn works(&mut self, log: &[Event]) {
        for event in log {
            if let What::Works(node, time @ 1..) = event.what {
                let is_leaf = self.tree.0[node].second.is_none();
                let (class, name) =
                    if is_leaf { ("busy", name(&self.tree, node)) } else { ("box", String::new()) };
                let y = event.worker as u64 * ROWS * ROW + 4;
                self.bar(class, (event.at, event.at + time), y, &name);
            }
        }
    }

    /// Draws each half from the moment when it is offered until a worker takes it, with an arrow to the
    /// thief.
    fn queues(&mut self, log: &[Event], workers: usize) {
        for event in log {
            let What::Offers(half) = event.what else { continue };
            let name = name(&self.tree, half);
            let y = (event.worker as u64 * ROWS + name.len() as u64) * ROW + 4;
            let taken = log.iter().find(|taken| match taken.what {
                What::TakesBack(other) | What::Steals(other, _) | What::Helps(other, ..) => other == half,
                _ => false,
            });
            let Some(taken) = taken else { continue };
            self.bar("box", (event.at, taken.at), y, &name);
            if taken.worker != event.worker {
                let x = self.x(taken.at);
                let to =
                    taken.worker as u64 * ROWS * ROW + if taken.worker > event.worker { 2 } else { ROW + 4 };
                let from = if taken.worker > event.worker { y + ROW - 3 } else { y };
                writeln!(
                    self.svg,
                    "<path class=\"line\" stroke=\"currentColor\" d=\"M{x} {from} V{to}\" marker-end=\"url(#tip-steal-{workers})\"/>"
                )
                .expect("a string has room");
            }
        }
    }

    fn times(&mut self, height: u64) {
        for time in (0..=self.end).step_by(10_000) {
            self.text("small", self.x(time), height - 6, &format!("{} µs", time / 1_000));
        }
    }
}
