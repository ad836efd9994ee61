//! The semaphore.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{
    CancelToken, Cancelled, CutShort, Permit, Semaphore, Task, ThreadPoolExecutor, WaitError, masked,
    prelude::*,
};

use crate::support::{
    LONG, SHORT, Spot, assert_matches, blocked, eventually, on_thread, rounds, within_deadline,
};

type Wait = fn(&Semaphore) -> Result<usize, WaitError>;

/// Tests the four ways to wait for permits. If the wait fails, the function returns the reason. If the wait
/// succeeds, the function does not give the permits back.
const WAITS: [Wait; 4] = [
    |semaphore| semaphore.acquire().map(Permit::forget).map_err(WaitError::from),
    |semaphore| semaphore.acquire_many(3).map(Permit::forget).map_err(WaitError::from),
    |semaphore| semaphore.acquire_timeout(Duration::MAX).map(Permit::forget),
    |semaphore| semaphore.acquire_many_timeout(3, Duration::MAX).map(Permit::forget),
];

/// SYNC-1
#[test]
fn it_may_begin_with_no_permits_and_get_more_than_it_began_with() {
    for semaphore in [Semaphore::new(0), Semaphore::unfair(0)] {
        assert!(semaphore.try_acquire().is_none());
        semaphore.release(5);
        assert_eq!(semaphore.available_permits(), 5);
    }
}

/// SYNC-3, SYNC-17, SYNC-22, SYNC-23
#[test]
fn trying_succeeds_exactly_while_there_are_permits_enough() {
    let semaphore = Semaphore::new(3);
    assert!(semaphore.try_acquire_many(4).is_none());
    let two = semaphore.try_acquire_many(2).unwrap();
    let one = semaphore.try_acquire().unwrap();
    assert!(semaphore.try_acquire().is_none());
    drop(two);
    assert_eq!(semaphore.available_permits(), 2);
    drop(one);
    assert_eq!(semaphore.available_permits(), 3);
}

/// SYNC-18, SYNC-19, SYNC-20, SYNC-24, SYNC-25
#[test]
fn acquiring_succeeds_at_once_when_there_are_permits() {
    for wait in WAITS {
        let semaphore = Semaphore::new(3);
        let taken = wait(&semaphore).unwrap();
        assert_eq!(semaphore.available_permits(), 3 - taken);
        semaphore.release(taken);
        assert_eq!(masked(|| wait(&semaphore)), Ok(taken));
    }
}

/// SYNC-4, SYNC-5
#[test]
fn a_timed_wait_gives_up_when_the_time_is_up_and_not_before() {
    let semaphore = Semaphore::new(1);
    let start = Instant::now();
    assert_matches!(semaphore.acquire_many_timeout(2, SHORT), Err(WaitError::TimedOut));
    assert!(start.elapsed() >= SHORT);
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    let _taken = semaphore.acquire_timeout(Duration::ZERO).unwrap();
    let start = Instant::now();
    assert_matches!(semaphore.acquire_timeout(SHORT), Err(WaitError::TimedOut));
    assert!(start.elapsed() >= SHORT);
    assert_matches!(semaphore.acquire_timeout(Duration::ZERO), Err(WaitError::TimedOut));
}

/// SYNC-6, SYNC-7, SYNC-8, SYNC-12, SYNC-13
#[test]
fn a_cancelled_task_stops_waiting_and_does_not_begin_to() {
    within_deadline(|| {
        for wait in WAITS {
            let (semaphore, token) = (Arc::new(Semaphore::new(0)), CancelToken::new());
            let waiter = on_thread({
                let (semaphore, token) = (Arc::clone(&semaphore), token.clone());
                move || token.attach(|| wait(&semaphore))
            });
            eventually("it waits", || semaphore.waiting() == 1);
            token.cancel();
            assert_eq!(waiter.result(), Err(WaitError::Interrupted));
            assert_eq!(semaphore.waiting(), 0);

            semaphore.release(3);
            assert_eq!(token.attach(|| wait(&semaphore)), Err(WaitError::Interrupted));
            assert_eq!(semaphore.available_permits(), 3, "it has taken nothing");
        }
    });
}

/// SYNC-10, SYNC-11, SYNC-28, SYNC-29
#[test]
fn a_masked_wait_ignores_the_request_and_leaves_it_there() {
    within_deadline(|| {
        for wait in WAITS {
            let (semaphore, token) = (Arc::new(Semaphore::new(0)), CancelToken::new());
            let waiter = on_thread({
                let (semaphore, token) = (Arc::clone(&semaphore), token.clone());
                move || {
                    token.attach(|| {
                        (masked(|| wait(&semaphore)).is_ok(), CancelToken::current().is_cancelled())
                    })
                }
            });
            eventually("it waits", || semaphore.waiting() == 1);
            token.cancel();
            assert!(waiter.still_waits());
            semaphore.release(3);
            assert_eq!(waiter.result(), (true, true));
        }
    });
}

/// SYNC-26, SYNC-30
#[test]
fn a_permit_given_back_lets_a_waiter_go_on() {
    within_deadline(|| {
        for wait in WAITS {
            let semaphore = Arc::new(Semaphore::new(3));
            let all = semaphore.acquire_many(3).unwrap();
            let waiter = blocked({
                let semaphore = Arc::clone(&semaphore);
                move || wait(&semaphore)
            });
            assert!(waiter.still_waits());
            drop(all);
            let taken = waiter.result().unwrap();
            assert_eq!(semaphore.available_permits(), 3 - taken);
        }
    });
}

/// SYNC-15
#[test]
fn draining_takes_all_there_are() {
    let semaphore = Semaphore::new(3);
    assert_eq!((semaphore.drain(), semaphore.drain()), (3, 0));
    assert!(semaphore.try_acquire().is_none());
}

/// SYNC-16
#[test]
fn permits_are_taken_away_now_or_as_they_come_back() {
    let semaphore = Semaphore::new(5);
    let (two, one) = (semaphore.try_acquire_many(2).unwrap(), semaphore.try_acquire().unwrap());
    semaphore.reduce(1);
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.reduce(3); // one free permit, and two that are taken
    assert_eq!(semaphore.available_permits(), 0);
    drop(one);
    assert_eq!(semaphore.available_permits(), 0);
    drop(two);
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.reduce(0);
    semaphore.reduce(2);
    semaphore.release(1); // pays back what is owed
    assert_eq!(semaphore.available_permits(), 0);
    semaphore.release(1);
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
#[should_panic(expected = "more permits than a usize counts")]
fn more_permits_than_can_be_counted_are_not_taken_away() {
    let semaphore = Semaphore::new(0);
    semaphore.reduce(usize::MAX);
    semaphore.reduce(1);
}

#[test]
fn permits_that_are_taken_away_serve_no_waiter() {
    within_deadline(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let (first, second) = (semaphore.acquire().unwrap(), semaphore.acquire().unwrap());
        semaphore.reduce(1);
        let waiter = blocked({
            let semaphore = Arc::clone(&semaphore);
            move || semaphore.acquire().map(Permit::forget)
        });
        drop(first);
        assert!(waiter.still_waits());
        assert_matches!(semaphore.acquire_timeout(SHORT), Err(WaitError::TimedOut));
        drop(second);
        assert_eq!(waiter.result(), Ok(1));
    });
}

#[test]
fn a_newcomer_overtakes_those_who_wait_only_if_it_is_not_fair() {
    within_deadline(|| {
        for (semaphore, is_fair) in [(Semaphore::new(0), true), (Semaphore::unfair(0), false)] {
            let semaphore = Arc::new(semaphore);
            let three = blocked({
                let semaphore = Arc::clone(&semaphore);
                move || semaphore.acquire_many(3).map(Permit::forget)
            });
            eventually("it waits", || semaphore.waiting() == 1);
            semaphore.release(2);
            let newcomer = semaphore.acquire_timeout(SHORT).map(Permit::forget);
            assert_eq!(newcomer.is_err(), is_fair, "{newcomer:?}");
            semaphore.release(3);
            assert_eq!(three.result(), Ok(3));
        }
    });
}

/// An unfair semaphore also gives permits to its waiters in the order in which the waiters came.
#[test]
fn those_who_wait_stay_in_their_order_all_the_same() {
    within_deadline(|| {
        let semaphore = Arc::new(Semaphore::unfair(0));
        let wait_for = |permits| {
            let semaphore = Arc::clone(&semaphore);
            on_thread(move || semaphore.acquire_many(permits).map(Permit::forget))
        };
        let two = wait_for(2);
        eventually("the first waits", || semaphore.waiting() == 1);
        let one = wait_for(1);
        eventually("the second waits behind it", || semaphore.waiting() == 2);
        semaphore.release(1);
        assert!(two.still_waits() && one.still_waits());
        semaphore.release(1);
        assert_eq!(two.result(), Ok(2));
        assert!(one.still_waits());
        semaphore.release(1);
        assert_eq!(one.result(), Ok(1));
    });
}

#[test]
fn an_owned_permit_comes_back_where_it_is_dropped() {
    within_deadline(|| {
        let semaphore = Semaphore::new(3);
        let pool = ThreadPoolExecutor::fixed(1);
        let permit = semaphore.acquire_many(2).unwrap().into_owned();
        assert_eq!(semaphore.available_permits(), 1);
        pool.submit(move || drop(permit)).unwrap().join().unwrap();
        assert_eq!(semaphore.available_permits(), 3);
        // One of these tasks never runs, one panics, and one forgets its permit.
        let permit = semaphore.acquire().unwrap().into_owned();
        drop(Task::new(move || drop(permit)));
        let permit = semaphore.acquire().unwrap().into_owned();
        let panics = move || {
            let _permit = permit;
            panic!("while holding it");
        };
        assert!(pool.submit(panics).unwrap().join().is_err());
        eventually("all are back", || semaphore.available_permits() == 3);
        assert_eq!(semaphore.acquire_many(3).unwrap().into_owned().forget(), 3);
        assert_eq!(semaphore.available_permits(), 0);
        let none = semaphore.try_acquire_many(0).unwrap().into_owned();
        drop(semaphore);
        drop(none);
    });
}

/// The semaphore knew which thread of the pool had the permit. When the permit becomes an owned permit, the
/// semaphore no longer knows the holder.
#[test]
fn an_owned_permit_of_a_pools_thread_comes_back_once() {
    within_deadline(|| {
        let permits = Arc::new(Semaphore::new(2));
        let (pool, own) = (ThreadPoolExecutor::fixed(1), Arc::clone(&permits));
        let taken = pool.submit(move || own.acquire_many(2).unwrap().into_owned());
        let taken = taken.unwrap().join_timeout(LONG).unwrap();
        assert_eq!(permits.available_permits(), 0);
        let dropped = pool.submit(move || drop(taken)).unwrap();
        dropped.join_timeout(LONG).unwrap();
        assert_eq!(permits.available_permits(), 2);
    });
}

/// The semaphore does not know which thread will give an owned permit back. So the library never reports that
/// a wait for an owned permit cannot end. The wait in this test ends.
#[test]
fn whoever_waits_for_an_owned_permit_is_not_said_to_starve() {
    within_deadline(|| {
        let (semaphore, pool) = (Arc::new(Semaphore::new(1)), ThreadPoolExecutor::fixed(1));
        let permit = semaphore.acquire().unwrap().into_owned();
        let (own, spot) = (Arc::clone(&semaphore), Spot::default());
        let there = spot.clone();
        let waits = pool.submit(move || {
            there.arrive();
            own.acquire().map(Permit::forget)
        });
        spot.wait_until_blocked();
        drop(permit);
        assert_eq!(waits.unwrap().join().unwrap(), Ok(1));
        // When a task of the pool has the permit again, the semaphore knows the holder of the permit again.
        semaphore.release(1);
        let starves = pool.submit(move || {
            let _held = semaphore.acquire().unwrap();
            let again = semaphore.acquire().map(Permit::forget);
            matches!(again, Err(CutShort::Starved(_)))
        });
        assert!(starves.unwrap().join().unwrap());
    });
}

/// SYNC-32
#[test]
fn one_who_waits_for_many_is_overtaken_only_by_those_who_try() {
    within_deadline(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let wait_for = |permits| {
            let semaphore = Arc::clone(&semaphore);
            on_thread(move || semaphore.acquire_many(permits).map(Permit::forget))
        };
        let three = wait_for(3);
        eventually("the first waits", || semaphore.waiting() == 1);
        let one = wait_for(1);
        eventually("the second waits behind it", || semaphore.waiting() == 2);

        semaphore.release(2);
        assert_matches!(semaphore.acquire_timeout(SHORT), Err(WaitError::TimedOut));
        assert!(three.still_waits() && one.still_waits());
        semaphore.try_acquire().unwrap().forget();

        semaphore.release(2);
        assert_eq!(three.result(), Ok(3));
        assert!(one.still_waits());
        semaphore.release(1);
        assert_eq!(one.result(), Ok(1));
    });
}

#[test]
fn one_release_can_serve_several_waiters() {
    within_deadline(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters = [(); 3].map(|()| {
            let semaphore = Arc::clone(&semaphore);
            on_thread(move || semaphore.acquire().map(Permit::forget))
        });
        eventually("all wait", || semaphore.waiting() == 3);
        semaphore.release(3);
        assert_eq!(waiters.map(crate::support::Waiter::result), [const { Ok(1) }; 3]);
    });
}

/// The waiter that has waited longest gives up. There were too few free permits for this waiter. Now the
/// semaphore gives the free permits to the waiters behind this waiter.
#[test]
fn a_waiter_that_gives_up_makes_way() {
    within_deadline(|| {
        let (semaphore, token) = (Arc::new(Semaphore::new(1)), CancelToken::new());
        let greedy = on_thread({
            let (semaphore, token) = (Arc::clone(&semaphore), token.clone());
            move || token.attach(|| semaphore.acquire_many(2).map(Permit::forget))
        });
        eventually("the greedy one waits", || semaphore.waiting() == 1);
        let modest = blocked({
            let semaphore = Arc::clone(&semaphore);
            move || semaphore.acquire().map(Permit::forget)
        });
        eventually("the modest one waits behind it", || semaphore.waiting() == 2);
        token.cancel();
        assert_eq!(greedy.result(), Err(CutShort::Interrupted(Cancelled)));
        assert_eq!(modest.result(), Ok(1));
    });
}

#[test]
fn no_permit_is_lost_between_a_release_and_a_cancellation() {
    within_deadline(|| {
        for _ in rounds(300) {
            let (semaphore, token) = (Arc::new(Semaphore::new(0)), CancelToken::new());
            let waiter = on_thread({
                let (semaphore, token) = (Arc::clone(&semaphore), token.clone());
                move || token.attach(|| semaphore.acquire().map(Permit::forget))
            });
            let canceller = on_thread(move || token.cancel());
            semaphore.release(1);
            let got = waiter.result().unwrap_or(0);
            assert!(canceller.result());
            assert_eq!(got + semaphore.available_permits(), 1);
            assert_eq!(semaphore.waiting(), 0);
        }
    });
}

#[test]
fn never_more_than_the_permitted_number_are_inside() {
    within_deadline(|| {
        let (semaphore, inside) = (Semaphore::new(2), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _permit = semaphore.acquire().unwrap();
                        assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn a_permit_comes_back_when_its_holder_panics() {
    let semaphore = Semaphore::new(1);
    let panic = std::panic::catch_unwind(|| {
        let _permit = semaphore.acquire().unwrap();
        panic!("while holding it");
    });
    assert!(panic.is_err());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
#[should_panic(expected = "more permits than a usize counts")]
fn more_permits_than_can_be_counted_are_refused() {
    Semaphore::new(usize::MAX).release(1);
}

/// SYNC-13
#[test]
fn the_printed_form_shows_permits_and_waiters() {
    assert_eq!(format!("{:?}", Semaphore::new(3)), "Semaphore { permits: 3, waiting: 0 }");
}
