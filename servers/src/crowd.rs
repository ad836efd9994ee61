//! Limits the number of open connections, and gives each open connection a place.
//!
//! A connection gives up its place just before it is closed; so a client that has seen the end of one
//! connection finds a place for its next connection.

use crate::stats::{Samples, family};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The connections that are open; their number has a bound.
///
/// Listeners that [admit](crate::Listener::admitting) the same crowd share the bound. A client that arrives
/// when the bound is reached gets a 503, and its connection is closed; no thread is needed for the client.
#[derive(Debug, Clone)]
pub struct Crowd(Arc<Count>);

#[derive(Debug)]
struct Count {
    open: AtomicUsize,
    most: usize,
    accepted: AtomicU64,
    /// The number of accepted connections that were not served: connections that got a 503, and
    /// connections that were closed without an answer.
    turned_away: AtomicU64,
    unanswered: AtomicU64,
}

/// The place that an open connection holds until the place is dropped; then another connection can take it.
#[derive(Debug)]
pub(crate) struct Place(Crowd);

impl Crowd {
    /// Makes a crowd that admits `most` connections at the same time.
    pub fn of_at_most(most: usize) -> Crowd {
        let (accepted, turned_away, unanswered) = Default::default();
        Crowd(Arc::new(Count { open: AtomicUsize::new(0), most, accepted, turned_away, unanswered }))
    }

    /// Returns how many connections are open: some are being served, and others are accepted and wait for a
    /// thread.
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// Takes a place for another connection, if a place is free. This function never blocks.
    pub(crate) fn enter(&self) -> Option<Place> {
        let Count { open, most, .. } = &*self.0;
        // Relaxed is enough: the counter is only a number, and no other data depends on it.
        let one_more = |open: usize| (open < *most).then(|| open + 1);
        let entered = open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        if entered.is_err() {
            self.turn_away();
            return None;
        }
        self.0.accepted.fetch_add(1, Ordering::Relaxed);
        Some(Place(self.clone()))
    }

    /// Counts an accepted connection for which there was no place.
    pub(crate) fn turn_away(&self) {
        self.0.accepted.fetch_add(1, Ordering::Relaxed);
        self.0.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Measures how many connections were accepted, are open, and were not served.
    pub(crate) fn measure(&self, samples: &mut Samples) {
        samples.count(&family::CONNECTIONS, self.open() as u64);
        samples.count(&family::ACCEPTED, self.0.accepted.load(Ordering::Relaxed));
        for (reason, count) in
            [("turned_away", &self.0.turned_away), ("closed_unanswered", &self.0.unanswered)]
        {
            samples.count_of(&family::REFUSALS, reason, count.load(Ordering::Relaxed));
        }
    }
}

impl Default for Crowd {
    /// Returns a crowd without a bound.
    fn default() -> Crowd {
        Crowd::of_at_most(usize::MAX)
    }
}

impl Place {
    /// Counts a connection that is not served: its client gets a 503, or the connection is closed
    /// without an answer.
    pub(crate) fn is_not_served(&self, is_silent: bool) {
        let Count { turned_away, unanswered, .. } = &*self.0.0;
        let count = if is_silent { unanswered } else { turned_away };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn who_leaves_makes_room() {
        let crowd = Crowd::of_at_most(2);
        let (one, other) = (crowd.enter(), crowd.enter());
        assert!(one.is_some() && other.is_some() && crowd.enter().is_none());
        drop(one);
        assert_eq!(crowd.open(), 1);
        assert!(crowd.enter().is_some());
    }

    #[test]
    fn there_are_never_more_than_may_be_and_none_in_the_end() {
        let crowd = Crowd::of_at_most(3);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let _place = crowd.enter();
                        assert!(crowd.open() <= 3);
                    }
                });
            }
        });
        assert_eq!(crowd.open(), 0);
    }
}
