//! The latch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{CancelToken, Cancelled, Latch, WaitError};

use crate::support::{SHORT, Waiter, blocked, eventually, on_thread, rounds, within_deadline};

/// SYNC-36
#[test]
fn waiters_wait_until_the_count_is_zero_and_not_less() {
    within_deadline(|| {
        let latch = Arc::new(Latch::new(2));
        let waiters = [(); 3].map(|()| {
            let latch = Arc::clone(&latch);
            blocked(move || latch.wait())
        });
        latch.count_down();
        assert_eq!(latch.count(), 1);
        assert!(waiters.iter().all(Waiter::still_waits));
        latch.count_down();
        assert_eq!(waiters.map(Waiter::result), [const { Ok(()) }; 3]);
        assert_eq!(latch.count(), 0);
    });
}

#[test]
fn an_open_latch_stays_open() {
    let latch = Latch::new(1);
    latch.count_down();
    latch.count_down();
    assert_eq!(latch.count(), 0);
    assert_eq!((latch.wait(), latch.wait_timeout(Duration::ZERO)), (Ok(()), Ok(())));
    assert_eq!(Latch::new(0).wait(), Ok(()));
}

/// SYNC-40
#[test]
fn a_timed_wait_gives_up_when_the_time_is_up_and_not_before() {
    let latch = Latch::new(1);
    assert_eq!(latch.wait_timeout(Duration::ZERO), Err(WaitError::TimedOut));
    let start = Instant::now();
    assert_eq!(latch.wait_timeout(SHORT), Err(WaitError::TimedOut));
    assert!(start.elapsed() >= SHORT);
    assert_eq!(latch.count(), 1);
}

/// SLIP-15
#[test]
fn the_longest_timeout_is_not_an_expired_one() {
    within_deadline(|| {
        for timeout in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(1 << 40)] {
            let latch = Arc::new(Latch::new(1));
            let waiter = blocked({
                let latch = Arc::clone(&latch);
                move || latch.wait_timeout(timeout)
            });
            assert!(waiter.still_waits());
            latch.count_down();
            assert_eq!(waiter.result(), Ok(()));
        }
    });
}

/// SYNC-38
#[test]
fn a_cancelled_task_stops_waiting_and_does_not_begin_to() {
    within_deadline(|| {
        let latch = Arc::new(Latch::new(1));
        let token = CancelToken::new();
        let waiters = {
            let waiting = || (Arc::clone(&latch), token.clone());
            let (untimed, timed) = (waiting(), waiting());
            (
                blocked(move || untimed.1.attach(|| untimed.0.wait())),
                blocked(move || timed.1.attach(|| timed.0.wait_timeout(Duration::MAX))),
            )
        };
        token.cancel();
        assert_eq!(waiters.0.result(), Err(Cancelled));
        assert_eq!(waiters.1.result(), Err(WaitError::Interrupted));

        let open = Latch::new(0);
        token.attach(|| {
            assert_eq!(latch.wait(), Err(Cancelled));
            assert_eq!(open.wait(), Err(Cancelled), "even if it need not wait");
            assert_eq!(open.wait_timeout(Duration::MAX), Err(WaitError::Interrupted));
        });
    });
}

/// If a waiter gives up, the other waiters still get the wake-up.
#[test]
fn waiters_that_gave_up_do_not_disturb_those_who_wait() {
    within_deadline(|| {
        let latch = Arc::new(Latch::new(1));
        let gives_up = || assert_eq!(latch.wait_timeout(Duration::ZERO), Err(WaitError::TimedOut));
        gives_up();
        let waiter = blocked({
            let latch = Arc::clone(&latch);
            move || latch.wait()
        });
        gives_up();
        latch.count_down();
        assert_eq!(waiter.result(), Ok(()));
    });
}

#[test]
fn what_was_done_before_counting_down_is_seen_by_who_has_waited() {
    within_deadline(|| {
        for round in rounds(200) {
            let (latch, data) = (Arc::new(Latch::new(1)), Arc::new(AtomicUsize::new(0)));
            let waiter = on_thread({
                let (latch, data) = (Arc::clone(&latch), Arc::clone(&data));
                move || latch.wait().map(|()| data.load(Ordering::Relaxed))
            });
            data.store(round + 1, Ordering::Relaxed);
            latch.count_down();
            assert_eq!(waiter.result(), Ok(round + 1));
        }
    });
}

/// SYNC-41
#[test]
fn the_printed_form_shows_the_count() {
    assert_eq!(format!("{:?}", Latch::new(3)), "Latch { count: 3, waiting: 0 }");
}

#[test]
fn it_tells_how_many_wait_and_forgets_those_that_gave_up() {
    within_deadline(|| {
        let (latch, token) = (Arc::new(Latch::new(1)), CancelToken::new());
        assert_eq!(latch.waiting(), 0);
        let waiters: Vec<_> = (0..3)
            .map(|n| {
                let (latch, token) = (Arc::clone(&latch), token.clone());
                on_thread(move || if n == 0 { token.attach(|| latch.wait()) } else { latch.wait() })
            })
            .collect();
        eventually("all three wait", || latch.waiting() == 3);
        assert_eq!(latch.wait_timeout(SHORT), Err(WaitError::TimedOut));
        assert_eq!(latch.waiting(), 3);
        token.cancel();
        eventually("the cancelled one has gone", || latch.waiting() == 2);
        latch.count_down();
        let ended: Vec<_> = waiters.into_iter().map(Waiter::result).collect();
        assert_eq!(ended, [Err(Cancelled), Ok(()), Ok(())]);
        assert_eq!(latch.waiting(), 0);
    });
}
