//! Decides when the next request is due, and when the run is over.
//!
//! Without a rate the loop is *closed*: a connection sends a new request as soon as it has its answer. A
//! closed loop sends less load when the server is in trouble. While the server stalls, no client sends a
//! request, so only few requests measure the stall. In a stall of one second each connection has one slow
//! answer, whereas independent users would have sent requests during the whole second. This effect is
//! called *coordinated omission*.
//!
//! With a rate the loop is *open*: request n is due at n / rate, whatever has happened to earlier requests.
//! If no connection is free at that time, the next connection that becomes free sends the request late. The
//! request's latency includes this wait, as a user would see it. Requests that were due but could not be
//! sent before the end of the run are counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Distributes the requests of a run among its connections.
#[derive(Debug)]
pub(crate) struct Schedule {
    start: Instant,
    end: Instant,
    most: u64,
    rate: Option<f64>,
    taken: AtomicU64,
}

/// A request that the schedule gives to a client, which must send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// The latency of the request counts from this moment. With a rate, this moment can be in the future;
    /// then the client waits for it.
    pub(crate) due: Instant,
}

impl Schedule {
    pub(crate) fn new(start: Instant, duration: Duration, most: u64, rate: Option<f64>) -> Schedule {
        Schedule { start, end: start + duration, most, rate, taken: AtomicU64::new(0) }
    }

    /// Returns the next request, or `None` when the run is over.
    pub(crate) fn take(&self) -> Option<Ticket> {
        self.take_if(|_| true)
    }

    /// Returns the next request if the request is already due.
    pub(crate) fn take_due(&self) -> Option<Ticket> {
        let now = Instant::now();
        self.take_if(|due| due <= now)
    }

    fn take_if(&self, wanted: impl Fn(Instant) -> bool) -> Option<Ticket> {
        let mut number = self.taken.load(Ordering::Relaxed);
        loop {
            let now = Instant::now();
            let due =
                self.rate.map_or(now, |rate| self.start + Duration::from_secs_f64(number as f64 / rate));
            if number >= self.most || now >= self.end || due >= self.end || !wanted(due) {
                return None;
            }
            // Relaxed is enough: the threads share only this number.
            match self.taken.compare_exchange_weak(number, number + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(Ticket { due }),
                Err(current) => number = current,
            }
        }
    }

    /// Returns the number of requests that were due by `now` (or by the end of the run, if the end came
    /// first) and were not sent.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a day of a million a second fits"
    )]
    pub(crate) fn never_sent(&self, now: Instant) -> u64 {
        let Some(rate) = self.rate else { return 0 };
        let passed = now.min(self.end).duration_since(self.start).as_secs_f64();
        let due = ((passed * rate).ceil() as u64).min(self.most);
        due.saturating_sub(self.taken.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_count_is_kept_exactly() {
        let schedule = Schedule::new(Instant::now(), MINUTE, 3, None);
        assert_eq!((0..10).filter_map(|_| schedule.take()).count(), 3);
    }

    #[test]
    fn a_rate_says_when_each_is_due_whoever_takes_it_and_however_late() {
        let start = Instant::now();
        let schedule = Schedule::new(start, MINUTE, 100, Some(10.0));
        let due: Vec<_> = (0..3).map(|_| schedule.take().unwrap().due - start).collect();
        assert_eq!(due, [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(200)]);
        assert_eq!(schedule.take_due(), None, "the fourth is due in 300 ms");
    }

    #[test]
    fn nothing_is_handed_out_after_the_end_and_what_was_due_is_told() {
        let start = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        let schedule = Schedule::new(start, Duration::from_secs(5), 1_000, Some(10.0));
        assert_eq!(schedule.take(), None);
        assert_eq!(schedule.never_sent(Instant::now()), 50);
        assert_eq!(
            Schedule::new(start, Duration::from_secs(5), 20, Some(10.0)).never_sent(Instant::now()),
            20
        );
        assert_eq!(Schedule::new(start, Duration::from_secs(5), 20, None).never_sent(Instant::now()), 0);
    }
}
