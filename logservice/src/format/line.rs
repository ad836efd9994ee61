//! A line that is being built, with a limit on its length.

use std::fmt::{self, Arguments, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::escape::{Escapes, Piece};

/// The maximum length of the mark at the end of a line that was cut.
const MARK: usize = "…  bytes cut".len() + 20;

/// Appends to a text up to the limit. Bytes beyond the limit are only counted, so that a value of a
/// gigabyte takes no memory.
pub(super) struct Line<'a> {
    out: &'a mut String,
    /// The start position of the line in the text.
    start: usize,
    /// The position where the line must end.
    end: usize,
    /// The position up to which text may be appended: at first `end`, and 0 after some text was left out.
    open: usize,
    /// The number of bytes that were left out. If this number is not zero, only [`close`](Self::close)
    /// appends text.
    missing: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut String, longest: usize) -> Self {
        let start = out.len();
        let end = start.saturating_add(longest);
        Self { out, start, end, open: end, missing: 0 }
    }

    /// Appends a text that needs no escapes. The text may be cut at any character.
    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        if text.len() <= self.room() {
            self.out.push_str(text);
        } else {
            self.cut(text);
        }
    }

    #[inline]
    fn room(&self) -> usize {
        self.open.saturating_sub(self.out.len())
    }

    #[cold]
    fn cut(&mut self, text: &str) {
        let kept = &text[..text.floor_char_boundary(self.room())];
        self.out.push_str(kept);
        self.leave_out(text.len() - kept.len());
    }

    #[cold]
    fn leave_out(&mut self, bytes: usize) {
        self.missing += bytes;
        self.open = if self.missing > 0 { 0 } else { self.open };
    }

    /// Appends a text that is useless if it is cut: the whole text, or nothing.
    pub(super) fn whole(&mut self, text: &str) {
        if text.len() <= self.room() {
            self.out.push_str(text);
        } else {
            self.leave_out(text.len());
        }
    }

    /// Appends a part of the line's syntax, such as a bracket, even if the line is full. The caller must have
    /// reserved room for this part behind the line.
    pub(super) fn close(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Appends a text from outside, with escapes.
    pub(super) fn escaped(&mut self, escapes: Escapes, text: &str) {
        if escapes.are_needed(text) { self.in_pieces(escapes, text) } else { self.text(text) }
    }

    #[cold]
    fn in_pieces(&mut self, escapes: Escapes, text: &str) {
        escapes.pieces(text, |piece| match piece {
            Piece::Run(text) => self.text(text),
            Piece::Escape(text) => self.whole(text),
        });
    }

    /// Formats a value from outside and appends it, with escapes. If the value panics, the line contains the
    /// text that was written before the panic, and reports the panic.
    pub(super) fn show(&mut self, escapes: Escapes, what: Arguments<'_>) {
        if let Some(text) = what.as_str() {
            return self.escaped(escapes, text);
        }
        let unescaped = Some(self.place());
        let mut shown = Shown { line: self, escapes, unescaped };
        // If formatting fails, the line contains the text that was written before the failure.
        let result = catch_unwind(AssertUnwindSafe(|| _ = shown.write_fmt(what)));
        shown.escape();
        if let Err(payload) = result {
            std::mem::forget(payload); // the payload's own destructor might panic
            self.whole("(panicked)");
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.missing > 0
    }

    /// Returns the number of bytes that were left out.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// Returns the present end of the line, for [`since`](Self::since) and [`take_back`](Self::take_back).
    pub(super) fn place(&self) -> usize {
        self.out.len()
    }

    /// Returns the text that was appended after `place`.
    pub(super) fn since(&self, place: usize) -> &str {
        &self.out[place..]
    }

    /// Returns the appended text between two places.
    pub(super) fn at(&self, range: Range<usize>) -> &str {
        &self.out[range]
    }

    /// Removes the text after `place`, and counts the removed bytes as left out.
    pub(super) fn take_back(&mut self, place: usize) {
        self.leave_out(self.out.len() - place);
        self.out.truncate(place);
    }

    /// Removes the text after `place` without counting it as left out, because the caller appends another text
    /// instead.
    pub(super) fn forget(&mut self, place: usize) {
        self.out.truncate(place);
    }

    /// Puts the text after `place` in quotation marks. The quotation marks may make the line too long for a
    /// short time: see [`end_with_mark`](Self::end_with_mark).
    pub(super) fn quote(&mut self, place: usize) {
        let end = self.out.len();
        self.out.push('"');
        let mut from = place;
        while let Some(at) = self.out.as_bytes()[from..end].iter().position(|byte| b"\"\\".contains(byte)) {
            self.out.extend_from_within(from..from + at);
            self.out.push('\\');
            self.out.extend_from_within(from + at..=from + at);
            from += at + 1;
        }
        self.out.extend_from_within(from..end);
        self.out.push('"');
        self.out.drain(place..end);
    }

    /// Puts a mark with the number of missing bytes at the end of a line that was cut.
    pub(super) fn end_with_mark(mut self) {
        if self.missing == 0 && self.out.len() <= self.end {
            return;
        }
        let kept = self.end.saturating_sub(MARK).max(self.start);
        self.take_back(self.out.floor_char_boundary(kept));
        let mark = format_args!("… {} bytes cut", self.missing);
        // If there is no room for the mark, the line is empty.
        if self.end - self.start >= MARK {
            let _ = self.out.write_fmt(mark);
        }
    }
}

/// Receives the pieces of a value while the value is formatted. Most values are short, so the pieces are first
/// appended without escapes, and escaped together at the end.
struct Shown<'l, 'a> {
    line: &'l mut Line<'a>,
    escapes: Escapes,
    /// The start of the text that is not escaped yet. The field is `None` after the line has become full:
    /// from then on each new piece is escaped immediately.
    unescaped: Option<usize>,
}

impl Shown<'_, '_> {
    fn escape(&mut self) {
        if let Some(place) = self.unescaped.take()
            && self.escapes.are_needed(self.line.since(place))
        {
            let text = self.line.out.split_off(place);
            self.line.escaped(self.escapes, &text);
        }
    }
}

impl Write for Shown<'_, '_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Shown { line, unescaped, .. } = self;
        if unescaped.is_some() && text.len() <= line.room() {
            line.out.push_str(text);
        } else {
            self.escape();
            self.line.escaped(self.escapes, text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks all lengths, with a character to escape in the first pieces, in the last pieces, or nowhere.
    #[test]
    fn what_is_shown_in_pieces_is_as_each_piece_would_be() {
        for pieces in
            [["a", "bc", "def–"], ["a\n", "b\u{202e}", "c"], ["ab", "c–d", "\x1b[0m"], ["", "é", ""]]
        {
            for longest in 0..30 {
                let (mut shown, mut escaped) = (String::from("before "), String::from("before "));
                let mut line = Line::new(&mut shown, longest);
                line.show(Escapes::Shown, format_args!("{}{}{}", pieces[0], pieces[1], pieces[2]));
                let missing = line.missing();
                let mut line = Line::new(&mut escaped, longest);
                for piece in pieces {
                    line.escaped(Escapes::Shown, piece);
                }
                assert_eq!((missing, &*shown), (line.missing(), &*escaped), "{pieces:?} in {longest}");
            }
        }
    }
}
