//! Handles in the order in which their tasks end.
//!
//! A caller that has many tasks under way and wants the first result, or each as it comes, could join the handles in turn.
//! It would then wait for the slowest while the others lie ready. Here the tasks report instead: each handle that is
//! [expected](Arrivals::expect) comes out of [`next`](Arrivals::next) when its task has ended, in whichever way: run,
//! panicked, cancelled, or dropped unrun. All of these complete the handle, so each handle arrives.
//!
//! ```text
//!   expect ──▶ expected ──task ends──▶ arrived ──next──▶ the caller
//!                 │                       │
//!                 └──────withdraw─────────┴────────────▶ the caller
//! ```
//!
//! # How a task reports
//!
//! A handle has room for one listener, a [`Waker`]. The one left there is no thread's: waking it moves the handle from
//! `expected` to `arrived` and then wakes a thread that waits in `next`. So nothing polls, and no thread of ours is
//! needed to watch.
//!
//! # Invariants
//!
//! 1. A handle is in one of the two places from `expect` until it is given out, and what is in `arrived` is finished.
//! 2. For each handle in `arrived` there is a waiter that was woken and has not looked since, unless no thread waits. So
//!    a waiter that is woken and gives up all the same wakes another.
//! 3. When nothing is expected any more, every waiter is woken: either there is something for it, or it learns that
//!    there will be nothing.
//! 4. The wakers of waiters are parkers, and a finished handle is moved, not dropped: no user code runs under the lock.
//! 5. A task knows this only by a `Weak`. Otherwise a handle kept here would keep itself alive through its task.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Poll, Wake, Waker};

use super::TaskHandle;
use crate::error::WaitError;
use crate::sync::{Arc, Mutex, Weak};
use crate::task::TaskId;
use crate::wait::{Deadline, Line, Ticket, wait};

pub(crate) struct Arrivals<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    expected: BTreeMap<TaskId, TaskHandle<T>>,
    arrived: VecDeque<TaskHandle<T>>,
    waiters: Line,
}

impl<T: Send + 'static> Arrivals<T> {
    pub(crate) fn new() -> Self {
        let state = State { expected: BTreeMap::new(), arrived: VecDeque::new(), waiters: Line::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Takes a handle in. To be called before its task is handed to an executor, or the order is not that of the ends.
    pub(crate) fn expect(&self, handle: TaskHandle<T>) {
        let report = Waker::from(Arc::new(Report { id: handle.id(), to: Arc::downgrade(&self.0) }));
        handle.finished_or_wake(&report);
        let mut state = self.0.lock();
        // Looked at under the lock: a report before this has found nothing, one after it will find the handle.
        if handle.is_finished() {
            state.arrive(handle);
        } else {
            state.expected.insert(handle.id(), handle);
        }
    }

    /// Gives a handle back whose task was refused. `None` if it was given out already.
    pub(crate) fn withdraw(&self, id: TaskId) -> Option<TaskHandle<T>> {
        let mut state = self.0.lock();
        let handle = state.expected.remove(&id).or_else(|| {
            let place = state.arrived.iter().position(|handle| handle.id() == id)?;
            state.arrived.remove(place)
        });
        state.wake();
        handle
    }

    /// Waits for the next handle whose task has ended. `None` if there is none to wait for.
    pub(crate) fn next(&self, deadline: Deadline) -> Result<Option<TaskHandle<T>>, WaitError> {
        let mut me = None; // set once this thread was in the line
        let result = wait(deadline, |waker| match self.0.lock().take_or_listen(&mut me, waker) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        });
        if let (Err(_), Some(me)) = (&result, me) {
            self.0.lock().give_up(me);
        }
        result
    }

    /// The next handle if there is one now. Never blocks.
    pub(crate) fn try_next(&self) -> Option<TaskHandle<T>> {
        self.0.lock().arrived.pop_front()
    }

    /// How many handles are in it, arrived or not.
    pub(crate) fn len(&self) -> usize {
        let state = self.0.lock();
        state.expected.len() + state.arrived.len()
    }

    /// Empties it: first what has arrived, then the others.
    pub(crate) fn take_all(&self) -> Vec<TaskHandle<T>> {
        let mut state = self.0.lock();
        let arrived = std::mem::take(&mut state.arrived);
        let expected = std::mem::take(&mut state.expected);
        state.wake();
        arrived.into_iter().chain(expected.into_values()).collect()
    }
}

impl<T> State<T> {
    fn arrive(&mut self, handle: TaskHandle<T>) {
        self.arrived.push_back(handle);
        self.wake();
    }

    /// Wakes the waiters that ought to look: one for a handle that has arrived, all if it was the last. Waking a parker
    /// under our lock is fine: it takes no lock but its own.
    fn wake(&mut self) {
        if self.expected.is_empty() {
            self.waiters.take_all().for_each(Waker::wake);
        } else if !self.arrived.is_empty()
            && let Some(waiter) = self.waiters.take_first()
        {
            waiter.wake();
        }
    }

    fn take_or_listen(&mut self, me: &mut Option<Ticket>, waker: &Waker) -> Poll<Option<TaskHandle<T>>> {
        // Also if it will not wait: left there, it would be woken in the place of a waiter that does.
        if let Some(me) = *me {
            self.waiters.leave(me);
        }
        if let Some(handle) = self.arrived.pop_front() {
            return Poll::Ready(Some(handle));
        }
        if self.expected.is_empty() {
            return Poll::Ready(None);
        }
        *me = Some(self.waiters.join(waker.clone()));
        Poll::Pending
    }

    fn give_up(&mut self, me: Ticket) {
        self.waiters.leave(me);
        self.wake(); // it may have been woken for a handle
    }
}

/// What a task wakes when it has ended.
struct Report<T> {
    id: TaskId,
    to: Weak<Mutex<State<T>>>,
}

impl<T: Send + 'static> Wake for Report<T> {
    fn wake(self: Arc<Self>) {
        let Some(arrivals) = self.to.upgrade() else { return };
        let mut state = arrivals.lock();
        // It is not there if it was withdrawn, or had arrived when it was taken in.
        if let Some(handle) = state.expected.remove(&self.id) {
            state.arrive(handle);
        }
    }
}
