//! A torn line: its first part was written, and then an error occurred.

use std::io;

/// The number of bytes that have been written, and the error if an error prevented the rest.
pub(super) type Written = (usize, Option<io::Error>);

/// Describes how the destination's content ends: with a line feed, or in the middle of a line.
///
/// The writer passes a torn line to the sink again, because the sink has not taken the line. When the torn line
/// comes again, the sink writes only its rest. If another line comes, or if another process wrote the first
/// part, the sink writes a line feed first.
#[derive(Debug, Default)]
pub(super) struct Torn {
    /// The written part of a torn line that will come again; the part contains no line feed.
    part: Vec<u8>,
    /// True if the last line lacks its line feed and will not come again.
    needs_line_feed: bool,
}

impl Torn {
    /// Returns true if no torn line will come again.
    pub(super) fn is_none(&self) -> bool {
        self.part.is_empty()
    }

    /// Remembers that the destination has changed, and whether the content of the new destination ends with a
    /// line feed.
    pub(super) fn starts_anew(&mut self, needs_line_feed: bool) {
        self.part.clear();
        self.needs_line_feed = needs_line_feed;
    }

    /// Remembers that the written part may be lost: a line feed will end the part, and the whole line will be
    /// written again.
    #[cfg(unix)]
    pub(super) fn begins_again(&mut self) {
        self.needs_line_feed |= !self.part.is_empty();
        self.part.clear();
    }

    /// Writes the rest of the given lines. Returns how many of the given bytes are written, as whole
    /// lines.
    pub(super) fn write(&mut self, lines: &[u8], mut write: impl FnMut(&[u8]) -> Written) -> Written {
        if !lines.starts_with(&self.part) {
            self.starts_anew(true);
        }
        if self.needs_line_feed {
            if let (_, Some(error)) = write(b"\n") {
                return (0, Some(error));
            }
            self.needs_line_feed = false;
        }
        let (written, error) = write(&lines[self.part.len()..]);
        let there = &lines[..self.part.len() + written];
        let whole = memchr::memrchr(b'\n', there).map_or(0, |line_feed| line_feed + 1);
        self.part.clear();
        self.part.extend_from_slice(&there[whole..]);
        (whole, error)
    }
}

/// Returns the result of [`Sink::write`](crate::Sink::write), which is an error only if not even the first
/// line was taken. An error after the first line is ignored, because the same error will occur again with the next
/// line.
pub(super) fn taken((whole, error): Written) -> io::Result<usize> {
    match error {
        Some(error) if whole == 0 => Err(error),
        _ => Ok(whole),
    }
}

/// Calls `write` until it has taken all bytes, or until it fails.
pub(super) fn write_all(mut bytes: &[u8], mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> Written {
    let mut written = 0;
    while !bytes.is_empty() {
        match write(bytes) {
            Ok(0) => return (written, Some(io::ErrorKind::WriteZero.into())),
            Ok(more) => (written, bytes) = (written + more, &bytes[more..]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Imitates a write to a destination that has room for `room` more bytes.
    fn write(torn: &mut Torn, lines: &[u8], place: &mut Vec<u8>, room: usize) -> usize {
        let end = place.len() + room;
        let written = torn.write(lines, |bytes| {
            write_all(bytes, |bytes| {
                let room = end - place.len();
                place.write(&bytes[..bytes.len().min(room)])
            })
        });
        written.0
    }

    #[test]
    fn a_line_goes_on_where_it_was_torn() {
        let (mut torn, mut place) = (Torn::default(), Vec::new());
        assert_eq!(write(&mut torn, b"one\ntwo\n", &mut place, 5), 4);
        assert_eq!(write(&mut torn, b"two\nthree\n", &mut place, 1), 0);
        assert_eq!(write(&mut torn, b"two\nthree\n", &mut place, 0), 0);
        assert!(!torn.is_none());
        assert_eq!(write(&mut torn, b"two\nthree\n", &mut place, 8), 10);
        assert!(torn.is_none());
        assert_eq!(place, b"one\ntwo\nthree\n");
    }

    #[test]
    fn another_line_is_not_taken_for_the_torn_one() {
        let (mut torn, mut place) = (Torn::default(), Vec::new());
        write(&mut torn, b"two\n", &mut place, 2);
        write(&mut torn, b"three\n", &mut place, 0);
        write(&mut torn, b"three\n", &mut place, 9);
        assert_eq!(place, b"tw\nthree\n");
    }

    #[test]
    fn in_another_place_the_line_is_written_as_a_whole() {
        let (mut torn, mut place) = (Torn::default(), Vec::new());
        write(&mut torn, b"two\n", &mut Vec::new(), 2);
        torn.starts_anew(false);
        write(&mut torn, b"two\n", &mut place, 9);
        assert_eq!(place, b"two\n");
        torn.starts_anew(true);
        write(&mut torn, b"three\n", &mut place, 9);
        assert_eq!(place, b"two\n\nthree\n");
    }
}
