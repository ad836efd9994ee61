//! The state of a pool: everything that changes together, behind one lock.
//!
//! The methods here keep the books of what waits: the tasks in the queue, and those of them that were cancelled there.
//! What they give back to be dropped is to be dropped when the lock is free. The queue may be a user's own and may panic,
//! so it is never called except through [`ask`].

use std::collections::VecDeque;
use std::task::Waker;

use super::PoolState;
use super::factory::ThreadFactory;
use super::rejection::RejectionHandler;
use super::stats::PoolStats;
use crate::panics::{self, contain};
use crate::queue::WorkQueue;
use crate::sync::atomic::{AtomicIsize, Ordering};
use crate::sync::{Arc, Duration, Instant};
use crate::task::{Task, TaskId, TaskLabel};

pub(super) struct State {
    pub(super) phase: PoolState,
    pub(super) queue: Box<dyn WorkQueue>,
    /// Tasks for which a worker is being started. They are taken before those in the queue.
    pub(super) handed: VecDeque<Task>,
    /// Tasks in the queue that were cancelled there, give or take those whose cancelling is under way on another thread:
    /// a canceller adds one, taking such a task out subtracts one, in whichever order.
    pub(super) tombstones: isize,
    /// Those of them that a user's own queue has dropped.
    pub(super) dropped_tombstones: Arc<AtomicIsize>,

    pub(super) settings: Settings,

    /// Threads that have begun and may still take a task.
    pub(super) live: usize,
    /// Threads that were ordered and have not begun.
    pub(super) starting: usize,
    pub(super) largest: usize,
    /// Live workers that sleep or are about to be woken.
    pub(super) idle: usize,
    /// A worker was woken and has not looked at the queue yet, or is about to look again before it sleeps.
    pub(super) searching: bool,
    /// Submitters inside the thread factory. Each of them sees to its own task if the thread does not come.
    pub(super) ordering: usize,
    pub(super) factory_rest: Rest,
    /// Threads that drop tasks for which no worker comes.
    pub(super) dropping: usize,
    /// What each worker is doing. A worker keeps its seat for as long as it lives.
    pub(super) seats: Vec<Seat>,
    pub(super) active: usize,
    pub(super) completed: u64,
    pub(super) panicked: u64,

    /// Submitters that wait for room, in the order in which they came, each with its ticket.
    pub(super) submitters: VecDeque<(u64, Waker)>,
    /// The ticket of the next submitter that has to wait.
    pub(super) next_ticket: u64,
}

/// Keeps submitters from asking a factory that fails again and again, as long as there are other threads: after each
/// worker that did not come it rests twice as long as before, 1 ms at first and about a second at most.
#[derive(Default)]
pub(super) struct Rest {
    failures: u32,
    until: Option<Instant>,
}

impl Rest {
    pub(super) fn after_failure(&mut self) {
        self.until = Instant::now().checked_add(Duration::from_millis(1 << self.failures));
        self.failures = (self.failures + 1).min(10);
    }

    pub(super) fn is_over(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() >= until)
    }
}

/// What can be changed while the pool runs.
pub(super) struct Settings {
    pub(super) core: usize,
    pub(super) maximum: usize,
    pub(super) keep_alive: Duration,
    pub(super) core_timeout: bool,
    pub(super) factory: Arc<dyn ThreadFactory>,
    pub(super) rejection: Arc<dyn RejectionHandler>,
}

pub(super) enum Seat {
    Free,
    Idle,
    Running(TaskLabel),
}

impl State {
    pub(super) fn new(queue: Box<dyn WorkQueue>, settings: Settings) -> Self {
        Self {
            phase: PoolState::Running,
            queue,
            handed: VecDeque::new(),
            tombstones: 0,
            dropped_tombstones: Arc::default(),
            settings,
            live: 0,
            starting: 0,
            largest: 0,
            idle: 0,
            searching: false,
            ordering: 0,
            factory_rest: Rest::default(),
            dropping: 0,
            seats: Vec::new(),
            active: 0,
            completed: 0,
            panicked: 0,
            submitters: VecDeque::new(),
            next_ticket: 0,
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.live + self.starting
    }

    pub(super) fn take_seat(&mut self) -> usize {
        let free = self.seats.iter().position(|seat| matches!(seat, Seat::Free));
        let seat = free.unwrap_or_else(|| {
            self.seats.push(Seat::Free);
            self.seats.len() - 1
        });
        self.seats[seat] = Seat::Idle;
        seat
    }

    /// Whether a worker may end because it has been idle for the keep-alive time.
    pub(super) fn may_time_out(&self) -> bool {
        self.settings.core_timeout || self.workers() > self.settings.core
    }

    /// Tasks that wait, without those that were cancelled.
    pub(super) fn queued(&self) -> usize {
        self.length().saturating_sub(self.dead())
    }

    pub(super) fn length(&self) -> usize {
        ask(|| self.queue.len()).unwrap_or(0)
    }

    pub(super) fn dead(&self) -> usize {
        // Relaxed: a queue drops tasks where it is called, that is, under the lock of this state.
        let in_queue = self.tombstones - self.dropped_tombstones.load(Ordering::Relaxed);
        usize::try_from(in_queue).unwrap_or(0)
    }

    /// Whether a task is in the queue, as far as the queue tells.
    pub(super) fn holds(&self, id: TaskId) -> bool {
        let mut found = false;
        ask(|| self.queue.for_each(&mut |task| found |= task.id() == id));
        found
    }

    /// Takes a task that was put aside, unless another worker has taken it.
    pub(super) fn take_handed(&mut self, id: TaskId) -> Option<Task> {
        let index = self.handed.iter().position(|task| task.id() == id)?;
        self.handed.remove(index)
    }

    /// Takes the task to be run next. Puts those that were cancelled before it into `cancelled`, to be dropped outside the
    /// lock.
    #[inline]
    pub(super) fn take(&mut self, cancelled: &mut Vec<Task>) -> Option<Task> {
        if self.handed.is_empty() { self.take_queued(cancelled) } else { self.handed.pop_front() }
    }

    /// The same, of those in the queue.
    #[inline]
    pub(super) fn take_queued(&mut self, cancelled: &mut Vec<Task>) -> Option<Task> {
        loop {
            let task = match self.queue.as_fifo() {
                Some(ours) => ours.pop(), // there is nothing in it that could panic
                None => ask(|| self.queue.pop()).flatten(),
            }?;
            let was_cancelled = self.leave_queue(&task);
            self.wake_submitter();
            if !was_cancelled {
                return Some(task);
            }
            cancelled.push(task);
        }
    }

    /// Counts a task that is out of the queue, or did not get in. True if it was cancelled while it was in.
    pub(super) fn leave_queue(&mut self, task: &Task) -> bool {
        let cancelled = task.leave_queue();
        if cancelled {
            self.tombstones -= 1;
        }
        cancelled
    }

    /// Takes cancelled tasks out of the queue; what comes back is to be dropped outside the lock.
    pub(super) fn purge(&mut self) -> Vec<Task> {
        let Some(removed) = ask(|| self.queue.remove_if(&mut Task::is_cancelled)) else { return Vec::new() };
        for task in &removed {
            self.leave_queue(task);
        }
        removed
    }

    pub(super) fn stats(&self) -> PoolStats {
        PoolStats {
            state: self.phase,
            core_threads: self.settings.core,
            maximum_threads: self.settings.maximum,
            threads: self.workers(),
            peak_threads: self.largest,
            active: self.active + self.handed.len(),
            queued: self.queued(),
            completed: self.completed,
            panicked: self.panicked,
        }
    }

    /// Has a submitter wait for room, behind those that wait already. Returns its ticket.
    pub(super) fn queue_submitter(&mut self, waker: Waker) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.submitters.push_back((ticket, waker));
        ticket
    }

    pub(super) fn wake_submitter(&self) {
        // Under the lock, but not user code: only threads wait here, each on its parker.
        if let Some((_, first)) = self.submitters.front() {
            first.wake_by_ref();
        }
    }

    pub(super) fn wake_all_submitters(&self) {
        self.submitters.iter().for_each(|(_, waker)| waker.wake_by_ref());
    }
}

/// Calls the queue, which may be a user's own. If it panics, there is no answer; `Shared::report_kept` is to be called
/// when the lock is free.
pub(super) fn ask<R>(call: impl FnOnce() -> R) -> Option<R> {
    contain(call).map_err(panics::keep).ok()
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::super::{Abort, NamedThreads};
    use super::*;
    use crate::queue::FifoQueue;

    #[test]
    fn a_seat_that_was_left_is_taken_again() {
        let settings = Settings {
            core: 1,
            maximum: 1,
            keep_alive: Duration::ZERO,
            core_timeout: false,
            factory: Arc::new(NamedThreads::new("test")),
            rejection: Arc::new(Abort),
        };
        let mut state = State::new(Box::new(FifoQueue::unbounded()), settings);
        assert_eq!([state.take_seat(), state.take_seat(), state.take_seat()], [0, 1, 2]);
        state.seats[1] = Seat::Free;
        assert_eq!([state.take_seat(), state.take_seat()], [1, 3]);
    }
}
