//! A stripe rises in the pool's queue while the stripe enters or leaves this queue, or while a thread stops
//! the pool.

use std::sync::Arc;

use executor_model::{
    FutureTask, PriorityQueue, StripedExecutor, Task, TaskHandle, ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::Mutex;

use crate::{check, thread};

type Striped = Arc<StripedExecutor<usize, Arc<ThreadPoolExecutor>>>;
type Log = Arc<Mutex<Vec<&'static str>>>;

/// A pool of one thread, which is busy at first, so that submitted tasks wait in the queue.
fn pool() -> Arc<ThreadPoolExecutor> {
    let pool = ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new()).build().unwrap();
    pool.execute(Task::new(|| (0..3).for_each(|_| thread::yield_now())).prioritized(100)).unwrap();
    Arc::new(pool)
}

fn task(log: &Log, name: &'static str, priority: i32) -> Task {
    let log = Arc::clone(log);
    Task::new(move || log.lock().unwrap().push(name)).prioritized(priority)
}

fn submit(striped: &Striped, log: &Log, tasks: &'static [(&'static str, i32)]) -> thread::JoinHandle<()> {
    let (striped, log) = (Arc::clone(striped), Arc::clone(log));
    thread::spawn(move || {
        for (name, priority) in tasks {
            striped.execute_in(0, task(&log, name, *priority)).unwrap();
        }
    })
}

/// One thread runs all tasks. The plain task is submitted when the urgent task is already in the stripe. From
/// then on, the stripe is before the plain task in the pool's queue, until the urgent task has run. This
/// order holds both for the first drain task and for a later drain task of the stripe.
#[test]
fn whatever_the_line_is_doing_an_urgent_task_goes_before_what_comes_later() {
    check(|| {
        let (pool, log) = (pool(), Log::default());
        let striped: Striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)).turns_of(1));
        let lower = submit(&striped, &log, &[("lower", 0), ("lower", 0)]);
        let higher = submit(&striped, &log, &[("higher", 5)]);
        striped.execute_in(0, task(&log, "urgent", 9)).unwrap();
        pool.execute(task(&log, "plain", 7)).unwrap();
        lower.join().unwrap();
        higher.join().unwrap();
        striped.close();
        pool.close();
        let log = log.lock().unwrap();
        let place = |name| log.iter().position(|other| *other == name).unwrap();
        assert!(log.len() == 5 && place("urgent") < place("plain"), "{log:?}");
    });
}

/// Each accepted task has one of three fates: the task runs, the pool hands the task out, or the pool hands
/// out the task's stripe.
#[test]
fn a_line_that_rises_while_the_pool_is_stopped_comes_back() {
    check(|| {
        let pool = pool();
        let striped: Striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        let own = Arc::clone(&striped);
        let submitter = thread::spawn(move || {
            let submit = |n: usize| {
                let task = FutureTask::new(move || n).prioritized(i32::try_from(n).unwrap());
                own.submit_in(n % 2, task).ok()
            };
            (0..4).filter_map(submit).collect::<Vec<TaskHandle<usize>>>()
        });
        let back = pool.shutdown_now();
        let handles = submitter.join().unwrap();
        for task in back {
            task.run();
        }
        for handle in handles {
            assert!(handle.join().is_ok(), "it is in no queue, and no thread has it");
        }
        striped.close();
        pool.close();
    });
}
