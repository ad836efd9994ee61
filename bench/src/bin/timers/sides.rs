//! Our scheduled pool and the Rust peers.

use std::time::Instant;

use executor::{ScheduledThreadPoolExecutor, prelude::*};
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};

use crate::rows::{Account, Row, far, nanos, shuffled};

/// Measures a row, and returns the nanoseconds for each of its figures.
pub(crate) type Side = fn(&Row) -> Vec<u64>;

/// The number of threads that run due tasks, on each side.
const WORKERS: usize = 2;

fn timed(work: impl FnOnce()) -> Vec<u64> {
    let begin = Instant::now();
    work();
    vec![nanos(begin.elapsed())]
}

pub(crate) fn ours(row: &Row) -> Vec<u64> {
    let pool = ScheduledThreadPoolExecutor::new(WORKERS);
    let insert = |task| pool.schedule(far(task), || ()).expect("it is not shut down");
    let numbers = match row.name {
        "insert" => timed(|| (0..row.tasks).for_each(|task| drop(insert(task)))),
        "cancel" => {
            let handles: Vec<_> = (0..row.tasks).map(insert).collect();
            let took = timed(|| shuffled(row.tasks).for_each(|task| assert!(handles[task].cancel())));
            assert_eq!(pool.stats().delayed, 0);
            return took;
        }
        "lateness" => {
            let account = Account::of(row.tasks);
            for task in 0..row.tasks {
                drop(
                    pool.schedule_at(account.due(task), move || account.begins(task))
                        .expect("it is not shut down"),
                );
            }
            return account.lateness();
        }
        _ => {
            let account = Account::of(0);
            for _ in 0..row.tasks {
                drop(pool.schedule_at(account.start(), || account.counts()).expect("it is not shut down"));
            }
            return account.burst(row.tasks);
        }
    };
    assert_eq!(pool.stats().delayed, row.tasks);
    drop(pool.shutdown_now());
    numbers
}

/// Measures the crate `scheduled-thread-pool`. This crate cannot take a task out of its heap, so a cancelled
/// task stays in the heap until it is due.
pub(crate) fn scheduled_thread_pool(row: &Row) -> Vec<u64> {
    let pool = ScheduledThreadPool::builder()
        .num_threads(WORKERS)
        .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
        .build();
    let insert = |task| pool.execute_after(far(task), || ());
    match row.name {
        "insert" => timed(|| (0..row.tasks).for_each(|task| drop(insert(task)))),
        "cancel" => {
            let handles: Vec<_> = (0..row.tasks).map(insert).collect();
            timed(|| shuffled(row.tasks).for_each(|task| handles[task].cancel()))
        }
        "lateness" => {
            let account = Account::of(row.tasks);
            for task in 0..row.tasks {
                let delay = account.due(task).saturating_duration_since(Instant::now());
                pool.execute_after(delay, move || account.begins(task));
            }
            account.lateness()
        }
        _ => {
            let account = Account::of(0);
            for _ in 0..row.tasks {
                let delay = account.start().saturating_duration_since(Instant::now());
                pool.execute_after(delay, || account.counts());
            }
            account.burst(row.tasks)
        }
    }
}

/// Measures `tokio`, whose timer counts in milliseconds.
pub(crate) fn tokio(row: &Row) -> Vec<u64> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_time()
        .build()
        .expect("the system gives threads");
    let begun = Account::of(0);
    let insert = |task| {
        runtime.spawn(async move {
            begun.counts();
            tokio::time::sleep(far(task)).await;
        })
    };
    let insert_all = || {
        let handles: Vec<_> = (0..row.tasks).map(insert).collect();
        begun.until_all_have_run(row.tasks); // before this, the timer does not have the tasks
        handles
    };
    match row.name {
        "insert" => timed(|| drop(insert_all())),
        "cancel" => {
            let handles = insert_all();
            timed(|| shuffled(row.tasks).for_each(|task| handles[task].abort()))
        }
        "lateness" => {
            let account = Account::of(row.tasks);
            for task in 0..row.tasks {
                let until = tokio::time::Instant::from_std(account.due(task));
                runtime.spawn(async move {
                    tokio::time::sleep_until(until).await;
                    account.begins(task);
                });
            }
            account.lateness()
        }
        _ => {
            let account = Account::of(0);
            for _ in 0..row.tasks {
                let until = tokio::time::Instant::from_std(account.start());
                runtime.spawn(async move {
                    tokio::time::sleep_until(until).await;
                    account.counts();
                });
            }
            account.burst(row.tasks)
        }
    }
}

/// Sleeps until each task is due, and then runs the task on the same thread. So the measured lateness is only
/// the time that the system takes to wake a thread.
pub(crate) fn bare_thread(row: &Row) -> Vec<u64> {
    let (account, tasks) = (Account::of(row.tasks), row.tasks);
    std::thread::spawn(move || {
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_timerslack(1).expect("one nanosecond is a time");
        for task in 0..tasks {
            std::thread::sleep(account.due(task).saturating_duration_since(Instant::now()));
            account.begins(task);
        }
    });
    account.lateness()
}
