//! The terminal on which text is shown: its width, and the characters that it can show.

use std::borrow::Cow;
use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};

use terminal_size::{Width, terminal_size_of};

/// The width of text if the width of the output is not known, as in a file or through a pipe.
const WIDTH: usize = 100;
/// The largest width of text, because wider text is hard to read. Pictures may be wider.
const WIDEST_TEXT: usize = 100;
/// The smallest width of text.
const NARROWEST: usize = 40;

/// The properties of a terminal for which text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// The width in columns.
    pub width: usize,
    /// True if the terminal shows colours.
    pub colour: bool,
    /// True if the terminal shows only ASCII characters.
    pub ascii: bool,
}

impl Default for Terminal {
    /// Returns a terminal without colours; it is used for output to a file.
    fn default() -> Self {
        Self { width: WIDTH, colour: false, ascii: false }
    }
}

impl Terminal {
    /// Returns the terminal of this process's standard output. `COLUMNS` overrides the width that the
    /// terminal reports. Colours are used if the terminal has them, unless `NO_COLOR` is set
    /// (<https://no-color.org>).
    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        let variable = |name: &str| env::var(name).unwrap_or_default();
        let measured = || terminal_size_of(&stdout).map(|(Width(width), _)| usize::from(width));
        let asked = variable("COLUMNS").parse().ok();
        Self {
            width: asked.or_else(measured).filter(|width| *width > 0).unwrap_or(WIDTH).max(NARROWEST),
            colour: stdout.is_terminal() && variable("NO_COLOR").is_empty() && variable("TERM") != "dumb",
            ascii: is_ascii(&["LC_ALL", "LC_CTYPE", "LANG"].map(variable)),
        }
    }

    /// Lays out a paragraph: a title, two spaces, and the text beside the title.
    pub fn paragraph(&self, title: &str, body: &str) -> String {
        let beside = title.chars().count() + 2;
        let room = self.width.saturating_sub(beside).clamp(NARROWEST / 2, WIDEST_TEXT);
        let mut text = String::new();
        for (n, line) in body.lines().flat_map(|line| wrap(line, room)).enumerate() {
            let title = if n == 0 { title } else { "" };
            let _ = writeln!(text, "{title:beside$}{line}");
        }
        text
    }

    /// Replaces the characters that the terminal cannot show, and returns the text.
    pub fn show<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.ascii && !text.is_ascii() { Cow::Owned(to_ascii(text)) } else { Cow::Borrowed(text) }
    }
}

/// Lays out a paragraph for standard output: a title, two spaces, and the text beside the title.
pub fn paragraph(title: &str, body: &str) -> String {
    Terminal::of_stdout().paragraph(title, body)
}

/// Returns true if the locale allows only ASCII. The first locale variable that has a value decides. If no
/// locale variable is set, the text is UTF-8, because today's terminals show UTF-8, and Windows sets no such
/// variable.
fn is_ascii(locale: &[String]) -> bool {
    locale.iter().find(|value| !value.is_empty()).is_some_and(|value| {
        let value = value.to_lowercase();
        !value.contains("utf-8") && !value.contains("utf8")
    })
}

/// Replaces each character by one character, so that columns stay aligned. Only `…`, at the end of a text, is
/// replaced by a longer text.
fn to_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '…' => ascii.push_str("..."),
            '–' | '—' | '─' => ascii.push('-'),
            '│' => ascii.push('|'),
            '█' => ascii.push('#'),
            '▓' => ascii.push('@'),
            '░' => ascii.push('w'),
            '┊' => ascii.push(':'),
            '┼' => ascii.push('+'),
            '·' => ascii.push('.'),
            '●' => ascii.push('*'),
            '✗' => ascii.push('X'),
            '►' | '→' | '›' => ascii.push('>'),
            '←' | '‹' => ascii.push('<'),
            '’' | '‘' => ascii.push('\''),
            '“' | '”' => ascii.push('"'),
            '×' => ascii.push('x'),
            sign if sign.is_ascii() => ascii.push(sign),
            _ => ascii.push('?'),
        }
    }
    ascii
}

/// Breaks a line at spaces; all parts of an indented line have the same indentation.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(line.len() - line.trim_start().len());
    let mut lines = vec![indent.clone()];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is at least one");
        let empty = last.len() == indent.len();
        if !empty && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if empty { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

/// Removes the end of a text that is too long, and marks the cut with a sign.
pub(crate) fn clip(text: &str, width: usize, ascii: bool) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let sign = if ascii { "..." } else { "…" };
    let kept = width.saturating_sub(sign.chars().count());
    text.chars().take(kept).chain(sign.chars()).take(width).collect()
}

/// Removes the middle of a name that is too long, because the names of threads differ at the end.
pub(crate) fn clip_middle(name: &str, width: usize, ascii: bool) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - width / 3).collect();
    clip(name, width - width / 3, ascii) + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_set_beside_its_title_and_keeps_its_indentation() {
        let body = format!("{}end\n  one two", "word ".repeat(30));
        let text = Terminal { width: 60, ..Terminal::default() }.paragraph("seen", &body);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("seen  word") && lines[1].starts_with("      word"), "{text}");
        assert_eq!(lines.last(), Some(&"        one two"));
        assert!(lines.iter().all(|line| line.len() <= 60), "{text}");
    }

    #[test]
    fn a_line_is_as_wide_as_it_looks() {
        let dashes = "– ".repeat(100); // three bytes each, and one column
        assert_eq!(wrap(&dashes, 100)[0].chars().count(), 99);
        assert_eq!(clip(&dashes, 10, false).chars().count(), 10);
        assert_eq!(clip(&dashes, 10, true).chars().count(), 10);
        assert_eq!(clip_middle("a-very-long-name-12", 12, false), "a-very-…e-12");
        assert_eq!(clip_middle("a-very-long-name-12", 12, true), "a-ver...e-12");
    }

    #[test]
    fn the_first_variable_that_is_set_says_what_the_locale_is() {
        let ascii = |values: [&str; 3]| is_ascii(&values.map(str::to_owned));
        assert!(ascii(["C", "de_DE.UTF-8", "de_DE.UTF-8"]));
        assert!(ascii(["", "", "POSIX"]) && ascii(["", "de_DE.ISO-8859-1", "C.UTF-8"]));
        assert!(!ascii(["", "", "C.utf8"]) && !ascii(["en_US.UTF-8", "C", "C"]));
        assert!(!ascii(["", "", ""]), "no variable is set");
    }

    #[test]
    fn where_there_is_only_ascii_nothing_else_is_shown() {
        let terminal = Terminal { ascii: true, ..Terminal::default() };
        assert_eq!(terminal.show("● ─→ █ a – “b” …"), "* -> # a - \"b\" ...");
        assert_eq!(terminal.show("größer"), "gr??er");
        assert_eq!(Terminal::default().show("größer"), "größer");
    }
}
