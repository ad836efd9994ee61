//! A mailbox through which other threads pass results back to an event loop.
//!
//! ```text
//!   event loop                                       another thread
//!   Errand::new(load, mailbox) ──── (a queue) ────▶  Errand::done(work)    or it is dropped
//!   Mailbox::take_all  ◀────────────────────────────  post, and notify for the first
//! ```
//!
//! The loop waits for the system and not for a lock, because it waits for all its connections at once. So a
//! thread that posts a load must notify the loop, and the notification ends the loop's wait.
//!
//! # Invariants
//!
//! 1. Each errand is posted exactly once: as done, or as [undone](Load::is_undone) if it is dropped. So no
//!    client waits forever, even if a queue has refused or discarded the errand, or a panic has ended it.
//! 2. The loop gets loads in the order in which they were posted.
//! 3. After the loop has emptied the mailbox, the next load that is posted notifies the loop. This
//!    notification ends the loop's next wait. So the loop never sleeps while a load is in the
//!    mailbox.

use super::door::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends the current wait of the event loop or, if it is not waiting, its next wait.
pub(crate) trait Notify {
    fn notify(&self);
}

/// The value that an errand carries.
pub(crate) trait Load {
    /// Called if the errand is dropped before it is completed.
    fn is_undone(&mut self);
}

/// The mailbox in which loads wait until the event loop takes them.
#[derive(Debug)]
pub(crate) struct Mailbox<L, B> {
    posted: Mutex<Vec<L>>,
    event_loop: B,
}

impl<L, B: Notify> Mailbox<L, B> {
    pub(crate) fn new(event_loop: B) -> Mailbox<L, B> {
        Mailbox { posted: Mutex::new(Vec::new()), event_loop }
    }

    // ANCHOR: post
    fn post(&self, load: L) {
        let was_empty = {
            let mut posted = self.lock();
            posted.push(load);
            posted.len() == 1
        };
        if was_empty {
            self.event_loop.notify();
        }
    }
    // ANCHOR_END: post

    /// Moves all loads into `taken`, which must be empty.
    pub(crate) fn take_all(&self, taken: &mut Vec<L>) {
        std::mem::swap(&mut *self.lock(), taken);
    }

    /// Wakes the loop even if no load was posted.
    pub(crate) fn notify(&self) {
        self.event_loop.notify();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<L>> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work to be done on another thread.
#[derive(Debug)]
pub(crate) struct Errand<L: Load, B: Notify> {
    /// `None` after the errand has been posted.
    load: Option<L>,
    to: Arc<Mailbox<L, B>>,
}

impl<L: Load, B: Notify> Errand<L, B> {
    pub(crate) fn new(load: L, to: &Arc<Mailbox<L, B>>) -> Errand<L, B> {
        Errand { load: Some(load), to: Arc::clone(to) }
    }

    pub(crate) fn load(&self) -> &L {
        self.load.as_ref().expect("it is not posted before it is done or dropped")
    }

    /// Carries out the errand, and posts it. If `work` panics, the errand is posted as undone.
    pub(crate) fn done(mut self, work: impl FnOnce(&mut L)) {
        if let Some(load) = &mut self.load {
            work(load);
        }
        self.post();
    }

    fn post(&mut self) {
        if let Some(load) = self.load.take() {
            self.to.post(load);
        }
    }
}

impl<L: Load, B: Notify> Drop for Errand<L, B> {
    fn drop(&mut self) {
        if let Some(load) = &mut self.load {
            load.is_undone();
        }
        self.post();
    }
}
