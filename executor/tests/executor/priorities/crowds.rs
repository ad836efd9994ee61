//! Tests a hundred thousand tasks in strands; the drain tasks of these strands get higher priorities while
//! they wait in the queue.

use std::sync::{Arc, Mutex};

use executor::{FutureTask, PriorityQueue, SerialExecutor, StripedExecutor, ThreadPoolExecutor, prelude::*};

use crate::support::{occupy, within_deadline};

const MANY: u32 = 100_000;

fn pool() -> Arc<ThreadPoolExecutor> {
    Arc::new(ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new()).build().unwrap())
}

/// The pool must not search the queue for each task, because this test would then take minutes.
#[test]
fn a_hundred_thousand_lines_rise_whatever_is_before_them() {
    within_deadline(|| {
        let pool = pool();
        let busy = occupy(&pool);
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let log = Arc::new(Mutex::new(Vec::new()));
        let submit = |key: u32, priority| {
            let log = Arc::clone(&log);
            let task = FutureTask::new(move || log.lock().unwrap().push(key)).prioritized(priority);
            drop(striped.submit_in(key, task).unwrap());
        };
        (0..MANY).for_each(|key| submit(key, 0));
        (0..MANY).rev().for_each(|key| submit(key, 1));
        drop(busy);
        striped.close();
        pool.close();
        let log = log.lock().unwrap();
        assert!(log.iter().copied().eq((0..MANY).rev().flat_map(|key| [key, key])));
    });
}

/// Each task is more urgent than all earlier tasks, and each turn runs only one task.
#[test]
fn a_line_rises_a_hundred_thousand_times() {
    within_deadline(|| {
        let pool = pool();
        let busy = occupy(&pool);
        let line = SerialExecutor::over(Arc::clone(&pool)).turns_of(1);
        let log = Arc::new(Mutex::new(Vec::new()));
        for number in 0..MANY {
            let log = Arc::clone(&log);
            let task = FutureTask::new(move || log.lock().unwrap().push(number));
            drop(line.submit(task.prioritized(i32::try_from(number).unwrap())).unwrap());
        }
        let last = Arc::clone(&log);
        pool.execute(executor::Task::new(move || last.lock().unwrap().push(MANY)).prioritized(7)).unwrap();
        drop(busy);
        line.close();
        pool.close();
        assert!(log.lock().unwrap().iter().copied().eq(0..=MANY));
    });
}
