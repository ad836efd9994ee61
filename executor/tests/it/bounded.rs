//! A bound on what is under way: the permit comes back in whichever way a task ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use executor::{
    BoundedExecutor, CancelToken, DirectExecutor, Discard, FifoQueue, FutureTask, JoinError, RejectReason,
    Task, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, Signal, Spot, assert_matches, eventually, within_deadline};

#[test]
fn never_more_than_the_bound_are_under_way() {
    within_deadline(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 3));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                        let task = move || {
                            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            std::thread::yield_now();
                            now.fetch_sub(1, Ordering::SeqCst);
                        };
                        bounded.execute(task).unwrap();
                    }
                });
            }
        });
        eventually("all have ended", || bounded.under_way() == 0);
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
    });
}

#[test]
fn the_permit_is_back_before_the_outcome_is_told() {
    within_deadline(|| {
        let bounded = BoundedExecutor::over(ThreadPoolExecutor::fixed(2), 1);
        for n in 0..100 {
            assert_eq!(bounded.submit(move || n).unwrap().join().unwrap(), n);
            assert_eq!(bounded.under_way(), 0);
        }
        assert_matches!(
            bounded.submit(|| panic!("it has failed")).unwrap().join(),
            Err(JoinError::Panicked(_))
        );
        assert_eq!(bounded.under_way(), 0);
        bounded.executor().close();
    });
}

#[test]
fn a_refused_task_comes_back_as_it_was_and_keeps_no_permit() {
    let pool = ThreadPoolExecutor::fixed(1);
    pool.shutdown();
    let bounded = BoundedExecutor::over(&pool, 1);
    for _ in 0..3 {
        let task = Task::new(|| ()).named("late");
        let id = task.id();
        let refused = bounded.execute_task(task).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
        assert_eq!((refused.task.id(), refused.task.name()), (id, Some("late")));
        assert_eq!(bounded.under_way(), 0, "while the task is still here");
    }
}

#[test]
fn a_task_that_is_discarded_gives_its_permit_back() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard);
        let bounded = BoundedExecutor::over(builder.build().unwrap(), 3);
        let end = Signal::new();
        let until = end.clone();
        bounded.execute(move || until.wait()).unwrap();
        eventually("it runs", || bounded.executor().stats().queued == 0);
        bounded.execute(|| ()).unwrap();
        for _ in 0..10 {
            assert_matches!(bounded.submit(|| ()).unwrap().join(), Err(JoinError::Cancelled));
        }
        assert_eq!(bounded.under_way(), 2);
        end.set();
        eventually("all have ended", || bounded.under_way() == 0);
    });
}

#[test]
fn what_is_handed_back_is_the_users_own_task_and_keeps_its_permit_until_it_is_gone() {
    within_deadline(|| {
        let bounded = BoundedExecutor::over(ThreadPoolExecutor::fixed(1), 3);
        let (end, begun) = (Signal::new(), Signal::new());
        let (until, is_begun) = (end.clone(), begun.clone());
        bounded
            .execute(move || {
                is_begun.set();
                until.wait();
            })
            .unwrap();
        begun.wait();
        let kept = bounded.submit(FutureTask::new(|| 7).named("kept")).unwrap();
        let dropped = bounded.submit(|| 8).unwrap();
        let mut back = bounded.executor().shutdown_now();
        assert_eq!(back.iter().map(Task::id).collect::<Vec<_>>(), [kept.id(), dropped.id()]);
        assert_eq!((back[0].name(), bounded.under_way()), (Some("kept"), 3));
        drop(back.pop());
        assert_eq!(bounded.under_way(), 2);
        assert_matches!(dropped.join(), Err(JoinError::Cancelled));
        back.pop().unwrap().run();
        assert_eq!((kept.join().unwrap(), bounded.under_way()), (7, 1));
        end.set();
        eventually("all have ended", || bounded.under_way() == 0);
    });
}

#[test]
fn a_submitter_waits_for_a_permit_and_can_be_cancelled() {
    within_deadline(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 1));
        let (end, spot, token) = (Signal::new(), Spot::default(), CancelToken::new());
        let until = end.clone();
        bounded.execute(move || until.wait()).unwrap();
        let (own, at, asked) = (Arc::clone(&bounded), spot.clone(), token.clone());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            at.arrive();
            let refused = asked.attach(|| own.execute(|| ())).unwrap_err();
            tell.send(matches!(refused.reason, RejectReason::Interrupted)).unwrap();
            tell.send(own.execute(|| ()).is_ok()).unwrap();
        });
        spot.wait_until_blocked();
        token.cancel();
        assert!(told.recv_timeout(LONG).unwrap());
        end.set();
        assert!(told.recv_timeout(LONG).unwrap());
    });
}

#[test]
fn one_in_another_and_over_one_that_runs_tasks_at_once() {
    let inner = BoundedExecutor::over(DirectExecutor, 2);
    let outer = BoundedExecutor::over(&inner, 5);
    let seen = outer.submit(|| 1).unwrap().join().unwrap();
    assert_eq!((seen, inner.under_way(), outer.under_way()), (1, 0, 0));
    assert!(format!("{outer:?}").contains("under_way: 0, bound: 5"), "{outer:?}");
}

/// Each of two tasks submits two more, and there are two threads and three permits.
#[test]
fn tasks_that_hold_the_permits_they_wait_for_are_found() {
    within_deadline(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPoolExecutor::fixed(2), 3));
        let both_begun = Arc::new(std::sync::Barrier::new(2));
        let tasks = [(); 2].map(|()| {
            let (own, both_begun) = (Arc::clone(&bounded), Arc::clone(&both_begun));
            bounded
                .submit(move || {
                    both_begun.wait();
                    let refused = (0..2).find_map(|_| own.execute(|| ()).err());
                    refused.is_some_and(|refused| matches!(refused.reason, RejectReason::Starved(_)))
                })
                .unwrap()
        });
        let starved = tasks.map(|task| task.join_timeout(LONG).unwrap());
        assert!(starved.contains(&true), "one of them is told, at least");
        eventually("all have ended", || bounded.under_way() == 0);
    });
}

#[test]
fn a_permit_whose_task_another_pool_runs_is_waited_for() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let bounded = Arc::new(BoundedExecutor::over(ThreadPoolExecutor::fixed(1), 1));
        let (end, spot) = (Signal::new(), Spot::default());
        let until = end.clone();
        bounded.execute(move || until.wait()).unwrap();
        let (own, at) = (Arc::clone(&bounded), spot.clone());
        let waits = pool.submit(move || {
            at.arrive();
            own.submit(|| 9).map(|task| task.join().unwrap()).map_err(|error| error.reason)
        });
        spot.wait_until_blocked();
        end.set();
        assert_matches!(waits.unwrap().join_timeout(LONG).unwrap(), Ok(9));
    });
}
