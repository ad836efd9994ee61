//! HTML, read by the tokenizer of `html5ever`, in time that grows with the document and not faster.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use memchr::memmem;
use std::cell::{Cell, RefCell};
use std::mem;

/// How far into a document a `<meta>` may name its encoding.
pub const PRESCAN: usize = 1024;

/// Bytes that the tokenizer gets at once.
const PIECE: usize = 1 << 10;

/// Bytes that one tag may have until it is [`shortened`]. The tokenizer compares each attribute of a tag with all that came before,
/// so a tag with a million of them would keep it busy for hours.
pub const LONGEST_TAG: usize = 16 << 10;

/// Stands in a tag for what is left out of it when it is [`shortened`], so that a value that was cut can be told. It is no character,
/// and no URL has it.
pub const CUT: char = '\u{fdd0}';

/// What is made of a document.
pub trait Reader {
    /// Characters between tags, also those of scripts and styles. [`CUT`] is none of them.
    fn characters(&mut self, _text: &str) {}

    /// A tag: the beginning of an element, or its end. A value with [`CUT`] in it lacks a part, and what came later in the tag is missing.
    fn tag(&mut self, tag: &Tag);

    /// A line of the document has been read.
    fn line_ended(&mut self) {}

    /// The document is XHTML: an element that is closed in its own tag has no content.
    fn is_xml(&self) -> bool {
        false
    }
}

/// The encoding that the first `<meta>` names which names one.
pub fn encoding(document: &[u8]) -> Option<&'static Encoding> {
    let begin = document[..document.len().min(PRESCAN)].to_ascii_lowercase();
    let named = memmem::find_iter(&begin, b"<meta").find_map(|at| {
        let tag = &begin[at..];
        label(tag.split(|byte| *byte == b'>').next()?)
    })?;
    // The tag was readable as ASCII, so the document cannot be UTF-16.
    Some(if named == UTF_16LE || named == UTF_16BE { UTF_8 } else { named })
}

/// The encoding whose label stands behind `charset=`.
pub fn label(text: &[u8]) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let after = &text[memmem::find(&text, b"charset")? + b"charset".len()..];
    let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\'' | b';' | b'/') || byte.is_ascii_whitespace();
    Encoding::for_label(value.split(is_end).next()?)
}

/// Shows all of a document to a reader. Each token comes while its line is being read.
pub fn read<R: Reader>(document: &str, reader: R) -> R {
    let sink = Sink { reader: RefCell::new(reader), tokens: Cell::new(0) };
    let (input, tokenizer) = (BufferQueue::default(), Tokenizer::new(sink, TokenizerOpts::default()));
    let (mut rest, mut tokens, mut bytes, mut is_cut) = (document, 0, 0, false);
    while !rest.is_empty() {
        if tokenizer.sink.tokens.get() != tokens {
            (tokens, bytes, is_cut) = (tokenizer.sink.tokens.get(), 0, false);
        }
        // Never more than the rest of a line: the tokenizer's own count of lines leaves some out.
        let is_long = bytes >= LONGEST_TAG;
        let piece = match (is_long, is_cut) {
            (false, _) => rest[..rest.floor_char_boundary(PIECE)].split_inclusive('\n').next(),
            (true, false) => rest.split_inclusive(|_| true).next(), // what is no tag brings a token soon
            (true, true) => rest.split_inclusive(['\n', '>']).next(), // what comes behind a tag is content again
        };
        let piece = piece.unwrap_or(rest);
        rest = &rest[piece.len()..];
        bytes += piece.len();
        input.push_back(if is_long { shortened(piece, &mut is_cut) } else { StrTendril::from_slice(piece) });
        let _ = tokenizer.feed(&input); // it pauses at scripts only if told to
        if piece.ends_with('\n') {
            tokenizer.sink.reader.borrow_mut().line_ended();
        }
    }
    tokenizer.end();
    tokenizer.sink.reader.into_inner()
}

/// Keeps what may end a tag or comment that is too long, and what may end a value in it. [`CUT`] stands for all that is left out of one.
///
/// Without a `=` no other value begins, so the one that may be cut is the one that had begun before. Without spaces no more than two
/// attributes come to those that the tag has.
fn shortened(piece: &str, is_cut: &mut bool) -> StrTendril {
    let before = piece.strip_suffix('>').unwrap_or(piece);
    // Comments end with `-->` or `--!>`.
    let dashes = before.bytes().rev().take(3).take_while(|byte| matches!(byte, b'-' | b'!')).count();
    let (inside, end) = piece.split_at(before.len() - dashes);
    let mut kept = String::new();
    for c in inside.chars() {
        if matches!(c, '"' | '\'') {
            kept.push(c);
        } else if !mem::replace(is_cut, true) {
            // A value without quotes has ended and was not cut.
            kept.push_str(if c.is_ascii_whitespace() { " " } else { "" });
            kept.push(CUT);
        }
    }
    kept.push_str(end);
    StrTendril::from_slice(&kept)
}

/// Gets the tokens of a document.
struct Sink<R> {
    reader: RefCell<R>,
    /// How many there were.
    tokens: Cell<usize>,
}

impl<R: Reader> TokenSink for Sink<R> {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.tokens.set(self.tokens.get() + 1);
        let mut reader = self.reader.borrow_mut();
        match token {
            // Some character references are read as slowly as tags.
            Token::CharacterTokens(text) if text.contains(CUT) => reader.characters(&text.replace(CUT, "")),
            Token::CharacterTokens(text) => reader.characters(&text),
            Token::TagToken(tag) => {
                reader.tag(&tag);
                if tag.kind == TagKind::StartTag && !(tag.self_closing && reader.is_xml()) {
                    return raw(&tag.name);
                }
            }
            _ => (),
        }
        TokenSinkResult::Continue
    }
}

/// Of some elements the content is no markup.
fn raw(name: &str) -> TokenSinkResult<()> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_meta_names_the_encoding() {
        for (document, name) in [
            ("<meta charset=shift_jis>", Some("Shift_JIS")),
            ("<META CHARSET = \"koi8-r\" >", Some("KOI8-R")),
            ("<meta http-equiv=content-type content='text/html; charset=latin1'>", Some("windows-1252")),
            ("<meta name=a><meta charset=utf-16>", Some("UTF-8")),
            ("<meta charset=nothing>", None),
            ("<p>charset=koi8-r", None),
        ] {
            assert_eq!(encoding(document.as_bytes()).map(Encoding::name), name, "{document}");
        }
    }

    /// The names of the tags, the longest value of an attribute, and the text.
    #[derive(Default)]
    struct Seen {
        tags: Vec<String>,
        value: String,
        attributes: usize,
        text: String,
    }

    impl Reader for Seen {
        fn characters(&mut self, text: &str) {
            self.text.push_str(text);
        }

        fn tag(&mut self, tag: &Tag) {
            self.tags.push(tag.name.to_string());
            self.attributes = self.attributes.max(tag.attrs.len());
            for attribute in &tag.attrs {
                if attribute.value.len() > self.value.len() {
                    self.value = attribute.value.to_string();
                }
            }
        }
    }

    fn seen(document: &str) -> Seen {
        read(document, Seen::default())
    }

    #[test]
    fn what_ends_a_long_tag_still_ends_it() {
        let much = "x".repeat(2 * LONGEST_TAG);
        for (tag, value) in [
            (format!("<p a={much}>"), true),
            (format!("<p a={much} b='>"), true),
            (format!("<p a='{much}>{much}'>"), true),
            (format!("<p a='{much}>{}'>", "\"".repeat(5000)), true),
            (format!("<p a='{much}\n>\n' b='>"), true),
            (format!("<p a='x'{much} b='y>"), false),
            (format!("<p a={} b c>", "x".repeat(LONGEST_TAG - "<p a=".len())), false),
            (format!("<p a={}b c>", "x".repeat(LONGEST_TAG - "<p a=".len())), true),
            (format!("<p a='x'{}>", " ".repeat(2 * LONGEST_TAG)), false),
            (format!("<p {much}>"), false),
        ] {
            let found = seen(&format!("{tag}<b>text</b>"));
            assert_eq!((found.tags.concat(), found.text.as_str()), ("pbb".to_owned(), "text"), "{tag:.20}");
            assert_eq!(found.value.contains(CUT), value, "{tag:.20}");
        }
        assert!(seen(&format!("<p {much}><p a={much}>")).value.contains(CUT), "also in the second tag");
        for end in ["-->", "--!>", "---->", "!-->"] {
            let comment = format!("<!--{much} - -> -x->\n-\n-><i>{end}");
            let found = seen(&format!("{comment}text<b>"));
            assert_eq!((found.tags.concat(), found.text), ("b".to_owned(), "text".to_owned()), "{end}");
        }
    }

    /// Each character of the end is once the first that comes to a tokenizer that has had too many.
    #[test]
    fn a_comment_ends_wherever_a_piece_ends() {
        for length in LONGEST_TAG - 20..LONGEST_TAG + 20 {
            let found = seen(&format!("<!--{}-x-> ---><b>", "x".repeat(length)));
            assert_eq!((found.tags.concat(), found.text.as_str()), ("b".to_owned(), ""), "{length}");
        }
    }

    #[test]
    fn what_stands_for_what_was_cut_is_no_text() {
        let found = seen(&format!("a &#{}; b", "1".repeat(2 * LONGEST_TAG)));
        assert!(found.text.starts_with("a \u{fffd}") && found.text.ends_with("1; b"));
        assert!(!found.text.contains(CUT));
        assert_eq!(seen("a\u{fdd0}b").text, "ab");
    }

    /// Values that end, each with the end of a tag in it that is none, and at the end of each piece a value that has just begun.
    fn values(count: usize) -> String {
        let mut written = format!("<p a='{}", "x".repeat(LONGEST_TAG - "<p a='".len()));
        for number in 0..count {
            written.extend([">' a", &number.to_string(), "='"]);
            let room = (PIECE - written.len() % PIECE) % PIECE;
            if room < 20 {
                written.push_str(&"x".repeat(room));
            }
        }
        written + "'>"
    }

    #[test]
    fn hostile_tags_are_read_in_time_and_with_few_attributes() {
        let attributes = (0..3000).map(|n| format!(" {n}")).collect::<Vec<_>>().concat();
        for (what, tag) in [
            ("attributes", (0..300_000).map(|n| format!(" {n}=\n")).collect::<Vec<_>>().concat()),
            ("the same attribute", format!("{attributes}{}", " a=''".repeat(100_000))),
            ("dashes", format!("{attributes}{}", " -".repeat(300_000))),
            ("dashes in lines", format!("{attributes}{}", "\n-".repeat(300_000))),
            ("quotes", format!("{attributes}{}", " ' \"".repeat(200_000))),
            ("slashes", format!("{attributes}{}", "/'/\"/a='/'".repeat(100_000))),
        ] {
            let begun = Instant::now();
            let found = seen(&format!("<p{tag}><b>"));
            assert_eq!(found.tags, ["p", "b"], "{what}");
            assert!(found.attributes < 6000, "{what}: {}", found.attributes);
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {:?}", begun.elapsed());
        }
        let begun = Instant::now();
        let found = seen(&(values(100_000) + "<b>"));
        assert!(found.tags.len() == 2 && found.attributes < 4, "{:?} {}", found.tags, found.attributes);
        assert!(begun.elapsed() < Duration::from_secs(20), "values: {:?}", begun.elapsed());
    }
}
