//! A line on a terminal that shows the progress of a run that takes longer than a second.

use crate::Tally;
use command_line::ProgressLine;
use indicatif::ProgressBar;
use std::time::{Duration, Instant};

/// A run that takes less time than this shows no progress line.
const MOMENT: Duration = Duration::from_secs(1);

/// A progress line, which is not written if standard error is not a terminal.
pub struct Progress {
    line: ProgressLine,
    begun: Instant,
}

impl Progress {
    /// Creates the progress line for a run over a tree. In the last run, the tree had `known` files. The size
    /// of a new tree is not known, so the progress line for a new tree has no bar.
    pub fn new(known: u64, is_visible: bool) -> Progress {
        let (bar, template) = match known {
            0 => (ProgressBar::no_length(), "{spinner} {pos} files, {msg}"),
            _ => (ProgressBar::new(known), "{wide_bar} {pos} of about {len} files, {msg}"),
        };
        let line = ProgressLine::with_bar(bar, template, MOMENT).if_wanted(is_visible);
        Progress { line, begun: Instant::now() }
    }

    /// Shows the current counts of files.
    pub fn show(&self, tally: &Tally) {
        self.line.update(|bar| {
            let files = tally.files();
            if bar.length().is_some_and(|length| files > length) {
                bar.set_length(files); // the tree has grown
            }
            bar.set_position(files);
            let rate = files as f64 / self.begun.elapsed().as_secs_f64();
            bar.set_message(format!("{}, {rate:.0} files/s", tally.in_short()));
        });
    }

    /// Removes the line of progress from the terminal.
    pub fn finish(&self) {
        self.line.finish();
    }
}
