//! Permits: which threads could give a permit back, and which waiters come before other waiters.

use std::sync::{Arc, mpsc};

use executor::{CutShort, JoinError, Semaphore, TaskHandle, ThreadPoolExecutor, prelude::*};

use super::{named, outside};
use crate::support::{Signal, Spot, within_deadline};

fn is_starved<T>(ended: &Result<T, CutShort>) -> bool {
    matches!(ended, Err(CutShort::Starved(_)))
}

/// Starts a task that takes a permit, receives a handle through a channel, and waits for the task of this
/// handle. The function returns as soon as the started task has the permit. The result of the started task is
/// true if the task starves.
fn holder(
    pool: &ThreadPoolExecutor,
    permits: &Arc<Semaphore>,
    waits: &Spot,
) -> (TaskHandle<bool>, mpsc::Sender<TaskHandle<bool>>) {
    let (tell, told) = mpsc::channel::<TaskHandle<bool>>();
    let (own, at, has_one) = (Arc::clone(permits), waits.clone(), Signal::new());
    let says = has_one.clone();
    let holder = pool.submit(move || {
        let _one = own.acquire().unwrap();
        says.set();
        let awaited = told.recv().unwrap();
        at.arrive();
        matches!(awaited.join(), Err(JoinError::Starved(..)))
    });
    has_one.wait();
    (holder.unwrap(), tell)
}

/// Starts a task that waits for `many` permits, and returns when the task waits. The task's result is true
/// if the task starves.
fn wanting(pool: &ThreadPoolExecutor, permits: &Arc<Semaphore>, many: usize) -> TaskHandle<bool> {
    let (own, waits) = (Arc::clone(permits), Spot::default());
    let at = waits.clone();
    let wanting = pool.submit(move || {
        at.arrive();
        is_starved(&own.acquire_many(many))
    });
    waits.wait_until_blocked();
    wanting.unwrap()
}

/// There are two permits, and a thread that can continue holds one of the two. One task holds the other
/// permit, and waits for the task that wants both permits.
#[test]
fn the_last_holder_that_could_go_on_gives_its_permit_back() {
    within_deadline(|| {
        let pool = named("pool", 3);
        let permits = Arc::new(Semaphore::new(2));
        let (has_one, end, waits) = (Signal::new(), Signal::new(), Spot::default());
        let (own, says, until) = (Arc::clone(&permits), has_one.clone(), end.clone());
        let busy = pool.submit(move || {
            let _one = own.acquire().unwrap();
            says.set();
            until.wait();
        });
        has_one.wait();
        let (holder, tell) = holder(&pool, &permits, &waits);
        tell.send(wanting(&pool, &permits, 2)).unwrap();
        waits.wait_until_blocked();
        end.set();
        outside(busy.unwrap());
        outside(holder);
        assert_eq!(pool.stats().starved, 1, "one task gets the report, and the other goes on");
    });
}

/// One permit is free, which would be enough for the second waiter. But the first waiter wants two permits,
/// and the second waiter holds the other permit.
#[test]
fn the_first_in_the_line_waits_for_the_second() {
    within_deadline(|| {
        let pool = named("pool", 2);
        let permits = Arc::new(Semaphore::new(2));
        let (has_one, may_go_on) = (Signal::new(), Signal::new());
        let (own, says, until) = (Arc::clone(&permits), has_one.clone(), may_go_on.clone());
        let second = pool.submit(move || {
            let _one = own.acquire().unwrap();
            says.set();
            until.wait();
            is_starved(&own.acquire())
        });
        has_one.wait();
        let first = wanting(&pool, &permits, 2);
        may_go_on.set();
        assert!(outside(second.unwrap()));
        assert!(!outside(first), "it gets both when the other has ended");
    });
}

/// A permit that was added with `release` is not the permit that a thread outside the pool holds.
#[test]
fn a_permit_in_the_hands_of_a_thread_outside_can_come_back() {
    within_deadline(|| {
        let pool = named("pool", 2);
        let permits = Arc::new(Semaphore::new(1));
        let from_outside = permits.acquire().unwrap();
        permits.release(1);
        let waits = Spot::default();
        let (holder, tell) = holder(&pool, &permits, &waits);
        tell.send(wanting(&pool, &permits, 1)).unwrap();
        waits.wait_until_blocked();
        drop(from_outside);
        assert!(!outside(holder), "the awaited task has ended");
        assert_eq!(pool.stats().starved, 0);
    });
}

/// Starts a task that takes the only permit, calls `in_between`, and then asks for a second permit. Returns
/// when the task waits. The task's result is true if the task starves.
fn asks_for_another(
    pool: &ThreadPoolExecutor,
    permits: &Arc<Semaphore>,
    in_between: impl FnOnce(&Semaphore),
) -> TaskHandle<bool> {
    let (has_one, may_go_on, waits) = (Signal::new(), Signal::new(), Spot::default());
    let (own, says, until, at) = (Arc::clone(permits), has_one.clone(), may_go_on.clone(), waits.clone());
    let task = pool.submit(move || {
        let _one = own.acquire().unwrap();
        says.set();
        until.wait();
        at.arrive();
        is_starved(&own.acquire())
    });
    has_one.wait();
    in_between(permits);
    may_go_on.set();
    waits.wait_until_blocked();
    task.unwrap()
}

/// A user has drained or forgotten the permit, and may release a permit at any time.
#[test]
fn a_permit_that_is_with_nobody_can_come_back() {
    let drain: fn(&Semaphore) = |permits| assert_eq!(permits.drain(), 1);
    let forget: fn(&Semaphore) = |permits| assert_eq!(permits.try_acquire().unwrap().forget(), 1);
    for take_away in [drain, forget] {
        within_deadline(move || {
            let (pool, permits) = (named("pool", 1), Arc::new(Semaphore::new(1)));
            let waits = asks_for_another(&pool, &permits, |permits| {
                permits.release(1);
                take_away(permits);
            });
            permits.release(1);
            assert!(!outside(waits));
            assert_eq!(pool.stats().starved, 0);
        });
    }
}

/// The semaphore's number of permits was reduced, so the semaphore keeps permits that holders give back; more
/// permits can come only from outside.
#[test]
fn permits_that_are_owed_are_not_counted_on() {
    within_deadline(|| {
        let (pool, permits) = (named("pool", 1), Arc::new(Semaphore::new(1)));
        let waits = asks_for_another(&pool, &permits, |permits| permits.reduce(1));
        permits.release(2); // the first permit vanishes
        assert!(!outside(waits));
        assert_eq!(pool.stats().starved, 0);
    });
}

/// The owned permit was forgotten, so no holder is left that could give this permit back.
#[test]
fn an_owned_permit_that_was_forgotten_is_not_counted_on() {
    within_deadline(|| {
        let (pool, permits) = (named("pool", 1), Arc::new(Semaphore::new(1)));
        let waits = asks_for_another(&pool, &permits, |permits| {
            permits.release(1);
            assert_eq!(permits.try_acquire().unwrap().into_owned().forget(), 1);
            permits.release(1); // replaces the forgotten permit
            permits.reduce(1);
        });
        assert!(outside(waits));
    });
}
