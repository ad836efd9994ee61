//! Checks the memory that a stripe leaves behind when its key has no more tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::{
    ExecutorCompletionService, SerialExecutor, Stripe, StripedExecutor, ThreadPoolExecutor, prelude::*,
};

use crate::LIVE_BYTES;
use crate::support::{large_task, occupy, until};

/// The number of bytes that an executor and its pool may keep after all stripes are removed, no matter how
/// many stripes there were: tables keep spare rows, and the queue keeps room for tasks.
const IDLE: isize = 1 << 20;

/// In each round, twenty thousand keys have tasks at the same time. Then twenty thousand more keys have
/// tasks, one key after the other. All rounds together use some million keys.
pub(crate) fn many_at_once_and_many_in_turn() -> impl Fn() + Sync {
    let next = AtomicUsize::new(0);
    move || {
        let before = LIVE_BYTES.load(Ordering::SeqCst);
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let all_gone = || until("all stripes are gone", || striped.stats().stripes == 0);
        let first = next.fetch_add(40_000, Ordering::SeqCst);
        let busy = [occupy(&pool), occupy(&pool)];
        for key in first..first + 20_000 {
            striped.execute_in(key, || ()).unwrap();
        }
        let at_once = LIVE_BYTES.load(Ordering::SeqCst) - before;
        drop(busy);
        all_gone();
        for key in first + 20_000..first + 40_000 {
            striped.execute_in(key, || ()).unwrap();
            if key % 100 == 0 {
                // Without this wait, there would be thousands of stripes at once on a busy machine, and the
                // pool would keep room for them.
                all_gone();
            }
        }
        all_gone();
        for _ in 0..10_000 {
            striped.execute_in(first, || ()).unwrap(); // one long stripe
        }
        all_gone();
        pool.close();
        let left = LIVE_BYTES.load(Ordering::SeqCst) - before;
        assert!(left < IDLE && left < at_once / 4, "{left} bytes are left of {at_once}");
    }
}

/// Scenario: strands end before some of their tasks have run.
pub(crate) fn handed_back_and_dropped() -> impl Fn() + Sync {
    || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let serial = SerialExecutor::over(Arc::clone(&pool)).turns_of(1);
        let busy = occupy(&pool);
        for n in 0..100 {
            striped.execute_in(n % 10, large_task()).unwrap();
            serial.execute(large_task()).unwrap();
        }
        drop(striped.submit_in(0, || ()).unwrap().remove());
        drop(striped.shutdown_now());
        let other = StripedExecutor::over(Arc::clone(&pool));
        for n in 0..100 {
            other.execute_in(n % 10, large_task()).unwrap();
        }
        drop(other); // before its tasks have run
        drop(busy);
        drop(serial);
        pool.close();
    }
}

/// Lines remove cancelled tasks. Apart from a few tasks, at most half of the tasks in a strand are cancelled
/// tasks.
pub(crate) fn cancelled_while_they_wait() -> impl Fn() + Sync {
    || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (serial, striped) =
            (SerialExecutor::over(Arc::clone(&pool)), StripedExecutor::over(Arc::clone(&pool)));
        let busy = occupy(&pool);
        let before = LIVE_BYTES.load(Ordering::SeqCst);
        for n in 0..10_000 {
            assert!(serial.submit(|| ()).unwrap().cancel());
            assert!(striped.submit_in(n % 10, || ()).unwrap().cancel());
        }
        let left = LIVE_BYTES.load(Ordering::SeqCst) - before;
        assert!(left < IDLE / 4, "{left} bytes are left");
        drop(busy);
        pool.close();
    }
}

/// The process has one record of the strands whose tasks report their end to a waiter. A strand is in the
/// record until all its tasks of this kind have left the strand.
pub(crate) fn reported_to_who_waits_for_any() -> impl Fn() + Sync {
    let next = AtomicUsize::new(0);
    move || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        for _ in 0..100 {
            let stripe = Stripe::of(Arc::clone(&striped), next.fetch_add(1, Ordering::SeqCst));
            let service = ExecutorCompletionService::new(stripe);
            for n in 0..3 {
                let _ = service.submit(move || n).unwrap();
            }
            for n in 0..3 {
                assert_eq!(service.take().unwrap().unwrap().join().unwrap(), n);
            }
        }
        pool.close();
    }
}
