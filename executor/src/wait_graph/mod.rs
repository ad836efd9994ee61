//! Which threads wait for what, and whether any of it can still come.
//!
//! A thread of an executor that is about to sleep in a wait without a deadline says here what it waits for,
//! and looks whether that could ever come. From a wait one gets to what could end it, from there to what
//! holds *that* up, and so on:
//!
//! ```text
//!   thread ──waits for──▶ a task that runs ──on──▶ thread …
//!          ──waits for──▶ a task in a queue ──▶ pool ──its threads──▶ thread …
//!          ──waits for──▶ room in a queue ───▶ pool …
//!          ──waits for──▶ permits ──held by──▶ thread …
//! ```
//!
//! One way that leads to something that can go on is enough: a thread that does not wait, or waits with a
//! deadline, or is no executor's; a pool with an idle thread; a task that is in nobody's queue, which its
//! owner may run at any time. If there is none, every thread that could help sleeps already, and this one
//! would be the last: nothing goes on without help from outside. That is a *starvation deadlock*. The wait
//! ends with a [`Starvation`], or with [relief](OnStarvation).
//!
//! # Nothing is reported that was not true
//!
//! While the lock of [`WaitingThreads`] is held, no thread is entered and none taken out. What is read one
//! after the other under it can change in between only by an act from outside, and only one way: a task that
//! has not ended now had not ended before. So what is found is looked at twice. All that held in both looks
//! held at the moment between them.
//!
//! # Nothing that is true is missed
//!
//! A wait can come to be without end in four ways, and after each of them a thread that waits looks again:
//!
//! | what happens | who looks |
//! |---|---|
//! | a thread that could go on falls asleep | that thread, before it does |
//! | a thread leaves its pool or does not come, and tasks are left to those that wait | they: their pool [wakes](look_again) them |
//! | a task or a submission comes to a pool whose threads all wait | they, likewise |
//! | permits come back and serve nobody, a handle goes to another taker | those that wait for more: the [source](crate::waiting::awaited::Source) wakes them |
//!
//! The third needs no look at each submission: a pool that was found to have only waiting threads closes the
//! short way in.
//!
//! # Invariants
//!
//! 1. A thread is entered from before its look until after its sleep. A thread that is entered and was woken
//!    counts as one that can go on: it looks again before it sleeps.
//! 2. The lock here comes before those of pools and tasks, and no user code runs under it. What is dropped is
//!    dropped when it is free. (Under it, a user's own queue may be asked how long it is.)

mod strands; // where tasks are that are in no pool
mod waiting; // the threads that wait, and an index of them
mod search; // whether anything can go on
mod report; // what is said if nothing can
mod relief; // and what can be done about it

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

// ----- those who wait -----

lazy_static! {
    static ref WAITING: Mutex<WaitingThreads> = Mutex::new(WaitingThreads::default());
}

/// Whoever was asked under the lock, to be dropped without it.
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

/// The calling thread is known to wait. Dropped when it does so no more.
pub(crate) struct Known {
    key: ThreadKey,
    _asleep: Asleep,
}

impl Drop for Known {
    fn drop(&mut self) {
        let wait = WAITING.lock().leave(self.key);
        drop(wait); // when the lock is free: what it waited for may end with this
    }
}

/// The detector of a process: it has no state of its own.
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

/// Has waits without a deadline looked at before they sleep, from now on: a task with a handle begins on some
/// thread.
#[inline]
pub(crate) fn watch_waits() {
    awaited::plug_in(&WaitGraph);
}

/// The calling thread is a worker of this pool until the result is dropped.
pub(crate) fn work_for(pool: QueueId, worker: Arc<dyn PoolWorker>) -> RoleGuard {
    watch_waits();
    worker_context::work_for(pool, worker)
}

/// The calling thread runs a task of a strand, as a part of its drain task, until the result is dropped.
pub(crate) fn drain_for(drain: TaskId, task: TaskLabel) -> RoleGuard {
    watch_waits();
    worker_context::drain_for(drain, task)
}

/// What a thread that is about to sleep is to do.
enum Verdict {
    /// With what is to be kept until after the sleep.
    Sleep(Known),
    LookAgain,
}

/// To be called by a thread that would sleep until `what` comes.
fn about_to_sleep(what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Result<Verdict, Starvation> {
    let key = this_thread();
    let mut wait = SleepingThread::of_this_thread(what, parker);
    if relief::help_again(&wait) {
        return Ok(Verdict::LookAgain);
    }
    let mut tried = false;
    loop {
        let mut used = Used::default(); // declared first, so dropped last: when the lock is free
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

/// Has the threads look again that may wait for what is in this queue: something has changed that they may
/// have relied on.
pub(crate) fn look_again(queue: QueueId) {
    look_again_at(Location::In(queue));
}

/// The same for those that would run what is at this place.
pub(crate) fn look_again_at(mut place: Location) {
    if !Asleep::is_anybody() {
        return;
    }
    let mut used = Used::default(); // declared first, so dropped last: when the lock is free
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

/// Counts those that sleep, or are about to, so that nobody has to take the lock to see that there are none.
struct Asleep;

lazy_static! {
    static ref ASLEEP: AtomicUsize = AtomicUsize::new(0);
}

impl Asleep {
    fn begin() -> Self {
        ASLEEP.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst); // the search comes after it
        Self
    }

    /// To be asked when what they may have relied on has changed already.
    fn is_anybody() -> bool {
        fence(Ordering::SeqCst); // with that in `begin`: either they see the change, or they are seen here
        ASLEEP.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        ASLEEP.fetch_sub(1, Ordering::SeqCst);
    }
}
