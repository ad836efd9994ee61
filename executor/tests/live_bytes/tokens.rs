//! Scenarios for tokens and their callbacks.

use std::thread;
use std::time::Duration;

use executor::{CancelToken, Cancelled, DirectExecutor, Latch, ThreadPoolExecutor, masked, prelude::*};

use crate::support::{LONG, SHORT, fail, large, large_task};

pub(crate) fn children_of_a_token_that_stays() -> impl Fn() + Sync {
    let parent = CancelToken::new();
    move || {
        let children: Vec<_> = (0..20).map(|_| parent.child()).collect();
        let grandchildren: Vec<_> = children.iter().map(CancelToken::child).collect();
        assert!(children[0].cancel() && grandchildren[0].is_cancelled());
        drop(children);
        assert!(!grandchildren[1].is_cancelled());
    }
}

pub(crate) fn chains_of_tokens() -> impl Fn() + Sync {
    || {
        let first = CancelToken::new();
        let mut last = first.clone();
        (0..1_000).for_each(|_| last = last.child());
        let kept = last.child();
        drop(last);
        assert!(first.cancel() && kept.is_cancelled());
        assert!(first.child().is_cancelled());
    }
}

pub(crate) fn callbacks_taken_back() -> impl Fn() + Sync {
    let token = CancelToken::new();
    move || {
        let registrations: Vec<_> = (0..20)
            .map(|_| {
                let large = large();
                token.on_cancel(move || drop(large))
            })
            .collect();
        drop(registrations);
    }
}

pub(crate) fn callbacks_called() -> impl Fn() + Sync {
    || {
        let token = CancelToken::new();
        let registrations: Vec<_> = (0..20).map(|_| token.on_cancel(large_task())).collect();
        let failing = token.on_cancel(fail);
        assert!(token.cancel());
        let too_late = token.on_cancel(fail);
        drop((registrations, failing, too_late));
    }
}

pub(crate) fn callbacks_beside_a_wait() -> impl Fn() + Sync {
    || {
        let (token, latch) = (CancelToken::new(), Latch::new(1));
        let registration = token.on_cancel(large_task());
        thread::scope(|scope| {
            scope.spawn(move || drop(registration)).join().unwrap();
            let waiter = scope.spawn(|| token.attach(|| latch.wait_timeout(LONG)));
            token.cancel();
            assert!(waiter.join().unwrap().is_err());
        });
    }
}

pub(crate) fn sleeps_on_a_token_that_stays() -> impl Fn() + Sync {
    let token = CancelToken::new();
    move || {
        token.sleep(SHORT).unwrap();
        token.attach(|| CancelToken::new().sleep(SHORT)).unwrap();
        let child = token.child();
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| child.sleep(LONG));
            child.cancel();
            assert_eq!(sleeper.join().unwrap(), Err(Cancelled));
        });
    }
}

pub(crate) fn tokens_of_tasks() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let kept: Vec<_> =
            (0..20).map(|_| pool.submit(CancelToken::current).unwrap().join().unwrap()).collect();
        let nested = pool.submit(|| {
            DirectExecutor.execute(|| drop(CancelToken::current())).unwrap();
            masked(|| CancelToken::current().child())
        });
        let nested = nested.unwrap().join().unwrap();
        drop(pool.shutdown_now());
        assert!(nested.is_cancelled() && kept.iter().all(CancelToken::is_cancelled));
    }
}

/// A token whose deadline is far in the future, so that the timer's thread exists in each round.
fn kept_awake() -> CancelToken {
    CancelToken::new().with_timeout(Duration::from_secs(3600))
}

pub(crate) fn deadlines_taken_back() -> impl Fn() + Sync {
    let root = kept_awake();
    move || {
        let hour = Duration::from_secs(3600);
        let tokens: Vec<_> = (0..10_000).map(|_| root.with_timeout(hour)).collect();
        let callbacks: Vec<_> = tokens.iter().take(10).map(|token| token.on_cancel(large_task())).collect();
        tokens.iter().take(100).for_each(|token| assert!(token.cancel()));
        drop((callbacks, tokens));
    }
}

pub(crate) fn deadlines_that_come() -> impl Fn() + Sync {
    let root = kept_awake();
    move || {
        let tokens: Vec<_> = (0..100).map(|_| root.with_timeout(SHORT)).collect();
        assert!(tokens.iter().all(|token| token.sleep(LONG).is_err()));
    }
}

pub(crate) fn links_to_tokens_that_stay() -> impl Fn() + Sync {
    let stay = [CancelToken::new(), CancelToken::new()];
    move || {
        let linked: Vec<_> = (0..20).map(|_| CancelToken::linked(&stay)).collect();
        let further: Vec<_> = linked.iter().map(|token| CancelToken::linked([token, &stay[0]])).collect();
        linked[0].cancel_because("one of them");
        assert!(further[0].is_cancelled() && !further[1].is_cancelled());
        drop(linked);
        assert!(!further[1].is_cancelled());
    }
}
