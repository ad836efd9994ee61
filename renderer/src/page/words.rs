//! The words of the block that is being read, and their styles.

use super::Style;
use super::tags::style;
use std::ops::Range;

/// The greatest length of a block, in bytes. A longer text is split into several blocks, because the
/// time for finding one line break is proportional to the length of the whole block.
pub(super) const LONGEST_BLOCK: usize = 16 << 10;
const LONGEST_PIECE: usize = LONGEST_BLOCK / 4;

/// The characters that belong to the following word, and the characters that belong to the preceding
/// word.
const OPENS: [char; 7] = ['(', '[', '{', '“', '«', '"', NO_BREAK];
const CLOSES: [char; 12] = [')', ']', '}', '”', '»', '.', ',', ';', ':', '!', '?', NO_BREAK];

/// The no-break space; a line must not end at this character.
const NO_BREAK: char = '\u{a0}';

/// The largest number of styled parts in a block.
const MOST_SPANS: usize = 200;

/// The largest number of nested elements of one kind (with a style, a direction, or a list); deeper elements
/// of this kind have no effect.
pub(super) const DEEPEST: usize = 64;

/// The parts of a text with a style, as ranges of bytes.
pub(super) type Spans = Vec<(Range<usize>, Style)>;

/// The block that is being read.
#[derive(Default)]
pub(super) struct Words {
    text: String,
    spans: Spans,
    /// The positions of images in the text, in bytes.
    images: Vec<usize>,
    /// A blank that is kept only if more text follows.
    blank: bool,
    /// True if a control begins or ends here: then a blank comes before the next word, unless the word
    /// is a full stop or similar.
    apart: bool,
    /// For each open element with a style: its name, its style, and the position in the text where the
    /// element begins.
    open: Vec<(String, Style, usize)>,
}

impl Words {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether the block is so long that a new one must begin.
    pub(super) fn is_long(&self) -> bool {
        self.text.len() >= LONGEST_BLOCK
    }

    /// Adds a word, after a blank if the text needs one.
    pub(super) fn push_word(&mut self, word: &str) {
        let apart = self.apart && !self.text.ends_with(OPENS) && !word.starts_with(CLOSES);
        if self.owes_blank() || (apart && self.has_begun_line()) {
            self.text.push(' ');
        }
        (self.blank, self.apart) = (false, false);
        self.text.push_str(word);
    }

    /// Records that there is an image at this position.
    pub(super) fn push_image(&mut self) {
        if (self.blank || self.apart) && self.has_begun_line() {
            self.text.push(' ');
        }
        (self.blank, self.apart) = (false, false);
        self.images.push(self.text.len());
    }

    /// Separates the next word from the previous word.
    pub(super) fn keep_apart(&mut self) {
        self.apart = true;
    }

    /// Adds a position within a word at which a line may end.
    pub(super) fn push_chance_to_break(&mut self) {
        if !self.blank && self.has_begun_line() {
            self.text.push('\u{200b}');
        }
    }

    /// Records white space; if a word follows, the white space becomes a blank.
    pub(super) fn push_blank(&mut self) {
        self.blank = true;
    }

    /// Adds characters exactly as they are.
    pub(super) fn push_as_it_is(&mut self, text: &str) {
        (self.blank, self.apart) = (false, false);
        self.text.push_str(text);
    }

    /// Returns whether a blank comes before the next word.
    fn owes_blank(&self) -> bool {
        self.blank && self.has_begun_line()
    }

    fn has_begun_line(&self) -> bool {
        let is_empty = self.text.is_empty() && self.images.is_empty();
        !is_empty && !self.text.ends_with('\n')
    }

    /// Gives the style of this element to the following words.
    pub(super) fn open(&mut self, name: &str) {
        if let Some(style) = style(name).filter(|_| self.open.len() < DEEPEST) {
            let begin = self.text.len() + usize::from(self.owes_blank());
            self.open.push((name.to_owned(), style, begin));
        }
    }

    /// Ends the style that this element has begun. Does nothing if no such element is open.
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

    /// Returns the finished block, without the white space at its ends, and the positions of its images.
    /// Returns `None` if the block has no words. Open elements stay open for the next block.
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

/// Splits a long word or line into pieces, so that a block does not become much too long.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(LONGEST_PIECE));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
