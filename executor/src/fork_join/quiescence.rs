//! Waiting until a pool has nothing left to do.
//!
//! # What quiet means
//!
//! For a caller from outside, a pool is quiet when no task is unfinished. A worker that waits for quiet has
//! itself begun a task that has not ended. Other workers may wait in the same way. If the tasks of these
//! workers counted, no such wait would ever end. So for a worker the pool is quiet when all unfinished tasks
//! are on the stacks of threads that wait for quiet.
//!
//! A worker runs other tasks while it waits, and such a task may wait for quiet, too. Each task on the stack
//! is counted once: by the outermost wait that lies above the task.
//!
//! # How deep
//!
//! Each task that runs in this way lies on the stack on top of the task that waits. When
//! [`DEPTH`](super::worker::DEPTH) such tasks lie on the stack, the worker runs no more tasks. It does not
//! wait either: in a pool with one worker, no thread would run the remaining tasks. So the call reports that
//! the pool is not quiet, and the wait below it goes on with the next task.

use std::rc::Rc;
use std::task::Waker;

use super::registry::{Helper, Registry};
use super::worker::WorkerThread;
use crate::ids::{Location, this_thread};
use crate::sync::{Arc, Weak};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, Look, Ticket, wait_for};

/// Waits until the pool is quiet, or the deadline comes. Returns whether the pool is quiet.
pub(super) fn wait_for_quiet(
    registry: &Arc<Registry>,
    here: Option<Rc<WorkerThread>>,
    deadline: Deadline,
) -> bool {
    let mut waits = Waits::begin(registry, here);
    let is_quiet = wait_for(deadline, Quiet { waits: &mut waits, deadline });
    is_quiet.unwrap_or(false) || waits.is_quiet(Waker::noop())
}

/// A thread that waits for quiet.
struct Waits<'a> {
    registry: &'a Arc<Registry>,
    here: Option<Rc<WorkerThread>>,
    /// How many tasks of the pool are on the thread's stack, without the tasks that an outer wait has
    /// counted.
    tasks: usize,
    /// Whether a task of the pool is on the thread's stack.
    is_inside: bool,
    ticket: Option<Ticket>,
}

impl<'a> Waits<'a> {
    fn begin(registry: &'a Arc<Registry>, here: Option<Rc<WorkerThread>>) -> Self {
        let (tasks, is_inside) = match &here {
            Some(here) => {
                let tasks = here.tasks.get();
                (tasks - here.quiet.replace(tasks), true)
            }
            None => registry.counts_as_helper(),
        };
        registry.begins_to_wait_for_quiet(tasks);
        Self { registry, here, tasks, is_inside, ticket: None }
    }

    fn is_quiet(&mut self, waker: &Waker) -> bool {
        self.registry.is_quiet(self.is_inside, &mut self.ticket, waker)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        match &self.here {
            Some(here) => here.quiet.set(here.quiet.get() - self.tasks),
            None => self.registry.counts_as_helper_no_more(self.tasks),
        }
        self.registry.ends_to_wait_for_quiet(self.tasks, self.ticket.take());
    }
}

struct Quiet<'a, 'b> {
    waits: &'a mut Waits<'b>,
    deadline: Deadline,
}

impl Look for Quiet<'_, '_> {
    /// Whether the pool is quiet.
    type Found = bool;

    fn look(&mut self, waker: &Waker) -> Option<bool> {
        loop {
            if self.waits.is_quiet(waker) {
                return Some(true);
            }
            let here = self.waits.here.as_ref()?;
            if !here.may_help() {
                return Some(false);
            }
            if self.deadline.has_passed() || !here.run_something() {
                return None;
            }
        }
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::new(QuietOf(Arc::downgrade(self.waits.registry)))))
    }
}

/// The source of a wait for quiet: tells where the unfinished tasks of the pool are.
struct QuietOf(Weak<Registry>);

impl Source for QuietOf {
    fn comes_from(&self) -> ComesFrom {
        let places = self.0.upgrade().and_then(|pool| pool.places_of_the_unfinished());
        places.map_or(ComesFrom::Elsewhere, ComesFrom::Places)
    }

    fn waits_for(&self) -> WaitsFor {
        let pool = self.0.upgrade().map(|pool| pool.settings.name.clone());
        WaitsFor::Quiescence { pool: pool.unwrap_or_default() }
    }
}

impl Registry {
    /// Notes that the calling thread, which is no worker, begins a task of the pool.
    pub(super) fn begins_to_help(&self) {
        self.helpers.lock().push(Helper { thread: this_thread(), is_counted: false });
    }

    pub(super) fn ends_to_help(&self) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter().rposition(|helper| helper.thread == this_thread());
        helpers.remove(own.expect("it has begun"));
    }

    /// Counts the tasks of the pool that the calling thread runs as a helper. Returns the number of these
    /// tasks that no outer wait has counted, and whether the thread runs any of these tasks.
    fn counts_as_helper(&self) -> (usize, bool) {
        let (mut tasks, mut is_inside) = (0, false);
        for helper in self.helpers.lock().iter_mut().filter(|helper| helper.thread == this_thread()) {
            tasks += usize::from(!std::mem::replace(&mut helper.is_counted, true));
            is_inside = true;
        }
        (tasks, is_inside)
    }

    /// Marks the youngest tasks of the calling thread as not counted.
    fn counts_as_helper_no_more(&self, tasks: usize) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter_mut().rev().filter(|helper| helper.thread == this_thread());
        own.take(tasks).for_each(|helper| helper.is_counted = false);
    }

    /// Returns where the unfinished tasks are: on which threads, and whether in a queue. Returns `None` if it
    /// finds too few tasks, because some of them move from one place to another meanwhile.
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
        places.extend(helpers.iter().map(|helper| Location::On(helper.thread)));
        if queued > 0 {
            places.push(Location::In(self.registration.id()));
        }
        (running + queued >= self.unfinished()).then_some(places)
    }
}
