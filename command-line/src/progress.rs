//! A line on a terminal that shows the progress of a program.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// One or several lines on standard error; each update overwrites the previous state. Dropping this
/// value removes the lines.
///
/// Nothing is written if standard error is not a terminal, or is a terminal that cannot overwrite a
/// line.
pub struct ProgressLine {
    bar: ProgressBar,
    is_wanted: bool,
    from: Instant,
}

impl ProgressLine {
    /// Returns a line of text. The line appears when a program runs for longer than `moment`.
    pub fn after(moment: Duration) -> ProgressLine {
        ProgressLine::with_bar(ProgressBar::no_length(), "{msg}", moment)
    }

    /// Returns a line that shows a bar in the format `template`, in the syntax of indicatif. The line
    /// appears when a program runs for longer than `moment`.
    ///
    /// # Panics
    /// Panics if the template is wrong.
    pub fn with_bar(bar: ProgressBar, template: &str, moment: Duration) -> ProgressLine {
        bar.set_style(ProgressStyle::with_template(template).expect("a template of the program"));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        ProgressLine { bar, is_wanted: io::stderr().is_terminal(), from: Instant::now() + moment }
    }

    /// Shows nothing unless the user wants to see progress.
    pub fn if_wanted(mut self, is_wanted: bool) -> ProgressLine {
        self.is_wanted &= is_wanted;
        self
    }

    /// Shows a text, which is created only if the line is visible.
    pub fn show(&self, text: impl FnOnce() -> String) {
        self.update(|bar| bar.set_message(text()));
    }

    /// Changes the bar, if the line is visible. If there are many changes in a second, some of them
    /// are not drawn.
    pub fn update(&self, change: impl FnOnce(&ProgressBar)) {
        if !self.is_wanted || self.bar.is_finished() || Instant::now() < self.from {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        change(&self.bar);
    }

    /// Removes the line from the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_to_be_seen_makes_no_text() {
        let finished = ProgressLine::after(Duration::ZERO);
        finished.finish();
        let unwanted = ProgressLine::after(Duration::ZERO).if_wanted(false);
        for line in [ProgressLine::after(Duration::from_hours(1)), unwanted, finished] {
            line.show(|| unreachable!("this text is not shown"));
        }
    }
}
