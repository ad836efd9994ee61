//! Tests the settings: settings that contradict each other, settings that can change while the pool runs, and
//! a pool without settings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use executor::{
    ExecutorService, FifoQueue, HandOffQueue, PoolConfigError, PriorityQueue, ThreadPoolBuilder,
    ThreadPoolExecutor, UnconfigurablePool, prelude::*,
};

use crate::support::{LONG, SHORT, assert_matches, occupy, on_every_pool, rounds, within_deadline};

fn builder() -> ThreadPoolBuilder {
    ThreadPoolExecutor::builder()
}

fn error(builder: ThreadPoolBuilder) -> PoolConfigError {
    builder.build().unwrap_err()
}

/// SIZE-8, SIZE-10, SIZE-26
#[test]
fn settings_that_contradict_each_other_are_refused_and_both_are_named() {
    assert_eq!(error(builder().threads(0)), PoolConfigError::ZeroThreads);
    assert_eq!(error(builder().core_threads(0).maximum_threads(0)), PoolConfigError::ZeroThreads);
    let above = error(builder().core_threads(3).maximum_threads(2).queue(HandOffQueue::new()));
    assert_eq!(above, PoolConfigError::CoreAboveMaximum { core: 3, maximum: 2 });
    assert_eq!(above.to_string(), "the core size (3) is above the maximum size (2)");
    for unbounded in [
        builder().core_threads(2).maximum_threads(9),
        builder().core_threads(2).maximum_threads(9).queue(FifoQueue::unbounded()),
        builder().core_threads(2).maximum_threads(9).queue(PriorityQueue::new()),
        builder().core_threads(2).maximum_threads(9).queue(executor::LifoQueue::unbounded()),
    ] {
        let never = error(unbounded);
        assert_eq!(never, PoolConfigError::MaximumNeverReached { core: 2, maximum: 9 });
        assert!(never.to_string().contains("(9)") && never.to_string().contains("(2)"), "{never}");
    }
    assert_eq!(
        error(builder().core_threads(0).maximum_threads(2)),
        PoolConfigError::MaximumNeverReached { core: 0, maximum: 2 }
    );
    let zero = error(builder().core_timeout(true).keep_alive(Duration::ZERO));
    assert_eq!(zero, PoolConfigError::ZeroKeepAlive);
    let _: Box<dyn std::error::Error + Send + Sync> = zero.into();
}

#[test]
fn settings_that_only_look_odd_are_accepted() {
    within_deadline(|| {
        for builder in [
            builder().core_threads(0),
            builder().core_threads(0).maximum_threads(1),
            builder().core_threads(2).maximum_threads(9).threads_first(),
            builder().core_threads(2).maximum_threads(9).queue(FifoQueue::bounded(1)),
            builder().core_threads(2).maximum_threads(usize::MAX).queue(HandOffQueue::new()),
            builder().keep_alive(Duration::ZERO),
            builder().keep_alive(Duration::MAX).core_timeout(true),
            builder().threads(usize::MAX),
        ] {
            let printed = format!("{builder:?}");
            let pool = builder.build().unwrap();
            assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7, "{printed}");
        }
    });
}

#[test]
fn by_default_a_pool_has_one_thread_that_stays_a_minute_and_a_queue_without_a_bound() {
    let pool = builder().build().unwrap();
    assert_eq!((pool.core_threads(), pool.maximum_threads()), (1, 1));
    assert_eq!((pool.keep_alive(), pool.core_timeout()), (Duration::from_mins(1), false));
    let pool = ThreadPoolExecutor::fixed(3);
    assert_eq!((pool.core_threads(), pool.maximum_threads()), (3, 3));
    assert!(std::panic::catch_unwind(|| ThreadPoolExecutor::fixed(0)).is_err());
}

#[test]
fn a_setter_that_would_make_a_contradiction_changes_nothing() {
    within_deadline(|| {
        let growing =
            builder().core_threads(2).maximum_threads(4).queue(FifoQueue::bounded(1)).build().unwrap();
        let before = growing.stats();
        assert_eq!(
            growing.set_core_threads(5),
            Err(PoolConfigError::CoreAboveMaximum { core: 5, maximum: 4 })
        );
        assert_eq!(
            growing.set_maximum_threads(1),
            Err(PoolConfigError::CoreAboveMaximum { core: 2, maximum: 1 })
        );
        assert_eq!(growing.set_maximum_threads(0), Err(PoolConfigError::ZeroThreads));
        assert_eq!(growing.stats(), before);

        let unbounded = ThreadPoolExecutor::fixed(2);
        let never = PoolConfigError::MaximumNeverReached { core: 2, maximum: 3 };
        assert_eq!(unbounded.set_maximum_threads(3), Err(never));
        let never = PoolConfigError::MaximumNeverReached { core: 1, maximum: 2 };
        assert_eq!(unbounded.set_core_threads(1), Err(never));
        assert_eq!(unbounded.set_threads(0), Err(PoolConfigError::ZeroThreads));
        assert_eq!((unbounded.core_threads(), unbounded.maximum_threads()), (2, 2));

        let pool = builder().keep_alive(Duration::ZERO).build().unwrap();
        assert_eq!(pool.set_core_timeout(true), Err(PoolConfigError::ZeroKeepAlive));
        assert!(!pool.core_timeout());
        pool.set_keep_alive(SHORT).unwrap();
        pool.set_core_timeout(true).unwrap();
        assert_eq!(pool.set_keep_alive(Duration::ZERO), Err(PoolConfigError::ZeroKeepAlive));
        assert_eq!(pool.keep_alive(), SHORT);
        assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
    });
}

#[test]
fn settings_can_be_changed_after_the_end_and_change_nothing_then() {
    within_deadline(|| {
        let pool = builder().core_threads(1).maximum_threads(2).queue(FifoQueue::bounded(1)).build().unwrap();
        pool.close();
        pool.set_maximum_threads(5).unwrap();
        pool.set_core_threads(5).unwrap();
        pool.set_keep_alive(SHORT).unwrap();
        assert_eq!((pool.prestart_all_core_threads(), pool.stats().threads), (0, 0));
        assert!(pool.is_terminated() && pool.execute(|| ()).is_err());
    });
}

/// SIZE-21
#[test]
fn a_pool_without_its_knobs_does_everything_else() {
    within_deadline(|| {
        let inner = builder().threads(2).name("hidden").queue(FifoQueue::bounded(1)).build().unwrap();
        let pool = UnconfigurablePool::new(inner);
        let busy = [occupy(&pool), occupy(&pool)];
        let waiting = pool.submit(|| 7).unwrap();
        assert_eq!((pool.queued(), pool.stats().active, pool.snapshot().queued.len()), (1, 2, 1));
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, executor::RejectReason::Saturated);
        assert!(format!("{pool:?}").starts_with("UnconfigurablePool(") && !pool.is_shutdown());
        assert!(!pool.await_termination(SHORT));
        drop(busy);
        assert_eq!(waiting.join_timeout(LONG).unwrap(), 7);
        pool.shutdown();
        assert!(pool.shutdown_now().is_empty() && pool.await_termination(LONG) && pool.is_terminated());
    });
}

/// Several threads change the settings while the pool runs tasks. At the end of the test, each task has run
/// exactly once.
#[test]
fn knobs_can_be_turned_while_the_pool_works() {
    within_deadline(|| {
        let pool = builder().core_threads(1).maximum_threads(4).keep_alive(Duration::from_micros(100));
        let pool = pool.queue(FifoQueue::bounded(4)).rejection_handler(executor::Block::new());
        let pool = pool.build().unwrap();
        let submitted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let submitters = [(); 2].map(|()| {
                scope.spawn(|| {
                    for _ in rounds(1_500) {
                        pool.execute(|| ()).unwrap();
                        submitted.fetch_add(1, Ordering::Relaxed);
                    }
                })
            });
            let mut round = 0;
            while !submitters.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                pool.set_core_threads(round % 3).unwrap();
                pool.set_maximum_threads(2 + round % 4).unwrap();
                pool.set_keep_alive(Duration::from_micros(1 + round as u64 % 200)).unwrap();
                pool.set_core_timeout(round % 2 == 0).unwrap();
                let stats = pool.stats();
                assert!(stats.queued <= 4 && stats.peak_threads <= 5, "{stats}");
                round += 1;
            }
        });
        pool.close();
        let stats = pool.stats();
        let submitted = submitted.into_inner();
        assert_eq!(
            (stats.completed, stats.task_count(), stats.threads),
            (submitted, submitted, 0),
            "{stats}"
        );
    });
}

#[test]
fn every_pool_reports_itself_shut_down_in_the_end() {
    within_deadline(|| {
        on_every_pool(|pool| {
            assert!(!pool.is_shutdown() && !pool.is_terminated());
            pool.close();
            assert!(pool.is_shutdown() && pool.is_terminated());
        });
    });
}
