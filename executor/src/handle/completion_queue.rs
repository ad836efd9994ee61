//! A queue that gives out handles in the order in which their tasks end.
//!
//! Suppose that a caller submits many tasks, and wants each result as soon as the result is ready. A caller
//! that joins the handles one after the other waits for a slow task even if other results are ready. With
//! this queue, each task reports when it has ended. The caller [expects](CompletionQueue::expect) handles,
//! and [`next`](CompletionQueue::next) gives out each of these handles when its task has ended. Every handle
//! arrives, because every task ends: it returns, panics, is cancelled, or is dropped without having been run.
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
//! The queue does not store expected handles; it only counts them. The task's listener is a [`Collector`]
//! instead of the handle. The thread that ends the task passes the task's cell to the collector, and the
//! collector makes a handle from the cell. So the queue needs no table of handles, and allocates nothing for
//! a task.
//!
//! Threads that end tasks put the handles into one list, and threads that want handles, the *takers*, take
//! handles out of a second list. If the second list is empty, a taker exchanges the two lists. So takers need
//! the lock of the first list only once for many handles.
//!
//! # Invariants
//!
//! 1. The count of an expected handle begins before its task can end, and ends when the handle is in one of
//!    the lists. Each handle in a list is finished.
//! 2. While threads wait, there is a woken waiter for each handle in a list, and this waiter has not yet
//!    looked at the list. So if a woken waiter gives up, this waiter must wake another waiter.
//! 3. When no more handles are expected, every waiter is woken. Each waiter then takes a handle, or learns
//!    that no more handles will arrive.
//! 4. No user code runs under a lock, because all wakers in the wait list belong to parkers, and a finished
//!    handle is moved and not dropped.
//! 5. The lock of `fetched` is taken before the lock of `arrived`. A waiter joins the wait list while it
//!    holds both locks, so both lists are empty at that moment.
//! 6. The tasks keep the lists alive until the tasks have ended. The drop of the queue closes the lists. A
//!    closed list gives back each cell that arrives.

use std::collections::VecDeque;
use std::task::{Poll, Waker};

use super::listener::{CancelBegun, Collector, Name, ResultCell};
use super::{Canceller, TaskHandle};
use crate::cancel::reason::CancelReason;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, CachePadded, Mutex, MutexGuard};
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::error::WaitError;
use crate::waiting::wait::{Deadline, Ticket, WaitList, wait_for};

/// A queue that gives out handles in the order in which their tasks end. The drop of the queue drops the
/// handles in it. Handles that arrive later are dropped, too.
pub(crate) struct CompletionQueue<T>(Arc<CompletionLists<T>>);

/// Submitters, threads that end tasks, and takers each write to cache lines of their own.
struct CompletionLists<T> {
    /// The number of handles that were ever expected.
    begun: CachePadded<AtomicUsize>,
    arrived: CachePadded<Mutex<CompletedHandles<T>>>,
    fetched: CachePadded<Mutex<VecDeque<TaskHandle<T>>>>,
}

struct CompletedHandles<T> {
    /// The number of handles that were expected and have arrived, or will never arrive.
    ended: usize,
    handles: VecDeque<TaskHandle<T>>,
    waiters: WaitList,
    /// True if the next arrival must wake all waiters: see [`Source`].
    wakes_all: bool,
    closed: bool,
}

/// A task whose handle is expected by a completion queue. Until the handle arrives, the caller can withdraw
/// the handle or cancel the task.
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
    /// Does the first half of a cancellation, like [`TaskHandle::begin_cancel`].
    pub(crate) fn begin_cancel(&self, reason: CancelReason) -> Option<CancelBegun<T>> {
        Arc::clone(&self.cell).begin_cancel(true, reason)
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
            ended: 0,
            handles: VecDeque::new(),
            waiters: WaitList::new(),
            wakes_all: false,
            closed: false,
        };
        Self(Arc::new(CompletionLists {
            begun: CachePadded::default(),
            arrived: CachePadded(Mutex::new(arrived)),
            fetched: CachePadded::default(),
        }))
    }

    /// Begins to expect a handle. Must be called before an executor gets the task. If the call comes later,
    /// the order of the handles may differ from the order in which the tasks end.
    pub(crate) fn expect(&self, mut handle: TaskHandle<T>) -> PendingCompletion<T> {
        // Relaxed: every thread that has the task has also seen this increment, so no more handles have ended
        // than begun.
        self.0.begun.0.fetch_add(1, Ordering::Relaxed);
        handle.released = true;
        let expected = PendingCompletion { cell: Arc::clone(&handle.cell), name: handle.name.take() };
        let collector = Arc::clone(&self.0) as Arc<dyn Collector<T>>;
        if !expected.cell.collect_when_done(collector, expected.name.clone()) {
            let cell = Arc::clone(&expected.cell);
            assert!(self.0.collect(cell, expected.name.clone()).is_ok(), "only the drop closes it");
        }
        expected
    }

    /// Returns the handle of a task that was refused. Fails if the handle was already given out, or if it is
    /// about to arrive because the task was cancelled just now.
    pub(crate) fn withdraw(
        &self,
        expected: PendingCompletion<T>,
    ) -> Result<TaskHandle<T>, PendingCompletion<T>> {
        if expected.cell.collect_no_more() {
            self.0.is_one_fewer(self.0.arrived.0.lock());
            return Ok(TaskHandle::new(expected.cell, expected.name));
        }
        let mut fetched = self.0.fetched.0.lock();
        let mut arrived = self.0.arrived.0.lock();
        let found = [&mut *fetched, &mut arrived.handles].into_iter().find_map(|list| {
            let place = list.iter().position(|handle| handle.id() == expected.cell.id())?;
            list.remove(place)
        });
        found.ok_or(expected)
    }

    /// Waits until the next task has ended, and returns its handle. Returns `None` if no handle is left.
    pub(crate) fn next(&self, deadline: Deadline) -> Result<Option<TaskHandle<T>>, WaitError> {
        if let Some(handle) = self.0.fetched.0.lock().pop_front() {
            return Ok(Some(handle));
        }
        let mut me = None; // set while this thread may be in the wait list
        let look = |waker: &Waker| match self.0.take_or_listen(&mut me, waker) {
            Poll::Ready(next) => Some(next),
            Poll::Pending => None,
        };
        let what = || Some(Awaited::Other(Arc::clone(&self.0) as Arc<dyn Source>));
        let result = wait_for(deadline, (look, what));
        if let (Err(_), Some(me)) = (&result, me) {
            self.0.give_up(me);
        }
        result
    }

    /// Returns the handle of a task that has ended, or `None` if no handle has arrived. Never blocks.
    pub(crate) fn try_next(&self) -> Option<TaskHandle<T>> {
        let mut fetched = self.0.fetched.0.lock();
        fetched.pop_front().or_else(|| self.0.arrived.0.lock().fetch(&mut fetched))
    }

    /// Returns the number of handles that have arrived or are expected.
    pub(crate) fn len(&self) -> usize {
        let fetched = self.0.fetched.0.lock();
        let arrived = self.0.arrived.0.lock();
        fetched.len() + arrived.handles.len() + self.0.expected(&arrived)
    }
}

/// Tells the detector where the next handle can come from. After the detector has asked, the next arrival
/// wakes all waiters. One waiter takes the handle. The other waiters must check the lists again, because the
/// remaining tasks may be unable to end. If a handle has already arrived, all waiters are woken at once.
impl<T: Send + 'static> Source for CompletionLists<T> {
    fn collector(&self) -> Option<usize> {
        Some(std::ptr::from_ref(self).addr())
    }

    fn comes_from(&self) -> ComesFrom {
        let fetched = self.fetched.0.lock();
        let mut arrived = self.arrived.0.lock();
        arrived.wakes_all = true;
        let tasks = self.expected(&arrived);
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
        let fetched = std::mem::take(&mut *self.0.fetched.0.lock());
        let mut arrived = self.0.arrived.0.lock();
        arrived.closed = true;
        let not_fetched = std::mem::take(&mut arrived.handles);
        drop(arrived);
        drop((fetched, not_fetched));
    }
}

impl<T> CompletionLists<T> {
    fn take_or_listen(&self, me: &mut Option<Ticket>, waker: &Waker) -> Poll<Option<TaskHandle<T>>> {
        let mut fetched = self.fetched.0.lock();
        if me.is_none()
            && let Some(handle) = fetched.pop_front()
        {
            return Poll::Ready(Some(handle));
        }
        let mut arrived = self.arrived.0.lock();
        // The thread leaves the wait list even if it will not wait again. This thread must not stay in the
        // list, because a later arrival would then wake this thread instead of a thread that waits.
        if let Some(me) = me.take() {
            arrived.waiters.leave(me);
        }
        if let Some(handle) = fetched.pop_front().or_else(|| arrived.fetch(&mut fetched)) {
            return Poll::Ready(Some(handle));
        }
        if self.expected(&arrived) == 0 {
            return Poll::Ready(None);
        }
        *me = Some(arrived.waiters.join(waker.clone()));
        Poll::Pending
    }

    fn give_up(&self, me: Ticket) {
        let fetched = self.fetched.0.lock();
        let mut arrived = self.arrived.0.lock();
        arrived.waiters.leave(me);
        let something_is_there = !fetched.is_empty() || !arrived.handles.is_empty();
        // If this thread was woken for a handle, another waiter must now take that handle.
        let next = if something_is_there { arrived.waiters.take_first() } else { None };
        drop(arrived);
        drop(fetched);
        next.into_iter().for_each(Waker::wake);
    }

    /// Returns the number of handles that are expected and have not arrived.
    fn expected(&self, arrived: &CompletedHandles<T>) -> usize {
        self.begun.0.load(Ordering::Relaxed) - arrived.ended
    }

    /// Counts one expected handle less, because the handle has arrived or will never arrive. If there is a
    /// handle, wakes the first waiter. If no more handles are expected, wakes all waiters.
    fn is_one_fewer(&self, mut arrived: MutexGuard<'_, CompletedHandles<T>>) {
        arrived.ended += 1;
        // While no thread waits, this thread does not read the cache line to which submitters write.
        let was_the_last = !arrived.waiters.is_empty() && self.expected(&arrived) == 0;
        let all = was_the_last | std::mem::take(&mut arrived.wakes_all);
        let first = if arrived.handles.is_empty() { None } else { arrived.waiters.take_first() };
        let others = all.then(|| arrived.waiters.take_all());
        drop(arrived);
        first.into_iter().chain(others.into_iter().flatten()).for_each(Waker::wake);
    }
}

impl<T> CompletedHandles<T> {
    /// Exchanges this list for the takers' list, which is empty, and takes the first handle.
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
        let mut arrived = self.arrived.0.lock();
        if arrived.closed {
            return Err(cell);
        }
        arrived.handles.push_back(TaskHandle::new(cell, name));
        self.is_one_fewer(arrived);
        Ok(())
    }
}
