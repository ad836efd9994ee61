//! What a text from outside may not bring into a line: ends of lines, and characters that steer a terminal or turn the
//! direction of writing. Who could write them could forge records that were never logged.
//!
//! Nearly every text has none of them, so bytes are looked at eight at a time, and a run of harmless ones is copied as a whole.

/// How a character is written that may not stand there as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// As Rust does, `\n` and `\u{1b}`; a backslash stays as it is.
    Shown,
    /// The same between quotation marks, so that marks and backslashes are escaped, too.
    Quoted,
    /// As in a string of JSON.
    Json,
}

/// A piece of a text.
pub(super) enum Piece<'a> {
    /// Harmless: it may be cut at any character.
    Run(&'a str),
    /// What stands for a character: whole or not at all.
    Escape(&'a str),
}

impl Escapes {
    /// Hands over a text in pieces, in order.
    pub(super) fn pieces(self, text: &str, mut each: impl FnMut(Piece<'_>)) {
        let mut rest = text;
        // A run goes on over a character that only looked suspicious.
        let mut looked_at = 0;
        while let Some(at) = self.suspicious(&rest.as_bytes()[looked_at..]) {
            let at = looked_at + at;
            let Some(found) = rest[at..].chars().next() else { break };
            looked_at = at + found.len_utf8();
            if self.harmless(found) {
                continue;
            }
            if at > 0 {
                each(Piece::Run(&rest[..at]));
            }
            self.escape(found, |escape| each(Piece::Escape(escape)));
            rest = &rest[looked_at..];
            looked_at = 0;
        }
        if !rest.is_empty() {
            each(Piece::Run(rest));
        }
    }

    /// Whether anything in it has to be escaped.
    pub(super) fn are_needed(self, text: &str) -> bool {
        self.suspicious(text.as_bytes()).is_some_and(|at| !text[at..].chars().all(|c| self.harmless(c)))
    }

    /// Where the first byte stands that a forbidden character can begin with.
    #[inline]
    fn suspicious(self, bytes: &[u8]) -> Option<usize> {
        let (words, rest) = bytes.as_chunks::<8>();
        for (n, word) in words.iter().enumerate() {
            if !self.is_plain(*word)
                && let Some(at) = word.iter().position(|&byte| self.suspects(byte))
            {
                return Some(n * 8 + at);
            }
        }
        if self.is_plain(end_of(bytes, rest.len())) {
            return None;
        }
        rest.iter().position(|&byte| self.suspects(byte)).map(|at| words.len() * 8 + at)
    }

    /// Whether eight bytes are ASCII without anything to escape, found without looking at each. It may say no of a plain word.
    #[inline]
    fn is_plain(self, word: [u8; 8]) -> bool {
        const EACH: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * EACH;
        let word = u64::from_ne_bytes(word);
        // Sets the high bit of a byte that is less than `limit` (and, by the borrow, perhaps that of the byte above).
        let below = |word: u64, limit: u64| word.wrapping_sub(limit * EACH) & !word;
        let equals = |byte: u8| below(word ^ (u64::from(byte) * EACH), 1);
        let mut found = word | below(word, 0x20) | equals(0x7f);
        if self != Self::Shown {
            found |= equals(b'"') | equals(b'\\');
        }
        found & HIGH == 0
    }

    /// Whether a byte is, or may be the first of, a character that has to be looked at.
    fn suspects(self, byte: u8) -> bool {
        match byte {
            // The last three begin U+0080 to U+00BF, U+0600 to U+063F and U+2000 to U+2FFF.
            ..0x20 | 0x7f | 0xc2 | 0xd8 | 0xe2 => true,
            b'"' | b'\\' => self != Self::Shown,
            _ => false,
        }
    }

    fn harmless(self, c: char) -> bool {
        !(forbidden(c) || self != Self::Shown && matches!(c, '"' | '\\'))
    }

    fn escape(self, c: char, each: impl FnOnce(&str)) {
        match c {
            '\n' => each(r"\n"),
            '\r' => each(r"\r"),
            '\t' => each(r"\t"),
            '"' => each(r#"\""#),
            '\\' => each(r"\\"),
            _ => self.escape_by_number(c, each),
        }
    }

    fn escape_by_number(self, c: char, each: impl FnOnce(&str)) {
        let mut text = [0; 10]; // `\u{10ffff}`
        let mut length = 0;
        let mut push = |byte| {
            text[length] = byte;
            length += 1;
        };
        let digit = |place: u32| b"0123456789abcdef"[(u32::from(c) >> (4 * place) & 0xf) as usize];
        push(b'\\');
        push(b'u');
        if self == Self::Json {
            // None of the forbidden ones needs more than four digits.
            (0..4).rev().for_each(|place| push(digit(place)));
        } else {
            push(b'{');
            let digits = (u32::BITS - u32::from(c).leading_zeros()).div_ceil(4).max(1);
            (0..digits).rev().for_each(|place| push(digit(place)));
            push(b'}');
        }
        each(str::from_utf8(&text[..length]).unwrap_or_default());
    }
}

/// The last bytes, `length` of them at least, as a word. What is missing of the word is made of others of these bytes.
#[inline]
fn end_of(bytes: &[u8], length: usize) -> [u8; 8] {
    if let Some(end) = bytes.last_chunk() {
        return *end;
    }
    let mut word = [b' '; 8];
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        word[..4].copy_from_slice(first);
        word[4..].copy_from_slice(last);
    } else if length > 0 {
        (word[0], word[1], word[2]) = (bytes[0], bytes[length / 2], bytes[length - 1]);
    }
    word
}

/// Controls (C0, DEL, C1), ends of lines and paragraphs, and what sets the direction of writing.
fn forbidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(escapes: Escapes, text: &str) -> String {
        let mut out = String::new();
        escapes.pieces(text, |piece| match piece {
            Piece::Run(text) | Piece::Escape(text) => out.push_str(text),
        });
        out
    }

    #[test]
    fn every_character_alone_and_in_the_middle_of_long_texts() {
        for c in '\0'..=char::MAX {
            let shown = escaped(Escapes::Shown, c.encode_utf8(&mut [0; 4]));
            assert!(!shown.contains(forbidden), "{c:?}");
            assert_eq!(shown == c.to_string(), !forbidden(c), "{c:?}");
            if c.is_control() {
                assert_eq!(shown, c.escape_debug().to_string().replace(r"\0", r"\u{0}"));
            }
        }
        for before in 0..40 {
            let text = "x".repeat(before) + "é\u{202e}–\u{85}" + &"y".repeat(40 - before);
            let expected = "x".repeat(before) + r"é\u{202e}–\u{85}" + &"y".repeat(40 - before);
            assert_eq!(escaped(Escapes::Shown, &text), expected);
        }
    }

    #[test]
    fn marks_and_backslashes_are_escaped_where_they_have_a_meaning() {
        let text = r#"C:\temp "quoted""#;
        assert_eq!(escaped(Escapes::Shown, text), text);
        assert_eq!(escaped(Escapes::Quoted, text), r#"C:\\temp \"quoted\""#);
        assert_eq!(escaped(Escapes::Json, "\"\\\n\x1b\u{2028}"), r#"\"\\\n\u001b\u2028"#);
    }
}
