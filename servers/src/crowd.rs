use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many connections are open, and how many may be at the same time.
///
/// Listeners that [admit](crate::Listener::admitting) the same crowd share the bound. A client that comes when it is
/// reached is told 503 and closed, and no thread is taken for it.
#[derive(Debug, Clone)]
pub struct Crowd(Arc<Count>);

#[derive(Debug)]
struct Count {
    open: AtomicUsize,
    most: usize,
}

/// What a connection has while it is open. Dropped, it makes room for another one.
#[derive(Debug)]
pub(crate) struct Place(Crowd);

impl Crowd {
    /// Admits `most` connections at the same time.
    pub fn of_at_most(most: usize) -> Crowd {
        Crowd(Arc::new(Count { open: AtomicUsize::new(0), most }))
    }

    /// How many are open: those that are served, and those that were accepted and wait for a thread.
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// A place for one more, if there is room. It waits for nothing.
    pub(crate) fn enter(&self) -> Option<Place> {
        let Count { open, most } = &*self.0;
        // Relaxed: it is a count, and nothing else is read by whoever looks at it.
        let one_more = |open: usize| (open < *most).then(|| open + 1);
        let entered = open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        entered.is_ok().then(|| Place(self.clone()))
    }
}

impl Default for Crowd {
    /// Without a bound.
    fn default() -> Crowd {
        Crowd::of_at_most(usize::MAX)
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
