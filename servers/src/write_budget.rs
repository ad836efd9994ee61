//! Limits the time that a client may take for an answer.
//!
//! If each write had a time-out, the time-out would start again whenever the client takes a byte. So a
//! client that takes a single byte now and then would hold a thread for hours. To prevent this, an answer
//! has a budget of time. At first, the budget is the write time-out. Each byte that the client takes adds
//! the time for one byte at the lowest allowed rate, but the budget never exceeds the write time-out. Two
//! bounds follow from this budget:
//!
//! - the server gives up a client that takes no byte for the write time-out, and
//! - an answer of N bytes ends after at most the write time-out plus N / rate seconds.

use crate::limits::Limits;
use std::time::{Duration, Instant};

/// The time that a client has left for one answer.
#[derive(Debug)]
pub(crate) struct WriteBudget {
    timeout: Duration,
    /// How many bytes the client must take in a second.
    rate: usize,
    /// The time at which the budget is used up.
    deadline: Instant,
    /// True if the budget does not grow any more.
    is_ending: bool,
}

impl WriteBudget {
    /// Makes the budget of an answer that begins at the time `now`.
    pub(crate) fn new(limits: &Limits, now: Instant) -> WriteBudget {
        let (timeout, rate) = (limits.write_timeout, limits.min_write_rate);
        WriteBudget { timeout, rate, deadline: now + timeout, is_ending: false }
    }

    /// Adds the time for `count` bytes, which the client has taken at the time `now`.
    pub(crate) fn earn(&mut self, count: usize, now: Instant) {
        if !self.is_ending {
            let earned = Duration::from_secs_f64(count as f64 / self.rate as f64);
            self.deadline = (self.deadline + earned).min(now + self.timeout);
        }
    }

    /// Gives the client time until `deadline` at most, however many bytes the client takes.
    pub(crate) fn end_by(&mut self, deadline: Instant) {
        if !self.is_ending {
            self.is_ending = true;
            self.deadline = self.deadline.min(deadline);
        }
    }

    /// Returns the time until which the client must take the next bytes.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(now: Instant) -> WriteBudget {
        let limits =
            Limits { write_timeout: Duration::from_secs(10), min_write_rate: 100, ..Limits::default() };
        WriteBudget::new(&limits, now)
    }

    #[test]
    fn bytes_earn_time_but_never_more_than_the_time_out() {
        let start = Instant::now();
        let mut budget = budget(start);
        let later = start + Duration::from_secs(5);
        budget.earn(200, later);
        assert_eq!(budget.deadline(), start + Duration::from_secs(12));
        budget.earn(1_000_000, later);
        assert_eq!(budget.deadline(), later + Duration::from_secs(10));
    }

    #[test]
    fn after_the_end_was_announced_nothing_is_earned() {
        let start = Instant::now();
        let mut budget = budget(start);
        budget.end_by(start + Duration::from_secs(1));
        budget.end_by(start + Duration::from_secs(5));
        budget.earn(1_000, start);
        assert_eq!(budget.deadline(), start + Duration::from_secs(1));
    }
}
