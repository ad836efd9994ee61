//! Tests of waits for other events: a task that comes to a full pool, the first of several tasks, or permits.

use std::sync::Arc;

use executor_model::{
    CutShort, Executor, ExecutorCompletionService, FutureTask, Latch, RejectedExecution, Semaphore, Task,
    ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::{fixed, join};
use crate::{check, check_often, thread};

fn is_told<T>(result: Result<T, CutShort>) -> bool {
    matches!(result, Err(CutShort::Starved(report)) if !report.chain().is_empty())
}

// ----- against a task that comes -----

/// The awaited task is submitted to the pool whose only thread waits for this task. The task enters the pool
/// either through the inbox, or while the submitter holds the pool's lock.
#[test]
fn a_task_that_comes_to_a_full_pool_has_its_threads_look() {
    check(|| {
        let pool = fixed(1);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let page = pool.submit(move || join(handle).is_none()).unwrap();
        pool.execute(|| ()).unwrap(); // opens the inbox for the next task
        pool.execute(task).unwrap();
        assert!(page.join().unwrap());
        pool.close();
    });
}

/// An executor that runs its first task on a thread of its own, and gives all other tasks to the pool.
struct OneElsewhere(Arc<ThreadPoolExecutor>, AtomicBool);

impl Executor for OneElsewhere {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.1.swap(true, SeqCst) {
            return self.0.execute_task(task);
        }
        drop(thread::spawn(move || task.run()));
        Ok(())
    }
}

/// Returns a pool of one thread and a service. The first task of the service ends on a thread outside the
/// pool. All other tasks of the service go to the pool.
fn service() -> (Arc<ThreadPoolExecutor>, Arc<ExecutorCompletionService<OneElsewhere, u32>>) {
    let pool = fixed(1);
    let executor = OneElsewhere(Arc::clone(&pool), AtomicBool::new(false));
    (pool, Arc::new(ExecutorCompletionService::new(executor)))
}

fn take(service: &ExecutorCompletionService<OneElsewhere, u32>) -> Option<u32> {
    match service.take() {
        Ok(handle) => Some(handle.expect("one for each").join().unwrap()),
        starved => {
            assert!(is_told(starved));
            None
        }
    }
}

#[test]
fn a_taker_waits_for_what_ends_elsewhere_and_not_for_what_is_behind_it() {
    check(|| {
        let (pool, service) = service();
        let (own, begun, full) = (Arc::clone(&service), Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
        let (says, until) = (Arc::clone(&begun), Arc::clone(&full));
        let taker = pool.submit(move || {
            says.count_down();
            until.wait().unwrap();
            (take(&own), take(&own))
        });
        begun.wait().unwrap();
        for n in 1..=2 {
            service.submit(move || n).unwrap();
        }
        full.count_down();
        assert_eq!(taker.unwrap().join().unwrap(), (Some(1), None));
        pool.close();
    });
}

#[test]
fn of_two_takers_the_one_that_is_left_with_what_is_behind_it_is_told() {
    check_often(4, || {
        let (pool, service) = service();
        let (own, begun) = (Arc::clone(&service), Arc::new(Latch::new(1)));
        let says = Arc::clone(&begun);
        let full = Arc::new(Latch::new(1));
        let until = Arc::clone(&full);
        let taker = pool.submit(move || {
            says.count_down();
            until.wait().unwrap();
            take(&own)
        });
        begun.wait().unwrap();
        for n in 1..=2 {
            service.submit(move || n).unwrap();
        }
        full.count_down();
        let by_outside = take(&service);
        let expected = if by_outside == Some(1) { None } else { Some(1) };
        assert_eq!(taker.unwrap().join().unwrap(), expected);
        pool.close();
    });
}

// ----- permits -----

#[test]
fn of_two_that_hold_permits_and_want_more_one_is_told() {
    check(|| {
        let (pool, permits) = (fixed(2), Arc::new(Semaphore::new(2)));
        let both_have_one = Arc::new(Latch::new(2));
        let tasks = [(); 2].map(|()| {
            let (permits, both_have_one) = (Arc::clone(&permits), Arc::clone(&both_have_one));
            pool.submit(move || {
                let _one = permits.acquire().unwrap();
                both_have_one.count_down();
                both_have_one.wait().unwrap();
                is_told(permits.acquire())
            })
        });
        let told = tasks.map(|task| task.unwrap().join().unwrap());
        assert_ne!(told[0], told[1]);
        pool.close();
    });
}

/// A thread outside the pool has a permit and gives it back. After that, if the task still waits, it can wait
/// only for the permit that the task itself holds.
#[test]
fn a_permit_outside_is_waited_for_until_it_is_back() {
    for (wants, told) in [(1, false), (2, true)] {
        check(move || {
            let (pool, permits) = (fixed(1), Arc::new(Semaphore::new(2)));
            let from_outside = permits.acquire().unwrap();
            let own = Arc::clone(&permits);
            let task = pool.submit(move || {
                let _one = own.acquire().unwrap();
                is_told(own.acquire_many(wants))
            });
            thread::yield_now();
            drop(from_outside);
            assert_eq!(task.unwrap().join().unwrap(), told);
            pool.close();
        });
    }
}
