//! The executor below, as one of its own threads may have to call it: a drain task that lets others go first.
//!
//! The executor belongs to the wrapper, which may be dropped while a drain task runs; and dropping a pool
//! waits for its tasks, unless one of its own threads drops it. So a drain task must never be the last who
//! has it. It *borrows* the executor for a call, and the wrapper, when it is dropped, first has all loans
//! come back. From then on drain tasks run until their strands are empty.
//!
//! A loan may take long: an executor that has submitters wait for room has the drain task wait, too, perhaps
//! for the very thread that drops the wrapper. So the call is made under a token, and the drop cancels it. A
//! drain task that waits goes on at once, as if it had been refused. What is left to wait for is its way
//! back.

use std::ops::Deref;
use std::task::Waker;

use crate::cancel::{CancelToken, masked};
use crate::executor::{Executor, RejectedExecution, forward_service};
use crate::ids::{Location, ThreadKey, this_thread};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, Weak};
use crate::task::Task;
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{self, Deadline, Look, wait_for};

/// An executor that can be borrowed, until this is dropped.
pub(crate) struct Lender<E> {
    loans: Arc<Loans>,
    executor: Arc<E>,
}

struct Loans(Mutex<LoanRecords>);

struct LoanRecords {
    is_closed: bool,
    /// Who has one, and the token of its call.
    borrowers: Vec<(ThreadKey, CancelToken)>,
    /// The owner, if it waits for them.
    owner: wait::WaitList,
}

impl<E> Lender<E> {
    pub(crate) fn new(executor: E) -> Self {
        let book = LoanRecords { is_closed: false, borrowers: Vec::new(), owner: wait::WaitList::new() };
        Self { loans: Arc::new(Loans(Mutex::new(book))), executor: Arc::new(executor) }
    }
}

impl<E: Executor + 'static> Lender<E> {
    /// What drain tasks have that are to hand over after so many tasks.
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
        let mut book = self.loans.0.lock();
        book.is_closed = true;
        let calls: Vec<_> = book.borrowers.iter().map(|(_, token)| token.clone()).collect();
        drop(book);
        for call in calls {
            call.cancel();
        }
        masked(|| wait_for(Deadline::NEVER, ComeBack(&self.loans)))
            .unwrap_or_else(|_| unreachable!("masked"));
    }
}

/// A look whether all loans have come back.
struct ComeBack<'a>(&'a Arc<Loans>);

impl Look for ComeBack<'_> {
    type Found = ();

    fn look(&mut self, waker: &Waker) -> Option<()> {
        let me = this_thread(); // which does not wait for itself
        let mut book = self.0.0.lock();
        let all = book.borrowers.iter().all(|(thread, _)| *thread == me);
        if !all {
            book.owner.join(waker.clone());
        }
        all.then_some(())
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::clone(self.0) as Arc<dyn Source>))
    }
}

impl Source for Loans {
    fn comes_from(&self) -> ComesFrom {
        ComesFrom::Places(self.0.lock().borrowers.iter().map(|(thread, _)| Location::On(*thread)).collect())
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// The executor must not go while a drain task has it.
    fn can_be_given_up(&self) -> bool {
        false
    }
}

/// After how many tasks the drain task of a strand lets others go first.
pub(crate) struct Turns {
    length: AtomicUsize,
    loans: Arc<Loans>,
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
        let token = CancelToken::new();
        let mut book = self.loans.0.lock();
        if book.is_closed {
            return None;
        }
        book.borrowers.push((this_thread(), token.clone()));
        drop(book);
        // The owner waits from here on.
        let executor = self.executor.upgrade().expect("its owner is there");
        Some(Loan { executor: Some(executor), token, loans: Arc::clone(&self.loans) })
    }
}

pub(super) struct Loan {
    executor: Option<Arc<dyn Executor>>,
    token: CancelToken,
    loans: Arc<Loans>,
}

impl Loan {
    /// Gives the executor a task, and waits no more for that when the owner wants the loan back.
    pub(super) fn execute(&self, task: Task) -> Result<(), RejectedExecution> {
        let executor = self.executor.as_ref().expect("it is given back by drop only");
        self.token.attach(|| executor.execute_task(task))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        drop(self.executor.take()); // not the last, since the owner has one
        let mut book = self.loans.0.lock();
        let place = book.borrowers.iter().position(|(_, token)| token.is(&self.token));
        place.map(|place| book.borrowers.swap_remove(place)); // not the last of its token
        let owner = if book.is_closed { book.owner.take_all().collect() } else { Vec::new() };
        drop(book);
        owner.into_iter().for_each(Waker::wake);
    }
}
