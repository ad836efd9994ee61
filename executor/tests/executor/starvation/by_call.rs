//! Tests of tasks that wait, and meanwhile ask the pool to run other tasks.

use std::sync::{Arc, Mutex};

use executor::{
    CancelToken, FifoQueue, Hooks, JoinError, Latch, LifoQueue, OnStarvation, Outcome, TaskHandle, TaskInfo,
    ThreadPoolExecutor, prelude::*,
};

use super::{one_thread, outside, shared};
use crate::support::within_deadline;

/// Waits for a task in the way that the documentation recommends.
fn helped<T: Send + 'static>(pool: &ThreadPoolExecutor, handle: TaskHandle<T>) -> Result<T, JoinError<T>> {
    while !handle.is_finished() && pool.help() {}
    handle.join()
}

/// Runs `length` tasks, each of which waits for the next task. Returns the number of tasks that have run, or
/// the report of the task that starves.
fn chain(pool: &Arc<ThreadPoolExecutor>, length: usize) -> Result<usize, String> {
    if length == 0 {
        return Ok(0);
    }
    let own = Arc::clone(pool);
    match helped(pool, pool.submit(move || chain(&own, length - 1)).unwrap()) {
        Ok(below) => below.map(|below| below + 1),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_task_that_helps_needs_no_other_thread() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Report);
        let own = Arc::clone(&pool);
        assert_eq!(outside(pool.submit(move || chain(&own, 20)).unwrap()), Ok(20));
        let stats = pool.stats();
        assert_eq!((stats.peak_threads, stats.helped, stats.starved), (1, 20, 0), "{stats}");
    });
}

#[test]
fn so_many_tasks_and_no_more_lie_on_top_of_each_other() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Report);
        let own = Arc::clone(&pool);
        assert_eq!(outside(pool.submit(move || chain(&own, 100)).unwrap()), Ok(100));
        let own = Arc::clone(&pool);
        let error = outside(pool.submit(move || chain(&own, 101)).unwrap()).unwrap_err();
        assert!(error.contains("starvation deadlock"), "{error}");
        let own = Arc::clone(&pool);
        assert_eq!(outside(pool.submit(move || chain(&own, 100)).unwrap()), Ok(100), "all were counted off");
    });
}

/// A task submits three other tasks and helps to run them; returns the order in which it runs the three
/// tasks.
fn order_of(pool: &Arc<ThreadPoolExecutor>) -> Vec<usize> {
    let own = Arc::clone(pool);
    let order = pool.submit(move || {
        let order = Arc::new(Mutex::new(Vec::new()));
        for n in 0..3 {
            let order = Arc::clone(&order);
            own.execute(move || order.lock().unwrap().push(n)).unwrap();
        }
        while own.help() {}
        std::mem::take(&mut *order.lock().unwrap())
    });
    outside(order.unwrap())
}

#[test]
fn the_queue_says_which_task_is_the_next() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder;
        assert_eq!(order_of(&shared(builder().queue(FifoQueue::unbounded()))), [0, 1, 2]);
        assert_eq!(order_of(&shared(builder().queue(LifoQueue::unbounded()))), [2, 1, 0]);
    });
}

#[test]
fn a_thread_that_is_no_worker_of_the_pool_runs_nothing() {
    within_deadline(|| {
        let (pool, other) = (one_thread(OnStarvation::Report), one_thread(OnStarvation::Report));
        let free = Arc::new(Latch::new(1));
        let until = Arc::clone(&free);
        pool.execute(move || until.wait().unwrap()).unwrap();
        let queued = pool.submit(|| ()).unwrap();
        assert!(!pool.help(), "a thread outside");
        let own = Arc::clone(&pool);
        assert!(!outside(other.submit(move || own.help()).unwrap()), "a worker of another pool");
        assert!(!queued.is_finished());
        free.count_down();
        outside(queued);
    });
}

#[test]
fn nothing_is_left_to_help_with_after_the_pool_was_stopped() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Report);
        let own = Arc::clone(&pool);
        let answers = pool.submit(move || {
            let first = own.submit(|| ()).unwrap();
            let second = own.submit(|| ()).unwrap();
            own.shutdown();
            let while_shutting_down = own.help();
            drop(own.shutdown_now());
            (while_shutting_down, own.help(), first.join().is_ok(), second.join().is_ok())
        });
        assert_eq!(outside(answers.unwrap()), (true, false, true, false));
    });
}

#[test]
fn a_task_that_is_run_by_a_call_belongs_to_its_pool_and_not_to_the_caller() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Report);
        let own = Arc::clone(&pool);
        let caller = pool.submit_cancellable(move |caller| {
            let part = own.submit(|| CancelToken::current().is_cancelled()).unwrap();
            caller.cancel();
            let was_run = own.help();
            Ok((was_run, executor::masked(|| part.join().unwrap()), caller.is_cancelled()))
        });
        assert_eq!(outside(caller.unwrap()), (true, false, true));
    });
}

/// Hooks that record their calls before and after tasks.
struct Around(Arc<Mutex<Vec<String>>>);

impl Hooks for Around {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.0.lock().unwrap().push(format!("before {}", task.name.unwrap_or("?")));
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let how = if matches!(outcome, Outcome::Panicked(_)) { "panicked" } else { "ended" };
        self.0.lock().unwrap().push(format!("{} {how}", task.name.unwrap_or("?")));
    }
}

#[test]
fn a_task_that_is_run_by_a_call_has_its_hooks_and_counts_and_keeps_its_panic() {
    within_deadline(|| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let pool = shared(ThreadPoolExecutor::builder().hooks(Around(Arc::clone(&seen))));
        let own = Arc::clone(&pool);
        let caller = executor::FutureTask::new(move || {
            let part = executor::FutureTask::new(|| panic!("no part")).named("part");
            let part: TaskHandle<()> = own.submit(part).unwrap();
            (own.help(), part.join().unwrap_err().to_string())
        });
        let ends = outside(pool.submit(caller.named("caller")).unwrap());
        assert_eq!(ends, (true, "the task panicked: no part".to_owned()));
        assert_eq!(*seen.lock().unwrap(), ["before caller", "before part", "part panicked", "caller ended"]);
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.panicked, stats.helped), (2, 1, 1), "{stats}");
    });
}
