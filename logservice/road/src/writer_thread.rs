//! The thread that writes; other threads can interrupt this thread, and wait for its end.
//!
//! A cancelled token stays cancelled, so that all later waits of the task fail; this is right for a task. The
//! writer must be able to wait again after an interrupt, because more lines may come. So the writer gets a
//! new token each time its token has ended a wait. Java's interrupt behaves in the same way: the wait that
//! the interrupt ends also clears the interrupt.

use executor::{CancelToken, Latch, masked};

use super::queue::Queue;
use crate::door::sync::{Arc, Mutex};
use crate::door::thread;

pub(super) struct WriterThread {
    interrupt: Arc<Interrupt>,
    ended: Arc<Latch>,
}

#[derive(Default)]
pub(super) struct Interrupt(Mutex<CancelToken>);

impl WriterThread {
    pub(super) fn spawn(write: impl FnOnce(&Interrupt) + Send + 'static) -> Self {
        let (interrupt, ended) = (Arc::<Interrupt>::default(), Arc::new(Latch::new(1)));
        let own = (Arc::clone(&interrupt), Arc::clone(&ended));
        thread::spawn(move || {
            write(&own.0);
            own.1.count_down();
        });
        Self { interrupt, ended }
    }

    /// Interrupts the writer's present wait, or its next wait if the writer does not wait now.
    pub(super) fn interrupt(&self) {
        let token = self.interrupt.current();
        token.cancel();
    }

    /// Waits until the writer has ended; a cancellation of the caller's task does not end this wait.
    pub(super) fn join(&self) {
        masked(|| self.ended.wait()).expect("no token can end a masked wait");
    }
}

impl Interrupt {
    fn current(&self) -> CancelToken {
        self.0.lock().unwrap().clone()
    }

    /// Takes an item for the writer. Returns `None` if the writer was interrupted; the writer must then find out why.
    pub(super) fn take<T>(&self, queue: &Queue<T>) -> Option<T> {
        let taken = self.current().attach(|| queue.take());
        if taken.is_none() {
            *self.0.lock().unwrap() = CancelToken::new();
        }
        taken
    }
}
