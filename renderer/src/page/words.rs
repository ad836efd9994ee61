//! The words of the block that is being read, and how they are set.

use super::Style;
use super::tags::style;
use std::ops::Range;

/// Bytes of a block. A longer one is several: to set a line takes all of its block.
pub(super) const LONGEST_BLOCK: usize = 16 << 10;
const LONGEST_PIECE: usize = LONGEST_BLOCK / 4;

/// What belongs to the word behind it, and to the word before it.
const OPENS: [char; 7] = ['(', '[', '{', '“', '«', '"', NO_BREAK];
const CLOSES: [char; 12] = [')', ']', '}', '”', '»', '.', ',', ';', ':', '!', '?', NO_BREAK];

/// The blank at which no line ends.
const NO_BREAK: char = '\u{a0}';

/// Styled parts of a block.
const MOST_SPANS: usize = 200;

/// How deep anything is nested.
pub(super) const DEEPEST: usize = 64;

/// Parts of a text, in bytes, and how they are set.
pub(super) type Spans = Vec<(Range<usize>, Style)>;

/// The block that is being read.
#[derive(Default)]
pub(super) struct Words {
    text: String,
    spans: Spans,
    /// Where images stand in the text, in bytes.
    images: Vec<usize>,
    /// A blank that counts only if something follows it.
    blank: bool,
    /// A control begins or ends here: a blank comes before the next word, unless it is a full stop or the like.
    apart: bool,
    /// The elements that say how words are set and are open: their names, and where they begin in the text.
    open: Vec<(String, Style, usize)>,
}

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it is time for another block.
    pub(super) fn is_long(&self) -> bool {
        self.text.len() >= LONGEST_BLOCK
    }

    /// Adds a word, after the blank that is owed.
    pub(super) fn push_word(&mut self, word: &str) {
        let apart = self.apart && !self.text.ends_with(OPENS) && !word.starts_with(CLOSES);
        if self.owes_blank() || (apart && self.has_begun_line()) {
            self.text.push(' ');
        }
        (self.blank, self.apart) = (false, false);
        self.text.push_str(word);
    }

    /// An image stands here.
    pub(super) fn push_image(&mut self) {
        if (self.blank || self.apart) && self.has_begun_line() {
            self.text.push(' ');
        }
        (self.blank, self.apart) = (false, false);
        self.images.push(self.text.len());
    }

    /// What follows does not belong to the word before it.
    pub(super) fn keep_apart(&mut self) {
        self.apart = true;
    }

    /// A line may end here, in the middle of a word.
    pub(super) fn push_chance_to_break(&mut self) {
        if !self.blank && self.has_begun_line() {
            self.text.push('\u{200b}');
        }
    }

    /// White space has come: a blank, if a word follows.
    pub(super) fn push_blank(&mut self) {
        self.blank = true;
    }

    /// Adds characters as they are.
    pub(super) fn push_as_it_is(&mut self, text: &str) {
        (self.blank, self.apart) = (false, false);
        self.text.push_str(text);
    }

    /// Whether a blank comes before the next word.
    fn owes_blank(&self) -> bool {
        self.blank && self.has_begun_line()
    }

    fn has_begun_line(&self) -> bool {
        let is_empty = self.text.is_empty() && self.images.is_empty();
        !is_empty && !self.text.ends_with('\n')
    }

    /// What follows is set in the way of this element.
    pub(super) fn open(&mut self, name: &str) {
        if let Some(style) = style(name).filter(|_| self.open.len() < DEEPEST) {
            let begin = self.text.len() + usize::from(self.owes_blank());
            self.open.push((name.to_owned(), style, begin));
        }
    }

    /// What follows is not. Nothing happens if no such element is open.
    pub(super) fn close(&mut self, name: &str) {
        if let Some(at) = self.open.iter().rposition(|(open, ..)| open == name) {
            let (_, style, begin) = self.open.remove(at);
            self.note_span(begin, style);
        }
    }

    fn note_span(&mut self, begin: usize, style: Style) {
        let begin = self.text.floor_char_boundary(begin);
        if begin < self.text.len() && self.spans.len() < MOST_SPANS {
            self.spans.push((begin..self.text.len(), style));
        }
    }

    /// Takes the block, without the white space at its ends, and where images stand in it. `None` if it has no words. What is open
    /// goes on in the next one.
    pub(super) fn take(&mut self, is_preformatted: bool) -> Option<(String, Spans, Vec<usize>)> {
        for index in 0..self.open.len() {
            let (_, style, begin) = &mut self.open[index];
            let (style, begin) = (*style, std::mem::take(begin));
            self.note_span(begin, style);
        }
        (self.blank, self.apart) = (false, false);
        let (mut text, mut spans) = (std::mem::take(&mut self.text), std::mem::take(&mut self.spans));
        let mut images = std::mem::take(&mut self.images);
        let kept = if is_preformatted {
            if text.starts_with('\n') {
                text.remove(0);
                for (range, _) in &mut spans {
                    *range = range.start.saturating_sub(1)..range.end.saturating_sub(1);
                }
                for at in &mut images {
                    *at = at.saturating_sub(1);
                }
            }
            text.trim_end_matches('\n').len()
        } else {
            text.trim_end().len()
        };
        let kept = kept.max(images.last().copied().unwrap_or(0));
        text.truncate(kept);
        for (range, _) in &mut spans {
            range.end = range.end.min(kept);
        }
        spans.retain(|(range, _)| range.start < range.end);
        (!text.trim().is_empty()).then_some((text, spans, images))
    }
}

/// A word or a line in pieces, so that none makes a block much too long.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(LONGEST_PIECE));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
