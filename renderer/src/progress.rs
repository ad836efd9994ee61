//! A line on a terminal that says how far the page is, for those who wait longer than a moment.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// A page that is ready by then needs no line.
const MOMENT: Duration = Duration::from_secs(1);

/// The line. Nothing is written if standard error is no terminal that can rewrite one.
pub(crate) struct Progress {
    images: usize,
    started: Instant,
    is_visible: bool,
    is_written: bool,
}

impl Progress {
    pub(crate) fn new(images: usize) -> Progress {
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Progress {
            images,
            started: Instant::now(),
            is_visible: io::stderr().is_terminal() && !is_dumb,
            is_written: false,
        }
    }

    /// The page has changed.
    pub(crate) fn update(&mut self, has_text: bool, painted: usize, failed: usize) {
        let elapsed = self.started.elapsed();
        let text = if has_text { "text" } else { "no text yet" };
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let line =
            format!("{text}, {painted} of {} images{failed}, {:.1} s", self.images, elapsed.as_secs_f64());
        self.say(&line);
    }

    /// The page is at this.
    pub(crate) fn say(&mut self, line: &str) {
        if self.is_visible && self.started.elapsed() >= MOMENT {
            let _ = write!(io::stderr(), "\r\x1b[K{line}"); // a terminal that is gone shows nothing
            self.is_written = true;
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.is_written) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
