//! Scopes: tasks that borrow from the stack, on any executor.
//!
//! The scope keeps each closure that borrows. For each closure the scope gives the executor a *ticket*: a
//! task that refers to the closure and borrows nothing itself. Two threads can try to take the closure: the
//! thread that runs or drops the ticket, and the thread of the scope. The first of these two threads gets the
//! closure, and runs or drops it. A ticket whose closure has already been taken does nothing. So the executor
//! can treat tickets like all other tasks: the scope can end even if a ticket is never dropped.
//!
//! ```text
//!              ┌──ticket run────────────────────▶ runs ─────────────┐
//!   spawned ───┼──scope waits, on a worker──────▶ runs there ───────┼──▶ the scope may end
//!              └──ticket dropped, or cancelled──▶ dropped, counted ─┘
//! ```
//!
//! # Invariants
//!
//! 1. `scope` returns only when each spawned closure has run to its end or was dropped. `task/borrowed.rs`
//!    explains how the scope waits for the closures.
//! 2. If a scope waits on a worker, or inside a task, the scope runs the closures that have not begun,
//!    including closures that are spawned during the wait. So a scope on a worker waits only for closures
//!    that already run on other threads, and its executor needs no second thread.

use std::error::Error;
use std::task::Waker;
use std::{fmt, mem};

use super::RejectedExecution;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, Context, enter_task, masked};
use crate::ids::{Location, QueueId};
use crate::panics::{OnDrop, Panic, contain};
use crate::sync::{Arc, Mutex};
use crate::task::Task;
use crate::task::borrowed::{ScopeRecord, ScopedJobs};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::{RejectReason, WaitError, into_io_error};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, wait_for};
use crate::waiting::worker_context::concerns_this_thread;

/// Spawns tasks that can borrow: see [`ExecutorExt::scope`](super::ExecutorExt::scope).
///
/// ```
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let words = ["fork", "join"];
/// let mut lengths = [0; 2];
/// pool.scope(|scope| {
///     for (word, length) in words.iter().zip(&mut lengths) {
///         scope.spawn(move || *length = word.len()).expect("the pool runs");
///     }
/// })?;
/// assert_eq!(lengths, [4, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "StructuredTaskScope")]
pub struct Scope<'scope, 'env: 'scope> {
    submit: &'scope (dyn Fn(Task) -> Result<(), RejectedExecution> + Sync),
    jobs: ScopedJobs<'scope>,
    token: CancelToken,
    report: Mutex<Report>,
    env: std::marker::PhantomData<&'env mut &'env ()>,
}

#[derive(Default)]
struct Report {
    panic: Option<Panic>,
    dropped: usize,
}

pub(super) fn scope<'env, T>(
    submit: &(dyn Fn(Task) -> Result<(), RejectedExecution> + Sync),
    f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
) -> Result<T, ScopeError> {
    // A masked step ignores the current token. So the token of a scope or a fork that begins in a masked step
    // has no parent.
    let above = Context::of_this_place().into_token_above();
    let token = above.map_or_else(CancelToken::new, |above| above.child());
    let (jobs, report) = (ScopedJobs::new(), Mutex::default());
    let scope = Scope { submit, jobs, token, report, env: std::marker::PhantomData };
    let body = || contain(|| f(&scope)).inspect_err(|_| scope.cancel());
    let result = scope.jobs.keep(body, |unwinding| scope.settle(unwinding));
    let Report { panic, dropped } = mem::take(&mut *scope.report.lock());
    match (result, panic) {
        (Err(panic), _) | (Ok(_), Some(panic)) => panic.resume(),
        (Ok(_), None) if dropped > 0 => Err(ScopeError { dropped }),
        (Ok(value), None) => Ok(value),
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Gives a closure to the executor, which runs it. The closure can borrow everything that outlives the
    /// scope, and can spawn other closures.
    ///
    /// The closure stores its result itself: in a variable that it borrows, or in an element of a slice that
    /// no other closure uses. If the closure panics, [`scope`](super::ExecutorExt::scope) panics, too.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let mut answer = 0;
    /// pool.scope(|scope| scope.spawn(|| answer = 6 * 7))??;
    /// assert_eq!(answer, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The reason why the executor refused the task. The closure is dropped.
    ///
    /// # Blocking
    /// Blocks if the submission to the executor blocks.
    pub fn spawn(&'scope self, f: impl FnOnce() + Send + 'scope) -> Result<(), RejectReason> {
        let dropped_unrun = OnDrop(|| self.report.lock().dropped += 1);
        let closure = move || {
            if !self.token.is_cancelled() {
                mem::forget(dropped_unrun);
                self.run(f);
            }
        };
        let (ticket, take_back) = self.jobs.lend(closure);
        match (self.submit)(Task::of_scope(ticket)) {
            Err(RejectedExecution { reason, task: _ticket }) if take_back() => {
                self.report.lock().dropped -= 1; // the error tells the caller
                Err(reason)
            }
            _ => Ok(()), // if the executor refused: the scope has taken the closure meanwhile
        }
    }

    fn run(&self, f: impl FnOnce()) {
        let result = self.token.also_above_tasks(|| {
            let _frame = enter_task(None);
            contain(f)
        });
        if let Err(panic) = result {
            let first = &mut self.report.lock().panic;
            let later = if first.is_none() { first.replace(panic) } else { Some(panic) };
            drop(later); // the panic handler gets it
        }
    }

    /// Cancels the scope: drops the closures that have not begun, and cancels the tokens of the running
    /// closures.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let error = pool.scope(|scope| {
    ///     scope.cancel();
    ///     scope.spawn(|| unreachable!("the scope is cancelled"))
    /// });
    /// assert_eq!(error.unwrap_err().dropped, 1);
    /// ```
    pub fn cancel(&self) {
        self.cancel_because(CancelReason::of(CancelKind::Requested));
    }

    /// Cancels the scope like [`cancel`](Self::cancel), and sets the reason of the scope's
    /// [token](Self::token).
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let reason = pool.scope(|scope| {
    ///     scope.cancel_because("the first page is enough");
    ///     scope.token().reason()
    /// })?;
    /// assert_eq!(reason.unwrap().message(), Some("the first page is enough"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) {
        while let Some(unbegun) = self.jobs.take_back() {
            drop(unbegun);
        }
        self.token.cancel_because(reason);
    }

    /// Returns the scope's token. This token is the parent of the tokens of the scope's tasks, and a child of
    /// the token that was current when the scope began. In a [`masked`] step, the scope's token has no
    /// parent.
    ///
    /// ```
    /// use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// pool.scope(|scope| {
    ///     scope.token().cancel(); // as another part of the program may do, with a clone of the token
    ///     assert!(scope.token().is_cancelled());
    /// })?;
    /// assert!(!CancelToken::current().is_cancelled()); // the caller goes on
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Waits until each closure has run or was dropped; a thread that may help runs the closures that have
    /// not begun.
    fn settle(&self, unwinding: bool) {
        if self.token.is_cancelled() {
            self.cancel(); // if only the token was cancelled, the closures must be dropped
        }
        let helps = concerns_this_thread() && !unwinding;
        while helps && let Some(unbegun) = self.jobs.take_back() {
            unbegun.run(); // drops the closure if the scope's token is cancelled
        }
        if let Err(WaitError::Interrupted) =
            wait_until_settled(&self.jobs, None, || helps && self.jobs.has_unbegun())
        {
            self.cancel();
            let _ = masked(|| wait_for_lent_jobs(&self.jobs, None));
        }
    }
}

/// Waits until each lent closure has run or was dropped. `queue` is the queue of the closures that have not
/// begun, or `None` if this queue is not known.
pub(crate) fn wait_for_lent_jobs(jobs: &ScopedJobs<'_>, queue: Option<QueueId>) -> Result<(), WaitError> {
    wait_until_settled(jobs, queue, || false)
}

/// Waits until each lent closure has run or was dropped, or until the function `or` returns true.
fn wait_until_settled(
    jobs: &ScopedJobs<'_>,
    queue: Option<QueueId>,
    or: impl Fn() -> bool,
) -> Result<(), WaitError> {
    let look = |waker: &Waker| (jobs.are_settled(waker) || or()).then_some(());
    let what = || Some(Awaited::Other(Arc::new(Lending { record: Arc::clone(jobs.record()), queue })));
    wait_for(Deadline::NEVER, (look, what))
}

/// The lent closures of a scope, for a thread that waits for them.
struct Lending {
    record: Arc<Mutex<ScopeRecord>>,
    queue: Option<QueueId>,
}

impl Source for Lending {
    fn comes_from(&self) -> ComesFrom {
        let places: Vec<_> = self.record.lock().threads().into_iter().map(Location::On).collect();
        match self.queue {
            Some(queue) if places.is_empty() => ComesFrom::Places(vec![Location::In(queue)]),
            _ => ComesFrom::Places(places),
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// Returns false if a closure has begun: the closure borrows from a stack frame, so it must end before
    /// the function of that frame returns.
    fn can_be_given_up(&self) -> bool {
        self.queue.is_some() && self.record.lock().threads().is_empty()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// The error of a scope: some of its tasks were dropped without having been run. The executor was shut down,
/// the executor has discarded these tasks, or the scope or the calling task was cancelled. All tasks that had
/// begun have ended.
///
/// ```
/// use executor::{Discard, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::builder().rejection_handler(Discard).build()?;
/// pool.shutdown(); // from now on, `Discard` drops each task
/// let error = pool.scope(|scope| scope.spawn(|| ())).unwrap_err();
/// assert_eq!(error.dropped, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeError {
    /// The number of tasks that were dropped.
    pub dropped: usize,
}

impl fmt::Display for ScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dropped {
            1 => f.write_str("a task of the scope was dropped before it had begun"),
            n => write!(f, "{n} tasks of the scope were dropped before they had begun"),
        }
    }
}

impl Error for ScopeError {}

into_io_error!(ScopeError => kind Other);
