//! The shutdown of a pool: the tasks that are refused, the tasks that still run, the tasks that come back,
//! and the moment at which the pool has terminated.
//!
//! The module [`crate::invoke_any`] tests the effect of a shutdown on races, and [`crate::invoke_all`] tests
//! the effect on batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{
    CancelToken, Executor, ExecutorExt, ExecutorService, FutureTask, JoinError, Outcome, PoolState,
    RejectReason, TaskState, ThreadPoolExecutor,
};

use crate::support::{
    LONG, SHORT, Spot, assert_matches, blocked, occupy, on_every_pool, rounds, within_deadline,
};

/// END-1
#[test]
fn it_is_shut_down_from_the_moment_of_the_call() {
    within_deadline(|| {
        on_every_pool(|pool| {
            assert!(!pool.is_shutdown());
            let _busy = occupy(pool);
            pool.shutdown();
            assert!(pool.is_shutdown());
            assert!(!pool.is_terminated(), "a task still runs");
        });
    });
}

/// END-2, END-7
#[test]
fn awaiting_the_end_of_a_running_pool_says_no_when_the_time_is_up_and_not_before() {
    within_deadline(|| {
        on_every_pool(|pool| {
            assert!(!pool.await_termination(Duration::ZERO));
            let start = Instant::now();
            assert!(!pool.await_termination(SHORT));
            assert!(start.elapsed() >= SHORT);
            pool.shutdown();
            assert!(pool.await_termination(LONG));
            assert!(pool.await_termination(Duration::ZERO), "even without time, once it is so");
        });
    });
}

/// SLIP-15
#[test]
fn the_longest_timeout_is_not_an_expired_one() {
    within_deadline(|| {
        for timeout in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(1 << 40)] {
            let pool = Arc::new(ThreadPoolExecutor::single());
            let busy = occupy(&pool);
            let waiter = blocked({
                let pool = Arc::clone(&pool);
                move || pool.await_termination(timeout)
            });
            pool.shutdown();
            assert!(waiter.still_waits());
            drop(busy);
            assert!(waiter.result());
        }
    });
}

/// END-3
#[test]
fn it_is_terminated_after_the_last_task_and_not_while_one_runs() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let busy = occupy(&pool);
        pool.shutdown();
        assert!(!pool.await_termination(SHORT));
        assert_eq!(pool.stats().state, PoolState::ShuttingDown);
        drop(busy);
        assert!(pool.await_termination(LONG));
        assert!(pool.is_terminated());
        let stats = pool.stats();
        assert_eq!((stats.state, stats.threads, stats.active), (PoolState::Terminated, 0, 0));
    });
}

/// END-4: the states of the pool, as one of its tasks sees them.
#[test]
fn a_task_sees_its_pool_running_then_shutting_down_then_stopping() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let seen = pool.submit(move || {
            let running = own.stats().state;
            own.shutdown();
            let shutting_down = own.stats().state;
            drop(own.shutdown_now());
            (running, shutting_down, own.stats().state)
        });
        assert_eq!(
            seen.unwrap().join().unwrap(),
            (PoolState::Running, PoolState::ShuttingDown, PoolState::Stopping)
        );
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_pool_that_never_had_a_task_terminates_at_once() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            assert!(pool.is_terminated());
        });
        on_every_pool(|pool| {
            assert!(pool.shutdown_now().is_empty());
            assert!(pool.is_terminated());
        });
    });
}

/// END-19, SAT-4, SLIP-9
#[test]
fn after_a_shutdown_what_was_accepted_is_still_run() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let busy = occupy(pool);
            let accepted: Vec<_> = (0..50).map(|_| pool.submit(|| 1).unwrap()).collect();
            pool.shutdown();
            drop(busy);
            let sum: i32 = accepted.into_iter().map(|handle| handle.join().unwrap()).sum();
            assert_eq!(sum, 50);
            assert!(pool.await_termination(LONG));
        });
    });
}

/// END-8, INV-45, SAT-4, SAT-9, SCHED-24: the pool refuses the task, and the task is not lost.
#[test]
fn a_task_refused_after_shutdown_comes_back_and_can_be_run_elsewhere() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            let runs = Arc::new(AtomicUsize::new(0));
            let count = {
                let runs = Arc::clone(&runs);
                move || runs.fetch_add(1, Ordering::Relaxed)
            };

            let rejected = pool.execute({
                let count = count.clone();
                move || _ = count()
            });
            let rejected = rejected.unwrap_err();
            assert_matches!(&rejected.reason, RejectReason::Shutdown);
            assert_eq!(rejected.to_string(), "the task was rejected: the executor is shut down");
            assert_eq!(runs.load(Ordering::Relaxed), 0);
            let elsewhere = ThreadPoolExecutor::single();
            elsewhere.execute(rejected.task).unwrap();
            elsewhere.close();
            assert_eq!(runs.load(Ordering::Relaxed), 1);

            let rejected = pool.submit(count).unwrap_err();
            assert_eq!(rejected.handle.state(), TaskState::Pending);
            assert_matches!(rejected.task.run(), Outcome::Completed);
            assert_eq!(rejected.handle.join().unwrap(), 1);
        });
    });
}

#[test]
fn a_refused_task_that_is_let_go_cancels_its_handle() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            let rejected = pool.submit(|| ()).unwrap_err();
            drop(rejected.task);
            assert_matches!(rejected.handle.join(), Err(JoinError::Cancelled(_)));
        });
    });
}

/// SAT-4, SLIP-7
#[test]
fn a_refusal_leaves_the_other_counters_alone() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        pool.submit(|| ()).unwrap().join().unwrap();
        pool.shutdown();
        assert!(pool.await_termination(LONG));
        let before = pool.stats();
        drop(pool.execute(|| ()).unwrap_err());
        drop(pool.submit(|| ()).unwrap_err());
        let mut now = pool.stats();
        assert_eq!((now.refused, before.refused), (2, 0));
        now.refused = 0;
        assert_eq!(now, before);
    });
}

/// END-5
#[test]
fn shutting_down_now_cancels_what_runs_and_hands_back_exactly_what_was_not_begun() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let spots = [Spot::default(), Spot::default()];
        let running: Vec<_> = spots
            .iter()
            .map(|spot| {
                let spot = spot.clone();
                pool.submit_cancellable(move |token| {
                    spot.arrive();
                    token.sleep(Duration::MAX)
                })
                .unwrap()
            })
            .collect();
        spots.iter().for_each(Spot::wait_until_blocked);
        let waiting: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();

        let handed_back = pool.shutdown_now();

        let ids: Vec<_> = waiting.iter().map(executor::TaskHandle::id).collect();
        assert_eq!(
            handed_back.iter().map(executor::Task::id).collect::<Vec<_>>(),
            ids,
            "all, in their order"
        );
        assert!(waiting.iter().all(|handle| handle.state() == TaskState::Pending));
        assert!(pool.await_termination(LONG));
        for handle in running {
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        }
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.queued, stats.active), (2, 0, 0));
    });
}

/// END-6: the tasks that the pool handed back belong to the caller.
#[test]
fn tasks_handed_back_can_be_run_and_complete_their_handles_and_dropping_one_cancels_its_handle() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let busy = [occupy(&pool), occupy(&pool)];
        let (run, let_go) = (pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap());
        let mut handed_back = pool.shutdown_now();
        assert_eq!(handed_back.len(), 2);
        drop(handed_back.pop());
        drop(busy);
        assert!(pool.await_termination(LONG));
        assert_eq!(run.state(), TaskState::Pending, "the end of the pool does not concern it any more");
        assert_matches!(handed_back.pop().unwrap().run(), Outcome::Completed);
        assert_eq!(run.join().unwrap(), 1);
        assert_matches!(let_go.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_cancelled_task_is_not_handed_back() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let _busy = occupy(&pool);
        let (kept, cancelled) = (pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap());
        assert!(cancelled.cancel());
        let handed_back = pool.shutdown_now();
        assert_eq!(handed_back.len(), 1);
        assert_eq!(handed_back[0].id(), kept.id());
    });
}

#[test]
fn shutting_down_twice_changes_nothing_and_now_still_works_after_an_orderly_begin() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let waiting = pool.submit(|| ()).unwrap();
        pool.shutdown();
        pool.shutdown();
        assert_eq!(pool.stats().state, PoolState::ShuttingDown);
        assert!(pool.execute(|| ()).is_err(), "refused although there still are tasks and threads");
        let handed_back = pool.shutdown_now();
        assert_eq!((handed_back.len(), pool.stats().state), (1, PoolState::Stopping));
        assert!(pool.shutdown_now().is_empty());
        pool.shutdown();
        assert_eq!(pool.stats().state, PoolState::Stopping, "there is no way back");
        drop(busy);
        assert!(pool.await_termination(LONG));
        pool.shutdown();
        assert!(pool.shutdown_now().is_empty() && pool.is_terminated());
        drop(handed_back);
        assert_matches!(waiting.join(), Err(JoinError::Cancelled(_)));
    });
}

/// END-21
#[test]
fn shutting_down_now_releases_who_waits_for_a_sleeping_task() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let sleeper = pool.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap();
            let waiter = blocked(move || sleeper.join());
            drop(pool.shutdown_now());
            assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
        });
    });
}

/// END-22
#[test]
fn shutting_down_now_releases_who_waits_with_a_timeout() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let sleeper = pool.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap();
            let waiter = blocked(move || sleeper.join_timeout(Duration::MAX));
            drop(pool.shutdown_now());
            assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
        });
    });
}

/// END-9
#[test]
fn submissions_that_race_with_shutting_down_now_are_refused_run_or_handed_back() {
    within_deadline(|| {
        for _ in rounds(256) {
            let pool = ThreadPoolExecutor::fixed(2);
            let runs = Arc::new(AtomicUsize::new(0));
            let (refused, handed_back) = std::thread::scope(|scope| {
                let submitter = scope.spawn(|| {
                    let task = || {
                        let runs = Arc::clone(&runs);
                        move || _ = runs.fetch_add(1, Ordering::Relaxed)
                    };
                    (0..20).filter(|_| pool.execute(task()).is_err()).count()
                });
                let handed_back = scope.spawn(|| pool.shutdown_now().len());
                (submitter.join().unwrap(), handed_back.join().unwrap())
            });
            assert!(pool.await_termination(LONG));
            assert_eq!(refused + handed_back + runs.load(Ordering::Relaxed), 20);
            assert_eq!(pool.stats().completed, runs.load(Ordering::Relaxed) as u64);
        }
    });
}

/// END-2: the wait for the pool's end is a cancellation point, like any other wait.
#[test]
fn a_cancelled_task_stops_awaiting_the_end_of_another_pool() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let _busy = occupy(&pool);
        let token = CancelToken::new();
        let waiter = blocked({
            let (pool, token) = (Arc::clone(&pool), token.clone());
            move || token.attach(|| pool.await_termination(Duration::MAX))
        });
        token.cancel();
        assert!(!waiter.result());
        drop(pool.shutdown_now());
    });
}

#[test]
fn a_task_of_the_pool_may_shut_it_down_and_is_itself_cancelled_by_shutting_down_now() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let FutureTask { task, handle } = FutureTask::cancellable(move |token| {
            own.shutdown();
            token.check()?;
            drop(own.shutdown_now());
            assert!(token.is_cancelled());
            token.check()
        });
        pool.execute_task(task).unwrap();
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        assert!(pool.await_termination(LONG));
    });
}
