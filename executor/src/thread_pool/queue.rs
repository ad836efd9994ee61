//! Where tasks wait: the queues of a pool.
//!
//! The queue decides three things: in which order tasks are run, how many may wait, and so when the pool grows and when
//! it is saturated. A pool starts threads beyond its core size only when its queue *refuses* a task; one that never
//! refuses therefore never lets the pool grow.
//!
//! | queue | order | refuses |
//! |---|---|---|
//! | [`FifoQueue::unbounded`] | as submitted | never |
//! | [`FifoQueue::bounded`] | as submitted | when full |
//! | [`HandOffQueue`] | – | unless a worker is waiting: there is no queue, only handing over |
//! | [`PriorityQueue`](crate::PriorityQueue) | most important first, as submitted among equals | never, or when full |
//! | [`LifoQueue`] | newest first | never, or when full |
//! | your own | yours | when it likes: implement [`WorkQueue`] |
//!
//! A queue is used under the lock of its pool. So it needs no lock of its own, and what a user's own queue or comparator
//! does must be short and must not call the pool. A task whose comparison panics is refused; a queue of your own that
//! panics may drop the task, which is then cancelled. Either way the panic goes to the pool's panic handler.

use std::collections::VecDeque;

use crate::ids::TaskId;
use crate::task::Task;

// ANCHOR: work_queue
/// A queue of tasks, to be given to [`ThreadPoolBuilder::queue`](crate::ThreadPoolBuilder::queue).
///
/// The pool calls it under its own lock, so methods take `&mut self`. They must be short, must not block and must not
/// call the pool: that would deadlock. One that drops a task cancels it, and its callbacks are called there and then;
/// they may not call the pool either.
#[doc(alias = "BlockingQueue")]
pub trait WorkQueue: Send {
    /// Puts a task in, or gives it back if it may not wait here. `waiting` is the number of workers that have nothing to
    /// do now.
    ///
    /// # Errors
    /// The task, unchanged, if it is refused.
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task>;

    /// Takes out the task to be run next, if there is one. Never waits for one.
    fn pop(&mut self) -> Option<Task>;

    /// How many tasks are in it.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many it can hold; `None` if there is no bound.
    fn capacity(&self) -> Option<usize>;

    /// Shows every task, in an order close to that in which they would be run.
    fn for_each(&self, look: &mut dyn FnMut(&Task));

    /// Takes out the tasks that are `unwanted`, and keeps the others in order.
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task>;

    /// Gives a task that waits here a higher priority, and the place that goes with it. Called for a task that stands
    /// for [a strand](crate::SerialExecutor) of others, when a more urgent one joins them. A queue that orders by
    /// priority takes the task out, changes its [priority](Task::prioritized) and puts it in anew. Does nothing unless
    /// it is overridden.
    fn raise(&mut self, id: TaskId, priority: i32) {
        let _ = (id, priority);
    }

    /// Gives back memory that a burst of tasks needed. Called when a worker finds nothing to do. Does nothing unless it
    /// is overridden.
    fn shrink(&mut self) {}

    /// This, if it is a [`FifoQueue`]: the pool can give such a queue many tasks at once without changing their order.
    #[doc(hidden)]
    fn as_fifo(&mut self, _: sealed::Ours) -> Option<&mut FifoQueue> {
        None
    }
}
// ANCHOR_END: work_queue

/// Nobody else can name this argument of a method, so nobody else can call or override the method.
pub(crate) mod sealed {
    #[derive(Clone, Copy)]
    pub struct Ours;
}

/// First in, first out.
///
/// Unbounded, it absorbs any burst and never lets the pool grow beyond its core size; if tasks keep coming faster than
/// they are done, it grows until memory is gone. Bounded, it makes overload visible: choose the bound by how long a task
/// may wait, since the last of `n` waits for `n` others. When the tasks of a burst are done, the pool gives back the
/// memory for all but some thousands of them.
#[doc(alias = "LinkedBlockingQueue")]
#[doc(alias = "ArrayBlockingQueue")]
pub struct FifoQueue {
    tasks: VecDeque<Task>,
    capacity: Option<usize>,
}

impl FifoQueue {
    /// One that never refuses.
    pub fn unbounded() -> Self {
        Self { tasks: VecDeque::new(), capacity: None }
    }

    /// One that holds `capacity` tasks at most.
    ///
    /// # Panics
    /// If `capacity` is zero: it would refuse every task, also while workers are idle. A [`HandOffQueue`] is meant.
    pub fn bounded(capacity: usize) -> Self {
        Self { tasks: VecDeque::new(), capacity: Some(checked(capacity)) }
    }

    /// How many tasks it would still accept.
    pub(crate) fn room(&self) -> usize {
        self.capacity.unwrap_or(usize::MAX).saturating_sub(self.tasks.len())
    }

    /// Puts tasks before and behind those that are here. There is to be room for all of them.
    pub(crate) fn surround(&mut self, before: Vec<Task>, behind: impl Iterator<Item = Task>) {
        before.into_iter().rev().for_each(|task| self.tasks.push_front(task));
        self.tasks.extend(behind);
    }

    /// Takes all tasks out, in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Task> {
        self.tasks.drain(..)
    }
}

/// Last in, first out.
///
/// Under overload the clients that came last, and may still be waiting for an answer, are served; those that came first
/// wait longest.
pub struct LifoQueue {
    tasks: VecDeque<Task>,
    capacity: Option<usize>,
}

impl LifoQueue {
    /// One that never refuses.
    pub fn unbounded() -> Self {
        Self { tasks: VecDeque::new(), capacity: None }
    }

    /// One that holds `capacity` tasks at most.
    ///
    /// # Panics
    /// If `capacity` is zero, as for [`FifoQueue::bounded`].
    pub fn bounded(capacity: usize) -> Self {
        Self { tasks: VecDeque::new(), capacity: Some(checked(capacity)) }
    }
}

/// No queue: a task is accepted only if a worker waits for one, and otherwise only if a new worker may be started.
///
/// For pools that should start threads rather than let tasks wait (the cached pool), and for tasks that must not wait for
/// each other in a queue because they wait for each other's results.
#[doc(alias = "SynchronousQueue")]
#[derive(Default)]
pub struct HandOffQueue {
    /// Tasks on their way to a worker that was found waiting. Never more than there are such workers.
    tasks: VecDeque<Task>,
}

impl HandOffQueue {
    /// Makes one.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A queue without a place would refuse tasks for ever and leave idle workers idle.
pub(crate) fn checked(capacity: usize) -> usize {
    assert!(capacity > 0, "a queue that holds no task; a HandOffQueue is what hands tasks to idle workers");
    capacity
}

pub(crate) fn has_room(length: usize, capacity: Option<usize>) -> bool {
    capacity.is_none_or(|capacity| length < capacity)
}

/// Gives back the memory of a deque that was large once. Room for some tasks stays, so that a pool in its steady state
/// asks for no memory.
pub(crate) fn shrink(tasks: &mut VecDeque<Task>) {
    const KEPT: usize = 4096;
    if tasks.capacity() > 2 * KEPT {
        tasks.shrink_to(KEPT);
    }
}

/// Takes what is unwanted out of a deque. In place, so that a removal costs no allocation for those that stay.
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

/// The methods that are the same for every queue that is a deque with a capacity.
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

/// A queue in a box is a queue, so it can be chosen while the program runs.
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

/// How every queue prints: what it is and how full.
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
mod tests {
    use super::*;
    use crate::PriorityQueue;

    fn task(name: &'static str, priority: i32) -> Task {
        Task::new(|| ()).named(name).prioritized(priority)
    }

    fn names(mut queue: impl WorkQueue) -> Vec<String> {
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
