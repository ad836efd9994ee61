//! The executor below, as one of its own threads may have to call it: a head that lets others go first.
//!
//! The executor belongs to the wrapper, which may be dropped while a head runs; and dropping a pool waits for its tasks, unless
//! one of its own threads drops it. So a head must never be the last who has it. It *borrows* the executor for a call, and the
//! wrapper, when it is dropped, first waits until all loans have come back. From then on heads run until their lines are empty.

use std::ops::Deref;
use std::task::Waker;

use crate::cancel::masked;
use crate::executor::{Executor, forward_service};
use crate::ids::{ThreadKey, this_thread};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, Weak};
use crate::wait::{self, Deadline, wait};

/// An executor that can be borrowed, until this is dropped.
pub(crate) struct Lender<E> {
    loans: Arc<Mutex<Loans>>,
    executor: Arc<E>,
}

struct Loans {
    is_closed: bool,
    /// Who has one.
    borrowers: Vec<ThreadKey>,
    /// The owner, if it waits for them.
    owner: wait::Line,
}

impl<E> Lender<E> {
    pub(crate) fn new(executor: E) -> Self {
        let loans = Loans { is_closed: false, borrowers: Vec::new(), owner: wait::Line::new() };
        Self { loans: Arc::new(Mutex::new(loans)), executor: Arc::new(executor) }
    }
}

impl<E: Executor + 'static> Lender<E> {
    /// What heads have that are to hand over after so many tasks.
    pub(crate) fn turns(&self, length: usize) -> Turns {
        let executor: Arc<dyn Executor> = Arc::clone(&self.executor) as _;
        Turns {
            length: AtomicUsize::new(length),
            loans: Arc::clone(&self.loans),
            executor: Arc::downgrade(&executor),
        }
    }
}

forward_service!(<E> Lender<E> => self.executor);

impl<E> Deref for Lender<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.executor
    }
}

impl<E> Drop for Lender<E> {
    fn drop(&mut self) {
        let me = this_thread(); // which does not wait for itself
        let come_back = |waker: &Waker| {
            let mut loans = self.loans.lock();
            loans.is_closed = true;
            let all = loans.borrowers.iter().all(|thread| *thread == me);
            if !all {
                loans.owner.join(waker.clone());
            }
            all.then_some(())
        };
        masked(|| wait(Deadline::NEVER, come_back)).unwrap_or_else(|_| unreachable!("masked"));
    }
}

/// After how many tasks the head of a line lets others go first.
pub(crate) struct Turns {
    length: AtomicUsize,
    loans: Arc<Mutex<Loans>>,
    executor: Weak<dyn Executor>,
}

impl Turns {
    pub(super) fn length(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    pub(crate) fn set_length(&self, length: usize) {
        self.length.store(length, Ordering::Relaxed);
    }

    /// The executor below, if its owner is still there.
    pub(super) fn borrow(&self) -> Option<Loan> {
        let mut loans = self.loans.lock();
        if loans.is_closed {
            return None;
        }
        loans.borrowers.push(this_thread());
        drop(loans);
        // The owner waits from here on.
        let executor = self.executor.upgrade().expect("its owner is there");
        Some(Loan { executor: Some(executor), loans: Arc::clone(&self.loans) })
    }
}

pub(super) struct Loan {
    executor: Option<Arc<dyn Executor>>,
    loans: Arc<Mutex<Loans>>,
}

impl Loan {
    pub(super) fn executor(&self) -> &dyn Executor {
        self.executor.as_deref().expect("it is given back by drop only")
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        drop(self.executor.take()); // not the last, since the owner has one
        let me = this_thread();
        let mut loans = self.loans.lock();
        let place = loans.borrowers.iter().position(|thread| *thread == me);
        place.map(|place| loans.borrowers.swap_remove(place));
        let owner = if loans.is_closed { loans.owner.take_all().collect() } else { Vec::new() };
        drop(loans);
        owner.into_iter().for_each(Waker::wake);
    }
}
