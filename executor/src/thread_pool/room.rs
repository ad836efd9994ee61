//! The submitters that wait for room in a pool, and how the pool tells them that there is room.
//!
//! With the policy [`Block`](super::Block), a submitter waits until the pool accepts its task. Waiting
//! submitters are in a wait list, in the order of their arrival, each with a ticket and a waker. Whenever
//! there may be room, the pool notifies the first waiting submitter. The first submitter tries again, and
//! goes on waiting if another submitter has taken the room.
//!
//! # One wake-up, however much room there is
//!
//! A worker makes room whenever it takes a task. Without a flag, a worker would have to lock the state for
//! each task to see whether a submitter waits, although it claims the task without that lock. So the pool has
//! a flag, `submitter_waits`:
//!
//! | submitter | worker |
//! |---|---|
//! | raises the flag | makes room: takes a task |
//! | then looks for room | then reads the flag |
//! | no room: sleeps | flag is up: lowers it and wakes the first in the wait list |
//!
//! Each side first writes its own variable and then reads the variable of the other side, in sequentially
//! consistent order. So at least one side sees the write of the other side: the submitter finds the room, or
//! the worker finds the flag. In a weaker order, each side could miss the write of the other side, and the
//! submitter would sleep although there is room.
//!
//! # Invariants
//!
//! 1. While a submitter sleeps in the wait list, the flag is raised, or the first submitter in the list was
//!    told of room and has not yet tried again.
//! 2. A submitter that leaves the wait list, for any reason, raises the flag and notifies the next submitter,
//!    because room that was announced to the leaving submitter may still be free.
//! 3. No lock is held while a submitter calls `admit` or sleeps.
//!
//! In this file, *room* means everything that can change the pool's answer to a submitter: a place in the
//! queue, a thread that can be started, an idle worker to which a hand-off queue can give a task, or the end
//! of the pool.

use std::task::Waker;

use super::shared::PoolShared;
use super::state::PoolData;
use crate::executor::RejectedExecution;
use crate::sync::atomic::Ordering;
use crate::sync::{PATIENCE, thread};
use crate::task::Task;
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::wait::{Deadline, Ticket, wait_for};

impl PoolShared {
    /// Calls `admit` with a task whenever there may be room, until the pool accepts the task or refuses it
    /// for another reason than a lack of room.
    pub(super) fn admit_when_room(
        &self,
        task: Task,
        deadline: Deadline,
        admit: impl Fn(Task) -> Result<(), RejectedExecution>,
    ) -> Result<(), RejectedExecution> {
        let mut task = Some(task);
        let (mut ticket, mut looks) = (None, 0);
        let look = |waker: &Waker| {
            // A yield takes less time than a sleep. After a yield there is often room for several tasks.
            while looks != PATIENCE {
                looks += 1;
                thread::yield_now();
                match admit(task.take()?) {
                    Ok(()) => return Some(Ok(())),
                    Err(refused) => task = Some(refused.task),
                }
            }
            if ticket.is_none() {
                // The waker is registered before the submitter looks for room. So the submitter finds room
                // when it looks, or the pool calls the submitter's waker.
                ticket = Some(self.state.lock().submitters.join(waker.clone()));
            }
            self.submitter_waits.store(true, Ordering::SeqCst); // before the look
            match admit(task.take()?) {
                Err(RejectedExecution { reason: RejectReason::Saturated, task: refused }) => {
                    task = Some(refused);
                    None
                }
                decided => Some(decided),
            }
        };
        let what = || Some(Awaited::Other(self.me.upgrade()?));
        let result = wait_for(deadline, (look, what));
        if let Some(ticket) = ticket {
            self.leave_wait_list(ticket);
        }
        result.unwrap_or_else(|why| {
            let task = task.take().expect("an unfinished wait has put the task back");
            Err(RejectedExecution { reason: why.into(), task })
        })
    }

    /// Takes a submitter out of the wait list and notifies the next submitter: see the second invariant.
    fn leave_wait_list(&self, ticket: Ticket) {
        let mut state = self.state.lock();
        state.submitters.leave(ticket);
        self.submitter_waits.store(true, Ordering::SeqCst);
        self.wake_submitter(&state);
    }

    /// If the flag is raised, tells the first submitter in the wait list that there is room.
    pub(super) fn wake_submitter(&self, state: &PoolData) {
        // Calls the waker under the lock. The waker is not user code: it only wakes a thread that waits here,
        // through that thread's parker.
        if self.submitter_waits.swap(false, Ordering::SeqCst)
            && let Some((_, first)) = state.submitters.first()
        {
            first.wake_by_ref();
        }
    }
}

/// Tells the deadlock detector that a submitter waits for room in the queue of this pool.
impl Source for PoolShared {
    fn comes_from(&self) -> ComesFrom {
        ComesFrom::Room(self.registration.id())
    }
}

impl PoolData {
    /// Tells all waiting submitters to try again. Call this function after a change that may make room for
    /// several submitters, or that makes the pool refuse all submitters.
    pub(super) fn wake_all_submitters(&self) {
        self.submitters.iter().for_each(Waker::wake_by_ref);
    }
}
