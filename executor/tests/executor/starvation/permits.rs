//! Permits: who could give one back, and who stands before others in the line.

use std::sync::{Arc, mpsc};

use executor::{CutShort, JoinError, Semaphore, TaskHandle, ThreadPoolExecutor, prelude::*};

use super::{named, outside};
use crate::support::{Signal, Spot, within_deadline};

fn is_starved<T>(ended: &Result<T, CutShort>) -> bool {
    matches!(ended, Err(CutShort::Starved(_)))
}

/// A task that holds a permit and waits for another task, which it is told of by the second result. It says when it has the
/// permit, and its own result is whether it starves.
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

/// A task that wants so many permits, and whether it starves. It waits when this returns.
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

/// One of two permits is held by a thread that goes on, the other by a task that waits for the one that wants both.
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
        assert_eq!(pool.stats().starved, 1, "one of the two is told, and the other goes on");
    });
}

/// There is one for the second in the line. But the first wants two, and the second has the other.
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

/// A permit that was added is not the one that a thread outside has.
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
        assert!(!outside(holder), "what it waits for has ended");
        assert_eq!(pool.stats().starved, 0);
    });
}
