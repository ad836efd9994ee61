//! Tests the numbers that a pool reports, and the threads that these numbers count.

use std::sync::Arc;

use executor::{ExecutorService, FifoQueue, FutureTask, PoolState, Task, ThreadPoolExecutor, prelude::*};

use crate::support::{LONG, Signal, eventually, occupy, within_deadline};

/// SIZE-7, SLIP-1
#[test]
fn no_thread_exists_before_the_first_task_and_then_one_more_for_each_up_to_the_size() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(3);
        assert_eq!((pool.stats().threads, pool.stats().core_threads), (0, 3));
        for threads in [1, 2, 3, 3, 3] {
            // The test joins each task before it submits the next task, so an existing thread is idle.
            pool.submit(|| ()).unwrap().join().unwrap();
            assert_eq!(pool.stats().threads, threads);
        }
        assert_eq!(pool.stats().peak_threads, 3);
        pool.close();
        assert_eq!((pool.stats().threads, pool.stats().peak_threads), (0, 3));
    });
}

/// SIZE-7
#[test]
fn a_single_thread_pool_has_one_thread_as_long_as_it_lives() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        assert_eq!(pool.stats().threads, 0);
        for _ in 0..10 {
            pool.submit(|| ()).unwrap().join().unwrap();
            assert_eq!(pool.stats().threads, 1);
        }
        pool.close();
        assert_eq!(pool.stats().threads, 0);
    });
}

/// KEEP-2
#[test]
fn idle_threads_stay() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let thread = || pool.submit(|| std::thread::current().id()).unwrap().join().unwrap();
        let first = thread();
        assert!(!pool.await_termination(10 * crate::support::SHORT));
        assert_eq!(thread(), first);
    });
}

/// STAT-1
#[test]
fn active_are_those_that_run_now_seen_from_outside_and_from_inside() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        assert_eq!(pool.stats().active, 0);
        let busy = occupy(&pool);
        assert_eq!(pool.stats().active, 1);
        drop(busy);
        eventually("it is idle", || pool.stats().active == 0);
        let own = Arc::clone(&pool);
        assert_eq!(pool.submit(move || own.stats().active).unwrap().join().unwrap(), 1);
        assert_eq!(pool.stats().active, 0, "a thread that has joined finds it counted");
    });
}

/// STAT-2
#[test]
fn a_task_counts_as_completed_when_it_has_ended_and_not_before() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        assert_eq!(pool.submit(move || own.stats().completed).unwrap().join().unwrap(), 0);
        for completed in 1..100 {
            assert_eq!(pool.stats().completed, completed);
            pool.submit(|| ()).unwrap().join().unwrap();
        }
    });
}

/// STAT-2: a test of the numbers that a callback sees. The library releases a joiner before the library runs
/// the callback.
#[test]
fn a_callback_finds_its_task_counted() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let (own, done) = (Arc::clone(&pool), Signal::new());
        let there = done.clone();
        let busy = occupy(&pool);
        pool.submit(|| ()).unwrap().on_done(move |_| {
            assert_eq!((own.stats().completed, own.stats().active), (2, 0));
            there.set();
        });
        drop(busy);
        done.wait();
    });
}

/// SLIP-6
#[test]
fn the_task_count_is_what_waits_runs_and_has_ended() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        for _ in 0..3 {
            pool.submit(|| ()).unwrap().join().unwrap();
        }
        let busy = [occupy(&pool), occupy(&pool)];
        let waiting: Vec<_> = (0..4).map(|_| pool.submit(|| ()).unwrap()).collect();
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.active, stats.queued, stats.task_count()), (3, 2, 4, 9));
        drop(busy);
        for handle in waiting {
            handle.join_timeout(LONG).unwrap();
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().task_count()), (9, 9));
    });
}

/// SLIP-6: a task that was cancelled while it waited is not in any count.
#[test]
fn a_task_cancelled_while_it_waited_is_not_counted() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let (kept, cancelled) = (pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap());
        assert_eq!((pool.queued(), pool.stats().task_count()), (2, 3));
        assert!(cancelled.cancel());
        assert_eq!((pool.queued(), pool.stats().queued, pool.stats().task_count()), (1, 1, 2));
        drop(busy);
        kept.join().unwrap();
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().task_count()), (2, 2));
    });
}

#[test]
fn a_task_that_gives_up_or_is_cancelled_while_it_runs_counts_as_completed() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        drop(pool.submit_cancellable(|_| Err::<(), _>(executor::Cancelled)).unwrap().join());
        let spot = crate::support::Spot::default();
        let there = spot.clone();
        let running = pool.submit_cancellable(move |token| {
            there.arrive();
            token.sleep(std::time::Duration::MAX)
        });
        spot.wait_until_blocked();
        assert!(running.unwrap().cancel());
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().panicked), (2, 0));
    });
}

#[test]
fn each_look_is_consistent_whatever_happens_meanwhile() {
    within_deadline(|| {
        const TASKS: u64 = 2_000;
        let pool = ThreadPoolExecutor::fixed(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..TASKS {
                    pool.execute(|| ()).unwrap();
                }
            });
            let mut last = 0;
            while last < TASKS {
                let stats = pool.stats();
                assert!(stats.active <= stats.threads && stats.threads <= 2, "{stats}");
                assert!(stats.task_count() >= last && stats.task_count() <= TASKS, "{stats}, after {last}");
                last = stats.task_count();
            }
        });
        pool.close();
        assert_eq!(pool.stats().completed, TASKS);
    });
}

#[test]
fn the_printed_form_can_be_read() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().threads(2).name("pages").build().unwrap();
        let _busy = occupy(&pool);
        assert_eq!(
            pool.stats().to_string(),
            "pages, running: 1 of 2 threads, 1 active, 0 queued, 0 completed (0 panicked)"
        );
        assert!(format!("{pool:?}").contains("active: 1"), "{pool:?}");
        let printed = [
            (PoolState::Running, "running"),
            (PoolState::ShuttingDown, "shutting down"),
            (PoolState::Stopping, "stopping"),
            (PoolState::Terminated, "terminated"),
        ];
        assert!(printed.is_sorted(), "a state only ever moves to a later one");
        assert!(printed.iter().all(|(state, text)| state.to_string() == *text));
    });
}

#[test]
fn what_a_pool_prints_says_what_its_sizes_are() {
    within_deadline(|| {
        let growing =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(4).queue(FifoQueue::bounded(1));
        let pool = growing.name("grows").build().unwrap();
        assert_eq!(
            pool.stats().to_string(),
            "grows, running: 0 threads (core 1, maximum 4), 0 active, 0 queued, 0 completed (0 panicked)"
        );
        let pool = ThreadPoolExecutor::cached();
        pool.execute(|| std::panic::resume_unwind(Box::new("counted"))).unwrap();
        pool.close();
        let stats = pool.stats().to_string();
        let told = "terminated: 0 threads (core 0, no maximum), 0 active, 0 queued, 1 completed (1 panicked)";
        assert!(stats.ends_with(told), "{stats}");
        assert_eq!(PoolState::Tidying.to_string(), "tidying up");
    });
}

/// The snapshot shows tasks by name, if they have a name. The snapshot shows the running tasks first, and
/// then the waiting tasks in the order in which they will run.
#[test]
fn a_snapshot_names_what_runs_and_what_waits() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        assert_eq!(pool.snapshot().to_string(), pool.stats().to_string());
        let busy = occupy(&pool);
        pool.execute(Task::new(|| ()).named("first")).unwrap();
        let unnamed = pool.submit(|| ()).unwrap();
        let cancelled = pool.submit(FutureTask::new(|| ()).named("cancelled")).unwrap();
        cancelled.cancel();
        let snapshot = pool.snapshot();
        assert_eq!(snapshot.stats, pool.stats());
        assert_eq!((snapshot.running.len(), snapshot.running[0].starts_with('#')), (1, true));
        assert_eq!(snapshot.queued, ["first".to_owned(), unnamed.id().to_string()]);
        assert_eq!(
            snapshot.to_string(),
            format!(
                "{}\n  running {}\n  queued  first\n  queued  {}",
                snapshot.stats,
                snapshot.running[0],
                unnamed.id()
            )
        );
        drop(busy);
        unnamed.join_timeout(LONG).unwrap();
        assert!(pool.snapshot().running.is_empty(), "an idle thread runs nothing");
        pool.close();
        assert!(pool.snapshot().running.is_empty() && pool.snapshot().queued.is_empty());
    });
}
