//! Splits text into words, in the same way for indexing, for searching, and for showing a line of a file.
//!
//! A word is a run of letters and digits, in lower case and without accents; for example, `Café_2` gives
//! the words `cafe` and `2`. Only Latin and Greek letters lose their accents when a text is split. In other
//! scripts a letter with a mark is another letter. For example, the letter `й` differs from `и`,
//! whether `й` is stored as one character or as two. Each Chinese or Japanese character is a word of
//! its own, because these scripts do not separate words. A search for several Chinese or Japanese
//! characters is a search for a phrase. All other characters only separate words, so `std::io` is
//! the phrase `std io`.

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};
use tantivy::tokenizer::{AsciiFoldingFilter, TextAnalyzer, Token, TokenStream, Tokenizer};

/// The largest length of a word, in bytes. Longer runs of letters and digits are data, such as pictures in
/// base64, and are not indexed. A SHA-256 hash in hexadecimal digits has exactly this length.
const LONGEST: usize = 64;

/// The name under which the index knows this way of splitting text.
pub(super) const NAME: &str = "words";

/// Returns an analyzer that splits text into words.
pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).filter(AsciiFoldingFilter).build()
}

/// Returns the words of a short text.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    analyzer().token_stream(text).process(&mut |token| words.push(token.text.clone()));
    words
}

#[derive(Clone, Default)]
struct Words {
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, token: &mut self.token }
    }
}

struct WordStream<'a> {
    text: &'a str,
    /// The number of bytes of the text that have been read.
    at: usize,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        while let Some(from) = self.begin() {
            let (to, is_ascii) = self.end(from);
            self.at = to;
            self.token.position = self.token.position.wrapping_add(1);
            if to - from <= LONGEST {
                (self.token.offset_from, self.token.offset_to) = (from, to);
                self.write(&self.text[from..to], is_ascii);
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

impl<'a> WordStream<'a> {
    /// Returns the position at which the next word begins. Most bytes are ASCII, so ASCII is checked first.
    fn begin(&self) -> Option<usize> {
        let (bytes, mut at) = (self.text.as_bytes(), self.at);
        loop {
            at += bytes[at..].iter().position(|byte| CLASS[usize::from(*byte)] != Class::Between)?;
            if bytes[at].is_ascii() {
                return Some(at);
            }
            let c = self.char_at(at);
            if c.is_alphanumeric() {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }

    /// Returns the end of the word that begins at `from`, and whether the word is ASCII.
    fn end(&self, from: usize) -> (usize, bool) {
        let (bytes, mut at) = (self.text.as_bytes(), from);
        loop {
            let rest = &bytes[at..];
            let length = rest.iter().position(|byte| CLASS[usize::from(*byte)] != Class::Word);
            at += length.unwrap_or(rest.len());
            if bytes.get(at).is_none_or(u8::is_ascii) {
                return (at, self.text[from..at].is_ascii());
            }
            let c = self.char_at(at);
            if is_word_by_itself(c) {
                return if at == from { (self.without_marks(at + c.len_utf8()), false) } else { (at, false) };
            }
            if !c.is_alphanumeric() && !is_mark(c) && !is_invisible(c) {
                return (at, false);
            }
            at += c.len_utf8();
        }
    }

    /// Returns the position after the marks at `at`, because these marks belong to the character before `at`.
    fn without_marks(&self, at: usize) -> usize {
        let marks = self.text[at..].chars().take_while(|c| is_mark(*c));
        at + marks.map(char::len_utf8).sum::<usize>()
    }

    fn write(&mut self, word: &'a str, is_ascii: bool) {
        self.token.text.clear();
        if is_ascii {
            self.token.text.push_str(word);
            self.token.text.make_ascii_lowercase();
        } else {
            let visible = word.chars().filter(|c| !is_invisible(*c));
            let composed = ComposingNormalizerBorrowed::new_nfc().normalize_iter(visible);
            // Characters are converted to capitals first, because `σ` and `ς` have the same capital.
            let lower = composed.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
            self.token.text.extend(lower.map(without_accents).filter(|c| !is_mark(*c)));
        }
    }

    fn char_at(&self, at: usize) -> char {
        self.text[at..].chars().next().expect("a character begins there")
    }
}

/// The class of a byte in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Between,
    /// A part of a character of several bytes, which must be decoded.
    NotAscii,
}

static CLASS: [Class; 256] = {
    let mut classes = [Class::NotAscii; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        classes[byte as usize] = if byte.is_ascii_alphanumeric() { Class::Word } else { Class::Between };
        byte += 1;
    }
    classes
};

/// Returns true for accents that follow their letter. For a reader, `e` followed by U+0301 is the same as
/// `é`.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

/// Returns true for invisible characters in a word, such as a soft hyphen; they mark a place where the word
/// may be broken or must not be broken. The Unicode rules for word boundaries (UAX 29) also ignore invisible
/// characters.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns a Greek letter without its accents. The library's filter removes accents only from Latin letters.
fn without_accents(mut letter: char) -> char {
    while let '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' = letter
        && let Decomposed::Expansion(bare, _) = CanonicalDecompositionBorrowed::new().decompose(letter)
    {
        letter = bare;
    }
    letter
}

/// Returns true for characters of scripts without spaces: kana, and the characters that Unicode calls
/// ideographs.
fn is_word_by_itself(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, each with its words.
    const TABLE: &[(&str, &[&str])] = &[
        ("", &[]),
        (" -- !? ", &[]),
        ("Hello, World", &["hello", "world"]),
        ("snake_case std::io v1.2", &["snake", "case", "std", "io", "v1", "2"]),
        ("Café CAFE\u{301} naïve", &["cafe", "cafe", "naive"]),
        ("Straße ΣΟΦΙΑ Привет", &["strasse", "σοφια", "привет"]),
        ("日本語 text東京", &["日", "本", "語", "text", "東", "京"]),
        ("か\u{3099}く がく かく", &["が", "く", "が", "く", "か", "く"]),
        ("ΣΊΣΥΦΟΣ σίσυφος ΣΙΣΥΦΟΣ σι\u{301}συφος", &["σισυφοσ"; 4]),
        ("ἄνθρωπος ΐ ΰ µm ϑ", &["ανθρωποσ", "ι", "υ", "μm", "θ"]),
        ("ЙОД йод и\u{306}од иод Ё", &["йод", "йод", "йод", "иод", "ё"]),
        ("한글 \u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", &["한글", "한글"]),
        ("wor\u{ad}ld می\u{200c}خواهم \u{ad} a\u{2060}\u{feff}b", &["world", "میخواهم", "ab"]),
        ("a\u{a0}b\u{200b}c", &["a", "b", "c"]),
    ];

    #[test]
    fn text_becomes_words() {
        for (text, words) in TABLE {
            assert_eq!(words_of(text), *words, "{text:?}");
        }
    }

    #[test]
    fn a_word_says_where_it_stands() {
        let mut analyzer = analyzer();
        let text = "“Ünder” the 東 hat";
        let mut stream = analyzer.token_stream(text);
        let mut seen = Vec::new();
        while stream.advance() {
            let token = stream.token();
            seen.push((token.position, &text[token.offset_from..token.offset_to]));
        }
        assert_eq!(seen, [(0, "Ünder"), (1, "the"), (2, "東"), (3, "hat")]);
    }

    #[test]
    fn what_is_too_long_is_left_out_and_counted() {
        let text = format!("before {} after", "x".repeat(LONGEST + 1));
        let mut analyzer = analyzer();
        let mut stream = analyzer.token_stream(&text);
        let mut seen = Vec::new();
        while stream.advance() {
            seen.push((stream.token().position, stream.token().text.clone()));
        }
        assert_eq!(seen, [(0, "before".to_owned()), (2, "after".to_owned())]);
    }
}
