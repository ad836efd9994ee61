//! Fork/join pools: stolen halves, sleeping workers, and a shutdown during the work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use executor_model::fork_join::{ForkJoinPool, InvokeError, blocking, fork, join, surplus};
use executor_model::{
    CancelToken, JoinError, Latch, RejectReason, TaskState, ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

use crate::{check, without_new_threads};

fn pool(threads: usize) -> ForkJoinPool {
    ForkJoinPool::builder().threads(threads).spare_threads(0).build().unwrap()
}

fn leaves(depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| leaves(depth - 1), || leaves(depth - 1));
    a + b
}

#[test]
fn whoever_has_the_halves_each_is_called_once_and_no_worker_sleeps_through_the_end() {
    check(|| {
        let pool = pool(2);
        assert_eq!(pool.invoke(|| leaves(3)).unwrap(), 8);
        assert_eq!(pool.invoke(|| leaves(1)).unwrap(), 2);
    });
}

#[test]
fn three_workers_follow_each_other_to_the_pieces_that_are_left() {
    check(|| assert_eq!(pool(3).invoke(|| leaves(4)).unwrap(), 16));
}

#[test]
fn a_result_that_comes_from_another_thread_can_be_seen_by_whoever_joins() {
    check(|| {
        let sum = pool(2).invoke(|| {
            let (mut a, mut b) = (0, 0);
            join(|| a = leaves(2), || b = leaves(2));
            a + b
        });
        assert_eq!(sum.unwrap(), 8);
    });
}

#[test]
fn a_panic_in_the_first_half_leaves_no_frame_that_a_thief_still_uses() {
    check(|| {
        let pool = pool(2);
        let ended = AtomicUsize::new(0);
        let begun = AtomicUsize::new(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pool.invoke(|| {
                join(
                    || resume_unwind(Box::new("first")),
                    || {
                        begun.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        ended.fetch_add(1, Ordering::SeqCst);
                    },
                )
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
        assert_eq!(pool.invoke(|| leaves(1)).unwrap(), 2);
    });
}

#[test]
fn an_invocation_against_a_shutdown_is_done_or_refused() {
    check(|| {
        let pool = Arc::new(pool(1));
        let other = Arc::clone(&pool);
        let ends = thread::spawn(move || other.shutdown());
        match pool.invoke(|| leaves(1)) {
            Ok(leaves) => assert_eq!(leaves, 2),
            Err(InvokeError::Rejected(_)) => {}
            Err(other) => unreachable!("{other}"),
        }
        ends.join().unwrap();
    });
}

#[test]
fn an_invocation_against_a_stop_is_done_refused_or_called_off() {
    check(|| {
        let pool = Arc::new(pool(2));
        let other = Arc::clone(&pool);
        let ends = thread::spawn(move || assert!(other.shutdown_now().is_empty()));
        if let Ok(leaves) = pool.invoke(|| leaves(2)) {
            assert_eq!(leaves, 4);
        }
        ends.join().unwrap();
    });
}

#[test]
fn forks_are_run_once_joined_or_not_and_waited_for_at_the_end() {
    check(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = pool(2);
        let (one, other) = (Arc::clone(&ran), Arc::clone(&ran));
        let count = move |ran: Arc<AtomicUsize>| move || _ = ran.fetch_add(1, Ordering::SeqCst);
        pool.invoke(|| {
            drop(fork(count(one)));
            fork(count(other)).join().unwrap();
        })
        .unwrap();
        drop(pool);
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn a_stop_ends_every_handle_of_a_fork() {
    check(|| {
        let pool = Arc::new(pool(2));
        let other = Arc::clone(&pool);
        let ends = thread::spawn(move || assert!(other.shutdown_now().len() <= 1));
        let task = pool.submit(|| {
            let forked = fork(|| ());
            matches!(forked.join(), Ok(()) | Err(JoinError::Cancelled(_) | JoinError::Interrupted(_)))
        });
        ends.join().unwrap();
        if let Ok(task) = task {
            match task.state() {
                TaskState::Cancelled => {}
                _ => assert!(matches!(task.join(), Ok(true) | Err(JoinError::Cancelled(_)))),
            }
        }
    });
}

#[test]
fn whoever_waits_for_quiescence_is_woken_by_the_last_task() {
    check(|| {
        let pool = pool(1);
        pool.execute(|| ()).unwrap();
        pool.execute(|| ()).unwrap();
        assert!(pool.await_quiescence(std::time::Duration::MAX));
        assert_eq!(pool.stats().completed, 2);
    });
}

/// A worker waits for quiescence; during this wait the worker runs another task, which also waits for
/// quiescence. At the same time another worker steals the forks of the task.
#[test]
fn no_fork_is_unrun_when_a_worker_says_that_all_is_quiet() {
    check(|| {
        let pool = Arc::new(pool(2));
        let (own, ran) = (Arc::clone(&pool), Arc::new(AtomicUsize::new(0)));
        let end = pool.submit(move || {
            for waits in [false, true, false] {
                let (own, ran) = (Arc::clone(&own), Arc::clone(&ran));
                drop(fork(move || {
                    assert!(!waits || own.await_quiescence(std::time::Duration::MAX));
                    ran.fetch_add(1, Ordering::SeqCst);
                }));
            }
            let is_quiet = own.await_quiescence(std::time::Duration::MAX);
            // If a fork waits for quiescence itself, the thread of the fork may still be waiting.
            assert!(is_quiet && ran.load(Ordering::SeqCst) >= 2, "a fork has not run");
        });
        end.unwrap().join().unwrap();
        assert!(pool.await_quiescence(std::time::Duration::MAX));
        assert_eq!(pool.stats().completed, 4);
    });
}

/// A thread outside the pool waits for quiescence, and a task of the pool waits for quiescence, too.
#[test]
fn from_outside_all_is_quiet_when_no_task_is_left() {
    check(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        pool.execute(move || _ = own.await_quiescence(std::time::Duration::MAX)).unwrap();
        assert!(pool.await_quiescence(std::time::Duration::MAX));
        assert_eq!(pool.stats().unfinished, 0);
    });
}

#[test]
fn a_scope_ends_when_its_tasks_have_or_were_dropped_whenever_its_pool_is_stopped() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let other = Arc::clone(&pool);
        let ends = thread::spawn(move || assert!(other.shutdown_now().is_empty()));
        let ran = AtomicUsize::new(0);
        let mut accepted = 0;
        let result = pool.scope(|scope| {
            for _ in 0..2 {
                accepted += usize::from(scope.spawn(|| _ = ran.fetch_add(1, Ordering::SeqCst)).is_ok());
            }
        });
        let dropped = result.err().map_or(0, |error| error.dropped);
        assert_eq!(ran.load(Ordering::SeqCst) + dropped, accepted);
        ends.join().unwrap();
    });
}

#[test]
fn two_guests_and_a_worker_share_two_places_and_what_is_left_is_run() {
    check(|| {
        let pool = Arc::new(pool(2));
        let other = Arc::clone(&pool);
        let guest = thread::spawn(move || other.invoke(|| leaves(2)).unwrap());
        let forked = pool.invoke(|| fork(|| leaves(1))).unwrap();
        assert_eq!(forked.join().unwrap(), 2);
        assert_eq!(guest.join().unwrap(), 4);
        assert!(pool.await_quiescence(std::time::Duration::MAX));
    });
}

/// When the last searching worker has found a task and there is another task, this worker must wake another
/// worker.
#[test]
fn two_submissions_that_wait_for_each_other_are_run_by_two_workers() {
    check(|| {
        let pool = pool(2);
        let both = Arc::new(Latch::new(2));
        for _ in 0..2 {
            let both = Arc::clone(&both);
            let meets = move || {
                both.count_down();
                both.wait().unwrap();
            };
            pool.execute(meets).unwrap();
        }
        pool.close();
        assert_eq!(both.count(), 0);
    });
}

#[test]
fn a_worker_that_blocks_is_stood_in_for_whenever_the_task_comes_that_ends_its_wait() {
    check(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(1).build().unwrap();
        let latch = Arc::new(Latch::new(1));
        let awaited = Arc::clone(&latch);
        pool.execute(move || blocking(|| awaited.wait().unwrap())).unwrap();
        pool.execute(move || latch.count_down()).unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 2);
    });
}

#[test]
fn a_fork_is_taken_back_or_stolen_and_runs_once_if_at_all() {
    check(|| {
        let runs = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&runs);
        let pool = pool(2);
        let taken_back = pool.invoke(|| {
            let forked = fork(move || counts.fetch_add(1, Ordering::SeqCst));
            let Some(task) = forked.remove() else {
                assert_eq!(forked.join().unwrap(), 0);
                return false;
            };
            drop(task);
            assert!(matches!(forked.join(), Err(JoinError::Cancelled(_))));
            true
        });
        assert_eq!(runs.load(Ordering::SeqCst), usize::from(!taken_back.unwrap()));
    });
}

/// A worker without a task helps the thief of its half. Then the worker helps the second thief, which has
/// stolen from the first thief. Each of the two thieves must wake the worker.
#[test]
fn a_chain_of_thieves_ends_with_every_half_called_once() {
    check(|| {
        let calls = AtomicUsize::new(0);
        let counts = || _ = calls.fetch_add(1, Ordering::SeqCst);
        pool(3).invoke(|| join(counts, || join(counts, || join(counts, || join(counts, counts))))).unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    });
}

#[test]
fn a_scope_whose_body_panics_ends_when_nothing_of_it_runs() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|scope| {
                for _ in 0..2 {
                    let task = || {
                        begun.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        ended.fetch_add(1, Ordering::SeqCst);
                    };
                    scope.spawn(task).unwrap();
                }
                resume_unwind(Box::new("body"))
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(begun.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
    });
}

#[test]
fn a_scope_that_is_cancelled_has_run_or_dropped_each_task_and_counts_right() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let token = CancelToken::new();
        let canceller = token.clone();
        let cancels = thread::spawn(move || canceller.cancel());
        let ran = AtomicUsize::new(0);
        let result = token.attach(|| {
            pool.scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| _ = ran.fetch_add(1, Ordering::SeqCst)).unwrap();
                }
            })
        });
        let dropped = result.err().map_or(0, |error| error.dropped);
        assert_eq!(ran.load(Ordering::SeqCst) + dropped, 2);
        cancels.join().unwrap();
    });
}

/// The pool had reserved the seat for a thread that did not start. The seat is free again for the next
/// thread.
#[test]
fn without_a_thread_a_submission_is_refused_and_the_next_one_tries_again() {
    check(|| {
        let pool = pool(1);
        let refused = without_new_threads(|| pool.submit(|| 7)).unwrap_err();
        assert!(matches!(refused.reason, RejectReason::NoThread(_)));
        assert_eq!((pool.stats().workers, pool.stats().unfinished), (0, 0));
        assert_eq!(pool.submit(|| 1).unwrap().join().unwrap(), 1);
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 7);
    });
}

/// One task comes while the worker falls asleep, and the next task comes while the worker sleeps.
#[test]
fn tasks_that_come_one_by_one_find_a_worker_that_searches_sleeps_or_is_about_to() {
    check(|| {
        let pool = pool(1);
        for _ in 0..3 {
            // The queue is empty; no other worker searches, and no other worker can be woken.
            assert_eq!(pool.submit(surplus).unwrap().join().unwrap(), 0);
        }
    });
}

/// When the thread that replaces the blocked worker ends its task, the pool has either one worker too many or
/// the correct number of workers.
#[test]
fn a_worker_that_blocks_twice_has_a_stand_in_that_rests_and_comes_back() {
    check(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(1).build().unwrap();
        let blocks = pool.submit(|| (0..2).for_each(|_| blocking(thread::yield_now)));
        let other = pool.submit(|| ()).unwrap();
        blocks.unwrap().join().unwrap();
        other.join().unwrap();
        assert!(pool.submit(surplus).unwrap().join().unwrap() <= 0, "no more than two can search");
    });
}
