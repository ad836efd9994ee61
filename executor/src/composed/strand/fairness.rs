//! Lends the executor below to a drain task, which submits its successor there.
//!
//! A drain task calls the executor below from one of that executor's own threads. The owner of that executor
//! is a serial or striped executor, which can be dropped while a drain task runs. The drop of a pool waits
//! for the pool's tasks, unless one of the pool's own threads drops the pool. So a drain task must never be
//! the last owner of the executor below. It *borrows* that executor for one call. The drop of the serial or
//! striped executor first waits until all loans have ended. From then on, drain tasks run until their strands
//! are empty.
//!
//! A loan can last long: an executor that makes submitters wait for room makes the drain task wait, too.
//! Perhaps the drain task waits for the thread that drops the serial or striped executor. So the call is made
//! under a token, and the drop cancels the token. A drain task that waits in the call then goes on at once,
//! as if its successor had been refused. So the drop waits only until the calls have returned.

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

/// An executor that can be borrowed until the lender is dropped.
pub(crate) struct Lender<E> {
    loans: Arc<Loans>,
    executor: Arc<E>,
}

struct Loans(Mutex<LoanRecords>);

struct LoanRecords {
    is_closed: bool,
    /// The threads that have a loan, each with the token of its call.
    borrowers: Vec<(ThreadKey, CancelToken)>,
    /// The thread that drops the lender, if it waits for the loans.
    owner: wait::WaitList,
}

impl<E> Lender<E> {
    pub(crate) fn new(executor: E) -> Self {
        let book = LoanRecords { is_closed: false, borrowers: Vec::new(), owner: wait::WaitList::new() };
        Self { loans: Arc::new(Loans(Mutex::new(book))), executor: Arc::new(executor) }
    }
}

impl<E: Executor + 'static> Lender<E> {
    /// Returns the turns for drain tasks that hand over after `length` tasks.
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

/// Looks whether all loans have ended.
struct ComeBack<'a>(&'a Arc<Loans>);

impl Look for ComeBack<'_> {
    type Found = ();

    fn look(&mut self, waker: &Waker) -> Option<()> {
        let me = this_thread(); // the owner does not wait for its own loan
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

    /// Returns false: the executor must not be dropped while a drain task has it.
    fn can_be_given_up(&self) -> bool {
        false
    }
}

/// The length of a turn, in tasks, and the executor that a drain task borrows at the end of its turn.
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

    /// Borrows the executor below, if the lender was not dropped.
    pub(super) fn borrow(&self) -> Option<Loan> {
        let token = CancelToken::new();
        let mut book = self.loans.0.lock();
        if book.is_closed {
            return None;
        }
        book.borrowers.push((this_thread(), token.clone()));
        drop(book);
        // From here on, the drop of the lender waits for this loan.
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
    /// Gives a task to the executor. If this call waits, the drop of the lender ends the wait.
    pub(super) fn execute(&self, task: Task) -> Result<(), RejectedExecution> {
        let executor = self.executor.as_ref().expect("only the drop gives it back");
        self.token.attach(|| executor.execute_task(task))
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        drop(self.executor.take()); // not the last owner: the lender waits for this loan
        let mut book = self.loans.0.lock();
        let place = book.borrowers.iter().position(|(_, token)| token.is(&self.token));
        place.map(|place| book.borrowers.swap_remove(place)); // not the last copy of its token
        let owner = if book.is_closed { book.owner.take_all().collect() } else { Vec::new() };
        drop(book);
        owner.into_iter().for_each(Waker::wake);
    }
}
