//! Finds where a body ends: after a known number of bytes, or after the chunk of size zero.
//!
//! ```text
//!   5;name=value CR LF      size in hexadecimal, perhaps an extension
//!   hello CR LF             as many bytes, and a line end that is not data
//!   0 CR LF                 the last one
//!   Field: value CR LF      perhaps fields, which are dropped here
//!   CR LF
//! ```
//!
//! If a lenient reader passes bytes on to a strict reader, an attacker can make the two see the end of a
//! request in different places. So only CR LF ends a line, a size consists only of digits before the line end
//! or the semicolon, and after the data of a chunk only a line end may follow.
//!
//! Between two bytes the decoder keeps only a state, so it does not matter how the bytes are split on
//! arrival.

mod extension;

use super::{Refusal, Room, Share};
use crate::limits::Limits;
use extension::Extension;

/// The rule by which the end of a request's body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// The body has this number of bytes.
    Length(usize),
    /// The body comes in chunks; the last chunk is empty.
    Chunked,
}

impl Default for Framing {
    /// The request has no body.
    fn default() -> Framing {
        Framing::Length(0)
    }
}

/// Decodes a body from the arriving bytes.
#[derive(Debug)]
pub(super) struct BodyDecoder {
    state: State,
    body: Vec<u8>,
    /// The body's share of the memory for bodies.
    share: Share,
    max_body: usize,
    /// How many more bytes the decoder accepts that are not data.
    framing_left: usize,
}

/// The kind of byte that the decoder expects next. The length of the chunk's data in bytes, or the number of
/// bytes that are still missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// One of the last bytes of the body; the number says how many bytes are still missing.
    Last(usize),
    SizeStart,
    Size(usize),
    /// The white space before the semicolon.
    AfterSize(usize),
    Extension(usize, Extension),
    SizeLineFeed(usize),
    Data(usize),
    DataReturn,
    DataLineFeed,
    FieldStart,
    FieldName,
    FieldValue,
    FieldLineFeed,
    FinalLineFeed,
    Complete,
}

const BAD_SIZE: Refusal = Refusal::Malformed("the size of a chunk is malformed");
const BAD_END: Refusal = Refusal::Malformed("a chunk does not end where its size says");
const BAD_FIELD: Refusal = Refusal::Malformed("a field after the last chunk is malformed");

/// How often a body counts against the memory: more than once, because an answer may repeat the body.
const TWICE: usize = 2;

/// The largest number of bytes in a chunk that are not data (the digits of the size, and two line ends), if
/// the size has no leading zeros.
const FRAMING_OF_A_CHUNK: usize = 2 * size_of::<usize>() + 4;

impl BodyDecoder {
    /// Makes a decoder for a body that ends according to `framing`.
    pub(super) fn new(framing: Framing, limits: &Limits) -> BodyDecoder {
        let state = match framing {
            Framing::Length(0) => State::Complete,
            Framing::Length(length) => State::Last(length),
            Framing::Chunked => State::SizeStart,
        };
        let (max_body, framing_left) = (limits.longest_body(), limits.max_head);
        BodyDecoder { state, body: Vec::new(), share: Share::default(), max_body, framing_left }
    }

    /// Takes memory for a body whose length is known.
    ///
    /// # Errors
    ///
    /// Returns [`Refusal::NoRoom`] if `room` has less memory than the body needs.
    pub(super) fn reserve(&mut self, room: &Room) -> Result<(), Refusal> {
        match self.state {
            State::Last(length) if !self.share.grow_to(TWICE * length, room) => Err(Refusal::NoRoom),
            _ => Ok(()),
        }
    }

    /// Takes the bytes of the body from the front of `bytes`, and returns how many bytes it has taken. The
    /// decoder takes all bytes unless the body [is complete](BodyDecoder::is_complete) before the end of the
    /// bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`] as soon as the decoder knows that the body is malformed or too large, or if
    /// `room` has no memory for the body.
    pub(super) fn decode(&mut self, bytes: &[u8], room: &Room) -> Result<usize, Refusal> {
        let mut used = 0;
        while used < bytes.len() && !self.is_complete() {
            used += self.take_some(&bytes[used..], room)?;
        }
        Ok(used)
    }

    /// Returns whether the body has ended.
    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Returns the data that has arrived.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Returns the data together with its share of the memory.
    pub(super) fn into_body(self) -> (Vec<u8>, Share) {
        (self.body, self.share)
    }

    /// Moves the body's share of the memory to the caller. The caller must keep the share as long as the body
    /// exists, or an answer that repeats the body exists.
    pub(super) fn take_share(&mut self) -> Share {
        self.share.take()
    }

    /// Takes data in one piece, and other bytes one by one.
    fn take_some(&mut self, bytes: &[u8], room: &Room) -> Result<usize, Refusal> {
        let (State::Last(left) | State::Data(left)) = self.state else {
            self.framing_left = self.framing_left.checked_sub(1).ok_or(Refusal::BodyTooLarge)?;
            self.state = self.after(bytes[0])?;
            return Ok(1);
        };
        let count = left.min(bytes.len());
        self.make_room_for(count, left, room)?;
        self.body.extend_from_slice(&bytes[..count]);
        self.state = match (self.state, left - count) {
            (State::Last(_), 0) => State::Complete,
            (State::Last(_), left) => State::Last(left),
            (_, 0) => State::DataReturn,
            (_, left) => State::Data(left),
        };
        Ok(count)
    }

    /// Grows the memory so that `count` of the `left` expected bytes fit. The memory grows in large steps,
    /// but not beyond the expected bytes.
    fn make_room_for(&mut self, count: usize, left: usize, room: &Room) -> Result<(), Refusal> {
        let (length, capacity) = (self.body.len(), self.body.capacity());
        if length + count <= capacity {
            return Ok(());
        }
        let most = if matches!(self.state, State::Last(_)) { length + left } else { self.max_body };
        let wanted = (2 * capacity).min(most).max(length + count);
        let has_room =
            self.share.grow_to(TWICE * wanted, room) && self.body.try_reserve_exact(wanted - length).is_ok();
        if has_room { Ok(()) } else { Err(Refusal::NoRoom) }
    }

    /// Returns the state of the decoder after `byte`.
    fn after(&mut self, byte: u8) -> Result<State, Refusal> {
        Ok(match (self.state, byte) {
            (State::SizeStart, _) => State::Size(self.add_digit(0, byte)?),
            (State::Size(size), b'\r') => State::SizeLineFeed(size),
            (State::Size(size) | State::AfterSize(size), b';') => {
                State::Extension(size, Extension::Semicolon)
            }
            (State::Size(size) | State::AfterSize(size), b' ' | b'\t') => State::AfterSize(size),
            (State::Size(size), _) => State::Size(self.add_digit(size, byte)?),
            (State::Extension(size, extension), b'\r') if extension.is_complete() => {
                State::SizeLineFeed(size)
            }
            (State::Extension(size, extension), _) => {
                State::Extension(size, extension.then(byte).ok_or(BAD_SIZE)?)
            }
            (State::SizeLineFeed(0) | State::FieldLineFeed, b'\n') => State::FieldStart,
            (State::SizeLineFeed(size), b'\n') => {
                self.framing_left = self.framing_left.saturating_add(FRAMING_OF_A_CHUNK);
                State::Data(size)
            }
            (State::DataReturn, b'\r') => State::DataLineFeed,
            (State::DataLineFeed, b'\n') => State::SizeStart,
            (State::FieldStart, b'\r') => State::FinalLineFeed,
            (State::FieldName, b':') => State::FieldValue,
            (State::FieldStart | State::FieldName, _) if is_token(byte) => State::FieldName,
            (State::FieldValue, b'\r') => State::FieldLineFeed,
            (State::FieldValue, _) if is_text(byte) => State::FieldValue,
            (State::FinalLineFeed, b'\n') => State::Complete,
            (State::AfterSize(_) | State::SizeLineFeed(_), _) => return Err(BAD_SIZE),
            (State::DataReturn | State::DataLineFeed, _) => return Err(BAD_END),
            _ => return Err(BAD_FIELD),
        })
    }

    fn add_digit(&self, size: usize, byte: u8) -> Result<usize, Refusal> {
        let digit = char::from(byte).to_digit(16).ok_or(BAD_SIZE)? as usize;
        let size = size.checked_mul(16).and_then(|size| size.checked_add(digit));
        let is_acceptable = |&size: &usize| size <= self.max_body - self.body.len();
        size.filter(is_acceptable).ok_or(Refusal::BodyTooLarge)
    }
}

/// Returns whether the byte may occur in a field's value or in quotation marks: every byte may occur there,
/// except for control characters.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Returns whether the byte may occur in the name of a field or an extension.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(framing: Framing, bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Refusal> {
        let limits = Limits { max_body: 300, max_head: 100, ..Limits::default() };
        let mut decoder = BodyDecoder::new(framing, &limits);
        let used = decoder.decode(bytes, &Room::of_at_most(1_000))?;
        Ok(decoder.is_complete().then(|| (decoder.body().to_vec(), used)))
    }

    fn chunked(bytes: &str) -> Result<Option<(Vec<u8>, usize)>, Refusal> {
        decode(Framing::Chunked, bytes.as_bytes())
    }

    #[test]
    fn a_sized_body_ends_after_its_size() {
        assert_eq!(decode(Framing::Length(3), b"abcd"), Ok(Some((b"abc".to_vec(), 3))));
        assert_eq!(decode(Framing::Length(3), b"ab"), Ok(None));
        assert_eq!(decode(Framing::Length(0), b"ab"), Ok(Some((Vec::new(), 0))));
    }

    #[test]
    fn chunks_are_put_together() {
        for (bytes, body) in [
            ("0\r\n\r\n", ""),
            ("3\r\nabc\r\n0\r\n\r\n", "abc"),
            ("3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", "abcd"),
            ("00A\r\n0123456789\r\n000\r\n\r\n", "0123456789"),
            ("a\r\n\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n0\r\n"),
            ("1;a=b;c=\"d\"\r\nx\r\n0;last\r\n\r\n", "x"),
            ("1 \t;a\r\nx\r\n0\r\n\r\n", "x"),
            ("1;a;b = c ; d\t=\t\"e;f=\\\"g\\\\\";h=\"\"\r\nx\r\n0\r\n\r\n", "x"),
            ("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n", "x"),
        ] {
            let found = chunked(&format!("{bytes}GET"));
            assert_eq!(found, Ok(Some((body.as_bytes().to_vec(), bytes.len()))), "{bytes:?}");
            for end in 0..bytes.len() {
                assert_eq!(chunked(&bytes[..end]), Ok(None), "{:?}", &bytes[..end]);
            }
        }
    }

    #[test]
    fn chunks_have_one_reading() {
        let refused = "\r\n|\n|;a\r\n|g\r\n|0x3\r\n|+3\r\n|-3\r\n| 3\r\n|3 \r\n|3 4\r\n|3,\r\n|3\n\
             |3\r3|3\rabc|3;a\n|3;a\rb|3;\0\r\n|3;\x7f\r\n|3;\r\n|3; \r\n|3;;a\r\n|3;=b\r\n\
             |3;a=\r\n|3;a=;b\r\n|3;a==b\r\n|3;a b\r\n|3;a \r\n|3;a=b c\r\n|3;a=b \r\n\
             |3;a=\"b\r\n|3;a=\"b\\\"\r\n|3;a=\"b\"c\r\n|3;a=\"b\nc\"\r\n|3;\"a\"=b\r\n\
             |3;a[b=1\r\n|3;a=ä\r\n|3 \n|3\r\nabcd|3\r\nabc\n|3\r\nabc\r3|3\r\nabc0\r\n\
             |3\r\nabc\r\n\r\n|0\r\n\n|0\r\n\r0|0\r\n: b\r\n|0\r\n a: b\r\n|0\r\na\r\n\
             |0\r\na : b\r\n|0\r\na: b\n|0\r\na: b\rc|0\r\na: \0\r\n|0\r\na: b\r\n c\r\n\
             |0\r\nä: b\r\n|0\n\r\n|0\n\n";
        for bytes in refused.split('|') {
            let refused = chunked(bytes).expect_err(bytes);
            assert_eq!(refused.status().code(), 400, "{bytes:?}");
        }
    }

    #[test]
    fn chunks_have_limits() {
        let long = "a".repeat(300);
        assert!(chunked(&format!("12c\r\n{long}\r\n0\r\n\r\n")).unwrap().is_some());
        let one_by_one = "1\r\na\r\n".repeat(300);
        assert!(chunked(&format!("{one_by_one}0\r\n\r\n")).unwrap().is_some(), "small chunks cost no more");
        for bytes in [
            "12d\r\n",
            "fffffffffffffffff\r\n",
            &format!("12c\r\n{long}\r\n1\r\n"),
            &format!("{}1\r\n", "0".repeat(100)),
            &format!("1;{long}"),
            &format!("0\r\na: {long}"),
            &format!("0\r\n{}", "a: b\r\n".repeat(20)),
            &"1;0123456789012345678901234567890123456789\r\na\r\n".repeat(5),
        ] {
            assert_eq!(chunked(bytes), Err(Refusal::BodyTooLarge), "{bytes:?}");
        }
    }
}
