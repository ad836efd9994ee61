//! Turns HTML into text with the same lines as the document, so that a found word has the same line number
//! as in an editor.

use executor::CancelToken;
use hypertext::html::{Reader, Tag, read};
use std::iter;

/// Elements whose tags do not separate words; for example, `<b>W</b>ord` is one word.
const INLINE: [&str; 22] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "u", "wbr",
];

/// Returns the visible text of the page, without tags, comments, scripts and styles; each text stays on its
/// line of the document. `is_xml` is true if the document is XHTML.
pub(super) fn text(document: &str, is_xml: bool) -> String {
    let written = String::with_capacity(document.len() / 2);
    let text = Text { written, lines: 1, line: 1, left_out: None, is_xml };
    let never = CancelToken::new(); // a file is short, so its reading is never cancelled
    read(document, text, &never).expect("it is never cancelled").written
}

/// The text that has been written so far.
struct Text {
    written: String,
    /// The number of lines in the text.
    lines: usize,
    /// The current line in the document.
    line: usize,
    /// The name of the element that is being skipped: a script or a style.
    left_out: Option<String>,
    is_xml: bool,
}

impl Reader for Text {
    fn is_xml(&self, _: &str) -> bool {
        self.is_xml
    }

    fn characters(&mut self, characters: &str) {
        if self.left_out.is_some() {
            return;
        }
        self.written.extend(iter::repeat_n('\n', self.line - self.lines));
        self.lines = self.line;
        // Line breaks of the document are written just before the next text. A line break that is written
        // as `&#10;` is not a line break of the document.
        self.written.extend(characters.chars().map(|c| if c == '\n' { ' ' } else { c }));
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        let name = tag.name();
        match &self.left_out {
            Some(left_out) if tag.is_end && left_out == name => self.left_out = None,
            None if !tag.is_end && !tag.is_empty && matches!(name, "script" | "style") => {
                self.left_out = Some(name.to_owned());
            }
            _ => (),
        }
        if !INLINE.contains(&name) {
            self.written.push(' ');
        }
    }

    fn line_ended(&mut self) {
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of each line.
    fn lines(document: &str) -> Vec<Vec<String>> {
        text(document, false)
            .split('\n')
            .map(|line| line.split_whitespace().map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn a_word_is_in_the_line_in_which_the_document_has_it() {
        let document = "<!doctype html>\n<title>One\nTwo</title><style>\nx{}\n</style>\r\n<p\nclass=a>Three<!-- a\nb -->four\n\n\n\
                        &lt;five&#10;six<script>\nvar hidden;\n</script>\n<b>se</b>ven <li>eight<li>nine\n";
        let found = lines(document);
        for (number, line) in document.split('\n').enumerate() {
            for word in found.get(number).into_iter().flatten() {
                let visible = word.trim_start_matches('<').chars().take(2).collect::<String>();
                assert!(line.contains(&visible), "{word:?} is not in line {number}: {line:?}");
            }
        }
        let words: Vec<_> = found.concat();
        assert_eq!(words, ["One", "Two", "Three", "four", "<five", "six", "seven", "eight", "nine"]);
    }

    #[test]
    fn an_element_without_an_end_is_no_trouble() {
        assert_eq!(lines("a<script>\nb\nc"), [vec!["a"]]);
        assert_eq!(lines("a</script>b<p"), [vec!["a", "b"]]);
        assert_eq!((text("<script/>a", true), text("<script/>a", false)), (" a".to_owned(), " ".to_owned()));
    }

    #[test]
    fn a_long_comment_and_long_text_are_kept_in_their_lines() {
        let found =
            lines(&format!("a<!--{}-->b {}\nc", "x> - x ->\n".repeat(20_000), "word ".repeat(50_000)));
        assert_eq!(found.len(), 20_002);
        assert_eq!(
            (found[0][0].as_str(), found[20_000][0].as_str(), found[20_000].len()),
            ("a", "b", 50_001)
        );
        assert_eq!(found[20_001], ["c"]);
    }
}
