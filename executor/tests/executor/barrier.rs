//! The barrier.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{Barrier, BarrierError, CancelReason, CancelToken};

use crate::support::{LONG, SHORT, Waiter, blocked, eventually, on_thread, within_deadline};

fn waits(barrier: &Arc<Barrier>) -> Waiter<Result<usize, BarrierError>> {
    let barrier = Arc::clone(barrier);
    blocked(move || barrier.wait())
}

#[test]
fn all_go_on_when_the_last_one_comes_and_exactly_one_is_the_last() {
    within_deadline(|| {
        let barrier = Arc::new(Barrier::new(4));
        for _meeting in 0..3 {
            let early = [(); 3].map(|()| waits(&barrier));
            eventually("three wait", || barrier.waiting() == 3);
            assert!(early.iter().all(Waiter::still_waits));
            assert_eq!(barrier.wait(), Ok(0));
            let mut places = early.map(|waiter| waiter.result().unwrap());
            places.sort_unstable();
            assert_eq!(places, [1, 2, 3]);
            assert_eq!((barrier.waiting(), barrier.is_broken()), (0, false));
        }
    });
}

#[test]
fn what_was_done_before_a_meeting_is_seen_after_it() {
    within_deadline(|| {
        let (barrier, count) = (Arc::new(Barrier::new(4)), Arc::new(AtomicUsize::new(0)));
        let parties = [(); 4].map(|()| {
            let (barrier, count) = (Arc::clone(&barrier), Arc::clone(&count));
            on_thread(move || {
                for round in 1..=500 {
                    count.fetch_add(1, Ordering::Relaxed);
                    barrier.wait().unwrap();
                    assert_eq!(count.load(Ordering::Relaxed), 4 * round);
                    barrier.wait().unwrap();
                }
            })
        });
        parties.into_iter().for_each(Waiter::result);
    });
}

#[test]
fn a_cancelled_party_breaks_the_barrier_for_all() {
    within_deadline(|| {
        let (barrier, token) = (Arc::new(Barrier::new(4)), CancelToken::new());
        let others = [waits(&barrier), waits(&barrier)];
        let cancelled = blocked({
            let (barrier, token) = (Arc::clone(&barrier), token.clone());
            move || token.attach(|| barrier.wait())
        });
        eventually("three wait", || barrier.waiting() == 3);
        token.cancel_because(CancelReason::new("the user left"));
        let Err(BarrierError::Interrupted(why)) = cancelled.result() else { panic!("it went on") };
        assert_eq!(why.reason().and_then(CancelReason::message), Some("the user left"));
        for other in others {
            assert_eq!(other.result(), Err(BarrierError::Broken));
        }
        assert_eq!((barrier.waiting(), barrier.is_broken()), (0, true));
        assert_eq!(barrier.wait(), Err(BarrierError::Broken)); // a later party gets the error, too
        assert_eq!(barrier.wait_timeout(LONG), Err(BarrierError::Broken));
    });
}

#[test]
fn a_party_that_is_cancelled_already_does_not_come_even_if_it_would_be_the_last() {
    within_deadline(|| {
        let (barrier, token) = (Arc::new(Barrier::new(2)), CancelToken::new());
        let other = waits(&barrier);
        eventually("it waits", || barrier.waiting() == 1);
        token.cancel();
        assert!(matches!(token.attach(|| barrier.wait()), Err(BarrierError::Interrupted(_))));
        assert_eq!(other.result(), Err(BarrierError::Broken));
    });
}

#[test]
fn a_party_that_gives_up_breaks_the_barrier_when_its_time_is_up_and_not_before() {
    within_deadline(|| {
        let barrier = Arc::new(Barrier::new(3));
        let other = waits(&barrier);
        let begin = Instant::now();
        assert_eq!(barrier.wait_timeout(SHORT), Err(BarrierError::TimedOut));
        assert!(begin.elapsed() >= SHORT);
        assert_eq!(other.result(), Err(BarrierError::Broken));
    });
}

#[test]
fn a_limit_of_zero_is_enough_for_the_last_party() {
    within_deadline(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = waits(&barrier);
        eventually("it waits", || barrier.waiting() == 1);
        assert_eq!(barrier.wait_timeout(Duration::ZERO), Ok(0));
        assert_eq!(other.result(), Ok(1));
    });
}

/// The barrier can break after a meeting has ended and before a waiter of this meeting wakes up.
#[test]
fn a_later_break_does_not_reach_those_who_have_met() {
    within_deadline(|| {
        for _round in 0..200 {
            let barrier = Arc::new(Barrier::new(2));
            let other = waits(&barrier);
            eventually("it waits", || barrier.waiting() == 1);
            assert_eq!(barrier.wait(), Ok(0));
            assert_eq!(barrier.wait_timeout(Duration::ZERO), Err(BarrierError::TimedOut));
            assert_eq!(other.result(), Ok(1));
        }
    });
}

#[test]
fn it_prints_its_state() {
    let barrier = Barrier::new(2);
    assert_eq!(format!("{barrier:?}"), "Barrier { parties: 2, waiting: 0, is_broken: false }");
    let late = barrier.wait_timeout(Duration::ZERO).unwrap_err();
    assert_eq!(late.to_string(), "not all parties came to the barrier in time");
    assert_eq!(std::io::Error::from(late).kind(), std::io::ErrorKind::TimedOut);
}

#[test]
#[should_panic(expected = "a meeting of nobody")]
fn a_barrier_of_nobody_is_a_mistake() {
    let _ = Barrier::new(0);
}
