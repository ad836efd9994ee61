//! Escapes dangerous characters in a text from outside: line ends, characters that control a terminal or
//! change the direction of writing, and invisible characters. With dangerous characters, an attacker could
//! forge records that were never logged, or hide records.
//!
//! Four invisible characters are allowed, because ordinary texts contain them. The four are the joiners of
//! Persian and of the scripts of India (U+200C, U+200D), and the selectors for the look of an emoji
//! (U+FE0E, U+FE0F).
//!
//! Few texts have a dangerous character, so bytes are checked eight at a time, and a sequence of harmless bytes
//! is copied as a whole.

/// The notation for a character that must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// The notation of Rust, `\n` and `\u{1b}`; a backslash is not escaped.
    Shown,
    /// The notation of `Shown`, but for a text in quotation marks: quotation marks and backslashes are
    /// escaped, too.
    Quoted,
    /// The notation of a JSON string.
    Json,
}

/// A piece of a text.
pub(super) enum Piece<'a> {
    /// A harmless text, which may be cut at any character.
    Run(&'a str),
    /// The escape of one character, which is written completely or not at all.
    Escape(&'a str),
}

impl Escapes {
    /// Passes on a text in pieces, in order.
    pub(super) fn pieces(self, text: &str, mut each: impl FnMut(Piece<'_>)) {
        let mut rest = text;
        // A suspicious character that turns out to be harmless does not end the harmless text.
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

    /// Returns true if the text has a character that must be escaped.
    pub(super) fn are_needed(self, text: &str) -> bool {
        self.suspicious(text.as_bytes()).is_some_and(|at| !text[at..].chars().all(|c| self.harmless(c)))
    }

    /// Returns the position of the first byte that can begin a forbidden character.
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

    /// Returns true if eight bytes are ASCII without a character to escape; all eight bytes are checked
    /// together. The result may be false even for eight bytes without a character to escape.
    #[inline]
    fn is_plain(self, word: [u8; 8]) -> bool {
        const EACH: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * EACH;
        let word = u64::from_ne_bytes(word);
        // Sets the high bit of each byte that is less than `limit` (the borrow may also set the high bit of
        // the next byte).
        let below = |word: u64, limit: u64| word.wrapping_sub(limit * EACH) & !word;
        let equals = |byte: u8| below(word ^ (u64::from(byte) * EACH), 1);
        let mut found = word | below(word, 0x20) | equals(0x7f);
        if self != Self::Shown {
            found |= equals(b'"') | equals(b'\\');
        }
        found & HIGH == 0
    }

    /// Returns true if a byte is a character that must be checked, or may be the first byte of such a
    /// character.
    fn suspects(self, byte: u8) -> bool {
        match byte {
            // The listed bytes from 0x80 on are the first bytes of the non-ASCII characters of `forbidden`,
            // and also of many other characters.
            ..0x20 | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3 => true,
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
        let mut text = [0; 12]; // the longest is `\ud83d\ude00`: JSON writes two UTF-16 units
        let mut length = 0;
        let mut push = |byte| {
            text[length] = byte;
            length += 1;
        };
        let digit = |of: u32, place: u32| b"0123456789abcdef"[(of >> (4 * place) & 0xf) as usize];
        if self == Self::Json {
            for &mut unit in c.encode_utf16(&mut [0; 2]) {
                push(b'\\');
                push(b'u');
                (0..4).rev().for_each(|place| push(digit(unit.into(), place)));
            }
        } else {
            let digits = (u32::BITS - u32::from(c).leading_zeros()).div_ceil(4).max(1);
            push(b'\\');
            push(b'u');
            push(b'{');
            (0..digits).rev().for_each(|place| push(digit(c.into(), place)));
            push(b'}');
        }
        each(str::from_utf8(&text[..length]).unwrap_or_default());
    }
}

/// Returns at least the last `length` bytes, as an array of eight bytes. If there are fewer than eight bytes,
/// the bytes are repeated to fill the array.
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

/// Returns true for control characters (C0, DEL, C1), line and paragraph separators, and direction marks.
/// Also returns true for interlinear annotation marks, for the blank Braille pattern, and for the characters
/// that Unicode calls ignorable (`Default_Ignorable_Code_Point`), except for the four allowed characters.
fn forbidden(c: char) -> bool {
    matches!(
        c,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
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

    #[test]
    fn what_shows_nothing_is_shown_and_what_ordinary_texts_have_stays() {
        let hidden = "pay\u{200b}pal tag\u{e0041}\u{e007f} bom\u{feff} filler\u{3164}";
        let shown = r"pay\u{200b}pal tag\u{e0041}\u{e007f} bom\u{feff} filler\u{3164}";
        assert_eq!(escaped(Escapes::Shown, hidden), shown);
        let json = format!("\"{}\"", escaped(Escapes::Json, hidden));
        assert!(json.is_ascii(), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hidden);
        for ordinary in ["می\u{200c}خواهم", "ක්\u{200d}ෂ", "❤\u{fe0f}", "👩\u{200d}🚀", "ひらがな", "Größe"]
        {
            assert_eq!(escaped(Escapes::Shown, ordinary), ordinary);
        }
    }
}
