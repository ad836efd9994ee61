//! Tasks that borrow from the stack, on any executor.
//!
//! The executor is given tasks that own what they have: *tickets*. The closure that borrows lies with the
//! scope, and whoever comes first takes it: a thread of the executor with its ticket, or the scope itself,
//! which runs it or drops it. A ticket that comes too late does nothing. So an executor may do with tickets
//! whatever it does with tasks, even keep them for ever, and the scope ends all the same.
//!
//! ```text
//!              ┌──ticket run────────────────────▶ runs ─────────────┐
//!   spawned ───┼──scope waits, on a worker──────▶ runs there ───────┼──▶ the scope may end
//!              └──ticket dropped, or cancelled──▶ dropped, counted ─┘
//! ```
//!
//! # Invariants
//!
//! 1. `scope` returns when nothing that was spawned runs or is there. See `job` for how that is made sure of.
//! 2. A scope that waits on a worker, or in the middle of a task, runs what has not begun, also what is
//!    spawned while it waits. So it waits only for what runs on other threads, and its own executor need not
//!    have another one.

use std::error::Error;
use std::fmt;
use std::task::Waker;

use super::RejectedExecution;
use crate::cancel::{CancelToken, enter_task, masked};
use crate::ids::{Location, QueueId};
use crate::panics::{Panic, contain};
use crate::sync::{Arc, Mutex};
use crate::task::Task;
use crate::task::borrowed::{ScopeRecord, ScopedJobs, Unwinding};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::{RejectReason, WaitError};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, Look, wait_for};
use crate::waiting::worker_context::concerns_this_thread;

/// Where tasks can be spawned that borrow: see [`ExecutorExt::scope`](super::ExecutorExt::scope).
pub struct Scope<'scope, 'env: 'scope> {
    submit: Submit<'scope>,
    loans: ScopedJobs<'scope>,
    token: CancelToken,
    report: Mutex<Report>,
    env: std::marker::PhantomData<&'env mut &'env ()>,
}

type Submit<'scope> = &'scope (dyn Fn(Task) -> Result<(), RejectedExecution> + Sync + 'scope);

#[derive(Default)]
struct Report {
    panic: Option<Panic>,
    dropped: usize,
}

pub(super) fn scope<'env, T>(
    submit: &(dyn Fn(Task) -> Result<(), RejectedExecution> + Sync),
    f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
) -> Result<T, ScopeError> {
    let token = CancelToken::current().child();
    let (loans, report) = (ScopedJobs::new(), Mutex::default());
    let scope = Scope { submit, loans, token, report, env: std::marker::PhantomData };
    let body = || contain(|| f(&scope)).inspect_err(|_| scope.cancel());
    let result = scope.loans.keep(body, |unwinding| scope.settle(unwinding));
    let Report { panic, dropped } = std::mem::take(&mut *scope.report.lock());
    match (result, panic) {
        (Err(panic), _) | (Ok(_), Some(panic)) => panic.resume(),
        (Ok(_), None) if dropped > 0 => Err(ScopeError { dropped }),
        (Ok(value), None) => Ok(value),
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Has a closure run by the executor. It may borrow whatever outlives the scope, and spawn more.
    ///
    /// A result goes to where the closure puts it: a variable that it borrows, an element of a slice of its
    /// own. A panic in it is passed on by [`scope`](super::ExecutorExt::scope).
    ///
    /// # Errors
    /// Why the executor refuses it. The closure is dropped.
    ///
    /// # Blocking
    /// As the executor does when it is given a task.
    pub fn spawn(&'scope self, f: impl FnOnce() + Send + 'scope) -> Result<(), RejectReason> {
        let unrun = Unrun(Some(&self.report));
        let closure = move || {
            if !self.token.is_cancelled() {
                unrun.begins();
                self.run(f);
            }
        };
        let (ticket, claim) = self.loans.lend(closure);
        match (self.submit)(Task::of_scope(ticket)) {
            Err(RejectedExecution { reason, task: _ticket }) if claim.revoke() => {
                self.report.lock().dropped -= 1; // the caller knows of it
                Err(reason)
            }
            _ => Ok(()), // if it was refused, the scope has run it meanwhile
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
            drop(later); // it goes to the panic handler
        }
    }

    /// Calls off what was spawned: drops what has not begun, and cancels the token of what runs.
    pub fn cancel(&self) {
        while let Some(unbegun) = self.loans.take_back() {
            drop(unbegun);
        }
        self.token.cancel();
    }

    /// The token above those of the tasks, a child of the one that was current around the scope.
    pub fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Runs what has not begun, or waits for what has.
    fn settle(&self, Unwinding(unwinding): Unwinding) {
        if self.token.is_cancelled() {
            self.cancel(); // also what is masked ends then, and runs nothing more
        }
        let helps = concerns_this_thread() && !unwinding;
        while helps && let Some(unbegun) = self.loans.take_back() {
            unbegun.run(); // or drops it, if the scope was cancelled
        }
        if let Err(WaitError::Interrupted) =
            wait_for(Deadline::NEVER, Settled { loans: &self.loans, queue: None, helps })
        {
            self.cancel();
            let _ = masked(|| wait_for_loans(&self.loans, None));
        }
    }
}

/// Counts a closure that was dropped.
struct Unrun<'a>(Option<&'a Mutex<Report>>);

impl Unrun<'_> {
    fn begins(mut self) {
        self.0 = None;
    }
}

impl Drop for Unrun<'_> {
    fn drop(&mut self) {
        if let Some(report) = self.0 {
            report.lock().dropped += 1;
        }
    }
}

/// Waits until all that was lent was run or dropped. What has not begun is in this queue, if that is known.
pub(crate) fn wait_for_loans(loans: &ScopedJobs<'_>, queue: Option<QueueId>) -> Result<(), WaitError> {
    wait_for(Deadline::NEVER, Settled { loans, queue, helps: false })
}

struct Settled<'a, 'scope> {
    loans: &'a ScopedJobs<'scope>,
    queue: Option<QueueId>,
    /// The wait ends, too, when there is something that has not begun.
    helps: bool,
}

impl Look for Settled<'_, '_> {
    type Found = ();

    fn look(&mut self, waker: &Waker) -> Option<()> {
        let are_settled = self.loans.are_settled(waker);
        (are_settled || self.helps && self.loans.has_unbegun()).then_some(())
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::new(Lending { record: Arc::clone(self.loans.record()), queue: self.queue })))
    }
}

/// What was lent, as a thing that is waited for.
struct Lending {
    record: Arc<ScopeRecord>,
    queue: Option<QueueId>,
}

impl Source for Lending {
    fn comes_from(&self) -> ComesFrom {
        let threads = self.record.threads().into_iter().map(Location::On);
        let places: Vec<_> = threads.collect();
        match self.queue {
            Some(queue) if places.is_empty() => ComesFrom::Places(vec![Location::In(queue)]),
            _ => ComesFrom::Places(places),
        }
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// What has begun has to end before the frame goes from which it borrows.
    fn can_be_given_up(&self) -> bool {
        self.queue.is_some() && self.record.threads().is_empty()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// Some tasks of a scope were dropped unrun: the executor was shut down, or has discarded them, or the scope
/// or the task around it was cancelled. Those that had begun have ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopeError {
    /// How many.
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
