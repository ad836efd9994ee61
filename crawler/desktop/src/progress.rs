//! A line on a terminal that says how far a run is, if it takes longer than a moment.

use crate::Tally;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// A run that ends within this time shows no line.
const MOMENT: Duration = Duration::from_secs(1);

/// The line. Nothing is written if standard error is no terminal.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
}

impl Progress {
    /// The line of a run over a tree that had `known` files last time. The length of a new tree is not known,
    /// so it has no bar.
    pub fn new(known: u64, is_visible: bool) -> Progress {
        let (bar, template) = match known {
            0 => (ProgressBar::no_length(), "{spinner} {pos} files, {msg}"),
            _ => (ProgressBar::new(known), "{wide_bar} {pos} of about {len} files, {msg}"),
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a template of our own"));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if !is_visible {
            bar.finish();
        }
        Progress { bar, begun: Instant::now() }
    }

    /// Shows what has become of the files so far.
    pub fn show(&self, tally: &Tally) {
        if self.begun.elapsed() < MOMENT || self.bar.is_finished() {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let files = tally.files();
        if self.bar.length().is_some_and(|length| files > length) {
            self.bar.set_length(files); // the tree has grown
        }
        self.bar.set_position(files);
        let rate = files as f64 / self.begun.elapsed().as_secs_f64();
        self.bar.set_message(format!("{}, {rate:.0} files/s", tally.in_short()));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
