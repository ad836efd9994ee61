//! A caller waits for a task until a time limit, and cancels the task when the time is up.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use executor::{
    CancelToken, Cancelled, ExecutorCompletionService, FutureTask, JoinError, Latch, Outcome, Promise,
    TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, SHORT, Signal, assert_matches, blocked, on_every_pool, within_deadline};

/// FUT-26
#[test]
fn a_timed_join_gives_up_when_the_time_is_up_and_not_before_and_the_task_goes_on() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let start = Instant::now();
        let Err(JoinError::TimedOut(handle)) = handle.join_timeout(SHORT) else {
            panic!("no thread has run it");
        };
        assert!(start.elapsed() >= SHORT);
        assert!(!handle.is_finished());
        task.run();
        assert_eq!(handle.join().unwrap(), 1);
    });
}

/// A waiter spins before it sleeps, but only for a moment.
#[cfg(target_os = "linux")]
#[test]
fn a_long_wait_uses_hardly_any_processor_time() {
    /// Returns the user and system time that the calling thread has used, in hundredths of a second.
    fn ticks() -> u64 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit(')').next().unwrap();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    within_deadline(|| {
        let (_promise, mut handle) = Promise::<()>::new();
        let before = ticks();
        for _ in 0..100 {
            handle = match handle.join_timeout(Duration::from_millis(3)) {
                Err(JoinError::TimedOut(handle)) => handle,
                other => panic!("the promise was not kept: {other:?}"),
            };
        }
        let used = ticks() - before;
        // A hundred bounded spins and a hundred sleeps take about one tick.
        assert!(used <= 10, "{used} ticks in thirty");
    });
}

/// FUT-3
#[test]
fn a_timed_join_of_a_task_that_runs_too_long_gives_up_on_every_kind_of_pool() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let (started, release) = (Signal::new(), Signal::new());
            let there = (started.clone(), release.clone());
            let handle = pool.submit(move || {
                there.0.set();
                there.1.wait();
                1
            });
            started.wait();
            let start = Instant::now();
            let Err(JoinError::TimedOut(handle)) = handle.unwrap().join_timeout(SHORT) else {
                panic!("it cannot have finished");
            };
            assert!(start.elapsed() >= SHORT);
            assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Running));
            release.set();
            assert_eq!(handle.join_timeout(LONG).unwrap(), 1);
        });
    });
}

/// INV-27
#[test]
fn a_join_that_may_cancel_calls_the_task_off_when_the_time_is_up_and_not_before() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let (tell, told) = mpsc::channel();
            let handle = pool.submit_cancellable(move |token| {
                let slept = token.sleep(Duration::MAX);
                tell.send(slept.clone()).unwrap();
                slept
            });
            let start = Instant::now();
            let Err(JoinError::TimedOut(handle)) = handle.unwrap().join_or_cancel(SHORT) else {
                panic!("it sleeps forever");
            };
            assert!(start.elapsed() >= SHORT);
            assert_eq!(handle.state(), TaskState::Cancelled);
            // If the task has not begun when the time is up, it never begins.
            assert_matches!(
                told.recv_timeout(LONG),
                Ok(Err(Cancelled { .. })) | Err(mpsc::RecvTimeoutError::Disconnected)
            );
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        });
    });
}

/// INV-30
#[test]
fn a_join_that_may_cancel_leaves_a_task_that_is_in_time_alone() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let token = pool.submit_cancellable(|token| Ok(token.clone())).unwrap();
            assert!(!token.join_or_cancel(LONG).unwrap().is_cancelled());
            let failed = pool.submit(|| std::panic::resume_unwind(Box::new("no"))).unwrap();
            assert_matches!(failed.join_or_cancel(LONG), Err::<(), _>(JoinError::Panicked(_)));
        });
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        task.run();
        assert_eq!(handle.join_or_cancel(Duration::ZERO).unwrap(), 1);
    });
}

#[test]
fn a_join_that_may_cancel_calls_the_task_off_when_the_waiter_is_called_off() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let token = CancelToken::new();
        let waiter = blocked({
            let token = token.clone();
            move || token.attach(|| handle.join_or_cancel(Duration::MAX))
        });
        token.cancel();
        assert_matches!(
            waiter.result(),
            Err(JoinError::Interrupted(handle)) if handle.state() == TaskState::Cancelled
        );
        assert_matches!(task.run(), Outcome::Cancelled(_));
    });
}

/// FUT-27
#[test]
fn a_join_without_time_gives_up_at_once_and_one_with_all_the_time_does_not() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let Err(JoinError::TimedOut(handle)) = handle.join_timeout(Duration::ZERO) else {
            panic!("no thread has run it");
        };
        let waiter = blocked(move || handle.join_timeout(Duration::MAX));
        assert!(waiter.still_waits());
        task.run();
        assert_eq!(waiter.result().unwrap(), 1);
    });
}

/// SLIP-15
#[test]
fn the_longest_time_limit_is_not_an_expired_one() {
    type Wait = fn(FutureTask<i32>, &ThreadPoolExecutor, Duration) -> Option<i32>;
    let waits: [Wait; 6] = [
        |task, pool, limit| pool.submit(task).unwrap().join_timeout(limit).ok(),
        |task, pool, limit| pool.submit(task).unwrap().join_or_cancel(limit).ok(),
        |task, pool, limit| pool.submit(task).unwrap().shared().join_timeout(limit).ok().map(|value| *value),
        |task, pool, limit| {
            let service = ExecutorCompletionService::new(pool);
            service.submit(task).unwrap();
            service.take_timeout(limit).ok()??.try_join().ok()
        },
        |task, pool, limit| pool.invoke_all_timeout([task], limit).ok()?.pop()?.try_join().ok(),
        |FutureTask { task, handle }, pool, limit| {
            let attempt = move || {
                task.run();
                handle.try_join()
            };
            pool.invoke_any_timeout([attempt], limit).ok()
        },
    ];
    within_deadline(move || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        for limit in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(1 << 40)] {
            for wait in waits {
                let release = Signal::new();
                let task = FutureTask::new({
                    let release = release.clone();
                    move || {
                        release.wait();
                        1
                    }
                });
                let waiter = blocked({
                    let pool = Arc::clone(&pool);
                    move || wait(task, &pool, limit)
                });
                assert!(waiter.still_waits());
                release.set();
                assert_eq!(waiter.result(), Some(1));
            }
        }
    });
}

/// Returns the number of times that this thread has given up its processor to wait.
#[cfg(target_os = "linux")]
fn waits_of_this_thread() -> u32 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

/// A wait with a time limit of zero must not put the thread to sleep, because the slack of the system's timer
/// would delay the wake-up.
#[cfg(target_os = "linux")]
#[test]
fn a_wait_without_time_does_not_sleep() {
    let (token, latch) = (CancelToken::new(), Latch::new(1));
    let before = waits_of_this_thread();
    for _ in 0..1_000 {
        token.sleep(Duration::ZERO).unwrap();
        assert!(latch.wait_timeout(Duration::ZERO).is_err());
    }
    let waits = waits_of_this_thread() - before;
    assert!(waits < 100, "{waits} in 2000 waits without time");
}
