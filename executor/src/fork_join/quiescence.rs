//! Waiting until a pool has nothing left to do.
//!
//! # What quiet means
//!
//! For a caller from outside, a pool is quiet when no task is unfinished. A worker that waits for that is in
//! the middle of a task itself, and so may others be that wait here. If their tasks counted, none of them
//! would ever go on. So for a worker the pool is quiet when nothing is unfinished but the tasks on the stacks
//! of threads that wait here.
//!
//! A worker runs other tasks while it waits, and one of those may wait for quiet, too. Each task of the stack
//! is counted once, by the outermost of these waits that lies above it.
//!
//! # How deep
//!
//! Each task that is run in this way lies on the stack of the one that waits. With
//! [`DEPTH`](super::worker::DEPTH) of them a worker runs no more. It does not wait either: with one worker,
//! nobody else would run the rest. It says that the pool is not quiet, and the wait around it goes on with
//! the next task.

use std::rc::Rc;
use std::task::Waker;

use super::registry::{Helper, Registry};
use super::worker::WorkerThread;
use crate::ids::{Location, this_thread};
use crate::sync::{Arc, Weak};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, Look, Ticket, wait_for};

/// Waits until the pool is quiet, or the deadline comes. False if it is not quiet.
pub(super) fn wait_for_quiet(
    registry: &Arc<Registry>,
    here: Option<Rc<WorkerThread>>,
    deadline: Deadline,
) -> bool {
    let mut waits = Waits::begin(registry, here);
    let is_quiet = wait_for(deadline, Quiet { waits: &mut waits, deadline });
    is_quiet.unwrap_or(false) || waits.is_quiet(Waker::noop())
}

/// A thread that waits here.
struct Waits<'a> {
    registry: &'a Arc<Registry>,
    here: Option<Rc<WorkerThread>>,
    /// How many tasks of the pool it is in the middle of, without those that a wait around this one has
    /// counted.
    tasks: usize,
    /// Whether it is in the middle of any.
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
    /// Whether it is quiet.
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

/// That a pool comes to be quiet, as a thing that a thread waits for.
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
    /// The calling thread, which is no worker, runs a task of the pool.
    pub(super) fn begins_to_help(&self) {
        self.helpers.lock().push(Helper { thread: this_thread(), is_counted: false });
    }

    pub(super) fn ends_to_help(&self) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter().rposition(|helper| helper.thread == this_thread());
        helpers.remove(own.expect("it has begun"));
    }

    /// In how many tasks the calling thread helps that no wait around this one has counted, and whether in
    /// any.
    fn counts_as_helper(&self) -> (usize, bool) {
        let (mut tasks, mut is_inside) = (0, false);
        for helper in self.helpers.lock().iter_mut().filter(|helper| helper.thread == this_thread()) {
            tasks += usize::from(!std::mem::replace(&mut helper.is_counted, true));
            is_inside = true;
        }
        (tasks, is_inside)
    }

    /// The youngest of its tasks are not counted any more.
    fn counts_as_helper_no_more(&self, tasks: usize) {
        let mut helpers = self.helpers.lock();
        let own = helpers.iter_mut().rev().filter(|helper| helper.thread == this_thread());
        own.take(tasks).for_each(|helper| helper.is_counted = false);
    }

    /// Where the unfinished tasks are: on which threads, and whether in a queue. None if some are not to be
    /// found: they move.
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
