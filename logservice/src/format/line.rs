//! A line in the making, which keeps to its longest length.

use std::fmt::{self, Arguments, Write};
use std::ops::Range;

use super::escape::{Escapes, Piece};

/// Appends to a text until it is as long as it may be. What comes after that is counted only, so that a value of a gigabyte
/// takes no memory.
pub(super) struct Line<'a> {
    out: &'a mut String,
    /// Where the line begins in the text.
    start: usize,
    /// Where it has to end.
    end: usize,
    /// How many bytes were left out. Once it is not zero, no byte is appended but by [`close`](Self::close).
    missing: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut String, longest: usize) -> Self {
        let start = out.len();
        Self { out, start, end: start.saturating_add(longest), missing: 0 }
    }

    /// A text without anything that needs escapes. It may be cut at any character.
    pub(super) fn text(&mut self, text: &str) {
        let room = if self.missing > 0 { 0 } else { self.end.saturating_sub(self.out.len()) };
        if text.len() <= room {
            self.out.push_str(text);
        } else {
            let kept = &text[..text.floor_char_boundary(room)];
            self.out.push_str(kept);
            self.missing += text.len() - kept.len();
        }
    }

    /// A text that is of no use when it is cut.
    pub(super) fn whole(&mut self, text: &str) {
        if self.missing == 0 && text.len() <= self.end.saturating_sub(self.out.len()) {
            self.out.push_str(text);
        } else {
            self.missing += text.len();
        }
    }

    /// What belongs to the syntax of the line and is appended in any case. There has to be room behind the end for it.
    pub(super) fn close(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A text from outside.
    pub(super) fn escaped(&mut self, escapes: Escapes, text: &str) {
        escapes.pieces(text, |piece| match piece {
            Piece::Run(text) => self.text(text),
            Piece::Escape(text) => self.whole(text),
        });
    }

    /// Something from outside that can be shown.
    pub(super) fn show(&mut self, escapes: Escapes, what: Arguments<'_>) {
        match what.as_str() {
            Some(text) => self.escaped(escapes, text),
            // Whoever refuses to be shown has what it wrote until then in the line.
            None => drop(Shown { line: self, escapes }.write_fmt(what)),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.missing > 0
    }

    /// How many bytes were left out.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// How far it is, for [`since`](Self::since) and [`take_back`](Self::take_back).
    pub(super) fn place(&self) -> usize {
        self.out.len()
    }

    /// What was appended since it was at a place.
    pub(super) fn since(&self, place: usize) -> &str {
        &self.out[place..]
    }

    /// A part of what was appended, between two places.
    pub(super) fn at(&self, range: Range<usize>) -> &str {
        &self.out[range]
    }

    /// Leaves out what was appended since it was at a place.
    pub(super) fn take_back(&mut self, place: usize) {
        self.missing += self.out.len() - place;
        self.out.truncate(place);
    }

    /// Removes what was appended since then, and something else will come for it.
    pub(super) fn forget(&mut self, place: usize) {
        self.out.truncate(place);
    }

    /// Puts what was appended since then between quotation marks. The line may be too long for a moment: see
    /// [`end_with_mark`](Self::end_with_mark).
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

    /// Ends a line that was too long with how much of it is missing.
    pub(super) fn end_with_mark(mut self) {
        if self.missing == 0 && self.out.len() <= self.end {
            return;
        }
        /// Of the mark, with as many digits as a number can have.
        const ROOM: usize = "…  bytes cut".len() + 20;
        let kept = self.end.saturating_sub(ROOM).max(self.start);
        self.take_back(self.out.floor_char_boundary(kept));
        let mark = format_args!("… {} bytes cut", self.missing);
        // A line that has no room even for the mark is empty.
        if self.end - self.start >= ROOM {
            let _ = self.out.write_fmt(mark);
        }
    }
}

/// Escapes what is shown piece by piece.
struct Shown<'l, 'a> {
    line: &'l mut Line<'a>,
    escapes: Escapes,
}

impl Write for Shown<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.line.escaped(self.escapes, text);
        Ok(())
    }
}
