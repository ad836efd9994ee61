//! Writes to standard output, with lines as wide as the terminal, and with only the colours and characters
//! that the terminal can show.

use exercises_protocol::Terminal;
use std::io::{self, Write};
use std::sync::OnceLock;

static STDOUT: OnceLock<Terminal> = OnceLock::new();

/// Returns the terminal that is connected to standard output.
pub(super) fn terminal() -> &'static Terminal {
    STDOUT.get_or_init(Terminal::of_stdout)
}

/// Restricts all output of the program to ASCII. The caller must call this function before it
/// writes anything.
pub fn only_ascii() {
    let _ = STDOUT.set(Terminal { ascii: true, ..Terminal::of_stdout() }); // fails if something was written before
}

/// The form in which text is shown: coloured or plain.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    coloured: bool,
}

impl Style {
    /// Returns the style of standard output.
    pub fn of_stdout() -> Self {
        Self { coloured: terminal().colour }
    }

    /// Plain text without colours.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { coloured: false }
    }

    pub(super) fn on(self) -> bool {
        self.coloured
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Writes to standard output; uses only ASCII if the terminal cannot show other characters. A closed
/// pipe (`cargo course list | head`) is not an error.
pub fn say(text: &str) {
    write(&terminal().show(text));
}

/// Writes data to standard output unchanged.
pub(super) fn write(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
