//! Colours, where somebody sees them.

use std::env;
use std::io::{self, IsTerminal, Write};

/// Whether to colour. Only for a terminal, and not if `NO_COLOR` asks not to (<https://no-color.org>).
#[derive(Debug, Clone, Copy)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// The style of what is written to standard output.
    pub fn of_stdout() -> Self {
        let asked_not_to = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { coloured: io::stdout().is_terminal() && !asked_not_to && !dumb }
    }

    /// No colours.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { coloured: false }
    }

    pub(super) fn on(self) -> bool {
        self.coloured
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Writes to standard output. If nobody reads it any more (`cargo course list | head`), that is no error.
pub fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
