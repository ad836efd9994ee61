//! The graph of waits: it records what each thread waits for, and finds out whether a wait can
//! still end.
//!
//! Before a thread of an executor sleeps in a wait without a deadline, the thread enters the wait into the
//! graph. A search then finds out whether the wait can ever end. The search goes from a wait to the task,
//! queue or thread that could end the wait. If another wait holds up this task, queue or thread, the search
//! goes on from that wait:
//!
//! ```text
//!   thread ──waits for──▶ a task that runs ──on──▶ thread …
//!          ──waits for──▶ a task in a queue ──▶ pool ──its threads──▶ thread …
//!          ──waits for──▶ room in a queue ───▶ pool …
//!          ──waits for──▶ permits ──held by──▶ thread …
//! ```
//!
//! The wait can end if at least one path leads to something that can go on. Three things can go on. A thread
//! can go on if it does not wait, waits with a deadline, or belongs to no executor. A pool can go on if it
//! has an idle thread. A task that is in no queue can go on, because the task's owner can run the task at any
//! time. If no path leads to something that can go on, every thread that could help is asleep. If the
//! searching thread sleeps, too, all these threads sleep until help comes from outside: a *starvation
//! deadlock*. Then the wait ends with a [`Starvation`], unless the pool is [set](crate::OnStarvation) to help
//! and can help.
//!
//! # Nothing is reported that was not true
//!
//! A search holds the lock of [`WaitingThreads`]. During a search no waiting thread is added to the graph or
//! removed from it. Other facts can change during the search, but only by an act from outside, and only in
//! one direction. For example, a task that is unfinished now was also unfinished before. So the search checks
//! each fact twice. Every fact that was true at both checks was also true at the moment between the two
//! checks.
//!
//! # Nothing that is true is missed
//!
//! A wait can become endless in four ways. After each of them, a waiting thread looks again:
//!
//! | what happens | who looks |
//! |---|---|
//! | a thread that could go on falls asleep | that thread, before it sleeps |
//! | a pool with tasks loses a thread, or a thread that it was about to start | its waiting threads: it [wakes] them |
//! | a task or a submission comes to a pool whose threads all wait | its waiting threads: it wakes them |
//! | permits come back but serve no waiter, or another thread takes a handle | other waiters: the [source] wakes them |
//!
//! [wakes]: look_again
//! [source]: crate::waiting::awaited::Source
//!
//! The check for a pool whose threads all wait does not slow down every submission. A search that finds only
//! waiting threads in a pool makes the pool close its inbox. Only submissions that find the inbox closed look
//! for waiting threads.
//!
//! # Invariants
//!
//! 1. A thread is added to the graph before its search, and is removed after its sleep. A woken thread in the
//!    graph counts as a thread that can go on, because it checks its wait again before it sleeps.
//! 2. The lock of `WaitingThreads` is taken before the locks of pools and tasks. No user code runs under this
//!    lock, so values are dropped after the lock has been released. (There is one exception: a user's own
//!    queue may be asked for its length under this lock.)

mod strands; // the strands that have tasks of a collector
mod waiting; // the threads that wait, and an index of them
mod search; // the search for something that can go on
mod listed; // the list of the waits, for a dump
mod report; // what is reported if nothing can go on
mod relief; // how a pool helps a wait that could never end

pub(crate) use listed::{ListedWait, listed};
pub(crate) use relief::run_on_top;
pub(crate) use strands::{enter as enter_strand, leave as leave_strand};

use self::waiting::{SleepingThread, WaitingThreads};
use crate::ids::{Location, QueueId, TaskId, ThreadKey, this_thread};
use crate::panics::OnDrop;
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Arc, Mutex, lazy_static};
use crate::task::TaskLabel;
use crate::waiting::awaited::{Awaited, DETECTOR, Relief};
use crate::waiting::parker::{Deadline, Parker};
use crate::waiting::queue_owner::{QueueOwner, ServedBy};
use crate::waiting::starvation::Starvation;
use crate::waiting::worker_context::{self, PoolWorker};

// ----- waiting threads -----

lazy_static! {
    static ref WAITING: Mutex<WaitingThreads> = Mutex::new(WaitingThreads::default());
}

/// The queue owners that the search has asked under the lock. The owners are kept here, so that they are
/// dropped only after the lock has been released.
#[derive(Default)]
struct Used(Vec<Arc<dyn QueueOwner>>);

impl Used {
    fn owner(&mut self, queue: QueueId) -> Option<&Arc<dyn QueueOwner>> {
        self.0.push(queue.owner()?);
        self.0.last()
    }

    fn served_by(&mut self, queue: QueueId) -> Option<ServedBy> {
        let owner = Arc::clone(self.owner(queue)?);
        Some(owner.served_by(queue))
    }
}

/// Registers the calling thread as a waiting thread. Dropping this value ends the registration.
pub(crate) struct Known {
    key: ThreadKey,
    _asleep: OnDrop<fn()>,
}

impl Drop for Known {
    fn drop(&mut self) {
        let wait = WAITING.lock().leave(self.key);
        drop(wait); // without the lock, because the drop may destroy the awaited thing
    }
}

/// The [`DETECTOR`] of the process.
fn sleep(what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Result<(), Starvation> {
    if let Some(_known) = about_to_sleep(what, parker, relief)? {
        parker.sleep(Deadline::NEVER);
    }
    Ok(())
}

/// Sets the detector, which then checks each wait without a deadline before the waiting thread sleeps. Called
/// before a task with a handle begins on any thread.
#[inline]
pub(crate) fn watch_waits() {
    DETECTOR.get_or_init(|| sleep);
}

/// Makes the calling thread a worker of this pool until the result is dropped.
pub(crate) fn work_for(pool: QueueId, worker: Arc<dyn PoolWorker>) -> OnDrop<fn()> {
    watch_waits();
    worker_context::work_for(pool, worker)
}

/// Records that the calling thread runs `task`, a task of a strand, inside the drain task of that strand,
/// until the result is dropped.
pub(crate) fn drain_for(drain: TaskId, task: TaskLabel) -> OnDrop<fn()> {
    watch_waits();
    worker_context::drain_for(drain, task)
}

/// Decides whether the calling thread may sleep in its wait for `what`. A thread that sleeps must keep the
/// result until after the sleep. Returns `None` if the thread must check again whether it can go on. Fails if
/// the wait can never end.
fn about_to_sleep(
    what: Awaited,
    parker: &Arc<Parker>,
    relief: &mut Relief,
) -> Result<Option<Known>, Starvation> {
    let key = this_thread();
    let mut wait = SleepingThread::of_this_thread(what, parker);
    if relief::help_again(&wait) {
        return Ok(None);
    }
    let mut tried = false;
    loop {
        let mut used = Used::default(); // declared first, so dropped last: without the lock
        let asleep = count_asleep();
        let mut waiting = WAITING.lock();
        waiting.enter(key, wait);
        waiting.note_full_pools(key, &mut used);
        let first_look = waiting.closed_from(key, &mut used);
        let second_look = first_look.and_then(|_| waiting.closed_from(key, &mut used));
        let Some(closed) = second_look else {
            return Ok(Some(Known { key, _asleep: asleep }));
        };
        // After this thread last tried to get help, another thread may have got help. Then this thread may be
        // able to go on, too.
        let is_hopeless = !closed.may_grow() && (tried || !waiting.may_be_relieved(key, &closed));
        if is_hopeless && !waiting.can_be_given_up(key) {
            waiting.wake_those_that_can_give_up(&closed);
            return Ok(Some(Known { key, _asleep: asleep }));
        }
        let found = is_hopeless.then(|| waiting.report(&closed));
        wait = waiting.leave(key).expect("it was entered above");
        drop(waiting);
        if let Some(starvation) = found {
            return Err(report::announced(starvation, &wait));
        }
        if relief::give(relief, &wait, &closed) {
            return Ok(None);
        }
        tried = true;
    }
}

/// Wakes the waiting threads that would run the tasks in this queue, so that they check their waits again.
/// Called after a fact has changed, because the searches of these threads may have relied on that fact.
pub(crate) fn look_again(queue: QueueId) {
    look_again_at(Location::In(queue));
}

/// Wakes the waiting threads that would run a task at this place, so that they check their waits again.
pub(crate) fn look_again_at(mut place: Location) {
    if !is_anybody_asleep() {
        return;
    }
    let mut used = Used::default(); // declared first, so dropped last: without the lock
    let waiting = WAITING.lock();
    loop {
        match place {
            Location::Elsewhere => return,
            Location::On(thread) => return waiting.wake(thread),
            Location::In(queue) => match used.served_by(queue) {
                Some(ServedBy::DrainTask(of_drain)) => place = of_drain,
                Some(ServedBy::Threads(_)) => {
                    return waiting.working_for(queue).for_each(|thread| waiting.wake(thread));
                }
                None => return,
            },
        }
    }
}

// The number of threads that sleep or are about to sleep. Threads that do not hold the lock read this number.
lazy_static! {
    static ref ASLEEP: AtomicUsize = AtomicUsize::new(0);
}

/// Counts the calling thread as a thread that sleeps or is about to sleep, until the result is dropped.
fn count_asleep() -> OnDrop<fn()> {
    ASLEEP.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst); // orders the search after the increment
    OnDrop(|| _ = ASLEEP.fetch_sub(1, Ordering::SeqCst))
}

/// Returns whether any thread sleeps or is about to sleep. A caller that changes a fact on which sleeping
/// threads rely must call this function after the change.
fn is_anybody_asleep() -> bool {
    fence(Ordering::SeqCst); // pairs with `count_asleep`: the sleeper sees the change, or is counted here
    ASLEEP.load(Ordering::SeqCst) > 0
}
