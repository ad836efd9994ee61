//! The queue of a pool: the order in which tasks run, the removal of a task, and the entries that cancelled
//! tasks leave in the queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::{
    ExecutorService, FifoQueue, FutureTask, HandOffQueue, JoinError, LifoQueue, Outcome, PriorityQueue,
    RejectReason, Task, TaskState, ThreadPoolExecutor, WorkQueue, prelude::*,
};

use crate::support::{
    LONG, Record, assert_matches, eventually, occupy, rounds, settle, tracked, within_deadline,
};

fn one_thread(queue: impl WorkQueue + 'static) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().queue(queue).build().unwrap()
}

/// Each kind of queue that can store tasks.
fn queues() -> [Box<dyn WorkQueue>; 6] {
    [
        Box::new(FifoQueue::unbounded()),
        Box::new(FifoQueue::bounded(1_000)),
        Box::new(LifoQueue::unbounded()),
        Box::new(PriorityQueue::new()),
        Box::new(PriorityQueue::new().bounded(1_000)),
        Box::new(PriorityQueue::by(|a, b| a.name().cmp(&b.name()))),
    ]
}

/// A queue that passes its calls on to another queue, and counts these calls.
struct Counting {
    queue: Box<dyn WorkQueue>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    /// The number of tasks in the queue, counting cancelled tasks, too.
    tasks: AtomicUsize,
    /// The number of times that the pool has asked the queue to free memory.
    shrunk: AtomicUsize,
}

impl Counting {
    fn new(queue: Box<dyn WorkQueue>) -> Self {
        Self { queue, counts: Arc::default() }
    }

    fn count(&self) {
        self.counts.tasks.store(self.queue.len(), Ordering::SeqCst);
    }
}

impl WorkQueue for Counting {
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task> {
        let offered = self.queue.push(task, waiting);
        self.count();
        offered
    }
    fn pop(&mut self) -> Option<Task> {
        let task = self.queue.pop();
        self.count();
        task
    }
    fn len(&self) -> usize {
        self.queue.len()
    }
    fn capacity(&self) -> Option<usize> {
        self.queue.capacity()
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.queue.for_each(look);
    }
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let removed = self.queue.remove_if(unwanted);
        self.count();
        removed
    }
    fn shrink(&mut self) {
        assert!(self.is_empty());
        self.counts.shrunk.fetch_add(1, Ordering::SeqCst);
        self.queue.shrink();
    }
}

/// Returns a pool of one thread, and the counts of its queue.
fn counted(queue: FifoQueue) -> (ThreadPoolExecutor, Arc<Counts>) {
    let queue = Counting::new(Box::new(queue));
    let counts = Arc::clone(&queue.counts);
    (one_thread(queue), counts)
}

/// Returns the order in which a pool of one thread runs tasks that have waited in its queue; each task is
/// given by its name and priority.
fn order(queue: impl WorkQueue + 'static, tasks: &[(&'static str, i32)]) -> Vec<&'static str> {
    let pool = one_thread(queue);
    let busy = occupy(&pool);
    let order = Record::new();
    for (n, &(name, priority)) in tasks.iter().enumerate() {
        let record = order.clone();
        let body = move || record.add(name);
        if n % 2 == 0 {
            pool.execute(Task::new(body).named(name).prioritized(priority)).unwrap();
        } else {
            drop(pool.submit(FutureTask::new(body).named(name).prioritized(priority)).unwrap());
        }
    }
    let shown = pool.snapshot().queued;
    drop(busy);
    pool.close();
    assert_eq!(shown, order.so_far(), "a snapshot shows the order");
    order.so_far()
}

#[test]
fn tasks_run_in_the_order_of_the_queue() {
    within_deadline(|| {
        let tasks = [("a", 1), ("b", 5), ("c", 1), ("d", -3), ("e", 5), ("f", i32::MIN), ("g", i32::MAX)];
        assert_eq!(order(FifoQueue::unbounded(), &tasks), ["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(order(LifoQueue::unbounded(), &tasks), ["g", "f", "e", "d", "c", "b", "a"]);
        assert_eq!(order(PriorityQueue::new(), &tasks), ["g", "b", "e", "a", "c", "d", "f"]);
        let shortest_name = PriorityQueue::by(|a, b| b.name().cmp(&a.name()));
        assert_eq!(order(shortest_name, &tasks), ["a", "b", "c", "d", "e", "f", "g"]);
        let all_alike = PriorityQueue::by(|_, _| std::cmp::Ordering::Equal);
        assert_eq!(order(all_alike, &tasks), ["a", "b", "c", "d", "e", "f", "g"], "as they came");
    });
}

/// A late task can overtake tasks that still wait, but not a task that already runs.
#[test]
fn an_important_task_overtakes_those_that_wait() {
    within_deadline(|| {
        let pool = one_thread(PriorityQueue::new());
        let (order, busy) = (Record::new(), occupy(&pool));
        let task = |name: &'static str| {
            let order = order.clone();
            Task::new(move || order.add(name))
        };
        for name in ["first", "second"] {
            pool.execute(task(name)).unwrap();
        }
        pool.execute(task("urgent").prioritized(1)).unwrap();
        drop(busy);
        pool.close();
        assert_eq!(order.so_far(), ["urgent", "first", "second"]);
    });
}

#[test]
fn a_bound_is_a_bound_in_every_kind_of_queue() {
    within_deadline(|| {
        let bounded: [Box<dyn WorkQueue>; 4] = [
            Box::new(FifoQueue::bounded(2)),
            Box::new(LifoQueue::bounded(2)),
            Box::new(PriorityQueue::new().bounded(2)),
            Box::new(PriorityQueue::by(|a, b| a.priority().cmp(&b.priority())).bounded(2)),
        ];
        for queue in bounded {
            let pool = one_thread(Counting::new(queue));
            let _busy = occupy(&pool);
            for _ in 0..2 {
                pool.execute(|| ()).unwrap();
            }
            let refused = pool.execute(Task::new(|| ()).prioritized(9)).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Saturated);
            assert_eq!(pool.queued(), 2);
        }
    });
}

#[test]
fn a_queue_without_a_place_is_refused() {
    for make in [
        || drop(FifoQueue::bounded(0)),
        || drop(LifoQueue::bounded(0)),
        || drop(PriorityQueue::new().bounded(0)),
    ] {
        let panic = std::panic::catch_unwind(make).unwrap_err();
        assert!(panic.downcast_ref::<&str>().unwrap().contains("HandOffQueue"), "it names the queue to use");
    }
}

#[test]
fn a_hand_off_takes_a_task_only_for_a_thread_that_is_idle() {
    within_deadline(|| {
        let pool = one_thread(HandOffQueue::new());
        settle(&pool);
        let busy = occupy(&pool); // run by the idle thread
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Saturated);
        assert_eq!(pool.queued(), 0);
        drop(busy);
        settle_when_accepted(&pool);
        assert_eq!(pool.stats().threads, 1);
    });
}

/// Waits until the thread is idle again. A thread that has just ended a task needs a moment until it is idle;
/// before the thread is idle, a hand-off queue accepts no task.
fn settle_when_accepted(pool: &ThreadPoolExecutor) {
    eventually("the thread is idle and takes a task", || pool.execute(|| ()).is_ok());
}

/// A user's queue that gives out tasks of two classes alternately, and refuses a task with the name `never`.
#[derive(Default)]
struct TakingTurns {
    lines: [VecDeque<Task>; 2],
    next: usize,
    offered: Record<usize>,
}

impl Default for Record<usize> {
    fn default() -> Self {
        Self::new()
    }
}

impl WorkQueue for TakingTurns {
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task> {
        self.offered.add(waiting);
        if task.name() == Some("never") {
            return Err(task);
        }
        self.lines[usize::from(task.priority() > 0)].push_back(task);
        Ok(())
    }
    fn pop(&mut self) -> Option<Task> {
        let line = if self.lines[self.next].is_empty() { 1 - self.next } else { self.next };
        let task = self.lines[line].pop_front()?;
        self.next = 1 - line;
        Some(task)
    }
    fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }
    fn capacity(&self) -> Option<usize> {
        Some(usize::MAX)
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.lines.iter().flatten().for_each(look);
    }
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let mut removed = Vec::new();
        for line in &mut self.lines {
            let (out, stay) = line.drain(..).partition(|task| unwanted(task));
            removed.extend::<VecDeque<Task>>(out);
            *line = stay;
        }
        removed
    }
}

#[test]
fn a_queue_of_ones_own_decides_on_the_order_and_on_growth() {
    within_deadline(|| {
        let offered = Record::new();
        let queue = TakingTurns { offered: offered.clone(), ..TakingTurns::default() };
        let pool =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2).queue(queue).build().unwrap();
        settle(&pool);
        let busy = occupy(&pool);
        assert_eq!(offered.so_far(), [1], "the queue is told that one thread waited");
        let order = Record::new();
        for name in ["a1", "a2", "a3", "b1", "b2"] {
            let order = order.clone();
            let priority = i32::from(name.starts_with('b'));
            pool.execute(Task::new(move || order.add(name)).prioritized(priority)).unwrap();
        }
        let cancelled = pool.submit(|| ()).unwrap();
        assert_eq!(pool.queued(), 6);
        assert!(cancelled.cancel());
        assert_eq!((pool.queued(), pool.stats().threads), (5, 1));
        drop(busy);
        eventually("all have run", || order.len() == 5);
        assert_eq!(order.so_far(), ["b1", "a1", "b2", "a2", "a3"]);

        let _busy = occupy(&pool);
        let refused_by_the_queue = pool.submit(FutureTask::new(|| 7).named("never")).unwrap();
        assert_eq!(refused_by_the_queue.join_timeout(LONG).unwrap(), 7);
        assert_eq!(pool.stats().threads, 2, "it got a thread of its own");
    });
}

/// REM-1, for tasks with a handle and for plain tasks without a handle.
#[test]
fn a_waiting_task_can_be_taken_out_once_and_the_one_that_runs_cannot() {
    within_deadline(|| {
        for queue in queues() {
            let pool = one_thread(Counting::new(queue));
            let busy = occupy(&pool);
            let handles: Vec<_> = (0..4).map(|n| pool.submit(move || n).unwrap()).collect();
            let plain = Task::new(|| ());
            let plain_id = plain.id();
            pool.execute(plain).unwrap();
            assert_eq!(pool.stats().task_count(), 6);

            let removed = pool.remove(handles[1].id()).unwrap();
            assert_eq!(removed.id(), handles[1].id());
            assert!(pool.remove(handles[1].id()).is_none(), "it is there once");
            assert!(pool.remove(plain_id).is_some() && pool.remove(plain_id).is_none());
            assert_eq!((pool.queued(), pool.stats().task_count()), (3, 4), "removing lowers the count");
            assert_eq!(handles[1].state(), TaskState::Pending);

            drop(busy);
            pool.close();
            assert_matches!(removed.run(), Outcome::Completed);
            for (n, handle) in handles.into_iter().enumerate() {
                assert_eq!(handle.join_timeout(LONG).unwrap(), n, "those left, and the removed one, too");
            }
            assert_eq!(pool.stats().completed, 4);
        }
    });
}

#[test]
fn the_task_that_runs_and_one_that_has_ended_are_not_in_the_queue() {
    within_deadline(|| {
        let pool = Arc::new(one_thread(FifoQueue::unbounded()));
        let own = Arc::clone(&pool);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let id = task.id();
        pool.execute(move || drop(task.run())).unwrap();
        handle.join_timeout(LONG).unwrap();
        assert!(pool.remove(id).is_none());
        let (tell, told) = std::sync::mpsc::channel();
        let running = pool.submit(move || own.remove(told.recv_timeout(LONG).unwrap()).is_none()).unwrap();
        tell.send(running.id()).unwrap();
        assert!(running.join_timeout(LONG).unwrap());
    });
}

#[test]
fn a_task_that_was_taken_out_and_dropped_is_cancelled() {
    within_deadline(|| {
        let pool = one_thread(FifoQueue::unbounded());
        let _busy = occupy(&pool);
        let (captured, is_captured) = tracked();
        let handle = pool.submit(move || drop(captured)).unwrap();
        drop(pool.remove(handle.id()).unwrap());
        assert!(!is_captured());
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        assert_eq!((pool.queued(), pool.stats().task_count()), (0, 1));
    });
}

#[test]
fn a_cancelled_task_cannot_be_taken_out() {
    within_deadline(|| {
        for queue in queues() {
            let pool = one_thread(Counting::new(queue));
            let _busy = occupy(&pool);
            let (kept, cancelled) = (pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap());
            assert!(cancelled.cancel());
            assert!(pool.remove(cancelled.id()).is_none());
            assert_eq!(pool.queued(), 1);
            assert!(pool.remove(kept.id()).is_some());
            assert_eq!((pool.queued(), pool.stats().task_count()), (0, 1));
        }
    });
}

/// A task that was taken out belongs to no pool, so a later cancellation of the task does not change the
/// counts.
#[test]
fn cancelling_a_task_that_was_taken_out_changes_no_count() {
    within_deadline(|| {
        let pool = one_thread(FifoQueue::bounded(2));
        let _busy = occupy(&pool);
        let (first, _second) = (pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap());
        let removed = pool.remove(first.id()).unwrap();
        assert!(first.cancel());
        assert_eq!(pool.queued(), 1);
        assert_matches!(removed.run(), Outcome::Cancelled(_));
        assert_eq!(pool.queued(), 1);
        let again = pool.submit(|| ()).unwrap();
        let FutureTask { task, handle } = FutureTask::new(|| ());
        drop(pool.remove(again.id()));
        pool.execute(task).unwrap();
        assert_eq!(pool.queued(), 2);
        let back = pool.remove(handle.id()).unwrap();
        pool.execute(back).unwrap(); // submits it again
        assert!(handle.cancel());
        assert_eq!(pool.queued(), 1);
    });
}

/// REM-7: no count includes cancelled tasks, and `purge` removes the cancelled tasks' entries from the queue.
#[test]
fn purging_clears_out_what_cancelled_tasks_leave_behind() {
    within_deadline(|| {
        let (pool, counts) = counted(FifoQueue::unbounded());
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..20).map(|n| pool.submit(move || n).unwrap()).collect();
        assert!(handles.iter().step_by(2).all(executor::TaskHandle::cancel));
        assert_eq!((pool.queued(), pool.stats().task_count()), (10, 11));
        assert_eq!(counts.tasks.load(Ordering::SeqCst), 20);
        pool.purge();
        assert_eq!((pool.queued(), counts.tasks.load(Ordering::SeqCst)), (10, 10));
        pool.purge(); // a second call is no mistake
        drop(busy);
        pool.close();
        assert_eq!(pool.stats().completed, 11);
        for (n, handle) in handles.into_iter().enumerate().skip(1).step_by(2) {
            assert_eq!(handle.join().unwrap(), n);
        }
    });
}

/// No thread calls `purge`, and no worker takes tasks, but the queue still does not fill up with cancelled
/// tasks.
#[test]
fn a_queue_whose_tasks_are_all_cancelled_stays_small() {
    within_deadline(|| {
        let (pool, counts) = counted(FifoQueue::unbounded());
        let _busy = occupy(&pool);
        let kept: Vec<_> = (0..10).map(|_| pool.submit(|| ()).unwrap()).collect();
        for _ in 0..10_000 {
            assert!(pool.submit(|| ()).unwrap().cancel());
            let length = counts.tasks.load(Ordering::SeqCst);
            assert!(length <= 64, "{length} in the queue");
            assert_eq!(pool.queued(), 10);
        }
        assert!(kept.iter().all(|handle| handle.state() == TaskState::Pending));
    });
}

#[test]
fn a_cancelled_task_takes_no_room() {
    within_deadline(|| {
        let pool = one_thread(FifoQueue::bounded(2));
        let _busy = occupy(&pool);
        let first = [pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap()];
        assert!(pool.execute(|| ()).is_err());
        assert!(first[0].cancel());
        pool.execute(|| ()).unwrap();
        assert!(pool.execute(|| ()).is_err());
        assert_eq!(pool.queued(), 2);
    });
}

/// A task reaches the queue either directly or through the inbox. In a pool with the library's own FIFO
/// queue, only the first task of this test goes directly to the queue.
#[test]
fn a_task_cancelled_before_it_was_submitted_does_not_count_as_waiting() {
    within_deadline(|| {
        let of_every_kind = queues().map(|queue| one_thread(Counting::new(queue)));
        for pool in of_every_kind.into_iter().chain([one_thread(FifoQueue::unbounded())]) {
            let busy = occupy(&pool);
            for waiting in 0..3 {
                let FutureTask { task, handle } = FutureTask::new(|| ());
                assert!(handle.cancel());
                pool.execute(task).unwrap();
                assert_eq!(pool.queued(), waiting, "the cancelled one is not counted");
                pool.execute(|| ()).unwrap();
                assert_eq!(pool.queued(), waiting + 1);
            }
            drop(busy);
            settle(&pool);
            assert_eq!(pool.queued(), 0);
            let busy = occupy(&pool);
            pool.execute(|| ()).unwrap();
            assert_eq!(pool.queued(), 1, "the cancelled ones are counted off again");
            drop(busy);
        }
    });
}

/// A hand-off queue accepts one task for each idle thread. A task that was cancelled before it reached the
/// queue does not count.
#[test]
fn a_task_cancelled_on_its_way_to_an_idle_thread_does_not_stand_for_one() {
    within_deadline(|| {
        let pool = one_thread(HandOffQueue::new());
        for _ in rounds(200) {
            settle_when_accepted(&pool);
            let cancelled = loop {
                if let Ok(handle) = pool.submit(|| ()) {
                    break handle;
                }
            };
            cancelled.cancel();
            settle_when_accepted(&pool);
        }
        eventually("nothing is left over", || pool.queued() == 0 && pool.stats().active == 0);
        assert_eq!(pool.stats().peak_threads, 1);
    });
}

#[test]
fn a_queue_may_give_memory_back_when_a_worker_finds_nothing_to_do_and_not_before() {
    within_deadline(|| {
        let (pool, counts) = counted(FifoQueue::unbounded());
        let busy = occupy(&pool);
        (0..10).for_each(|_| pool.execute(|| ()).unwrap());
        assert_eq!(counts.shrunk.load(Ordering::SeqCst), 0);
        drop(busy);
        eventually("the idle pool has its queue shrink", || counts.shrunk.load(Ordering::SeqCst) > 0);
        pool.close();
        assert_eq!(pool.stats().completed, 11);
    });
}
