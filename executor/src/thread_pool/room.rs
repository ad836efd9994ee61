//! How a submitter waits for room, and how it hears of it.
//!
//! A submitter of the policy [`Block`](super::Block) waits until the pool accepts its task. Waiting
//! submitters stand in a wait list, in the order in which they came, each with a ticket and a waker. The
//! first of them is told whenever there may be room; it tries, and goes on waiting if another submitter was
//! quicker.
//!
//! # One wake-up, however much room there is
//!
//! Workers make room with every task they take. To lock the state each time, only to see that no submitter
//! waits, would put back the lock that claims avoid. So there is a flag, `submitter_waits`:
//!
//! | submitter | worker |
//! |---|---|
//! | raises the flag | makes room: takes a task |
//! | then looks for room | then reads the flag |
//! | none: sleeps | it is up: lowers it and wakes the first in the wait list |
//!
//! Each side writes and then reads what the other writes, in sequentially consistent order. So at least one
//! of them sees the other: the submitter finds the room, or the worker finds the flag. Without that order,
//! both could miss. Then the submitter would sleep beside a queue that has room.
//!
//! # Invariants
//!
//! 1. While a submitter sleeps in the wait list, the flag is up, or the first in the wait list was told of
//!    room and has not looked since.
//! 2. A submitter that leaves the wait list, whatever for, raises the flag for the next one and has it look:
//!    the room that the one before was told of may still be there.
//! 3. No lock is held while a submitter tries or sleeps.
//!
//! Here room also means a thread that may be started, an idle worker that a hand-off can give a task to, or
//! the end of the pool: whatever might change the answer.

use std::task::Waker;

use super::shared::PoolShared;
use super::state::PoolData;
use crate::executor::RejectedExecution;
use crate::ids::QueueId;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, PATIENCE, thread};
use crate::task::Task;
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::wait::{Deadline, Look, Ticket, wait_for};

impl PoolShared {
    /// Has `admit` try a task again whenever there may be room, until it is accepted or refused for another
    /// reason.
    pub(super) fn admit_when_room(
        &self,
        task: Task,
        deadline: Deadline,
        admit: impl Fn(Task) -> Result<(), RejectedExecution>,
    ) -> Result<(), RejectedExecution> {
        let mut task = Some(task);
        let mut ticket = None;
        let look = Admission { pool: self, admit, task: &mut task, ticket: &mut ticket, looks: 0 };
        let result = wait_for(deadline, look);
        if let Some(ticket) = ticket {
            self.leave_wait_list(ticket);
        }
        result.unwrap_or_else(|why| {
            let task = task.take().expect("an unfinished wait has put it back");
            Err(RejectedExecution { reason: why.into(), task })
        })
    }

    /// Takes a submitter out of the wait list, and has the next one look: there may be room for it, or it was
    /// this one that had been told of the room.
    fn leave_wait_list(&self, ticket: Ticket) {
        let mut state = self.state.lock();
        state.submitters.leave(ticket);
        self.submitter_waits.store(true, Ordering::SeqCst);
        self.wake_submitter(&state);
    }

    /// Tells the first submitter in the wait list of room, unless it has been told and not looked yet.
    pub(super) fn wake_submitter(&self, state: &PoolData) {
        // Under the lock, but not user code: only threads wait here, each on its parker.
        if self.submitter_waits.swap(false, Ordering::SeqCst)
            && let Some((_, first)) = state.submitters.first()
        {
            first.wake_by_ref();
        }
    }
}

/// A look for room, which takes the task in.
struct Admission<'a, A> {
    pool: &'a PoolShared,
    admit: A,
    task: &'a mut Option<Task>,
    ticket: &'a mut Option<Ticket>,
    looks: u32,
}

impl<A: Fn(Task) -> Result<(), RejectedExecution>> Look for Admission<'_, A> {
    type Found = Result<(), RejectedExecution>;

    fn look(&mut self, waker: &Waker) -> Option<Self::Found> {
        // Giving way is less work than falling asleep and being woken, and often lets more than one task in.
        while self.looks != PATIENCE {
            self.looks += 1;
            thread::yield_now();
            match (self.admit)(self.task.take()?) {
                Ok(()) => return Some(Ok(())),
                Err(refused) => *self.task = Some(refused.task),
            }
        }
        if self.ticket.is_none() {
            // First the waker and then the look, so that room made in between is not missed.
            *self.ticket = Some(self.pool.state.lock().submitters.join(waker.clone()));
        }
        self.pool.submitter_waits.store(true, Ordering::SeqCst); // before it looks
        match (self.admit)(self.task.take()?) {
            Ok(()) => Some(Ok(())),
            Err(RejectedExecution { reason: RejectReason::Saturated, task }) => {
                *self.task = Some(task);
                None
            }
            Err(refused) => Some(Err(refused)),
        }
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::new(Room(self.pool.registration.id()))))
    }
}

/// What a thread of an executor waits for.
struct Room(QueueId);

impl Source for Room {
    fn comes_from(&self) -> ComesFrom {
        ComesFrom::Room(self.0)
    }
}

impl PoolData {
    /// Has all of them look, because of a change that may be good news for more than one, or bad news for
    /// all.
    pub(super) fn wake_all_submitters(&self) {
        self.submitters.iter().for_each(Waker::wake_by_ref);
    }
}
