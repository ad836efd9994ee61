//! Passwords and access tokens; no output contains them, and they are erased from memory when they are
//! dropped.

use std::fmt;
use std::hint::black_box;
use std::io::{self, Read};

/// The largest length of a password, in bytes. Some access tokens have thousands of bytes.
const LONGEST: usize = 16 << 10;

/// A password or an access token. The `Debug` output of a secret shows nothing of the secret, not even its
/// length. The memory is erased when the value is dropped. Copies that the system has made, for example in a
/// swap file or in the environment, are not erased.
pub struct Secret(Vec<u8>);

impl Secret {
    /// Creates a secret that contains the given password.
    pub fn new(password: impl Into<Vec<u8>>) -> Secret {
        Secret(password.into())
    }

    /// Reads a secret from a file, or from the output of a program. The line break at the end of the file
    /// is not part of the password.
    pub(super) fn read(from: impl Read) -> io::Result<Secret> {
        // The vector has enough capacity from the beginning: if it grew, it would leave a copy of the
        // secret in memory.
        let mut bytes = Vec::with_capacity(LONGEST + 4);
        let read = from.take(LONGEST as u64 + 3).read_to_end(&mut bytes);
        bytes.pop_if(|last| *last == b'\n');
        bytes.pop_if(|last| *last == b'\r');
        let secret = Secret(bytes);
        read.map(|_| secret)
    }

    /// Returns the reason why the secret cannot be sent; returns `None` if it can be sent. A secret must be
    /// one line.
    pub(super) fn fault(&self) -> Option<String> {
        if self.0.is_empty() || self.0.len() > LONGEST {
            Some(format!("must have from 1 to {LONGEST} bytes"))
        } else if self.0.iter().any(|byte| b"\r\n\0".contains(byte)) {
            Some("must be one line, and without a zero byte".to_owned())
        } else {
            None
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the password between two other parts, as one buffer, so that all parts are sent in one
    /// packet.
    pub(super) fn between(&self, before: &[u8], after: &[u8]) -> Secret {
        // The vector never grows, because growing would leave a copy of the secret in memory.
        let mut line = Vec::with_capacity(before.len() + self.0.len() + after.len());
        line.extend([before, &self.0, after].into_iter().flatten());
        Secret(line)
    }

    /// Returns the text without control characters and without this password.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = visible(text);
        let password = visible(&String::from_utf8_lossy(&self.0));
        let quoted = password.replace('\\', "\\\\").replace('"', "\\\"");
        for password in [&quoted, &password].into_iter().filter(|password| !password.is_empty()) {
            text = text.replace(password.as_str(), "[password]");
        }
        text
    }
}

/// The number of characters that are shown of a text from a server.
const LONGEST_TEXT: usize = 200;

/// Returns the beginning of a text, up to a limited length; the passwords in the text are already hidden. If
/// the text were cut before hiding, the first half of a password could remain.
pub(super) fn shown(hidden: &str) -> String {
    match hidden.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => hidden[..end].to_owned() + "…",
        None => hidden.to_owned(),
    }
}

/// Returns the text without control characters, and without characters that change the order of other
/// characters on a terminal.
fn visible(text: &str) -> String {
    let steers =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|&c| !c.is_control() && !steers(c)).collect()
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        black_box(&self.0); // otherwise the compiler may remove the line above
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_without_the_password_and_without_what_a_terminal_obeys() {
        let secret = Secret::new("hun\"ter2");
        for (text, shown) in [
            ("no hun\"ter2 here", "no [password] here"),
            ("quoted: hun\\\"ter2", "quoted: [password]"),
            ("split: hun\u{1b}\"t\u{9b}er2", "split: [password]"),
            ("\u{1b}[31mred\u{7f}\r\n\u{202e}", "[31mred"),
        ] {
            assert_eq!(secret.hide(text), shown);
        }
        assert_eq!(shown(&"ü".repeat(300)).chars().count(), LONGEST_TEXT + 1);
        assert_eq!(Secret::new("").hide("nothing to hide"), "nothing to hide");
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Secret::new("canary")), "Secret");
    }
}
