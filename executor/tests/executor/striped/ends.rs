//! How a striped executor ends: the pool below it either continues, or ends, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::{
    CancelToken, ExecutorService, RejectReason, StripedExecutor, Task, TaskId, TaskState, ThreadPoolExecutor,
    prelude::*,
};

use super::{hold, striped};
use crate::support::{LONG, SHORT, Signal, assert_matches, eventually, occupy, rounds, within_deadline};

fn threads_of(pool: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with(pool)).count()
}

/// STRIPE-2, STRIPE-9
#[test]
fn after_a_shutdown_all_stripes_are_worked_off_and_the_threads_end_though_nobody_waits() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().name("drains").threads(3).build().unwrap();
        let striped = StripedExecutor::owning(pool);
        let ran = Arc::new(AtomicUsize::new(0));
        for n in 0..300 {
            let ran = Arc::clone(&ran);
            striped
                .execute_in(n % 30, move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
        }
        assert!(threads_of("drains") > 0);
        striped.shutdown();
        assert_matches!(striped.execute_in(0, || ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_matches!(striped.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        eventually("all threads are gone", || threads_of("drains") == 0);
        assert_eq!(ran.load(Ordering::SeqCst), 300);
        eventually("it is over", || striped.is_terminated());
    });
}

/// STRIPE-3
#[test]
fn shut_down_now_in_the_middle_it_hands_back_what_it_has_not_run() {
    within_deadline(|| {
        for _ in rounds(50) {
            let striped = striped(2);
            let ran = Arc::new(AtomicUsize::new(0));
            for n in 0..200 {
                let ran = Arc::clone(&ran);
                striped
                    .execute_in(n % 7, move || {
                        ran.fetch_add(1, Ordering::SeqCst);
                    })
                    .unwrap();
            }
            let back = striped.shutdown_now();
            assert!(striped.await_termination(LONG));
            assert_eq!(ran.load(Ordering::SeqCst) + back.len(), 200);
        }
    });
}

#[test]
fn the_users_own_tasks_come_back_in_the_order_of_their_stripes() {
    within_deadline(|| {
        for owns in [true, false] {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1));
            let striped = if owns {
                StripedExecutor::owning(Arc::clone(&pool))
            } else {
                StripedExecutor::over(Arc::clone(&pool))
            };
            let busy = occupy(&pool);
            let mut submitted: Vec<Vec<TaskId>> = vec![Vec::new(); 5];
            let mut handles = Vec::new();
            for n in 0..40 {
                let key = n % 4;
                let handle =
                    striped.submit_in(key, executor::FutureTask::new(move || n).named("own")).unwrap();
                submitted[key].push(handle.id());
                handles.push(handle);
            }
            let unstriped = striped.submit(|| 0).unwrap();
            submitted[4].push(unstriped.id());
            let others = pool.submit(|| 1).unwrap();
            assert!(handles[5].cancel());
            submitted[1].remove(1);
            let back = striped.shutdown_now();
            let ids: Vec<_> = back.iter().map(Task::id).collect();
            for stripe in &submitted {
                let first = ids.iter().position(|id| *id == stripe[0]).unwrap();
                assert_eq!(ids[first..][..stripe.len()], stripe[..], "together and in their order");
            }
            assert_eq!(ids[39], unstriped.id(), "behind those of the stripes");
            assert_eq!((ids.len(), back[0].name()), (if owns { 41 } else { 40 }, Some("own")));
            assert_eq!(pool.queued(), usize::from(!owns), "no head is left");
            assert_eq!(handles[0].state(), TaskState::Pending);
            for task in back {
                drop(task.run());
            }
            assert_eq!(handles.into_iter().filter_map(|handle| handle.join().ok()).sum::<usize>(), 780 - 5);
            assert!(striped.await_termination(if owns { SHORT } else { LONG }) != owns, "the pool is busy");
            drop(busy);
            others.join_timeout(LONG).unwrap();
            assert!(striped.await_termination(LONG));
        }
    });
}

/// Between two turns, the drain task of a stripe waits in the queue of the pool.
#[test]
fn what_has_run_in_a_stripe_that_is_stopped_between_two_turns_stays_counted() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(1);
        let (first, begun, end) = (Signal::new(), Signal::new(), Signal::new());
        let until = first.clone();
        striped.execute_in("one", move || until.wait()).unwrap();
        let second = striped.submit_in("one", || ()).unwrap();
        let (is_begun, until) = (begun.clone(), end.clone());
        pool.execute(move || {
            is_begun.set();
            until.wait();
        })
        .unwrap();
        first.set();
        begun.wait();
        let back: Vec<_> = striped.shutdown_now().iter().map(Task::id).collect();
        assert_eq!((back, striped.stats().completed), (vec![second.id()], 1));
        end.set();
        assert!(striped.await_termination(LONG));
        pool.close();
    });
}

#[test]
fn only_its_own_running_tasks_are_cancelled() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(3));
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let end = Signal::new();
        let nap = || {
            let (until, begun) = (end.clone(), Signal::new());
            let tell = begun.clone();
            let nap = executor::FutureTask::new(move || {
                let token = CancelToken::current();
                tell.set();
                until.wait();
                token.is_cancelled()
            });
            (nap, begun)
        };
        let (own, begun) = nap();
        let own = striped.submit_in("a", own).unwrap();
        begun.wait();
        let (unstriped, begun) = nap();
        let unstriped = striped.submit(unstriped).unwrap();
        begun.wait();
        let (others, begun) = nap();
        let others = pool.submit(others).unwrap();
        begun.wait();
        assert!(striped.shutdown_now().is_empty());
        end.set();
        assert_eq!(
            [own, unstriped, others].map(|task| task.join_timeout(LONG).unwrap()),
            [true, true, false]
        );
        assert!(striped.await_termination(LONG));
    });
}

/// The caller that got the drain task need not run this drain task, because the drain task would find no task
/// to run.
#[test]
fn a_stop_does_not_wait_for_a_head_that_was_handed_out() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let busy = occupy(&pool);
        striped.execute_in(0, || ()).unwrap();
        let head = pool.shutdown_now();
        assert!(!striped.is_terminated());
        let back = striped.shutdown_now();
        assert_eq!((head.len(), back.len()), (1, 1));
        assert!(striped.await_termination(LONG));
        drop(busy);
    });
}

#[test]
fn a_task_that_closes_its_own_executor_does_not_wait_for_itself() {
    within_deadline(|| {
        let striped = Arc::new(StripedExecutor::over(ThreadPoolExecutor::fixed(1)));
        let own = Arc::clone(&striped);
        striped.submit_in(0, move || own.close()).unwrap().join_timeout(LONG).unwrap();
        assert!(striped.await_termination(LONG));
    });
}

#[test]
fn close_waits_for_all_stripes_and_the_pool_of_others_goes_on() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(2);
        let ran = Arc::new(AtomicUsize::new(0));
        for n in 0..300 {
            let ran = Arc::clone(&ran);
            striped
                .execute_in(n % 11, move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
        }
        striped.close();
        assert_eq!((ran.load(Ordering::SeqCst), striped.is_terminated()), (300, true));
        assert_eq!(pool.submit(|| 1).unwrap().join().unwrap(), 1);
    });
}

#[test]
fn dropped_it_leaves_what_it_has_accepted_to_the_pool() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(1);
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..20).map(|n| striped.submit_in(n % 3, move || n).unwrap()).collect();
        drop(striped);
        drop(busy);
        assert_eq!(handles.into_iter().map(|handle| handle.join_timeout(LONG).unwrap()).sum::<i32>(), 190);
        let owned = super::striped(1);
        let end = hold(&owned, 0);
        let last = owned.submit_in(0, || 1).unwrap();
        end.set();
        drop(owned); // drops the pool with it, which waits
        assert!(last.is_finished());
    });
}
