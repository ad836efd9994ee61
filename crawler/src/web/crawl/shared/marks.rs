//! Which records the engine may forget, because the file of this process has them.
//!
//! Until then the engine keeps each record in a stream, because a process may die after it has heard that a
//! record was accepted and before the record is on the disk. The next run of the process reads what is left
//! in the stream. A
//! *mark* is the number of an entry in that stream.

use std::collections::VecDeque;

/// How many marks are worth a command to the engine.
const MANY: usize = 64;

/// The marks of answers whose records the engine still keeps, in their order, each with the write to the file
/// that must be durable first.
#[derive(Debug, Default)]
pub(super) struct Marks(VecDeque<(u64, String)>);

impl Marks {
    /// Notes that the records up to this mark are durable when this many writes are durable.
    pub(super) fn add(&mut self, writes: u64, mark: String) {
        self.0.push_back((writes, mark));
    }

    /// The mark up to which the engine may forget records, when this many writes are durable. `None` if there
    /// are too few records for a command, unless it is the `last` command.
    pub(super) fn take(&mut self, durable: u64, last: bool) -> Option<String> {
        let count = self.0.partition_point(|(writes, _)| *writes <= durable);
        if count < MANY && !last {
            return None;
        }
        self.0.drain(..count).next_back().map(|(_, mark)| mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_durable_is_kept() {
        let mut marks = Marks::default();
        (1..=100).for_each(|write| marks.add(write, format!("{write}-0")));
        assert_eq!(marks.take(63, false), None, "not worth it");
        assert_eq!(marks.take(70, false).as_deref(), Some("70-0"));
        assert_eq!(marks.take(100, false), None, "30 more");
        assert_eq!(marks.take(99, true).as_deref(), Some("99-0"));
        assert_eq!(marks.take(99, true), None);
    }
}
