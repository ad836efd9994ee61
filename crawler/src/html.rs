//! HTML, read by the tokenizer of `html5ever`, in time that grows with the document and not faster.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::{Cell, RefCell};

/// How far into a document a `<meta>` may name its encoding.
const PRESCAN: usize = 1024;

/// Bytes that the tokenizer gets at once.
const PIECE: usize = 1 << 10;

/// Bytes that one tag may have until it is [`shortened`]. The tokenizer compares each attribute of a tag with all that came before,
/// so a tag with a million of them would keep it busy for hours.
const LONGEST_TAG: usize = 16 << 10;

/// Quotes that are kept of a tag that is shortened.
const MOST_QUOTES: usize = 1000;

/// What is made of a document.
pub(crate) trait Reader {
    /// Characters between tags, also those of scripts and styles.
    fn characters(&mut self, text: &str);

    /// A tag: the beginning of an element, or its end.
    fn tag(&mut self, tag: &Tag);

    /// A line of the document has been read.
    fn line_ended(&mut self) {}
}

/// The encoding that the first `<meta>` names which names one.
pub(crate) fn encoding(document: &[u8]) -> Option<&'static Encoding> {
    let begin = document[..document.len().min(PRESCAN)].to_ascii_lowercase();
    let begin = String::from_utf8_lossy(&begin);
    let named = begin.split("<meta").skip(1).find_map(|meta| {
        let tag = meta.split('>').next()?;
        let value = tag.split_once("charset")?.1.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| matches!(c, '"' | '\'' | ';' | '/') || c.is_ascii_whitespace());
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    })?;
    // Whoever could read this far has read ASCII.
    Some(if named == UTF_16LE || named == UTF_16BE { UTF_8 } else { named })
}

/// Shows all of a document to a reader. Each token comes while its line is being read.
pub(crate) fn read<R: Reader>(document: &str, reader: R) -> R {
    let sink = Sink { reader: RefCell::new(reader), tokens: Cell::new(0) };
    let (input, tokenizer) = (BufferQueue::default(), Tokenizer::new(sink, TokenizerOpts::default()));
    let (mut rest, mut tokens, mut bytes, mut quotes) = (document, 0, 0, 0);
    while !rest.is_empty() {
        // Never more than the rest of a line: the tokenizer's own count of lines leaves some out.
        let piece = &rest[..rest.floor_char_boundary(PIECE)];
        let piece = piece.split_inclusive('\n').next().unwrap_or(piece);
        rest = &rest[piece.len()..];
        if tokenizer.sink.tokens.get() != tokens {
            (tokens, bytes, quotes) = (tokenizer.sink.tokens.get(), 0, 0);
        }
        bytes += piece.len();
        let is_long = bytes > LONGEST_TAG;
        input.push_back(if is_long { shortened(piece, &mut quotes) } else { StrTendril::from_slice(piece) });
        let _ = tokenizer.feed(&input); // it pauses at scripts only if told to
        if piece.ends_with('\n') {
            tokenizer.sink.reader.borrow_mut().line_ended();
        }
    }
    tokenizer.end();
    tokenizer.sink.reader.into_inner()
}

/// Of a piece of a tag or comment that is too long: what may end it, and its lines. What comes behind an end is content again.
fn shortened(piece: &str, quotes: &mut usize) -> StrTendril {
    let (tag, after) = piece.split_at(piece.find('>').unwrap_or(piece.len()));
    let mut kept = String::with_capacity(piece.len());
    for c in tag.chars() {
        let is_quote = matches!(c, '"' | '\'');
        *quotes += usize::from(is_quote);
        if matches!(c, '-' | '\n') || is_quote && *quotes <= MOST_QUOTES {
            kept.push(c);
        } else if !kept.ends_with(' ') {
            kept.push(' '); // so that no two dashes come together that were apart
        }
    }
    kept.push_str(after);
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
            Token::CharacterTokens(text) => reader.characters(&text),
            Token::TagToken(tag) => {
                reader.tag(&tag);
                if tag.kind == TagKind::StartTag {
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
}
