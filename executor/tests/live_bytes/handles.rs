//! Scenarios for handles: they wait for a handle in each possible way.

use std::thread;

use executor::{CancelToken, JoinError, Promise, SharedHandle, ThreadPoolExecutor, prelude::*};

use crate::support::{SHORT, Signal, fail, large, occupy};

pub(crate) fn shared() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let shared = pool.submit(large()).unwrap().shared();
        shared.on_done(drop);
        assert!(shared.join_timeout(SHORT).is_err());
        thread::scope(|scope| {
            let joiners: Vec<_> = (0..3).map(|_| scope.spawn(|| shared.join())).collect();
            drop(busy);
            assert!(joiners.into_iter().all(|joiner| *joiner.join().unwrap().unwrap() == 200));
        });
        shared.on_done(drop);
        drop(pool.submit(fail).unwrap().shared());
        drop(pool.submit(large()).unwrap().shared());
    }
}

pub(crate) fn shared_joins_that_give_up() -> impl Fn() + Sync {
    let (promise, handle) = Promise::<u8>::new();
    let shared: SharedHandle<u8> = handle.shared();
    move || {
        assert!(shared.join_timeout(SHORT).is_err());
        let cancelled = CancelToken::new();
        cancelled.cancel();
        assert!(cancelled.attach(|| shared.join()).is_err());
        drop(shared.clone());
        assert!(!promise.is_finished());
    }
}

pub(crate) fn joins_that_give_up() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let busy = occupy(&pool);
        let _second = occupy(&pool);
        let Err(JoinError::TimedOut(handle)) = pool.submit(large()).unwrap().join_timeout(SHORT) else {
            panic!("it cannot have run")
        };
        assert!(handle.try_join().is_err());
        assert!(pool.submit(large()).unwrap().join_or_cancel(SHORT).is_err());
        drop(busy);
    }
}

pub(crate) fn joins_that_are_interrupted() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let (_promise, never) = Promise::<u8>::new();
        let begun = Signal::default();
        let there = begun.clone();
        let joiner = pool.submit(move || {
            there.set();
            matches!(never.join(), Err(JoinError::Interrupted(_)))
        });
        begun.wait();
        drop(pool.shutdown_now());
        assert!(joiner.unwrap().join().unwrap());
    }
}

pub(crate) fn done_callbacks() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        pool.submit(large()).unwrap().on_done(drop);
        let busy = occupy(&pool);
        let waiting = pool.submit(large()).unwrap();
        let canceller = waiting.canceller();
        let (promise, handle) = Promise::new();
        waiting.on_done(move |result| _ = promise.complete(result.is_ok()));
        let last = pool.submit(large()).unwrap();
        last.on_done(|_| fail());
        assert!(canceller.cancel());
        drop(busy);
        assert!(!handle.join().unwrap());
    }
}

pub(crate) fn awaited() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let mut dropped = pool.submit(large()).unwrap();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::Pin::new(&mut dropped).poll(&mut context).is_pending());
        let awaited = pool.submit(large()).unwrap();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| pollster::block_on(awaited).unwrap());
            drop(busy);
            assert_eq!(waiter.join().unwrap(), 200);
        });
        drop(dropped);
    }
}

pub(crate) fn promises() -> impl Fn() + Sync {
    || {
        for n in 0..10 {
            let (promise, handle) = Promise::new();
            promise.complete(vec![n]).unwrap();
            assert_eq!(promise.complete(vec![1]).unwrap_err(), [1]);
            drop(promise.token());
            assert_eq!(handle.join().unwrap(), [n]);
            let (promise, handle) = Promise::<Vec<u8>>::new();
            let token = promise.token();
            drop(promise);
            assert!(handle.join().is_err());
            drop(token);
            let (promise, handle) = Promise::<Vec<u8>>::new();
            promise.panic_with(Box::new("oh")).unwrap();
            assert!(handle.join().is_err());
            let (promise, handle) = Promise::<Vec<u8>>::new();
            drop(handle);
            promise.complete(vec![n]).unwrap();
            let (promise, handle) = Promise::<Vec<u8>>::new();
            let token = promise.token();
            assert!(handle.cancel() && token.is_cancelled());
        }
    }
}
