//! What can be done about a wait that could never end: another thread, or the thread that waits runs a task
//! itself.

use std::cell::Cell;

use super::search::Closed;
use super::waiting::SleepingThread;
use crate::cancel::{FrameGuard, Role, count_roles, enter_role};
use crate::sync::{Arc, thread_local};
use crate::task::Task;
use crate::waiting::awaited::{Awaited, ComesFrom, Relief};
use crate::waiting::queue_owner::PoolOwner;
use crate::waiting::starvation::OnStarvation;

/// Does what there is to be done. False if there is nothing.
pub(super) fn give(relief: &mut Relief, wait: &SleepingThread, closed: &Closed) -> bool {
    let mut pools = closed.pools.iter().map(|(_, pool)| pool);
    if pools.clone().any(|pool| pool.start_another()) || help_on(wait) {
        return true;
    }
    let spare = pools.find(|pool| pool.start_spare());
    spare.inspect(|pool| relief.add_spare_of(pool)).is_some()
}

/// Runs the task that the thread waits for, or another one, if its pool says so and there is one.
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

/// The task that the thread waits for, out of its pool's queue. In a strand it is the drain task's turn.
fn take_awaited(wait: &SleepingThread) -> Option<(Arc<dyn PoolOwner>, Task)> {
    let Awaited::Task(task, _) = &wait.what else { return None };
    let queue = task.queue()?;
    let pool = queue.pool()?;
    let task = pool.take_out(queue, task.id())?;
    Some((pool, task))
}

thread_local! {
    /// For which collector's tasks the thread has searched last and then helped, and how often it may help
    /// without a search.
    static CREDIT: Cell<(usize, usize)> = Cell::new((0, 0));
}

/// Helps, and does so without a search half as often as there are tasks now which the thread waits for. A
/// search looks at all of them: one for each would be too much for a hundred thousand.
fn help_on(wait: &SleepingThread) -> bool {
    if let Some((collector, tasks)) = collected(wait) {
        CREDIT.with(|credit| credit.set((collector, tasks / 2)));
    }
    help(wait)
}

/// Helps before a search, if the last search was for the same tasks and not long ago.
pub(super) fn help_again(wait: &SleepingThread) -> bool {
    let Some((collector, _)) = collected(wait) else { return false };
    let (known, credit) = CREDIT.with(Cell::get);
    let is_enough = known == collector && credit > 0;
    CREDIT.with(|left| left.set((known, credit.saturating_sub(1))));
    is_enough && help(wait)
}

/// Whose tasks the thread waits for, if for any of many, and how many they are.
fn collected(wait: &SleepingThread) -> Option<(usize, usize)> {
    let Awaited::Other(source) = &wait.what else { return None };
    match source.comes_from() {
        ComesFrom::TasksOf { collector, tasks } => Some((collector, tasks)),
        _ => None,
    }
}

/// The thread runs a task on top of one that waits, until the result is dropped. None if there are `most`
/// already.
pub(crate) fn run_on_top(most: usize) -> Option<FrameGuard> {
    (count_roles(|role| role == Role::Helper) < most).then(|| enter_role(Role::Helper))
}
