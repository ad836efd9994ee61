//! The state of a pool: everything that changes together, behind one lock.
//!
//! The methods here keep the books of what waits: the tasks in the queue, and those of them that were cancelled there.
//! What they give back to be dropped is to be dropped when the lock is free. The queue may be a user's own and may panic,
//! so it is never called except through [`ask`].

use std::collections::VecDeque;
use std::task::Waker;

use super::PoolState;
use super::factory::ThreadFactory;
use super::inbox::Tray;
use super::rejection::RejectionHandler;
use super::run::{Frozen, Runs};
use super::seat::Seat;
use crate::panics::{self, contain};
use crate::queue::WorkQueue;
use crate::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use crate::sync::{Arc, Duration, Instant};
use crate::task::{Task, TaskId};

pub(super) struct State {
    pub(super) phase: PoolState,
    pub(super) queue: Box<dyn WorkQueue>,
    /// Tasks for which a worker is being started. They are taken before those in the queue.
    pub(super) handed: VecDeque<Task>,
    /// The tasks that a worker claims next, if the queue is a [`FifoQueue`]. See `run`.
    pub(super) runs: Runs,
    pub(super) apart: Arc<Apart>,

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
    /// What each worker is doing, and whether there is a worker. It keeps its seat for as long as it lives.
    pub(super) seats: Vec<(bool, Arc<Seat>)>,
    /// Claims that were made for no worker.
    pub(super) claimed_otherwise: u64,
    pub(super) panicked: u64,

    /// Submitters that wait for room, in the order in which they came, each with its ticket.
    pub(super) submitters: VecDeque<(u64, Waker)>,
    /// The ticket of the next submitter that has to wait.
    pub(super) next_ticket: u64,
}

/// What changes without the lock, too, because those who change it hold another lock, or none.
#[derive(Default)]
pub(super) struct Apart {
    /// Tasks that were cancelled while they waited and are there still, give or take those whose cancelling is under way on
    /// another thread: a canceller adds one, and who takes such a task out subtracts one, in whichever order.
    pub(super) tombstones: AtomicIsize,
    /// The first of the waiting submitters has looked for room and was not told of any since. It raises this before it
    /// looks; who makes room reads it afterwards. So a submitter is woken once, however much room there is.
    pub(super) submitter_waits: AtomicBool,
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

impl State {
    pub(super) fn new(queue: Box<dyn WorkQueue>, settings: Settings) -> Self {
        Self {
            phase: PoolState::Running,
            queue,
            handed: VecDeque::new(),
            runs: Runs::default(),
            apart: Arc::default(),
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
            claimed_otherwise: 0,
            panicked: 0,
            submitters: VecDeque::new(),
            next_ticket: 0,
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.live + self.starting
    }

    /// Gives a worker a seat, and the number by which it leaves it.
    pub(super) fn take_seat(&mut self) -> (usize, Arc<Seat>) {
        let free = self.seats.iter().position(|(taken, _)| !taken);
        let number = free.unwrap_or_else(|| {
            self.seats.push(Default::default());
            self.seats.len() - 1
        });
        let (taken, seat) = &mut self.seats[number];
        *taken = true;
        (number, Arc::clone(seat))
    }

    pub(super) fn leave_seat(&mut self, number: usize) {
        self.seats[number].0 = false;
    }

    /// Adds up what the seats say.
    pub(super) fn sum(&self, of: impl Fn(&Seat) -> u64) -> u64 {
        self.seats.iter().map(|(_, seat)| of(seat)).sum()
    }

    /// Whether a worker may end because it has been idle for the keep-alive time.
    pub(super) fn may_time_out(&self) -> bool {
        self.settings.core_timeout || self.workers() > self.settings.core
    }

    /// Puts all that waits into the queue: first what is left of the run, last what is in the inbox.
    pub(super) fn recall(&mut self, inbox: &mut Tray) {
        if let Some(queue) = self.queue.as_fifo() {
            queue.surround(self.runs.recall(), inbox.take_all());
        }
    }

    /// Tasks in the queue, or in the run that was made of them.
    pub(super) fn length(&self) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.runs.remaining()
    }

    /// The same, while the run is frozen.
    pub(super) fn length_of(&self, frozen: &Frozen) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.runs.remaining_when(frozen)
    }

    /// Those of all that wait that were cancelled.
    pub(super) fn dead(&self) -> usize {
        // Relaxed: who is to know of a cancellation has heard of it by a lock.
        usize::try_from(self.apart.tombstones.load(Ordering::Relaxed)).unwrap_or(0)
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

    /// Takes the task to be run next out of the queue. Puts those that were cancelled before it into `cancelled`, to be
    /// dropped outside the lock.
    #[inline]
    pub(super) fn take_queued(&mut self, cancelled: &mut Vec<Task>) -> Option<Task> {
        loop {
            let task = ask(|| self.queue.pop()).flatten()?;
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
            self.apart.tombstones.fetch_sub(1, Ordering::Relaxed);
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

    /// Has a submitter wait for room, behind those that wait already. Returns its ticket.
    pub(super) fn queue_submitter(&mut self, waker: Waker) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.submitters.push_back((ticket, waker));
        ticket
    }

    /// Takes a submitter out of the line, and has the next one look: there may be room for it, or it was this one that had
    /// been told of the room.
    pub(super) fn unqueue_submitter(&mut self, ticket: u64) {
        self.submitters.retain(|&(other, _)| other != ticket);
        self.apart.submitter_waits.store(true, Ordering::SeqCst);
        self.wake_submitter();
    }

    /// Tells the first submitter in the line of room, unless it has been told and not looked yet.
    pub(super) fn wake_submitter(&self) {
        // Under the lock, but not user code: only threads wait here, each on its parker.
        if self.apart.submitter_waits.swap(false, Ordering::SeqCst)
            && let Some((_, first)) = self.submitters.front()
        {
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
        let mut take = || state.take_seat().0;
        assert_eq!([take(), take(), take()], [0, 1, 2]);
        state.leave_seat(1);
        assert_eq!([state.take_seat().0, state.take_seat().0], [1, 3]);
    }
}
