//! Handles in the order in which their tasks end.
//!
//! A caller that has many tasks under way and wants the first result, or each as it comes, could join the
//! handles in turn. It would then wait for the slowest while the others lie ready. Here the tasks report
//! instead: each handle that is [expected](CompletionQueue::expect) comes out of
//! [`next`](CompletionQueue::next) when its task has ended, in whichever way: run, panicked, cancelled, or
//! dropped unrun. All of these complete the handle, so each handle arrives.
//!
//! ```text
//!   expect ──▶ expected ──task ends──▶ arrived ──all at once──▶ fetched ──next──▶ the caller
//!            (only a count)            (threads that end tasks)  (takers)
//!                 │                       │                        │
//!                 └──────withdraw─────────┴────────────────────────┴────────────▶ the caller
//! ```
//!
//! # How a task reports
//!
//! What is expected is only counted. The handle gives its place with the task to a [`Collector`], and is made
//! anew when the thread that ends the task hands over what the two have shared. So there is no table of
//! handles, in which each task would have to be looked up, and nothing is allocated for a task.
//!
//! Threads that end tasks put the handles into one list, and takers take them out of another. A taker that
//! finds the second empty exchanges the two, so it meets the others at their lock once for many handles.
//!
//! # Invariants
//!
//! 1. A handle that is expected was counted before its task could end, and until it is in one of the lists.
//!    What is in a list is finished.
//! 2. For each handle in a list there is a waiter that was woken and has not looked since, unless no thread
//!    waits. So a waiter that is woken and gives up all the same wakes another.
//! 3. When nothing is expected any more, every waiter is woken: either there is something for it, or it
//!    learns that there will be nothing.
//! 4. The wakers of waiters are parkers, and a finished handle is moved, not dropped: no user code runs under
//!    a lock.
//! 5. The lock of `fetched` comes before that of `arrived`. A waiter joins the wait list while it holds both,
//!    so that it has seen both lists empty.
//! 6. Tasks keep this alive until they end. When nobody will ask any more it is closed, and gives back what
//!    arrives.

use std::collections::VecDeque;
use std::task::{Poll, Waker};

use super::listener::{CancelBegun, Collector, Name, ResultCell};
use super::{Canceller, TaskHandle};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::WaitError;
use crate::waiting::wait::{Deadline, Look, Ticket, WaitList, wait_for};

/// Where the handles come out. Dropping it drops those that it has, and those that are still to come.
pub(crate) struct CompletionQueue<T>(Arc<CompletionLists<T>>);

struct CompletionLists<T> {
    /// How many are still to come. It grows without a lock and shrinks under that of `arrived`, where it is
    /// also looked at.
    expected: AtomicUsize,
    arrived: Mutex<CompletedHandles<T>>,
    fetched: Mutex<VecDeque<TaskHandle<T>>>,
}

struct CompletedHandles<T> {
    handles: VecDeque<TaskHandle<T>>,
    waiters: WaitList,
    /// A thread of an executor waits: see [`Source`].
    wakes_all: bool,
    closed: bool,
}

/// A task whose handle is expected: it can be withdrawn or cancelled until it arrives.
pub(crate) struct PendingCompletion<T> {
    cell: Arc<dyn ResultCell<T>>,
    name: Option<Name>,
}

impl<T> Clone for PendingCompletion<T> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell), name: self.name.clone() }
    }
}

impl<T> PendingCompletion<T> {
    /// The first half of a cancel, as [`TaskHandle::begin_cancel`].
    pub(crate) fn begin_cancel(&self) -> Option<CancelBegun<T>> {
        Arc::clone(&self.cell).begin_cancel(true)
    }
}

impl<T: 'static> PendingCompletion<T> {
    pub(crate) fn into_canceller(self) -> Canceller {
        Canceller { cell: self.cell, name: self.name }
    }
}

impl<T: Send + 'static> CompletionQueue<T> {
    pub(crate) fn new() -> Self {
        let arrived = CompletedHandles {
            handles: VecDeque::new(),
            waiters: WaitList::new(),
            wakes_all: false,
            closed: false,
        };
        Self(Arc::new(CompletionLists {
            expected: AtomicUsize::new(0),
            arrived: Mutex::new(arrived),
            fetched: Mutex::default(),
        }))
    }

    /// Takes a handle in. To be called before its task is handed to an executor, or the order is not that of
    /// the ends.
    pub(crate) fn expect(&self, mut handle: TaskHandle<T>) -> PendingCompletion<T> {
        // Relaxed: who knows of the task knows of this, and who looks at it holds the lock under which it
        // shrinks.
        self.0.expected.fetch_add(1, Ordering::Relaxed);
        handle.released = true;
        let expected = PendingCompletion { cell: Arc::clone(&handle.cell), name: handle.name.take() };
        let collector = Arc::clone(&self.0) as Arc<dyn Collector<T>>;
        if !expected.cell.collect_when_done(collector, expected.name.clone()) {
            let cell = Arc::clone(&expected.cell);
            assert!(self.0.collect(cell, expected.name.clone()).is_ok(), "it is closed by its drop only");
        }
        expected
    }

    /// Gives a handle back whose task was refused. Fails if it was given out already, or is about to arrive
    /// because the task was cancelled just now.
    pub(crate) fn withdraw(
        &self,
        expected: PendingCompletion<T>,
    ) -> Result<TaskHandle<T>, PendingCompletion<T>> {
        if expected.cell.collect_no_more() {
            self.0.is_one_fewer(self.0.arrived.lock());
            return Ok(TaskHandle::new(expected.cell, expected.name));
        }
        let mut fetched = self.0.fetched.lock();
        let mut arrived = self.0.arrived.lock();
        let found = [&mut *fetched, &mut arrived.handles].into_iter().find_map(|list| {
            let place = list.iter().position(|handle| handle.id() == expected.cell.id())?;
            list.remove(place)
        });
        found.ok_or(expected)
    }

    /// Waits for the next handle whose task has ended. `None` if there is none to wait for.
    pub(crate) fn next(&self, deadline: Deadline) -> Result<Option<TaskHandle<T>>, WaitError> {
        let mut me = None; // set while this thread may be in the wait list
        let result = wait_for(deadline, NextCompleted { lists: &self.0, me: &mut me });
        if let (Err(_), Some(me)) = (&result, me) {
            self.0.give_up(me);
        }
        result
    }

    /// The next handle if there is one now. Never blocks.
    pub(crate) fn try_next(&self) -> Option<TaskHandle<T>> {
        let mut fetched = self.0.fetched.lock();
        fetched.pop_front().or_else(|| self.0.arrived.lock().fetch(&mut fetched))
    }

    /// How many handles are in it, arrived or not.
    pub(crate) fn len(&self) -> usize {
        let fetched = self.0.fetched.lock();
        let arrived = self.0.arrived.lock();
        fetched.len() + arrived.handles.len() + self.0.expected.load(Ordering::Relaxed)
    }
}

/// A look for the next handle.
struct NextCompleted<'a, T> {
    lists: &'a Arc<CompletionLists<T>>,
    me: &'a mut Option<Ticket>,
}

impl<T: Send + 'static> Look for NextCompleted<'_, T> {
    type Found = Option<TaskHandle<T>>;

    fn look(&mut self, waker: &Waker) -> Option<Self::Found> {
        match self.lists.take_or_listen(self.me, waker) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        }
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::clone(self.lists) as Arc<dyn Source>))
    }
}

/// For a thread that waits for the next handle. From here on the next arrival wakes all that wait: for those
/// that it is not for, the tasks that are left may be such as cannot end. If there is a handle already, they
/// take it or look again.
impl<T: Send + 'static> Source for CompletionLists<T> {
    fn collector(&self) -> Option<usize> {
        Some(std::ptr::from_ref(self).addr())
    }

    fn comes_from(&self) -> ComesFrom {
        let fetched = self.fetched.lock();
        let mut arrived = self.arrived.lock();
        arrived.wakes_all = true;
        let tasks = self.expected.load(Ordering::Relaxed);
        let is_one_there = !fetched.is_empty() || !arrived.handles.is_empty();
        if is_one_there {
            arrived.waiters.iter().for_each(Waker::wake_by_ref);
        }
        if tasks == 0 || is_one_there {
            return ComesFrom::Elsewhere;
        }
        ComesFrom::TasksOf { collector: std::ptr::from_ref(self).addr(), tasks }
    }
}

impl<T> Drop for CompletionQueue<T> {
    fn drop(&mut self) {
        let fetched = std::mem::take(&mut *self.0.fetched.lock());
        let mut arrived = self.0.arrived.lock();
        arrived.closed = true;
        let not_fetched = std::mem::take(&mut arrived.handles);
        drop(arrived);
        drop((fetched, not_fetched));
    }
}

impl<T> CompletionLists<T> {
    fn take_or_listen(&self, me: &mut Option<Ticket>, waker: &Waker) -> Poll<Option<TaskHandle<T>>> {
        let mut fetched = self.fetched.lock();
        if me.is_none()
            && let Some(handle) = fetched.pop_front()
        {
            return Poll::Ready(Some(handle));
        }
        let mut arrived = self.arrived.lock();
        // Also if it will not wait: left there, it would be woken in the place of a waiter that does.
        if let Some(me) = me.take() {
            arrived.waiters.leave(me);
        }
        if let Some(handle) = fetched.pop_front().or_else(|| arrived.fetch(&mut fetched)) {
            return Poll::Ready(Some(handle));
        }
        if self.expected.load(Ordering::Relaxed) == 0 {
            return Poll::Ready(None);
        }
        *me = Some(arrived.waiters.join(waker.clone()));
        Poll::Pending
    }

    fn give_up(&self, me: Ticket) {
        let fetched = self.fetched.lock();
        let mut arrived = self.arrived.lock();
        arrived.waiters.leave(me);
        let something_is_there = !fetched.is_empty() || !arrived.handles.is_empty();
        // It may have been woken for a handle.
        let next = if something_is_there { arrived.waiters.take_first() } else { None };
        drop(arrived);
        drop(fetched);
        next.into_iter().for_each(Waker::wake);
    }

    /// One that was expected has arrived, or never will. Wakes those that ought to look: the first for a
    /// handle that has arrived, all if it was the last.
    fn is_one_fewer(&self, mut arrived: MutexGuard<'_, CompletedHandles<T>>) {
        let was_the_last = self.expected.fetch_sub(1, Ordering::Relaxed) == 1;
        let all = was_the_last | std::mem::take(&mut arrived.wakes_all);
        let first = if arrived.handles.is_empty() { None } else { arrived.waiters.take_first() };
        let others = all.then(|| arrived.waiters.take_all());
        drop(arrived);
        first.into_iter().chain(others.into_iter().flatten()).for_each(Waker::wake);
    }
}

impl<T> CompletedHandles<T> {
    /// Exchanges this list for that of the takers, which is empty, and takes the first handle.
    fn fetch(&mut self, fetched: &mut VecDeque<TaskHandle<T>>) -> Option<TaskHandle<T>> {
        std::mem::swap(&mut self.handles, fetched);
        fetched.pop_front()
    }
}

impl<T: Send + 'static> Collector<T> for CompletionLists<T> {
    fn collect(
        &self,
        cell: Arc<dyn ResultCell<T>>,
        name: Option<Name>,
    ) -> Result<(), Arc<dyn ResultCell<T>>> {
        let mut arrived = self.arrived.lock();
        if arrived.closed {
            return Err(cell);
        }
        arrived.handles.push_back(TaskHandle::new(cell, name));
        self.is_one_fewer(arrived);
        Ok(())
    }
}
