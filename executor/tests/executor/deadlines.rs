//! Tokens that cancel themselves when their time is up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use executor::{CancelKind, CancelToken, Latch, ThreadPoolExecutor, WaitError, prelude::*};

use crate::support::{LONG, SHORT, Signal, blocked, eventually, tracked, within_deadline};

const FAR: Duration = Duration::from_secs(3600);

fn kind(token: &CancelToken) -> Option<CancelKind> {
    token.reason().map(|reason| reason.kind())
}

#[test]
fn a_token_with_a_timeout_is_cancelled_when_it_has_passed_and_not_before() {
    within_deadline(|| {
        let parent = CancelToken::new();
        let before = Instant::now();
        let child = parent.with_timeout(SHORT);
        assert!(child.sleep(LONG).is_err());
        assert!(before.elapsed() >= SHORT);
        assert_eq!(kind(&child), Some(CancelKind::Deadline));
        assert!(!child.reason().unwrap().is_inherited());
        assert!(!parent.is_cancelled());
    });
}

#[test]
fn what_is_below_sees_the_deadline_and_a_token_above_comes_first_if_it_is_sooner() {
    within_deadline(|| {
        let soon = CancelToken::new().with_timeout(SHORT);
        let below = soon.with_timeout(FAR).child();
        assert!(below.sleep(LONG).is_err());
        let reason = below.reason().unwrap();
        assert_eq!((reason.kind(), reason.is_inherited()), (CancelKind::Deadline, true));
    });
}

#[test]
fn every_wait_under_it_comes_back() {
    within_deadline(|| {
        let token = CancelToken::new().with_timeout(SHORT);
        let waited = token.attach(|| (Latch::new(1).wait(), Latch::new(1).wait_timeout(LONG)));
        assert_eq!(waited.0.unwrap_err().reason().unwrap().kind(), CancelKind::Deadline);
        assert_eq!(waited.1, Err(WaitError::Interrupted));
    });
}

#[test]
fn callbacks_run_when_the_deadline_comes_and_find_the_whole_tree_cancelled() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let token = CancelToken::new().with_timeout(SHORT);
        let below = token.child().child();
        let here = thread::current().id();
        let registration = token.on_cancel(move || {
            tell.send((below.is_cancelled(), thread::current().id() != here)).unwrap();
        });
        assert_eq!(told.recv_timeout(LONG), Ok((true, true)));
        drop(registration);
    });
}

/// The timer's thread serves all tokens, so a callback must not delay it.
#[test]
fn a_callback_that_blocks_holds_up_no_other_deadline() {
    within_deadline(|| {
        let (entered, release) = (Signal::new(), Signal::new());
        let token = CancelToken::new().with_timeout(SHORT);
        let registration = token.on_cancel({
            let (entered, release) = (entered.clone(), release.clone());
            move || {
                entered.set();
                release.wait();
            }
        });
        entered.wait();
        for _ in 0..3 {
            assert!(CancelToken::new().with_timeout(SHORT).sleep(LONG).is_err());
        }
        release.set();
        drop(registration);
    });
}

#[test]
fn of_cancel_and_deadline_the_first_gives_the_reason() {
    within_deadline(|| {
        // On a busy machine, the deadline can come before the call of `cancel`.
        let in_time = || {
            let token = CancelToken::new().with_timeout(SHORT);
            token.cancel_because("enough").then_some(token)
        };
        let token = (0..1_000).find_map(|_| in_time()).expect("one of them is cancelled in time");
        // The deadline of `token` is earlier than the deadline of this new token. So when this wait ends, the
        // deadline of `token` has passed.
        assert!(CancelToken::new().with_timeout(SHORT).sleep(LONG).is_err());
        assert_eq!(token.reason().unwrap().message(), Some("enough"));

        let token = CancelToken::new().with_timeout(SHORT);
        assert!(token.sleep(LONG).is_err());
        assert!(!token.cancel_because("too late"));
        assert_eq!(kind(&token), Some(CancelKind::Deadline));
    });
}

#[test]
fn the_edges_of_the_clock() {
    within_deadline(|| {
        let root = CancelToken::new();
        assert_eq!(kind(&root.with_timeout(Duration::ZERO)), Some(CancelKind::Deadline));
        assert_eq!(kind(&root.with_deadline(Instant::now())), Some(CancelKind::Deadline));
        if let Some(past) = Instant::now().checked_sub(SHORT) {
            assert_eq!(kind(&root.with_deadline(past)), Some(CancelKind::Deadline));
        }
        let nearly = Duration::from_secs(u64::MAX / 4); // the clock of some systems can express this
        let never = [Duration::MAX, nearly, nearly / 2, Duration::from_secs(i64::MAX as u64), 100_000 * FAR];
        let never = never.map(|timeout| root.with_timeout(timeout));
        assert!(root.with_timeout(SHORT).sleep(LONG).is_err(), "they hold up no other deadline");
        assert!(never.iter().all(|token| !token.is_cancelled()));
        root.cancel();
        assert!(never.iter().all(CancelToken::is_cancelled));
        assert_eq!(kind(&root.with_timeout(Duration::ZERO)), Some(CancelKind::Requested), "born cancelled");
    });
}

#[test]
fn a_sooner_deadline_does_not_wait_for_a_later_one() {
    within_deadline(|| {
        let later: Vec<_> = (1..=3).map(|hours| CancelToken::new().with_timeout(hours * FAR)).collect();
        assert!(CancelToken::new().with_timeout(SHORT).sleep(LONG).is_err());
        assert!(later.iter().all(|token| !token.is_cancelled()));
    });
}

/// The timer keeps neither tokens nor the values registered with tokens alive.
#[test]
fn a_token_that_is_dropped_before_its_time_takes_everything_with_it() {
    let (value, alive) = tracked();
    let token = CancelToken::new().with_timeout(FAR);
    token.on_cancel(move || drop(value)).keep();
    assert!(alive());
    drop(token);
    assert!(!alive());
}

#[test]
fn thousands_of_tokens_with_deadlines_are_all_cancelled() {
    within_deadline(|| {
        let (root, called) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
        let tokens: Vec<_> = (0..5_000)
            .map(|n| {
                let token = root.with_timeout(SHORT + Duration::from_micros(n % 7));
                if n % 10 == 0 {
                    let called = Arc::clone(&called);
                    token.on_cancel(move || _ = called.fetch_add(1, Ordering::SeqCst)).keep();
                }
                token
            })
            .collect();
        eventually("all are cancelled", || tokens.iter().all(CancelToken::is_cancelled));
        eventually("all callbacks ran", || called.load(Ordering::SeqCst) == 500);
        assert!(tokens.iter().all(|token| kind(token) == Some(CancelKind::Deadline)));
    });
}

#[test]
fn a_task_gives_a_part_of_itself_a_limit() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let task = pool.submit_cancellable(|token| {
            let limit = token.with_timeout(SHORT);
            let late = limit.sleep(LONG).unwrap_err();
            token.check()?; // the task itself goes on
            Ok(late.reason().unwrap().kind())
        });
        assert_eq!(task.unwrap().join().unwrap(), CancelKind::Deadline);
        assert!(!pool.submit(|| CancelToken::current().is_cancelled()).unwrap().join().unwrap());
    });
}

#[test]
fn a_thread_that_waits_is_woken_by_the_deadline_of_a_token_above() {
    within_deadline(|| {
        let limit = CancelToken::new().with_timeout(4 * SHORT);
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let handle = pool.submit_cancellable(|token| token.sleep(LONG)).unwrap();
        let joins = blocked(move || limit.attach(|| handle.join().map_err(|error| error.to_string())));
        let told = joins.result().unwrap_err();
        assert_eq!(told, "the waiting task was cancelled");
        drop(pool.shutdown_now());
    });
}
