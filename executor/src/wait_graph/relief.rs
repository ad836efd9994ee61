//! Help for a wait that could never end: a pool starts another thread, or the waiting thread runs a task.

use std::cell::Cell;

use super::search::Closed;
use super::waiting::SleepingThread;
use crate::cancel::{FrameGuard, Role, count_roles, enter_role};
use crate::sync::{Arc, thread_local};
use crate::task::Task;
use crate::waiting::awaited::{Awaited, ComesFrom, Relief};
use crate::waiting::queue_owner::PoolOwner;
use crate::waiting::starvation::OnStarvation;

/// Helps the wait: a pool starts a thread, or this thread runs a task. Returns false if neither kind of help
/// is possible.
pub(super) fn give(relief: &mut Relief, wait: &SleepingThread, closed: &Closed) -> bool {
    let mut pools = closed.pools.iter().map(|(_, pool)| pool);
    if pools.clone().any(|pool| pool.start_another()) || help_on(wait) {
        return true;
    }
    let spare = pools.find(|pool| pool.start_spare());
    spare.inspect(|pool| relief.add_spare_of(pool)).is_some()
}

/// Runs the awaited task or another task, if the thread's pool allows that. Prefers the awaited task.
/// Returns false if no task was run.
fn help(wait: &SleepingThread) -> bool {
    let Some(own) = wait.context.pool() else { return false };
    let (depth, others) = match own.on_starvation() {
        OnStarvation::Help { depth } => (depth, false),
        OnStarvation::HelpOthers { depth } => (depth, true),
        _ => return false,
    };
    let Some(_on_top) = run_on_top(depth) else { return false };
    if let Some((pool, task)) = take_awaited(wait) {
        pool.help(task);
        return true;
    }
    let other = if others { own.take_next() } else { None };
    let Some(task) = other else { return false };
    own.help(task);
    true
}

/// Takes the awaited task out of the queue of its pool. Returns `None` for a task of a strand, because only
/// the strand's drain task may run it.
fn take_awaited(wait: &SleepingThread) -> Option<(Arc<dyn PoolOwner>, Task)> {
    let Awaited::Task(task, _) = &wait.what else { return None };
    let queue = task.queue()?;
    let pool = queue.pool()?;
    let task = pool.take_out(queue, task.id())?;
    Some((pool, task))
}

thread_local! {
    /// The collector of the tasks for which the thread has last searched, and the number of tasks that the thread
    /// may still run before it must search again.
    static CREDIT: Cell<(usize, usize)> = Cell::new((0, 0));
}

/// Runs a task to help the wait, after a search. After this search, the thread searches again only when it
/// has run half as many tasks as it waits for now. A search looks at all awaited tasks, so it takes too long
/// to search once for each of a hundred thousand tasks.
fn help_on(wait: &SleepingThread) -> bool {
    if let Some((collector, tasks)) = collected(wait) {
        CREDIT.with(|credit| credit.set((collector, tasks / 2)));
    }
    help(wait)
}

/// Helps without a search, if the last search was for the same tasks and the thread's credit is not used up.
pub(super) fn help_again(wait: &SleepingThread) -> bool {
    let Some((collector, _)) = collected(wait) else { return false };
    let (known, credit) = CREDIT.with(Cell::get);
    let is_enough = known == collector && credit > 0;
    CREDIT.with(|left| left.set((known, credit.saturating_sub(1))));
    is_enough && help(wait)
}

/// Returns the collector and the number of the awaited tasks, if the thread waits for any one of several
/// tasks.
fn collected(wait: &SleepingThread) -> Option<(usize, usize)> {
    let Awaited::Other(source) = &wait.what else { return None };
    match source.comes_from() {
        ComesFrom::TasksOf { collector, tasks } => Some((collector, tasks)),
        _ => None,
    }
}

/// Records that the calling thread runs a task on top of a waiting task, until the result is dropped. Returns
/// `None` if `most` tasks already run on top of each other.
pub(crate) fn run_on_top(most: usize) -> Option<FrameGuard> {
    (count_roles(|role| role == Role::Helper) < most).then(|| enter_role(Role::Helper))
}
