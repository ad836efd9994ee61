//! Bounds the number of open connections, and gives each of them a place.
//!
//! A connection keeps its place until the connection is closed, and gives the place up just before: a client
//! that has seen the end of one connection finds a place for the next.

use crate::stats::{Samples, family};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many connections are open, and how many may be at the same time.
///
/// Listeners that [admit](crate::Listener::admitting) the same crowd share the bound. A client that arrives
/// when the bound is reached is told 503, and its connection is closed; it takes no thread.
#[derive(Debug, Clone)]
pub struct Crowd(Arc<Count>);

#[derive(Debug)]
struct Count {
    open: AtomicUsize,
    most: usize,
    accepted: AtomicU64,
    /// How many accepted connections were not served: those that were told 503, and those that were closed
    /// without an answer.
    turned_away: AtomicU64,
    unanswered: AtomicU64,
}

/// The place of an open connection. When the place is dropped, there is room for another connection.
#[derive(Debug)]
pub(crate) struct Place(Crowd);

impl Crowd {
    /// Admits `most` connections at the same time.
    pub fn of_at_most(most: usize) -> Crowd {
        let (accepted, turned_away, unanswered) = Default::default();
        Crowd(Arc::new(Count { open: AtomicUsize::new(0), most, accepted, turned_away, unanswered }))
    }

    /// Returns how many connections are open: those that are served, and those that were accepted and wait
    /// for a thread.
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// Takes a place for another connection, if there is room. Does not wait.
    pub(crate) fn enter(&self) -> Option<Place> {
        let Count { open, most, .. } = &*self.0;
        // Relaxed: this is a mere count, and its readers read no other data that depends on it.
        let one_more = |open: usize| (open < *most).then(|| open + 1);
        let entered = open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        if entered.is_err() {
            self.turn_away();
            return None;
        }
        self.0.accepted.fetch_add(1, Ordering::Relaxed);
        Some(Place(self.clone()))
    }

    /// Counts a connection that was accepted and for which there is no place.
    pub(crate) fn turn_away(&self) {
        self.0.accepted.fetch_add(1, Ordering::Relaxed);
        self.0.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// Measures the connections that were accepted, that are open, and that were not served.
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
    /// A crowd without a bound.
    fn default() -> Crowd {
        Crowd::of_at_most(usize::MAX)
    }
}

impl Place {
    /// Counts a connection that is not served: its client is told 503, or it is closed without an answer.
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
