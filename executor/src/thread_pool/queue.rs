//! The queues in which a pool's tasks wait.
//!
//! The queue decides the order in which tasks are run, and how many tasks may wait. The queue also decides
//! when the pool grows: a pool starts threads beyond its core size only when its queue *refuses* a task. So
//! with a queue that never refuses a task, the pool never grows beyond its core size.
//!
//! | queue | order | refuses |
//! |---|---|---|
//! | [`FifoQueue::unbounded`] | as submitted | never |
//! | [`FifoQueue::bounded`] | as submitted | when full |
//! | [`HandOffQueue`] | – | unless a worker waits for a task |
//! | [`PriorityQueue`](crate::PriorityQueue) | by priority, then as submitted | never, or when full |
//! | [`LifoQueue`] | newest first | never, or when full |
//! | your own | as you define it | as you define it: implement [`WorkQueue`] |
//!
//! A pool calls its queue under the pool's lock. So a queue needs no lock of its own. A user's own queue or
//! comparator must be short and must not call the pool. If a comparator panics, the new task is refused. If a
//! user's own queue panics, it may drop the task, and dropping the task cancels it. Each panic goes to the
//! panic handler.

use std::collections::VecDeque;

use crate::ids::TaskId;
use crate::task::Task;

/// A queue of tasks for a pool: see [`ThreadPoolBuilder::queue`](crate::ThreadPoolBuilder::queue).
///
/// The pool calls its queue under the pool's lock, so the methods of a queue take `&mut self`. Each method
/// must be short, must not block, and must not call the pool: that call would deadlock. If a method drops a
/// task, the task is cancelled, and its callbacks run at once. So the callbacks of a task must not call the
/// pool either.
///
/// ```
/// use executor::{PriorityQueue, Task, WorkQueue};
///
/// let urgent_first = PriorityQueue::by(|a, b| a.priority().cmp(&b.priority()));
/// let mut queue: Box<dyn WorkQueue> = Box::new(urgent_first.bounded(2));
/// let (report, alarm) = (Task::new(|| ()).named("report"), Task::new(|| ()).named("alarm"));
/// let id = alarm.id();
/// assert!(queue.push(report, 0).is_ok() && queue.push(alarm, 0).is_ok());
/// assert_eq!((queue.len(), queue.capacity(), queue.is_empty()), (2, Some(2), false));
/// assert_eq!(queue.push(Task::new(|| ()).named("late"), 0).unwrap_err().name(), Some("late"));
///
/// queue.raise(id, 9);
/// let mut names = Vec::new();
/// queue.for_each(&mut |task| names.extend(task.name().map(str::to_owned)));
/// assert_eq!(names, ["alarm", "report"]);
/// assert_eq!(queue.remove_if(&mut |task| task.id() == id).len(), 1);
/// assert_eq!(queue.pop().unwrap().name(), Some("report"));
/// queue.shrink();
/// ```
#[doc(alias = "BlockingQueue")]
// ANCHOR: work_queue
pub trait WorkQueue: Send {
    /// Puts a task into the queue, or gives the task back if the queue refuses it. `waiting` is the number of
    /// idle workers.
    ///
    /// # Errors
    /// Returns the task, unchanged, if the queue refuses it.
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task>;

    /// Takes out the task that runs next. Returns `None` if the queue is empty: the method must not
    /// wait.
    fn pop(&mut self) -> Option<Task>;

    /// Returns the number of tasks in the queue.
    fn len(&self) -> usize;

    /// Returns whether the queue has no task.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of tasks that the queue can hold, or `None` if it has no bound.
    fn capacity(&self) -> Option<usize>;

    /// Calls `look` with each waiting task, if possible in the order in which the tasks would run.
    fn for_each(&self, look: &mut dyn FnMut(&Task));

    /// Takes out the tasks for which `unwanted` is true, and keeps the other tasks in their order.
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task>;

    /// Gives a waiting task a higher priority, and moves it to its new place. A
    /// [`SerialExecutor`](crate::SerialExecutor) waits in the queue as one *drain task*. The pool calls this
    /// method when the serial executor gets a more urgent task. A queue that sorts tasks by priority takes
    /// the drain task out, sets its [priority](Task::prioritized) and puts it in again. The default does
    /// nothing.
    fn raise(&mut self, id: TaskId, priority: i32) {
        let _ = (id, priority);
    }

    /// Frees the memory that a burst of tasks needed. The pool calls this method when a worker finds no task.
    /// The default does nothing.
    fn shrink(&mut self) {}

    /// Returns the queue if it is a [`FifoQueue`], into which the pool can put many tasks at once.
    #[doc(hidden)]
    fn as_fifo(&mut self, _: sealed::Ours) -> Option<&mut FifoQueue> {
        None
    }
}
// ANCHOR_END: work_queue

/// An argument type that only this crate can name. So no other crate can call or override a method with an
/// argument of this type.
pub(crate) mod sealed {
    #[derive(Clone, Copy)]
    pub struct Ours;
}

/// A queue that gives out the oldest task first: first in, first out.
///
/// A queue without a bound absorbs any burst, and never lets the pool grow beyond its core size. While tasks
/// arrive faster than the threads complete them, the queue grows until the memory is used up. A queue with a
/// bound refuses tasks under overload. Choose the bound according to the time for which a task may wait: the
/// last of `n` tasks waits for all other tasks. After a burst, the pool frees the memory, but keeps room for
/// some thousands of tasks.
///
/// ```
/// use executor::{FifoQueue, Task, WorkQueue};
///
/// let mut queue = FifoQueue::unbounded();
/// for name in ["older", "newer"] {
///     queue.push(Task::new(|| ()).named(name), 0).unwrap();
/// }
/// assert_eq!(queue.pop().unwrap().name(), Some("older"));
/// ```
#[doc(alias = "LinkedBlockingQueue")]
#[doc(alias = "ArrayBlockingQueue")]
pub struct FifoQueue {
    tasks: VecDeque<Task>,
    capacity: Option<usize>,
}

impl FifoQueue {
    /// Makes a queue without a bound: it never refuses a task.
    ///
    /// ```
    /// use executor::{FifoQueue, WorkQueue};
    ///
    /// assert_eq!(FifoQueue::unbounded().capacity(), None);
    /// ```
    pub fn unbounded() -> Self {
        Self { tasks: VecDeque::new(), capacity: None }
    }

    /// Makes a queue that holds at most `capacity` tasks.
    ///
    /// ```
    /// use executor::{FifoQueue, Task, WorkQueue};
    ///
    /// let mut queue = FifoQueue::bounded(1);
    /// assert!(queue.push(Task::new(|| ()), 0).is_ok());
    /// assert!(queue.push(Task::new(|| ()), 0).is_err()); // full
    /// ```
    ///
    /// # Panics
    /// Panics if `capacity` is zero, because such a queue would refuse every task. Use a
    /// [`HandOffQueue`].
    pub fn bounded(capacity: usize) -> Self {
        Self { tasks: VecDeque::new(), capacity: Some(checked(capacity)) }
    }

    /// Returns the number of further tasks that the queue would accept.
    pub(crate) fn room(&self) -> usize {
        self.capacity.unwrap_or(usize::MAX).saturating_sub(self.tasks.len())
    }

    /// Puts tasks before and behind the tasks of the queue. The caller must make sure that there is room.
    pub(crate) fn surround(&mut self, before: Vec<Task>, behind: impl Iterator<Item = Task>) {
        before.into_iter().rev().for_each(|task| self.tasks.push_front(task));
        self.tasks.extend(behind);
    }

    /// Takes all tasks out, in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Task> {
        self.tasks.drain(..)
    }
}

/// A queue that gives out the newest task first: last in, first out.
///
/// Under overload, the pool serves the youngest requests first: the clients of these requests are probably
/// still waiting. The oldest requests wait longest.
///
/// ```
/// use executor::{LifoQueue, Task, WorkQueue};
///
/// let mut queue = LifoQueue::unbounded();
/// for name in ["older", "newer"] {
///     queue.push(Task::new(|| ()).named(name), 0).unwrap();
/// }
/// assert_eq!(queue.pop().unwrap().name(), Some("newer"));
/// ```
pub struct LifoQueue {
    tasks: VecDeque<Task>,
    capacity: Option<usize>,
}

impl LifoQueue {
    /// Makes a queue without a bound: it never refuses a task.
    ///
    /// ```
    /// use executor::{LifoQueue, WorkQueue};
    ///
    /// assert_eq!(LifoQueue::unbounded().capacity(), None);
    /// ```
    pub fn unbounded() -> Self {
        Self { tasks: VecDeque::new(), capacity: None }
    }

    /// Makes a queue that holds at most `capacity` tasks.
    ///
    /// ```
    /// use executor::{LifoQueue, Task, WorkQueue};
    ///
    /// let mut queue = LifoQueue::bounded(1);
    /// assert!(queue.push(Task::new(|| ()), 0).is_ok());
    /// assert!(queue.push(Task::new(|| ()), 0).is_err()); // full
    /// ```
    ///
    /// # Panics
    /// Panics if `capacity` is zero, as [`FifoQueue::bounded`] does.
    pub fn bounded(capacity: usize) -> Self {
        Self { tasks: VecDeque::new(), capacity: Some(checked(capacity)) }
    }
}

/// A queue in which no task waits: it accepts a task only while a worker waits for a task. If no worker
/// waits, the pool must start a worker for the task, or refuse the task.
///
/// Use a hand-off queue for a pool that should start a thread rather than let a task wait, such as the cached
/// pool. A hand-off queue also fits tasks that wait for each other's results, because with this queue, no
/// task waits for a thread.
///
/// ```
/// use executor::{HandOffQueue, Task, WorkQueue};
///
/// let mut queue = HandOffQueue::new();
/// assert!(queue.push(Task::new(|| ()), 0).is_err()); // no worker is idle
/// assert!(queue.push(Task::new(|| ()), 1).is_ok()); // one worker is idle
/// ```
#[doc(alias = "SynchronousQueue")]
#[derive(Default)]
pub struct HandOffQueue {
    /// Tasks that a worker is about to take: at most one task for each waiting worker.
    tasks: VecDeque<Task>,
}

impl HandOffQueue {
    /// Makes a hand-off queue.
    ///
    /// ```
    /// use executor::{HandOffQueue, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder().maximum_threads(8).queue(HandOffQueue::new()).build()?;
    /// # let queue: &dyn executor::WorkQueue = &HandOffQueue::new();
    /// assert_eq!(queue.capacity(), Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }
}

/// Panics if a capacity is zero: a queue without room would refuse every task, even while workers are idle.
pub(crate) fn checked(capacity: usize) -> usize {
    assert!(capacity > 0, "a queue that holds no task; a HandOffQueue is what hands tasks to idle workers");
    capacity
}

pub(crate) fn has_room(length: usize, capacity: Option<usize>) -> bool {
    capacity.is_none_or(|capacity| length < capacity)
}

/// Frees the memory of a deque that once held many tasks. The deque keeps room for some tasks, so that a pool
/// in its steady state allocates no memory.
pub(crate) fn shrink(tasks: &mut VecDeque<Task>) {
    const KEPT: usize = 4096;
    if tasks.capacity() > 2 * KEPT {
        tasks.shrink_to(KEPT);
    }
}

/// Takes the unwanted tasks out of a deque. The function works in place, so it allocates no memory for the
/// tasks that stay.
pub(crate) fn remove_from(tasks: &mut VecDeque<Task>, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
    let mut removed = Vec::new();
    for _ in 0..tasks.len() {
        let Some(task) = tasks.pop_front() else { break };
        if unwanted(&task) {
            removed.push(task);
        } else {
            tasks.push_back(task);
        }
    }
    removed
}

/// Implements the methods that are the same for all queues that consist of a deque.
macro_rules! deque {
    () => {
        fn len(&self) -> usize {
            self.tasks.len()
        }

        fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
            remove_from(&mut self.tasks, unwanted)
        }

        fn shrink(&mut self) {
            shrink(&mut self.tasks);
        }
    };
}

impl WorkQueue for FifoQueue {
    deque!();

    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        if !has_room(self.tasks.len(), self.capacity) {
            return Err(task);
        }
        self.tasks.push_back(task);
        Ok(())
    }

    fn pop(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.tasks.iter().for_each(look);
    }

    fn as_fifo(&mut self, _: sealed::Ours) -> Option<&mut FifoQueue> {
        Some(self)
    }
}

impl WorkQueue for LifoQueue {
    deque!();

    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        if !has_room(self.tasks.len(), self.capacity) {
            return Err(task);
        }
        self.tasks.push_back(task);
        Ok(())
    }

    fn pop(&mut self) -> Option<Task> {
        self.tasks.pop_back()
    }

    fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.tasks.iter().rev().for_each(look);
    }
}

impl WorkQueue for HandOffQueue {
    deque!();

    // ANCHOR: hand_off
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task> {
        if self.tasks.len() >= waiting {
            return Err(task);
        }
        self.tasks.push_back(task);
        Ok(())
    }
    // ANCHOR_END: hand_off

    fn pop(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    fn capacity(&self) -> Option<usize> {
        Some(0)
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.tasks.iter().for_each(look);
    }
}

/// Makes a boxed queue a queue, so that a program can choose the queue at run time.
impl<W: WorkQueue + ?Sized> WorkQueue for Box<W> {
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task> {
        (**self).push(task, waiting)
    }

    fn pop(&mut self) -> Option<Task> {
        (**self).pop()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }

    fn capacity(&self) -> Option<usize> {
        (**self).capacity()
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        (**self).for_each(look);
    }

    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        (**self).remove_if(unwanted)
    }

    fn raise(&mut self, id: TaskId, priority: i32) {
        (**self).raise(id, priority);
    }

    fn shrink(&mut self) {
        (**self).shrink();
    }

    fn as_fifo(&mut self, ours: sealed::Ours) -> Option<&mut FifoQueue> {
        (**self).as_fifo(ours)
    }
}

/// Implements `Debug` for queues: the type, the length and the capacity.
macro_rules! debug_queue {
    ($($queue:ident),*) => {$(
        impl std::fmt::Debug for $queue {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($queue))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

pub(crate) use debug_queue;

debug_queue!(FifoQueue, LifoQueue, HandOffQueue);

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
pub(super) mod tests {
    use super::*;
    use crate::PriorityQueue;

    pub(in crate::thread_pool) fn task(name: &'static str, priority: i32) -> Task {
        Task::new(|| ()).named(name).prioritized(priority)
    }

    pub(in crate::thread_pool) fn names(mut queue: impl WorkQueue) -> Vec<String> {
        let mut seen = Vec::new();
        queue.for_each(&mut |task| seen.push(task.name().unwrap().to_owned()));
        let taken: Vec<_> =
            std::iter::from_fn(|| queue.pop()).map(|task| task.name().unwrap().to_owned()).collect();
        assert_eq!(seen, taken, "what is shown is what will be run");
        assert_eq!(queue.len(), 0);
        taken
    }

    #[test]
    fn fifo_and_lifo_and_their_bounds() {
        let mut fifo = FifoQueue::bounded(2);
        let mut lifo = LifoQueue::bounded(2);
        for queue in [&mut fifo as &mut dyn WorkQueue, &mut lifo] {
            assert!(queue.push(task("a", 0), 0).is_ok());
            assert!(queue.push(task("b", 0), 9).is_ok());
            assert_eq!(queue.push(task("c", 0), 9).unwrap_err().name(), Some("c"));
            assert_eq!((queue.len(), queue.capacity()), (2, Some(2)));
        }
        assert_eq!(names(fifo), ["a", "b"]);
        assert_eq!(names(lifo), ["b", "a"]);
    }

    #[test]
    fn a_hand_off_accepts_as_many_as_there_are_workers_waiting() {
        let mut queue = HandOffQueue::new();
        assert!(queue.push(task("a", 0), 0).is_err());
        assert!(queue.push(task("a", 0), 1).is_ok());
        assert!(queue.push(task("b", 0), 1).is_err(), "the one worker has its task already");
        assert!(queue.push(task("b", 0), 2).is_ok());
        assert_eq!(names(queue), ["a", "b"]);
    }

    #[test]
    fn a_queue_gives_back_the_room_that_a_burst_needed_and_keeps_that_of_a_steady_stream() {
        fn room_after(burst: usize) -> usize {
            let mut queue = FifoQueue::unbounded();
            for _ in 0..burst {
                queue.push(Task::new(|| ()), 0).unwrap();
            }
            while queue.pop().is_some() {}
            queue.shrink();
            queue.tasks.capacity()
        }
        assert!(room_after(100_000) < 10_000, "{}", room_after(100_000));
        assert!(room_after(1_000) >= 1_000, "{}", room_after(1_000));
    }

    #[test]
    fn removing_keeps_the_others_in_order() {
        let queues: [Box<dyn WorkQueue>; 4] = [
            Box::new(FifoQueue::unbounded()),
            Box::new(LifoQueue::unbounded()),
            Box::new(PriorityQueue::new()),
            Box::new(PriorityQueue::by(|a, b| a.priority().cmp(&b.priority()))),
        ];
        for mut queue in queues {
            for name in ["a", "b", "c", "d"] {
                queue.push(task(name, 0), 0).unwrap();
            }
            let removed = queue.remove_if(&mut |task| matches!(task.name(), Some("a" | "c")));
            assert_eq!((removed.len(), queue.len(), queue.is_empty()), (2, 2, false));
            let left: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            let left: Vec<_> = left.iter().map(|task| task.name().unwrap()).collect();
            assert!(left == ["b", "d"] || left == ["d", "b"], "{left:?}");
            assert!(queue.is_empty());
        }
    }
}
