//! The records that the engine may delete, because they are in the file of this process.
//!
//! The engine keeps each record in a stream until the record is durable. If the engine deleted a record
//! earlier, the record would be lost when a process died before the record was on the disk. The next run of
//! the process reads the records that are left in the stream. A *mark* is the number of an entry in the
//! stream of records.

use std::collections::VecDeque;

/// The smallest number of marks for which it is worthwhile to send a command to the engine.
const MANY: usize = 64;

/// The marks of records that the engine still keeps, in order; each mark has the number of the write to the
/// file that must be durable first.
#[derive(Debug, Default)]
pub(super) struct Marks(VecDeque<(u64, String)>);

impl Marks {
    /// Adds a mark: when this number of writes is durable, all records up to this mark are durable.
    pub(super) fn add(&mut self, writes: u64, mark: String) {
        self.0.push_back((writes, mark));
    }

    /// Returns the mark up to which the engine may delete records when this number of writes is durable.
    /// Returns `None` if there are too few records for a command, unless this is the `last` command.
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
