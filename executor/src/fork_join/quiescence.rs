//! How a thread waits until a pool has nothing left to do.
//!
//! # What quiet means
//!
//! For a caller outside the pool, the pool is quiet when no task is unfinished. A worker that waits until the
//! pool is quiet is itself inside a task that has not ended. Other workers may also wait until the pool is
//! quiet. A task of a waiting worker cannot end before that worker has stopped waiting. So for a worker the
//! pool is quiet when all unfinished tasks are on the stacks of threads that wait until the pool is quiet.
//!
//! A worker runs other tasks while it waits, and one of these tasks may also wait until the pool is quiet.
//! Each task on a stack is counted once, even if several waits began on top of the task: the first of these
//! waits counts the task.
//!
//! # How deep
//!
//! If a waiting worker runs a task, this task lies on the stack on top of the task that waits. When
//! [`DEPTH`](super::worker::DEPTH) of these tasks lie on the stack, the worker runs no more tasks. A worker
//! at this depth does not wait either, because in a pool with one worker no thread runs the remaining tasks
//! during that wait. So the new call returns `false`. Then the earlier call, which lies below the new call on
//! the stack, runs the next task.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Waker;

use super::registry::Registry;
use super::worker::WorkerThread;
use crate::ids::{Location, this_thread};
use crate::panics::OnDrop;
use crate::sync::Arc;
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, wait_for};

/// Waits until the pool is quiet, or the deadline has passed. Returns whether the pool is quiet.
pub(super) fn wait_for_quiet(
    registry: &Arc<Registry>,
    here: Option<Rc<WorkerThread>>,
    deadline: Deadline,
) -> bool {
    // Two values: the number of the pool's tasks on this thread's stack that no outer wait has counted, and
    // whether this stack has any task of the pool.
    let (tasks, is_inside) = match &here {
        Some(here) => {
            let tasks = here.tasks.get();
            (tasks - here.quiet.replace(tasks), true)
        }
        None => registry.counts_as_helper(),
    };
    registry.begins_to_wait_for_quiet(tasks);
    let ticket = Cell::new(None);
    let _ends_wait = OnDrop(|| {
        match &here {
            Some(here) => here.quiet.set(here.quiet.get() - tasks),
            None => registry.counts_as_helper_no_more(tasks),
        }
        registry.ends_to_wait_for_quiet(tasks, ticket.take());
    });
    let look = |waker: &Waker| {
        loop {
            if registry.is_quiet(is_inside, &ticket, waker) {
                return Some(true);
            }
            let here = here.as_ref()?;
            if !here.may_help() {
                return Some(false);
            }
            if deadline.has_passed() || !here.run_something() {
                return None;
            }
        }
    };
    let what = || Some(Awaited::Other(Arc::clone(registry) as Arc<dyn Source>));
    let is_quiet = wait_for(deadline, (look, what));
    is_quiet.unwrap_or(false) || registry.is_quiet(is_inside, &ticket, Waker::noop())
}

/// Tells the deadlock detector that a thread waits until the pool is quiet, and so waits for the pool's
/// unfinished tasks.
impl Source for Registry {
    fn comes_from(&self) -> ComesFrom {
        self.places_of_the_unfinished().map_or(ComesFrom::Elsewhere, ComesFrom::Places)
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Quiescence { pool: self.settings.name.clone() }
    }
}

impl Registry {
    /// Records that the calling thread, which is not a worker, begins a task of the pool.
    pub(super) fn begins_to_help(&self) {
        self.helpers.lock().push((this_thread(), false));
    }

    pub(super) fn ends_to_help(&self) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter().rposition(|(thread, _)| *thread == this_thread());
        helpers.remove(own.expect("it has begun"));
    }

    /// Marks all tasks of the pool that the calling thread runs as a helper: these tasks are now counted.
    /// Returns the number of the marked tasks that no outer wait had counted, and whether the thread runs any
    /// task of the pool.
    fn counts_as_helper(&self) -> (usize, bool) {
        let (mut tasks, mut is_inside) = (0, false);
        for (_, is_counted) in self.helpers.lock().iter_mut().filter(|(thread, _)| *thread == this_thread()) {
            tasks += usize::from(!std::mem::replace(is_counted, true));
            is_inside = true;
        }
        (tasks, is_inside)
    }

    /// Removes the mark from the newest tasks of the calling thread: `tasks` is the number of these tasks.
    fn counts_as_helper_no_more(&self, tasks: usize) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter_mut().rev().filter(|(thread, _)| *thread == this_thread());
        own.take(tasks).for_each(|(_, is_counted)| *is_counted = false);
    }

    /// Returns the places of the unfinished tasks: the threads that run them, and the pool's queues if a task
    /// is queued. Returns `None` if the search finds too few tasks, because some tasks have moved meanwhile.
    fn places_of_the_unfinished(&self) -> Option<Vec<Location>> {
        let mut places = Vec::new();
        let (_, _, mut queued) = self.counts();
        let mut running = 0;
        for queue in &self.queues {
            let (tasks, thread) = queue.tasks_of_the_owner();
            running += tasks;
            places.extend(thread.filter(|_| tasks > 0).map(Location::On));
            queued += queue.queued_tasks();
        }
        let helpers = self.helpers.lock();
        running += helpers.len();
        places.extend(helpers.iter().map(|&(thread, _)| Location::On(thread)));
        if queued > 0 {
            places.push(Location::In(self.registration.id()));
        }
        (running + queued >= self.unfinished()).then_some(places)
    }
}
