//! Characters to tokens, in time that grows with their number only.
//!
//! The tokenizer compares each attribute of a tag with all those before it. So a page of one tag with a million attributes
//! would keep it busy for hours. It gets the document piece by piece; if pieces go by without a token, a long tag or a comment is
//! being read, and after [`MOST_SEPARATORS`] it gets only the characters that may end it.

use super::blocks::Blocks;
use super::parse::Sink;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tokenizer, TokenizerOpts};

/// Bytes that the tokenizer gets at once.
const PIECE: usize = 1 << 10;

/// Characters that may come before another attribute, in one tag.
const MOST_SEPARATORS: usize = 500;

pub(super) fn feed(text: &str, blocks: Blocks) -> Blocks {
    let (input, tokenizer) =
        (BufferQueue::default(), Tokenizer::new(Sink::new(blocks), TokenizerOpts::default()));
    let (mut rest, mut separators, mut tokens) = (text, 0, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = after;
        if tokenizer.sink.tokens() != tokens {
            (separators, tokens) = (0, tokenizer.sink.tokens());
        }
        if separators > MOST_SEPARATORS {
            let ends: String = piece.chars().filter(|c| matches!(c, '"' | '\'' | '=' | '>' | '-')).collect();
            // What comes behind the end is content again.
            let until = piece.find('>').map_or(piece.len(), |at| at + 1);
            let kept = ends.find('>').map_or(ends.len(), |at| at + 1);
            input.push_back(StrTendril::from_slice(&ends[..kept]));
            rest = &text[text.len() - rest.len() - (piece.len() - until)..];
        } else {
            separators += piece.bytes().filter(|b| b.is_ascii_whitespace() || b"/\"'".contains(b)).count();
            input.push_back(StrTendril::from_slice(piece));
        }
        let _ = tokenizer.feed(&input); // it pauses at scripts only if told to
    }
    tokenizer.end();
    tokenizer.sink.into_blocks()
}
