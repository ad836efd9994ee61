//! Forked and submitted tasks.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use executor::fork_join::{ForkJoinPool, RecursiveTask, fork};
use executor::{
    BoundedExecutor, CancelToken, JoinError, Promise, Task, TaskHandle, TaskState, masked, prelude::*,
};

use super::pool;
use crate::support::{LONG, Record, Signal, eventually, within_deadline};

/// FJ-18, FJ-19, FJ-20
#[test]
fn a_panic_in_a_forked_task_is_told_to_whoever_joins_it() {
    within_deadline(|| {
        let pool = pool(2);
        let failed = || fork(|| -> u32 { panic!("in the fork") });
        pool.invoke(|| {
            assert!(
                matches!(failed().join(), Err(JoinError::Panicked(panic)) if panic.message() == "in the fork")
            );
            assert!(failed().join_timeout(LONG).is_err());
            let unread = failed();
            eventually("it has failed", || {
                unread.is_finished() || {
                    let _ = unread.remove().map(Task::run);
                    false
                }
            });
            assert_eq!(unread.state(), TaskState::Panicked);
            let _ = unread.join();
        })
        .unwrap();
    });
}

/// FJ-21, FJ-22, FJ-23
#[test]
fn a_forked_task_that_is_cancelled_before_it_begins_never_does() {
    within_deadline(|| {
        let pool = pool(1);
        let ran = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&ran);
        pool.invoke(|| {
            let forked = fork(move || mark.store(true, Ordering::SeqCst));
            assert!(forked.cancel());
            assert!(matches!(forked.join(), Err(JoinError::Cancelled(_))));
        })
        .unwrap();
        assert!(pool.await_quiescence(LONG));
        assert!(!ran.load(Ordering::SeqCst));
    });
}

#[test]
fn a_cancel_of_a_computation_is_seen_in_a_fork_that_is_stolen() {
    within_deadline(|| {
        let pool = pool(2);
        let (begun, seen) = (Signal::new(), Signal::new());
        let (there, told) = (begun.clone(), seen.clone());
        let computation = pool.submit(move || {
            let forked = fork(move || {
                there.set();
                if CancelToken::current().sleep(LONG).is_err() {
                    told.set();
                }
            });
            begun.wait(); // so a thief has it
            masked(|| forked.join())
        });
        let computation = computation.unwrap();
        eventually("it is stolen", || pool.stats().steals > 0);
        computation.cancel();
        seen.wait();
    });
}

/// FJ-38
#[test]
fn a_fork_can_be_taken_back_and_then_never_runs_while_an_older_one_does() {
    within_deadline(|| {
        let pool = pool(1);
        let log = Arc::new(Record::new());
        let (older, newer) = (Arc::clone(&log), Arc::clone(&log));
        pool.invoke(|| {
            let older = fork(move || older.add("older"));
            let newer = fork(move || newer.add("newer"));
            assert!(newer.remove().is_some());
            assert!(newer.remove().is_none());
            older.join().unwrap();
            assert_eq!(newer.state(), TaskState::Cancelled); // the task that was taken back was dropped
        })
        .unwrap();
        assert_eq!(log.len(), 1);
    });
}

fn order_of_forks(pool: &ForkJoinPool) -> Vec<u32> {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    pool.invoke(|| {
        for n in 0..3 {
            let log = Arc::clone(&log);
            drop(fork(move || log.lock().unwrap().push(n)));
        }
    })
    .unwrap();
    assert!(pool.await_quiescence(LONG));
    let log = log.lock().unwrap();
    log.clone()
}

/// FJ-41, FJ-42, FJ-43, FJ-45
#[test]
fn forks_that_nobody_joins_run_youngest_first_or_oldest_first() {
    within_deadline(|| {
        assert_eq!(order_of_forks(&pool(1)), [2, 1, 0]);
        let oldest_first = ForkJoinPool::builder().threads(1).oldest_first().build().unwrap();
        assert_eq!(order_of_forks(&oldest_first), [0, 1, 2]);
    });
}

/// FJ-88, FJ-89, FJ-90, FJ-92
#[test]
fn a_task_that_a_worker_submits_goes_to_its_own_queue_unless_it_says_otherwise() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let counts = pool.submit(move || {
            let before = own.stats();
            own.execute(|| ()).unwrap();
            let after_one = own.stats();
            own.execute_externally(|| ()).unwrap();
            let after_two = own.stats();
            [before, after_one, after_two].map(|stats| (stats.queued, stats.queued_submissions))
        });
        assert_eq!(counts.unwrap().join().unwrap(), [(0, 0), (1, 0), (1, 1)]);
        assert!(pool.await_quiescence(LONG));
        assert_eq!(pool.stats().completed, 3);
    });
}

struct Count(u32, Arc<std::sync::atomic::AtomicU32>);

impl RecursiveTask for Count {
    type Output = ();

    fn compute(self) {
        if self.0 == 0 {
            self.1.fetch_add(1, Ordering::SeqCst);
            return;
        }
        let left = Self(self.0 - 1, Arc::clone(&self.1)).fork();
        Self(self.0 - 1, self.1).compute();
        left.join().unwrap();
    }
}

struct Power(u32);

impl RecursiveTask for Power {
    type Output = u64;

    fn compute(self) -> u64 {
        if self.0 == 0 {
            return 1;
        }
        let half = Self(self.0 - 1).fork();
        half.join().unwrap() * 2
    }
}

/// FJ-8, FJ-9
#[test]
fn recursive_tasks_and_actions_fork_themselves() {
    within_deadline(|| {
        let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let pool = pool(2);
        let action = Count(6, Arc::clone(&count));
        pool.invoke(|| action.compute()).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 64);
        assert_eq!(pool.invoke(|| Power(20).compute()).unwrap(), 1 << 20);
        assert_eq!(Power(3).fork().join().unwrap(), 8); // runs in the common pool
    });
}

/// FJ-73
#[test]
fn a_worker_that_waits_for_a_submission_that_has_not_begun_runs_it() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let (busy, go) = (Signal::new(), Signal::new());
        let (own, there, until) = (Arc::clone(&pool), busy.clone(), go.clone());
        let slot = Arc::new(std::sync::Mutex::new(None::<TaskHandle<u32>>));
        let theirs = Arc::clone(&slot);
        let waits = pool.submit(move || {
            there.set();
            until.wait();
            let _ = &own;
            let handle = theirs.lock().unwrap().take().unwrap();
            handle.join().unwrap()
        });
        busy.wait();
        *slot.lock().unwrap() = Some(pool.submit(|| 42).unwrap());
        go.set();
        assert_eq!(waits.unwrap().join().unwrap(), 42);
    });
}

/// FJ-29, FJ-46, FJ-48, FJ-49, FJ-56, FJ-58
#[test]
fn what_is_decided_by_hand_a_worker_that_joins_it_finds_decided() {
    within_deadline(|| {
        let pool = pool(1);
        let (done, failed) = pool
            .invoke(|| {
                let (promise, done) = Promise::new();
                promise.complete(5).unwrap();
                let (promise, failed) = Promise::<u32>::new();
                promise.panic_with(Box::new("by hand")).unwrap();
                (done.join(), failed.join())
            })
            .unwrap();
        assert_eq!(done.unwrap(), 5);
        assert!(matches!(failed, Err(JoinError::Panicked(panic)) if panic.message() == "by hand"));
    });
}

/// FJ-50, FJ-66, FJ-67, FJ-69, FJ-70, FJ-71, FJ-72
#[test]
fn a_pending_request_leaves_a_masked_join_alone_and_a_plain_one_can_be_repeated() {
    within_deadline(|| {
        let (pool, token) = (pool(2), CancelToken::new());
        let go = Signal::new();
        let (well, ill) = (go.clone(), go.clone());
        let well = pool.submit(move || (well.wait(), 7).1).unwrap();
        let fails = move || {
            ill.wait();
            resume_unwind(Box::new("it fails"))
        };
        let ill = pool.submit::<()>(fails).unwrap();
        let cancelled = pool.submit(|| 0).unwrap();
        assert!(cancelled.cancel());
        token.cancel();
        let (well, ill) = token.attach(|| {
            let Err(JoinError::Interrupted(well)) = well.join_timeout(LONG) else { panic!("it waits") };
            let Err(JoinError::Interrupted(ill)) = ill.join() else { panic!("it waits") };
            (well, ill)
        });
        go.set();
        let ends = token.attach(|| masked(|| (well.join_timeout(LONG), ill.join(), cancelled.join())));
        assert_eq!(ends.0.unwrap(), 7);
        assert!(matches!(ends.1, Err(JoinError::Panicked(panic)) if panic.message() == "it fails"));
        assert!(matches!(ends.2, Err(JoinError::Cancelled(_))));
    });
}

/// REM-5, REM-6
#[test]
fn submissions_that_have_not_begun_can_be_taken_out_one_by_one_or_all_at_once() {
    within_deadline(|| {
        let pool = pool(1);
        let _held = crate::support::occupy(&pool);
        let handles = [1, 2, 3].map(|n| pool.submit(move || n).unwrap());
        let one = handles[1].remove().expect("it has not begun");
        assert!(!handles[1].is_finished());
        let rest = pool.shutdown_now();
        assert_eq!(rest.len(), 2);
        assert!(handles.iter().all(|handle| !handle.is_finished()));
        for task in rest.into_iter().chain([one]) {
            task.run();
        }
        assert_eq!(handles.map(|handle| handle.join().unwrap()), [1, 2, 3]);
    });
}

/// Another executor uses the pool. This executor takes its own tasks back from the queue of the worker that
/// has submitted them.
#[test]
fn tasks_of_another_executor_are_taken_out_of_the_queue_of_a_worker() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let bounded = Arc::new(BoundedExecutor::over(Arc::clone(&pool), 10));
        let taken_back = pool.submit(move || {
            let handles = [1, 2].map(|n| bounded.submit(move || n).unwrap());
            let back = bounded.shutdown_now();
            back.iter().map(Task::id).eq(handles.iter().map(TaskHandle::id))
        });
        assert!(taken_back.unwrap().join_timeout(LONG).unwrap());
        assert!(pool.await_quiescence(LONG));
    });
}

#[test]
fn a_pool_counts_the_tasks_that_have_ended_and_those_that_panicked() {
    within_deadline(|| {
        let pool = pool(1);
        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        let failed = pool.submit(|| resume_unwind(Box::new("it fails"))).unwrap();
        assert!(matches!(failed.join_timeout(LONG), Err(JoinError::Panicked(_))));
        assert_eq!((pool.stats().completed, pool.stats().panicked), (2, 1));
    });
}
