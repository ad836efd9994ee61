//! Lends the underlying executor to a drain task, so that the drain task can submit its successor.
//!
//! A serial or striped executor owns its underlying executor, and can be dropped while a drain task runs on a
//! thread of the underlying executor. A drain task must not become the last owner of a pool: the pool would
//! be dropped on one of its own threads, and no thread would wait for the pool's tasks. So a drain task only
//! *borrows* the underlying executor, for one call. The drop of the serial or striped executor first waits
//! until all borrows have ended. From then on, drain tasks get no successors, and run until their strands are
//! empty.
//!
//! A borrow can last long: if the underlying executor makes submitters wait for room, the drain task waits,
//! too. The thread that drops the serial or striped executor waits until the borrow ends, and perhaps only
//! this thread can make room. So the drain task attaches a token while it calls the underlying executor, and
//! the drop of the serial or striped executor cancels that token. If the drain task waits in the call, this
//! cancellation makes the drain task continue at once, as if its successor had been refused. So this drop
//! waits only until the calls of the underlying executor have returned.

use std::ops::Deref;
use std::task::Waker;

use crate::cancel::{CancelToken, masked};
use crate::executor::{Executor, forward_service};
use crate::ids::{Location, ThreadKey, this_thread};
use crate::panics::OnDrop;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, Weak};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, WaitList, wait_for};

/// An executor that can be borrowed until the lender is dropped.
pub(crate) struct Lender<E> {
    borrows: Arc<Mutex<Borrows>>,
    executor: Arc<E>,
}

struct Borrows {
    is_closed: bool,
    /// The threads that borrow the executor now, each with the token of its call.
    borrowers: Vec<(ThreadKey, CancelToken)>,
    /// The thread that drops the lender, if this thread is waiting for the end of all borrows.
    owner: WaitList,
}

impl<E> Lender<E> {
    pub(crate) fn new(executor: E) -> Self {
        let borrows = Borrows { is_closed: false, borrowers: Vec::new(), owner: WaitList::new() };
        Self { borrows: Arc::new(Mutex::new(borrows)), executor: Arc::new(executor) }
    }
}

impl<E: Executor + 'static> Lender<E> {
    /// Makes the [`Turns`] for drain tasks that hand over to a successor after `length` tasks.
    pub(crate) fn turns(&self, length: usize) -> Turns {
        let executor: Arc<dyn Executor> = Arc::clone(&self.executor) as _;
        Turns {
            length: AtomicUsize::new(length),
            borrows: Arc::clone(&self.borrows),
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
        let mut borrows = self.borrows.lock();
        borrows.is_closed = true;
        let calls: Vec<_> = borrows.borrowers.iter().map(|(_, token)| token.clone()).collect();
        drop(borrows);
        for call in calls {
            call.cancel();
        }
        let me = this_thread(); // the owner does not wait for its own borrow
        let have_all_ended = |waker: &Waker| {
            let mut borrows = self.borrows.lock();
            let all = borrows.borrowers.iter().all(|(thread, _)| *thread == me);
            if !all {
                borrows.owner.join(waker.clone());
            }
            all.then_some(())
        };
        let what = || Some(Awaited::Other(Arc::clone(&self.borrows) as Arc<dyn Source>));
        masked(|| wait_for(Deadline::NEVER, (have_all_ended, what)))
            .unwrap_or_else(|_| unreachable!("masked"));
    }
}

impl Source for Mutex<Borrows> {
    fn comes_from(&self) -> ComesFrom {
        ComesFrom::Places(self.lock().borrowers.iter().map(|(thread, _)| Location::On(*thread)).collect())
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// Always returns false: the executor must not be dropped while a drain task borrows it.
    fn can_be_given_up(&self) -> bool {
        false
    }
}

/// The length of a turn, in tasks, and the executor that a drain task borrows at the end of its turn.
pub(crate) struct Turns {
    length: AtomicUsize,
    borrows: Arc<Mutex<Borrows>>,
    executor: Weak<dyn Executor>,
}

impl Turns {
    pub(super) fn length(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    pub(crate) fn set_length(&self, length: usize) {
        self.length.store(length, Ordering::Relaxed);
    }

    /// Lends the underlying executor to `f`. Returns `None` if the lender was dropped. If `f` waits in a call
    /// of that executor, the drop of the lender ends the wait.
    pub(super) fn lend<R>(&self, f: impl FnOnce(&dyn Executor) -> R) -> Option<R> {
        let token = CancelToken::new();
        let mut borrows = self.borrows.lock();
        if borrows.is_closed {
            return None;
        }
        borrows.borrowers.push((this_thread(), token.clone()));
        drop(borrows);
        let _ends = OnDrop(|| self.end_borrow(&token));
        // The drop of the lender waits until this borrow has ended. So the underlying executor still exists,
        // and `drop(executor)` does not drop the last reference.
        let executor = self.executor.upgrade().expect("its owner is there");
        let result = token.attach(|| f(&*executor));
        drop(executor);
        Some(result)
    }

    fn end_borrow(&self, token: &CancelToken) {
        let mut borrows = self.borrows.lock();
        let place = borrows.borrowers.iter().position(|(_, other)| other.is(token));
        place.map(|place| borrows.borrowers.swap_remove(place)); // the caller has another copy of this token
        let owner = if borrows.is_closed { borrows.owner.take_all().collect() } else { Vec::new() };
        drop(borrows);
        owner.into_iter().for_each(Waker::wake);
    }
}
