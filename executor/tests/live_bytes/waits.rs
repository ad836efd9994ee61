//! Scenarios for waits that end before the awaited event; the awaited objects exist during all rounds.

use std::thread;

use executor::{
    Block, CancelToken, Cancelled, FifoQueue, Latch, RejectReason, Semaphore, ThreadPoolExecutor, WaitError,
    prelude::*,
};

use crate::support::{SHORT, elsewhere, large, large_task, occupy};

pub(crate) fn latches_that_stay_closed() -> impl Fn() + Sync {
    let latch = Latch::new(1);
    move || {
        for _ in 0..5 {
            assert_eq!(elsewhere(|| latch.wait_timeout(SHORT)), Err(WaitError::TimedOut));
        }
        let token = CancelToken::new();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| token.attach(|| latch.wait()));
            token.cancel();
            assert_eq!(waiter.join().unwrap(), Err(Cancelled));
        });
    }
}

pub(crate) fn permits_that_do_not_come() -> impl Fn() + Sync {
    let semaphore = Semaphore::new(1);
    move || {
        let _held = semaphore.acquire().unwrap();
        for _ in 0..5 {
            assert!(elsewhere(|| semaphore.acquire_timeout(SHORT).is_err()));
        }
        let token = CancelToken::new();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| token.attach(|| semaphore.acquire().is_err()));
            token.cancel();
            assert!(waiter.join().unwrap());
        });
    }
}

pub(crate) fn submitters_that_give_up() -> impl Fn() + Sync {
    let handler = Block::for_at_most(SHORT);
    let pool =
        ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1)).rejection_handler(handler);
    let pool = pool.build().unwrap();
    let busy = occupy(&pool);
    pool.execute(|| ()).unwrap();
    move || {
        let _busy = &busy; // dropped before the pool
        for _ in 0..3 {
            let refused = elsewhere(|| pool.submit(large()).unwrap_err());
            assert!(matches!(refused.reason, RejectReason::TimedOut));
        }
        let token = CancelToken::new();
        token.cancel();
        let refused = token.attach(|| pool.execute(large_task()).unwrap_err());
        assert!(matches!(refused.reason, RejectReason::Interrupted));
    }
}
