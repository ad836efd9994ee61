//! The graph of waits: which threads wait for what, and whether any of it can still come.
//!
//! Before a thread of an executor sleeps in a wait without a deadline, it says here what it waits for. The
//! search finds out whether that can ever come. It goes from a wait to what could end it, from there to what
//! holds *that* up, and so on:
//!
//! ```text
//!   thread ──waits for──▶ a task that runs ──on──▶ thread …
//!          ──waits for──▶ a task in a queue ──▶ pool ──its threads──▶ thread …
//!          ──waits for──▶ room in a queue ───▶ pool …
//!          ──waits for──▶ permits ──held by──▶ thread …
//! ```
//!
//! One path that leads to something that can go on is enough. Three things can go on: a thread that does not
//! wait, or waits with a deadline, or belongs to no executor; a pool with an idle thread; and a task in no
//! queue, which its owner can run at any time. If no path leads to one of these, every thread that could help
//! already sleeps, and this thread would be the last: nothing goes on without help from outside. That is a
//! *starvation deadlock*. The wait ends with a [`Starvation`], or with [relief](OnStarvation).
//!
//! # Nothing is reported that was not true
//!
//! While a thread holds the lock of [`WaitingThreads`], no waiting thread is entered and none is taken out.
//! The facts that a search reads one after the other can change in between only by an act from outside, and
//! only in one direction: a task that has not ended now had not ended before. So the search looks twice.
//! Every fact that held in both looks held at the moment between them.
//!
//! # Nothing that is true is missed
//!
//! A wait can become endless in four ways, and after each of them a thread that waits looks again:
//!
//! | what happens | who looks |
//! |---|---|
//! | a thread that could go on falls asleep | that thread, before it sleeps |
//! | a pool with tasks loses a thread, or one that it ordered | its waiting threads: it [wakes] them |
//! | a task or a submission comes to a pool whose threads all wait | its waiting threads: it wakes them |
//! | permits serve no waiter, or a handle goes to another taker | other waiters: the [source] wakes them |
//!
//! [wakes]: look_again
//! [source]: crate::waiting::awaited::Source
//!
//! The third way needs no look at each submission: a pool that was found to have only waiting threads closes
//! its inbox, the short way in.
//!
//! # Invariants
//!
//! 1. A thread is entered from before its look until after its sleep. A thread that is entered and was woken
//!    counts as a thread that can go on: it looks again before it sleeps.
//! 2. The lock of `WaitingThreads` is taken before the locks of pools and tasks. No user code runs under it,
//!    so values are dropped after it has been released. (There is one exception: a user's own queue may be
//!    asked for its length under this lock.)

mod strands; // the strands that have tasks of a collector
mod waiting; // the threads that wait, and an index of them
mod search; // the search for something that can go on
mod report; // what is reported if nothing can go on
mod relief; // what a pool does about it

pub(crate) use relief::run_on_top;
pub(crate) use strands::{enter as enter_strand, leave as leave_strand};

use self::waiting::{SleepingThread, WaitingThreads};
use crate::ids::{Location, QueueId, TaskId, ThreadKey, this_thread};
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Arc, Mutex, lazy_static};
use crate::task::TaskLabel;
use crate::waiting::awaited::{self, Awaited, Detector, Relief};
use crate::waiting::parker::{Deadline, Parker};
use crate::waiting::queue_owner::{PoolOwner, QueueOwner, ServedBy};
use crate::waiting::starvation::Starvation;
use crate::waiting::worker_context::{self, PoolWorker, RoleGuard};

// ----- waiting threads -----

lazy_static! {
    static ref WAITING: Mutex<WaitingThreads> = Mutex::new(WaitingThreads::default());
}

/// Owners that were asked under the lock. They are kept here until the lock was released, and dropped then.
#[derive(Default)]
struct Used {
    owners: Vec<Arc<dyn QueueOwner>>,
    pools: Vec<Arc<dyn PoolOwner>>,
}

impl Used {
    fn owner(&mut self, queue: QueueId) -> Option<&Arc<dyn QueueOwner>> {
        self.owners.push(queue.owner()?);
        self.owners.last()
    }

    fn served_by(&mut self, queue: QueueId) -> Option<ServedBy> {
        let owner = Arc::clone(self.owner(queue)?);
        Some(owner.served_by(queue))
    }
}

/// Registers the calling thread as one that waits. Dropping this ends the registration.
pub(crate) struct Known {
    key: ThreadKey,
    _asleep: Asleep,
}

impl Drop for Known {
    fn drop(&mut self) {
        let wait = WAITING.lock().leave(self.key);
        drop(wait); // without the lock: this may be the last owner of the awaited thing
    }
}

/// The detector of a process. It has no state of its own.
struct WaitGraph;

impl Detector for WaitGraph {
    fn sleep(&self, what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Result<(), Starvation> {
        let _known = match about_to_sleep(what, parker, relief)? {
            Verdict::Sleep(known) => known,
            Verdict::LookAgain => return Ok(()),
        };
        parker.sleep(Deadline::NEVER);
        Ok(())
    }
}

/// Plugs in the detector, so that waits without a deadline are checked before they sleep. Called before a
/// task with a handle begins on some thread.
#[inline]
pub(crate) fn watch_waits() {
    awaited::plug_in(&WaitGraph);
}

/// Makes the calling thread a worker of this pool until the result is dropped.
pub(crate) fn work_for(pool: QueueId, worker: Arc<dyn PoolWorker>) -> RoleGuard {
    watch_waits();
    worker_context::work_for(pool, worker)
}

/// Makes the calling thread one that runs a task of a strand, as a part of its drain task, until the result
/// is dropped.
pub(crate) fn drain_for(drain: TaskId, task: TaskLabel) -> RoleGuard {
    watch_waits();
    worker_context::drain_for(drain, task)
}

/// What a thread that is about to sleep must do.
enum Verdict {
    /// Sleep. The thread must keep this registration until after the sleep.
    Sleep(Known),
    LookAgain,
}

/// Decides whether the calling thread, which waits for `what`, sleeps or looks again. Fails if the wait can
/// never end.
fn about_to_sleep(what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Result<Verdict, Starvation> {
    let key = this_thread();
    let mut wait = SleepingThread::of_this_thread(what, parker);
    if relief::help_again(&wait) {
        return Ok(Verdict::LookAgain);
    }
    let mut tried = false;
    loop {
        let mut used = Used::default(); // declared first, so dropped last: without the lock
        let asleep = Asleep::begin();
        let mut waiting = WAITING.lock();
        waiting.enter(key, wait);
        waiting.note_full_pools(key, &mut used);
        let first_look = waiting.closed_from(key, &mut used);
        let second_look = first_look.and_then(|_| waiting.closed_from(key, &mut used));
        let Some(closed) = second_look else {
            return Ok(Verdict::Sleep(Known { key, _asleep: asleep }));
        };
        // Another thread may have been relieved since this one tried, and that may relieve this one, too.
        let is_hopeless = !closed.may_grow() && (tried || !waiting.may_be_relieved(key, &closed));
        if is_hopeless && !waiting.can_be_given_up(key) {
            waiting.wake_those_that_can_give_up(&closed);
            return Ok(Verdict::Sleep(Known { key, _asleep: asleep }));
        }
        let found = is_hopeless.then(|| waiting.report(&closed));
        wait = waiting.leave(key).expect("it was entered above");
        drop(waiting);
        if let Some(found) = found {
            return Err(found.starvation(&wait));
        }
        if relief::give(relief, &wait, &closed) {
            return Ok(Verdict::LookAgain);
        }
        tried = true;
    }
}

/// Wakes the threads that may wait for what is in this queue, so that they look again. Called when something
/// has changed on which they may have relied.
pub(crate) fn look_again(queue: QueueId) {
    look_again_at(Location::In(queue));
}

/// Wakes the threads that would run what is at this place, so that they look again.
pub(crate) fn look_again_at(mut place: Location) {
    if !Asleep::is_anybody() {
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

/// Counts the threads that sleep or are about to. A caller sees from the count, without the lock, that there
/// are none.
struct Asleep;

lazy_static! {
    static ref ASLEEP: AtomicUsize = AtomicUsize::new(0);
}

impl Asleep {
    fn begin() -> Self {
        ASLEEP.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst); // orders the search after the increment
        Self
    }

    /// Whether any thread sleeps or is about to. The caller must ask after it has changed what threads rely
    /// on.
    fn is_anybody() -> bool {
        fence(Ordering::SeqCst); // pairs with `begin`: the sleeper sees the change, or this load counts it
        ASLEEP.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        ASLEEP.fetch_sub(1, Ordering::SeqCst);
    }
}
