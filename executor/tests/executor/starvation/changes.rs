//! Tests of waits that become endless only after their beginning, and of waits that form no cycle.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use executor::{
    CancelToken, CutShort, ExecutorCompletionService, FutureTask, JoinError, Latch, Promise, Semaphore,
    SerialExecutor, ThreadPerTaskExecutor, prelude::*,
};

use super::{named, outside, starves};
use crate::support::{LONG, SHORT, Signal, Spot, within_deadline};

#[test]
fn the_last_free_thread_leaves() {
    within_deadline(|| {
        let pool = named("own", 2);
        let (end, spot) = (Signal::new(), Spot::default());
        let until = end.clone();
        let busy = pool.submit(move || until.wait()).unwrap();
        let (own, at) = (Arc::clone(&pool), spot.clone());
        let waits = pool.submit(move || {
            let queued = own.submit(|| ()).unwrap();
            at.arrive();
            starves(queued)
        });
        let waits = waits.unwrap();
        spot.wait_until_blocked();
        pool.set_threads(1).unwrap();
        assert!(!waits.is_finished(), "the other thread is still there");
        end.set();
        outside(busy);
        assert_eq!(outside(waits).chain().len(), 1);
    });
}

/// The awaited task is in no queue, so the task's owner may run it at any time. But the owner submits the
/// task to the pool whose thread waits for this task.
#[test]
fn a_task_comes_to_a_pool_whose_threads_all_wait() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let at = spot.clone();
        let waits = pool.submit(move || {
            at.arrive();
            starves(handle)
        });
        spot.wait_until_blocked();
        let waits = waits.unwrap();
        assert!(!waits.is_finished());
        pool.execute(task).unwrap();
        assert_eq!(outside(waits).chain().len(), 1);
    });
}

/// But the owner submits the task to a strand. The waiting task is in the same strand, or it is before the
/// strand's drain task in the pool's queue.
#[test]
fn a_task_comes_to_a_line_that_waits_for_the_one_that_waits_for_it() {
    for behind in [false, true] {
        within_deadline(move || {
            let (pool, spot) = (named("own", 1), Spot::default());
            let line = SerialExecutor::over(Arc::clone(&pool));
            let FutureTask { task, handle } = FutureTask::new(|| ());
            let at = spot.clone();
            let waits = move || {
                at.arrive();
                starves(handle)
            };
            let waits = if behind { pool.submit(waits) } else { line.submit(waits) }.unwrap();
            spot.wait_until_blocked();
            if behind {
                line.execute(|| ()).unwrap();
            }
            assert!(!waits.is_finished());
            line.execute(task).unwrap();
            assert_eq!(outside(waits).chain().len(), 1, "behind: {behind}");
        });
    }
}

/// The owner submits the task to a second pool; the thread of the second pool waits for the thread of the
/// first pool. The first search did not find the task in any pool, so this search did not look at the thread
/// of the second pool.
#[test]
fn a_task_comes_to_the_second_of_two_pools() {
    within_deadline(|| {
        let (first, second) = (named("first", 1), named("second", 1));
        let (one, two) = (Spot::default(), Spot::default());
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let at = one.clone();
        let waits = first.submit(move || {
            at.arrive();
            match handle.join() {
                Err(JoinError::Starved(..)) => true,
                other => other.is_err(),
            }
        });
        let waits = waits.unwrap();
        one.wait_until_blocked();
        let at = two.clone();
        let waits_too = second.submit(move || {
            at.arrive();
            matches!(waits.join(), Err(JoinError::Starved(..)))
        });
        two.wait_until_blocked();
        second.execute(task).unwrap();
        assert!(outside(waits_too.unwrap()));
    });
}

/// The first of two tasks ends outside the pool, and another taker receives this task. After that, the
/// remaining taker can only starve, because of the second task.
#[test]
fn the_last_task_that_could_end_goes_to_another_taker() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let service = Arc::new(ExecutorCompletionService::new(ThreadPerTaskExecutor));
        let end = Signal::new();
        let until = end.clone();
        let (taken, outside_took) = mpsc::channel();
        service.submit(move || until.wait()).unwrap();
        let outer = Arc::clone(&service);
        let queued = Arc::clone(&pool);
        let (own, at) = (Arc::clone(&service), spot.clone());
        let first = Spot::default();
        let there = first.clone();
        std::thread::spawn(move || {
            there.arrive();
            taken.send(outer.take().is_ok()).unwrap();
        });
        first.wait_until_blocked();
        let waits = pool.submit(move || {
            // Only a thread of this same pool can run the second task.
            let FutureTask { task, handle } = FutureTask::new(|| ());
            queued.execute(task).unwrap();
            at.arrive();
            let starved = starves(handle);
            (starved.chain().len(), own.outstanding())
        });
        spot.wait_until_blocked();
        end.set();
        assert!(outside_took.recv_timeout(LONG).unwrap());
        assert_eq!(outside(waits.unwrap()).0, 1);
    });
}

#[test]
fn the_last_permit_elsewhere_comes_back_and_is_not_enough() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let permits: &'static Semaphore = Box::leak(Box::new(Semaphore::new(2)));
        let elsewhere = permits.acquire().unwrap();
        let at = spot.clone();
        let waits = pool.submit(move || {
            let _one = permits.acquire().unwrap();
            at.arrive();
            matches!(permits.acquire_many(2), Err(CutShort::Starved(_)))
        });
        spot.wait_until_blocked();
        drop(elsewhere);
        assert!(outside(waits.unwrap()));
    });
}

/// A task wants all permits and has one of them. The task that holds the other permit does not wait; it runs
/// to its end and gives the permit back.
#[test]
fn the_last_permit_of_another_task_comes_back_and_is_not_enough() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 2), Spot::default());
        let permits = Arc::new(Semaphore::new(2));
        let (taken, end) = (Signal::new(), Signal::new());
        let (other, has_it, until) = (Arc::clone(&permits), taken.clone(), end.clone());
        let gives_back = pool.submit(move || {
            let _one = other.acquire().unwrap();
            has_it.set();
            until.wait();
        });
        taken.wait();
        let at = spot.clone();
        let waits = pool.submit(move || {
            let _one = permits.acquire().unwrap();
            at.arrive();
            matches!(permits.acquire_many(2), Err(CutShort::Starved(_)))
        });
        spot.wait_until_blocked();
        let waits = waits.unwrap();
        assert!(!waits.is_finished());
        end.set();
        outside(gives_back.unwrap());
        assert!(outside(waits));
    });
}

/// Waiters are served in order. The later waiter waits for the earlier waiter, and the earlier waiter waits
/// for a permit that the later waiter holds.
#[test]
fn a_task_waits_for_a_permit_behind_one_that_waits_for_its_own() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 2), Spot::default());
        let permits = Arc::new(Semaphore::new(2));
        let (taken, go_on) = (Signal::new(), Signal::new());
        let (own, has_it, until) = (Arc::clone(&permits), taken.clone(), go_on.clone());
        let later = pool.submit(move || {
            let _one = own.acquire().unwrap();
            has_it.set();
            until.wait();
            own.acquire().is_err_and(|error| matches!(error, CutShort::Starved(_)))
        });
        taken.wait();
        let at = spot.clone();
        let sooner = pool.submit(move || {
            at.arrive();
            permits.acquire_many(2).is_ok()
        });
        spot.wait_until_blocked();
        go_on.set();
        assert!(outside(later.unwrap()), "the last waiter gets the report");
        assert!(outside(sooner.unwrap()));
    });
}

#[test]
fn permits_that_come_from_outside_are_waited_for() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let permits = Arc::new(Semaphore::new(1));
        let (own, at) = (Arc::clone(&permits), spot.clone());
        let waits = pool.submit(move || {
            own.acquire().unwrap().forget();
            at.arrive();
            own.acquire().is_ok()
        });
        spot.wait_until_blocked();
        permits.release(1);
        assert!(outside(waits.unwrap()));
    });
}

#[test]
fn what_a_thread_outside_brings_about_is_waited_for() {
    within_deadline(|| {
        let pool = named("own", 1);
        let (promise, handle) = Promise::new();
        let (spot, latch) = (Spot::default(), Arc::new(Latch::new(1)));
        let (at, opens) = (spot.clone(), Arc::clone(&latch));
        let waits = pool.submit(move || {
            at.arrive();
            let sum = handle.join().unwrap();
            opens.wait().unwrap();
            sum
        });
        spot.wait_until_blocked();
        promise.complete(7).unwrap();
        latch.count_down();
        assert_eq!(outside(waits.unwrap()), 7);
    });
}

#[test]
fn a_wait_with_a_deadline_ends_by_it() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let waits = pool.submit(move || {
            matches!(own.submit(|| ()).unwrap().join_timeout(SHORT), Err(JoinError::TimedOut(_)))
        });
        assert!(outside(waits.unwrap()));
        assert_eq!(pool.stats().starved, 0);
    });
}

/// One thread waits for a task, without a time limit. The other thread waits with a time limit, and after
/// this wait it runs the task for which the first thread waits.
#[test]
fn a_thread_that_waits_with_a_deadline_can_go_on() {
    within_deadline(|| {
        let pool = named("own", 2);
        let first = Spot::default();
        let at = first.clone();
        let (own, latch) = (Arc::clone(&pool), Arc::new(Latch::new(1)));
        let until = Arc::clone(&latch);
        let timed = pool.submit(move || until.wait_timeout(Duration::from_millis(50)).is_err()).unwrap();
        let waits = pool.submit(move || {
            let queued = own.submit(|| 1).unwrap();
            at.arrive();
            queued.join()
        });
        assert_eq!(outside(waits.unwrap()).unwrap(), 1);
        assert!(outside(timed));
    });
}

#[test]
fn a_cancelled_wait_is_interrupted_and_not_starved() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let waits = pool.submit(move || {
            CancelToken::current().child().attach(|| CancelToken::current().cancel());
            let token = CancelToken::new();
            token.cancel();
            let queued = own.submit(|| ()).unwrap();
            token.attach(|| matches!(queued.join(), Err(JoinError::Interrupted(_))))
        });
        assert!(outside(waits.unwrap()));
    });
}

/// The parent of the waiting thread's token has a deadline, so the wait ends without the pool. The deadline
/// is far away, because on a busy machine a near deadline could come before the thread waits.
#[test]
fn a_wait_under_a_token_with_a_deadline_is_not_starved() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let (own, at) = (Arc::clone(&pool), spot.clone());
        let request = CancelToken::new().with_timeout(LONG);
        let above = request.clone();
        let waits = pool.submit(move || {
            let queued = own.submit(|| ()).unwrap();
            above.child().attach(|| {
                at.arrive();
                matches!(queued.join(), Err(JoinError::Interrupted(_)))
            })
        });
        spot.wait_until_blocked();
        request.cancel();
        assert!(outside(waits.unwrap()));
        assert_eq!(pool.stats().starved, 0);
    });
}

/// In the classic test of starvation, a thread outside the pool submits the tasks, so the submitter occupies
/// no thread of the pool.
#[test]
fn a_thread_outside_that_waits_takes_no_thread_from_the_pool() {
    within_deadline(|| {
        let pool = named("own", 1);
        let page = pool.submit(|| "<html>").unwrap();
        let header = pool.submit(|| "<h1>").unwrap();
        assert_eq!((page.join().unwrap(), header.join().unwrap()), ("<html>", "<h1>"));
    });
}

#[test]
fn handles_of_a_pool_that_stops_are_waited_for_until_they_are_dropped() {
    within_deadline(|| {
        let (pool, spot) = (named("own", 1), Spot::default());
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let at = spot.clone();
        let waits = pool.submit(move || {
            at.arrive();
            executor::masked(|| matches!(handle.join(), Err(JoinError::Cancelled(_))))
        });
        spot.wait_until_blocked();
        drop(pool.shutdown_now());
        drop(task);
        assert!(outside(waits.unwrap()));
    });
}
