//! A sequence of lines in one allocation, with the gaps between the lines.

use super::Room;

/// The part of a buffer whose memory is mapped before the first line arrives. The rest of the memory is
/// mapped when it is first used.
const READY: Room = Room { bytes: 1 << 20, lines: 1 << 14 };

/// The contents of one of the two buffers. The buffer never grows: all of its capacity is reserved at the
/// beginning.
#[derive(Debug)]
#[repr(C)] // the fields that each line changes come first, as in the queue's state
pub(crate) struct Batch {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    /// The room that the lines take; dropped lines do not count.
    used: Room,
    room: Room,
    /// The index from which the search for expendable lines starts; no line with a smaller index is expendable.
    oldest: usize,
    has_gaps: bool,
    /// The number of lines that were dropped after the last line.
    pub(super) missing_after: u64,
    /// The total number of lines that the queue had accepted when the writer took this batch.
    pub(super) up_to: u64,
}

/// A line of a batch.
#[derive(Debug, Clone, Copy)]
struct Line {
    length: u32,
    /// The number of lines that were dropped directly before this line.
    gap: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kept,
    /// The line may be dropped to make room for other lines.
    Expendable,
    Dropped,
}

/// A part of a batch, as the writer sees it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'b> {
    Line(&'b [u8]),
    /// The given number of lines was dropped at this point.
    Missing(u64),
}

impl Batch {
    pub(crate) fn new(room: Room) -> Batch {
        let nothing = Line { length: 0, gap: 0, kind: Kind::Kept };
        Batch {
            bytes: with_memory(2 * room.bytes, room.bytes.min(READY.bytes), b'\n'),
            lines: with_memory(2 * room.lines, room.lines.min(READY.lines), nothing),
            room,
            used: Room { bytes: 0, lines: 0 },
            oldest: 0,
            has_gaps: false,
            missing_after: 0,
            up_to: 0,
        }
    }

    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.used.bytes + bytes <= self.room.bytes && self.used.lines < self.room.lines
    }

    pub(super) fn is_half_full(&self) -> bool {
        2 * self.used.bytes >= self.room.bytes || 2 * self.used.lines >= self.room.lines
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a line; the caller must have ensured that there is room. Returns how much of the gap before the
    /// line could not be stored: zero, except after years of dropped lines, or with empty lines.
    pub(super) fn push(&mut self, line: &[u8], is_expendable: bool, mut gap: u64) -> u64 {
        let is_used_up =
            self.bytes.len() + line.len() > 2 * self.room.bytes || self.lines.len() == 2 * self.room.lines;
        if is_used_up {
            gap += self.squeeze();
        }
        let noted = u32::try_from(gap).unwrap_or(u32::MAX);
        let kind = if is_expendable { Kind::Expendable } else { Kind::Kept };
        let length = u32::try_from(line.len()).expect("a buffer has less than 4 GiB");
        self.bytes.extend_from_slice(line);
        self.lines.push(Line { length, gap: noted, kind });
        self.used.bytes += line.len();
        self.used.lines += 1;
        if gap > 0 {
            self.has_gaps = true;
        }
        gap - u64::from(noted)
    }

    /// Drops expendable lines until there is room for `bytes`, or until no expendable line is left. Returns
    /// the number of dropped lines.
    pub(super) fn drop_oldest(&mut self, bytes: usize) -> u64 {
        let mut dropped = 0;
        while !self.has_room(bytes) && self.oldest < self.lines.len() {
            let line = &mut self.lines[self.oldest];
            self.oldest += 1;
            if line.kind == Kind::Expendable {
                line.kind = Kind::Dropped;
                self.used.bytes -= line.length as usize;
                self.used.lines -= 1;
                dropped += 1;
            }
        }
        self.has_gaps |= dropped > 0;
        dropped
    }

    /// Moves the remaining lines together, so that dropped lines take no memory any more. Returns the number of
    /// lines that are missing at the end.
    fn squeeze(&mut self) -> u64 {
        let (mut from, mut to, mut kept, mut gap) = (0, 0, 0, 0_u64);
        for index in 0..self.lines.len() {
            let line = self.lines[index];
            let length = line.length as usize;
            gap += u64::from(line.gap);
            if line.kind == Kind::Dropped {
                gap += 1;
            } else {
                let noted = u32::try_from(gap).unwrap_or(u32::MAX);
                gap -= u64::from(noted);
                self.bytes.copy_within(from..from + length, to);
                self.lines[kept] = Line { gap: noted, ..line };
                kept += 1;
                to += length;
            }
            from += length;
        }
        self.lines.truncate(kept);
        self.bytes.truncate(to);
        self.oldest = 0;
        gap
    }

    /// Returns the lines and the gaps between them, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let (mut rest, mut gap) = (&self.bytes[..], 0);
        let lines = self.lines.iter().flat_map(move |line| {
            let (bytes, others) = rest.split_at(line.length as usize);
            rest = others;
            gap += u64::from(line.gap) + u64::from(line.kind == Kind::Dropped);
            let is_kept = line.kind != Kind::Dropped;
            let missing = if is_kept { std::mem::take(&mut gap) } else { 0 };
            [(missing > 0).then_some(Part::Missing(missing)), is_kept.then_some(Part::Line(bytes))]
        });
        lines.flatten().chain(self.gap_at_the_end())
    }

    fn gap_at_the_end(&self) -> Option<Part<'static>> {
        let dropped = self.lines.iter().rev().take_while(|line| line.kind == Kind::Dropped);
        let missing: u64 = dropped.map(|line| u64::from(line.gap) + 1).sum::<u64>() + self.missing_after;
        (missing > 0).then_some(Part::Missing(missing))
    }

    /// Returns the bytes of all lines in one slice, if no line is missing.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (!self.has_gaps && self.missing_after == 0).then_some(&self.bytes)
    }

    /// Returns the lengths of the lines that are not dropped.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().filter(|line| line.kind != Kind::Dropped).map(|line| line.length as usize)
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lines.clear();
        self.used = Room { bytes: 0, lines: 0 };
        self.oldest = 0;
        self.has_gaps = false;
        self.missing_after = 0;
    }
}

/// Returns an empty vector; the first part of its memory has already been written to, so that the system has mapped it.
/// The system maps a page of memory when a thread first writes to the page. Mapping takes longer than logging a
/// line, and would happen under the lock.
fn with_memory<T: Clone>(capacity: usize, ready: usize, filler: T) -> Vec<T> {
    let mut vec = Vec::with_capacity(capacity);
    vec.resize(ready, filler);
    vec.clear();
    vec
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(bytes: usize, lines: usize) -> Batch {
        Batch::new(Room { bytes, lines })
    }

    /// Returns the batch as the writer would see it, with gaps as `<n>`.
    fn shown(batch: &Batch) -> String {
        let show = |part| match part {
            Part::Line(line) => String::from_utf8_lossy(line).into_owned(),
            Part::Missing(count) => format!("<{count}>"),
        };
        batch.parts().map(show).collect()
    }

    fn put(batch: &mut Batch, line: &str, is_expendable: bool) -> bool {
        if is_expendable {
            batch.drop_oldest(line.len());
        }
        batch.has_room(line.len()) && batch.push(line.as_bytes(), is_expendable, 0) == 0
    }

    #[test]
    fn the_oldest_makes_room_and_leaves_a_gap() {
        let mut batch = batch(6, 100);
        for line in ["aa", "bb", "cc", "dd", "ee"] {
            assert!(put(&mut batch, line, true));
        }
        assert_eq!(shown(&batch), "<2>ccddee");
        assert_eq!(batch.whole(), None);
    }

    #[test]
    fn only_what_is_expendable_makes_room() {
        let mut batch = batch(6, 100);
        assert!(put(&mut batch, "AA", false) && put(&mut batch, "bb", true) && put(&mut batch, "CC", false));
        assert!(put(&mut batch, "dd", true));
        assert_eq!(shown(&batch), "AA<1>CCdd");
        assert!(!put(&mut batch, "EE", false));
        assert!(put(&mut batch, "ff", true));
        assert_eq!(shown(&batch), "AA<1>CC<1>ff");
        assert!(!put(&mut batch, "ggggg", true), "two of the six bytes are all that can be had");
        assert_eq!(shown(&batch), "AA<1>CC<2>");
    }

    #[test]
    fn a_bound_on_lines_holds_for_empty_ones() {
        let mut batch = batch(100, 3);
        assert!((0..3).all(|_| put(&mut batch, "", false)));
        assert!(!put(&mut batch, "", false));
    }

    /// Checks that the memory stays the same for any number of lines, and that the gaps add up.
    #[test]
    fn it_never_grows_and_counts_every_line() {
        let mut batch = batch(64, 16);
        let memory = (batch.bytes.capacity(), batch.lines.capacity());
        let mut dice = 12_345_u32;
        let (mut accepted, mut kept) = (0, 0);
        for number in 0..10_000 {
            dice = dice.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let line = format!("{number};{}", "x".repeat(dice as usize >> 16 & 7));
            accepted += u64::from(put(&mut batch, &line, number % 1_000 != 7));
            let missing = |part| if let Part::Missing(count) = part { count } else { 0 };
            kept = batch.lengths().count() as u64;
            assert_eq!(batch.parts().map(missing).sum::<u64>() + kept, accepted);
            let of_parts = |part| if let Part::Line(line) = part { Some(line.len()) } else { None };
            assert!(batch.lengths().eq(batch.parts().filter_map(of_parts)));
        }
        assert!(kept > 0 && accepted > 1_000, "{kept} of {accepted}");
        assert_eq!(memory, (batch.bytes.capacity(), batch.lines.capacity()));
        batch.clear();
        assert_eq!((shown(&batch).as_str(), batch.whole()), ("", Some(&[][..])));
    }
}
