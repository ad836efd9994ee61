//! Splits HTML into tags and text, as browsers do, in time and memory that grow no faster than the document.
//!
//! `html5gum` finds tags and text by the rules of the HTML standard. This file decides which tags and texts
//! are kept, within these limits:
//!
//! 1. Of each tag, the first [`MOST_ATTRIBUTES`] attributes are kept. Duplicate attributes are not removed:
//!    of two attributes with the same name, [`Tag::get`] finds the first attribute, and the standard says
//!    that the first attribute counts.
//! 2. There is no tree and no stack, so the nesting depth of elements does not matter.
//! 3. Text is passed on in pieces of some 4 KiB, each as soon as it is read. Comments are not kept.
//! 4. The caller's token is checked before each piece. So a cancellation ends the reading of any document,
//!    even in the middle of a tag without an end.

use executor::{CancelToken, Cancelled};
use html5gum::{Emitter, Error, Readable, Reader as Input, State, Tokenizer};
use std::cell::Cell;
use std::convert::Infallible;
use std::ops::Range;

/// The largest number of attributes of a tag that are kept.
pub const MOST_ATTRIBUTES: usize = 1_000;

/// The number of bytes that are read before the token is checked again.
const PIECE: usize = 4 << 10;

/// Receives the content of a document, piece by piece.
pub trait Reader {
    /// Receives characters between tags, including the text of scripts and styles, with references
    /// (`&amp;`) replaced. A word may be split over several calls.
    fn characters(&mut self, _text: &str) {}

    /// Receives a tag: the beginning of an element, or its end.
    fn tag(&mut self, tag: &Tag<'_>);

    /// Receives the end of a line of the document, after everything in the line.
    fn line_ended(&mut self) {}

    /// Returns true if the slash in `<name/>` means that the element has no content. The slash has this
    /// meaning in XHTML, in drawings and in formulas, and nowhere else.
    fn is_xml(&self, _name: &str) -> bool {
        false
    }
}

/// A tag of the document, with its names in lower case.
#[derive(Debug, Default)]
pub struct Tag<'t> {
    bytes: &'t [u8],
    name: usize,
    attributes: &'t [Attribute],
    /// True if the tag ends an element: `</name>`.
    pub is_end: bool,
    /// True if the tag both begins and ends an element, according to [`Reader::is_xml`].
    pub is_empty: bool,
}

impl<'t> Tag<'t> {
    /// Returns the name of the element.
    pub fn name(&self) -> &'t str {
        text(&self.bytes[..self.name])
    }

    /// Returns the value of the first attribute with the given name. Returns `None` if there is no such
    /// attribute, or if [`MOST_ATTRIBUTES`] attributes come before it.
    pub fn get(&self, name: &str) -> Option<&'t str> {
        let is_it = |attribute: &&Attribute| self.bytes[attribute.name.clone()] == *name.as_bytes();
        self.attributes.iter().find(is_it).map(|Attribute { name, end }| text(&self.bytes[name.end..*end]))
    }

    /// Returns the attributes, names with values, in the order in which the tag has them. A repeated
    /// attribute occurs in the result as often as in the tag.
    pub fn attributes(&self) -> impl Iterator<Item = (&'t str, &'t str)> + use<'t> {
        let bytes = self.bytes;
        self.attributes
            .iter()
            .map(move |Attribute { name, end }| (text(&bytes[name.clone()]), text(&bytes[name.end..*end])))
    }
}

/// The position of an attribute in a tag: the position of its name, and the end of its value; the value
/// follows the name.
#[derive(Debug)]
struct Attribute {
    name: Range<usize>,
    end: usize,
}

/// Passes the whole document to a reader.
///
/// Whatever a document contains, it causes no error. The call does not block; only the token can end the call
/// before the end of the document.
///
/// # Errors
/// Fails if the token is cancelled before the end of the document.
pub fn read<R: Reader>(document: &str, mut reader: R, token: &CancelToken) -> Result<R, Cancelled> {
    show(document, &mut reader, token)?;
    Ok(reader)
}

/// Does the same work as [`read`]; this function is not generic, so that the state machine is compiled only
/// once.
fn show(document: &str, reader: &mut dyn Reader, token: &CancelToken) -> Result<(), Cancelled> {
    let place = Place::default();
    let pieces = Pieces { document, at: 0, left: 0, ends_line: false, place: &place, token };
    let shown = Shown {
        reader,
        place: &place,
        told: (0, 0),
        text: Vec::new(),
        bytes: Vec::new(),
        name: 0,
        attributes: Vec::new(),
        is_end: false,
        is_self_closing: false,
        is_dropped: false,
        last_start: Vec::new(),
    };
    Tokenizer::new_with_emitter(pieces, shown).finish()
}

/// Returns bytes as text; the bytes were cut out of a text at ASCII characters.
fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

/// The position up to which the document has been read.
#[derive(Default)]
struct Place {
    pieces: Cell<usize>,
    lines: Cell<usize>,
}

/// Gives a document to the tokenizer in pieces: at most the rest of a line at a time, and only whole
/// characters.
struct Pieces<'d> {
    document: &'d str,
    /// The number of bytes that have been read.
    at: usize,
    /// The number of bytes of the piece that are still to be read.
    left: usize,
    ends_line: bool,
    place: &'d Place,
    token: &'d CancelToken,
}

impl Pieces<'_> {
    /// Returns the rest of the piece, or the next piece. The piece is empty at the end of the document.
    fn piece(&mut self) -> Result<&[u8], Cancelled> {
        if self.left == 0 && self.at < self.document.len() {
            self.token.check()?;
            self.place.pieces.update(|pieces| pieces + 1);
            self.place.lines.update(|lines| lines + usize::from(self.ends_line));
            let end = self.document.floor_char_boundary(self.at + PIECE);
            let piece = &self.document.as_bytes()[self.at..end];
            let line_end = memchr::memchr(b'\n', piece);
            (self.left, self.ends_line) = (line_end.map_or(piece.len(), |at| at + 1), line_end.is_some());
        }
        Ok(&self.document.as_bytes()[self.at..self.at + self.left])
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.left = self.left.saturating_sub(bytes);
    }
}

impl Input for Pieces<'_> {
    type Error = Cancelled;

    fn read_byte(&mut self) -> Result<Option<u8>, Cancelled> {
        let byte = self.piece()?.first().copied();
        self.advance(usize::from(byte.is_some()));
        Ok(byte)
    }

    /// This method may read into the next piece, but not into the next line, because none of the expected
    /// strings has a line end.
    fn try_read_string(&mut self, expected: &[u8], case_sensitive: bool) -> Result<bool, Cancelled> {
        self.piece()?;
        let found = self.document.as_bytes()[self.at..].get(..expected.len());
        let is_there = found.is_some_and(|found| {
            found == expected || !case_sensitive && found.eq_ignore_ascii_case(expected)
        });
        self.advance(if is_there { expected.len() } else { 0 });
        Ok(is_there)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Cancelled> {
        let Ok(found) =
            self.piece()?.to_reader().read_until(needle, buffer).map(|found| found.map(<[u8]>::len));
        let Some(length) = found else { return Ok(None) };
        self.advance(length);
        Ok(Some(&self.document.as_bytes()[self.at - length..self.at]))
    }
}

/// Passes the tokenizer's results to a reader.
struct Shown<'d> {
    reader: &'d mut dyn Reader,
    place: &'d Place,
    /// The numbers of pieces and lines that the reader already knows.
    told: (usize, usize),
    /// The text of this piece that has been read so far.
    text: Vec<u8>,
    /// The name of the current tag, followed by the names and values of its attributes.
    bytes: Vec<u8>,
    name: usize,
    attributes: Vec<Attribute>,
    is_end: bool,
    is_self_closing: bool,
    /// True if the current attribute is not kept.
    is_dropped: bool,
    /// The name of the previous start tag.
    last_start: Vec<u8>,
}

impl Shown<'_> {
    fn show_text(&mut self) {
        if !self.text.is_empty() {
            self.reader.characters(&String::from_utf8_lossy(&self.text));
            self.text.clear();
        }
    }

    /// Passes on the text and the line ends before this piece. This method must be called before anything
    /// of the piece is passed on.
    fn catch_up(&mut self) {
        let now = (self.place.pieces.get(), self.place.lines.get());
        if self.told.0 != now.0 {
            self.show_text();
            for _ in self.told.1..now.1 {
                self.reader.line_ended();
            }
            self.told = now;
        }
    }

    fn begin_tag(&mut self, is_end: bool) {
        self.bytes.clear();
        self.attributes.clear();
        (self.name, self.is_end, self.is_self_closing, self.is_dropped) = (0, is_end, false, false);
    }
}

impl Emitter for Shown<'_> {
    type Token = Infallible;

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.catch_up();
        self.text.extend_from_slice(text);
    }

    fn init_start_tag(&mut self) {
        self.begin_tag(false);
    }

    fn init_end_tag(&mut self) {
        self.begin_tag(true);
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.name = self.bytes.len();
    }

    fn init_attribute(&mut self) {
        self.is_dropped = self.is_end || self.attributes.len() == MOST_ATTRIBUTES;
        if !self.is_dropped {
            let end = self.bytes.len();
            self.attributes.push(Attribute { name: end..end, end });
        }
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.push_attribute_value(name);
        if let Some(attribute) = self.attributes.last_mut().filter(|_| !self.is_dropped) {
            attribute.name.end = attribute.end;
        }
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        if let Some(attribute) = self.attributes.last_mut().filter(|_| !self.is_dropped) {
            self.bytes.extend_from_slice(value);
            attribute.end = self.bytes.len();
        }
    }

    fn set_self_closing(&mut self) {
        self.is_self_closing = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.catch_up();
        self.show_text();
        let name = text(&self.bytes[..self.name]);
        let is_empty = self.is_self_closing && !self.is_end && self.reader.is_xml(name);
        self.reader.tag(&Tag {
            bytes: &self.bytes,
            name: self.name,
            attributes: &self.attributes,
            is_end: self.is_end,
            is_empty,
        });
        if self.is_end {
            return None;
        }
        self.last_start.clear();
        self.last_start.extend_from_slice(&self.bytes[..self.name]);
        if is_empty { None } else { raw(name) }
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && self.last_start == self.bytes[..self.name]
    }

    fn emit_eof(&mut self) {
        self.catch_up();
        self.show_text();
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start = name.unwrap_or_default().to_vec();
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    // The following events are not passed on to a reader.
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn emit_current_doctype(&mut self) {}
}

/// Returns the tokenizer's state in an element whose content is not markup.
fn raw(name: &str) -> Option<State> {
    match name {
        "title" | "textarea" => Some(State::RcData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(State::RawText),
        "script" => Some(State::ScriptData),
        "plaintext" => Some(State::PlainText),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
