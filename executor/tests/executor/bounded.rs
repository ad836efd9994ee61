//! A bound for the number of unfinished tasks: no matter how a task ends, the executor gets the permit of the
//! task back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use executor::{
    BoundedExecutor, CancelToken, DirectExecutor, Discard, Executor, FifoQueue, FutureTask, JoinError,
    RejectReason, RejectedExecution, Task, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, Waiter, assert_matches, blocked, eventually, occupy, within_deadline,
};

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
            assert_matches!(bounded.submit(|| ()).unwrap().join(), Err(JoinError::Cancelled(_)));
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
        assert_matches!(dropped.join(), Err(JoinError::Cancelled(_)));
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

/// Each of two tasks submits two more tasks, on two threads and with three permits.
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
        assert!(starved.contains(&true), "at least one task gets the report");
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

/// A caller has taken the task out of the executor, and may run the task at any time.
#[test]
fn a_permit_whose_task_is_in_nobodys_queue_is_waited_for() {
    within_deadline(|| {
        let (pool, below) = (ThreadPoolExecutor::fixed(1), Arc::new(ThreadPoolExecutor::fixed(1)));
        let busy = occupy(&below);
        let bounded = Arc::new(BoundedExecutor::over(below, 1));
        let first = bounded.submit(|| 1).unwrap();
        let task = first.remove().unwrap();
        assert_eq!(bounded.under_way(), 1, "it keeps its permit");
        let (own, spot) = (Arc::clone(&bounded), Spot::default());
        let at = spot.clone();
        let waits = pool.submit(move || {
            at.arrive();
            own.submit(|| 2).map_err(|refused| refused.reason)
        });
        spot.wait_until_blocked();
        task.run();
        drop(busy);
        let second = waits.unwrap().join_timeout(LONG).unwrap().unwrap();
        assert_eq!((first.join().unwrap(), second.join_timeout(LONG).unwrap()), (1, 2));
    });
}

#[test]
fn submitters_that_wait_are_refused_when_it_is_shut_down() {
    within_deadline(|| {
        for now in [false, true] {
            let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 1));
            let busy = occupy(&*bounded);
            let waiters = [(); 3].map(|()| {
                let own = Arc::clone(&bounded);
                blocked(move || own.execute_task(Task::new(|| ()).named("waits")))
            });
            eventually("all wait", || bounded.stats().waiting == 3);
            if now {
                assert!(bounded.shutdown_now().is_empty());
            } else {
                bounded.shutdown();
            }
            for waiter in waiters {
                let refused = waiter.result().unwrap_err();
                assert_matches!(refused.reason, RejectReason::Shutdown);
                assert_eq!(refused.task.name(), Some("waits"));
            }
            drop(busy);
            assert!(bounded.await_termination(LONG));
        }
    });
}

#[test]
fn a_submitter_need_not_wait_or_not_for_long() {
    within_deadline(|| {
        let bounded = BoundedExecutor::over(ThreadPerTaskExecutor, 1);
        assert_eq!(bounded.without_waiting().submit(|| 1).unwrap().join().unwrap(), 1);
        assert_eq!(bounded.waiting_at_most(LONG).submit(|| 2).unwrap().join().unwrap(), 2);
        let busy = occupy(&bounded);
        let refused = bounded.without_waiting().submit(|| 3).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Saturated);
        let start = Instant::now();
        let late = bounded.waiting_at_most(SHORT).submit(|| 4).unwrap_err();
        assert_matches!(late.reason, RejectReason::TimedOut);
        assert!(start.elapsed() >= SHORT);
        drop(busy);
        assert_eq!(bounded.waiting_at_most(LONG).submit(|| 5).unwrap().join().unwrap(), 5);
        bounded.shutdown();
        assert_matches!(bounded.without_waiting().execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_matches!(
            bounded.waiting_at_most(LONG).execute(|| ()).unwrap_err().reason,
            RejectReason::Shutdown
        );
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 3);
    });
}

#[test]
fn a_higher_bound_lets_submitters_go_on_that_wait() {
    within_deadline(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 1));
        let busy = occupy(&*bounded);
        let waiters = [(); 3].map(|()| {
            let own = Arc::clone(&bounded);
            blocked(move || Some(occupy(&*own)))
        });
        eventually("all wait", || bounded.stats().waiting == 3);
        bounded.set_bound(3);
        eventually("two go on", || bounded.stats().under_way == 3);
        assert_eq!(bounded.stats().to_string(), "3 of 3 under way, 1 waiting");
        drop(busy);
        let busy: Vec<_> = waiters.into_iter().map(Waiter::result).collect();
        assert_eq!((bounded.under_way(), bounded.bound()), (3, 3));
        drop(busy);
    });
}

#[test]
fn under_a_lower_bound_nothing_is_taken_back_and_nobody_comes_in_before_there_is_room() {
    within_deadline(|| {
        let bounded = BoundedExecutor::over(ThreadPerTaskExecutor, 4);
        let mut busy: Vec<_> = (0..3).map(|_| occupy(&bounded)).collect();
        bounded.set_bound(1);
        assert_eq!((bounded.under_way(), bounded.bound()), (3, 1));
        for left in [2, 1] {
            drop(busy.pop());
            eventually("one less is under way", || bounded.under_way() == left);
            assert_matches!(
                bounded.without_waiting().execute(|| ()).unwrap_err().reason,
                RejectReason::Saturated
            );
        }
        drop(busy.pop());
        eventually("none is under way", || bounded.under_way() == 0);
        let _busy = occupy(&bounded);
        assert_matches!(
            bounded.without_waiting().execute(|| ()).unwrap_err().reason,
            RejectReason::Saturated
        );
        bounded.set_bound(2);
        let _another = occupy(&bounded);
    });
}

#[test]
#[should_panic(expected = "no task could ever be submitted")]
fn a_bound_of_zero_is_refused() {
    BoundedExecutor::over(DirectExecutor, 1).set_bound(0);
}

/// An executor that calls the given function with each task.
struct Hostile(fn(Task) -> Result<(), RejectedExecution>);

impl Executor for Hostile {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        (self.0)(task)
    }
}

#[test]
fn whatever_the_executor_below_does_no_permit_is_lost_and_it_can_be_closed() {
    within_deadline(|| {
        let refuses: fn(Task) -> _ = |task| Err(RejectedExecution { reason: RejectReason::TimedOut, task });
        let another: fn(Task) -> _ = |task| {
            drop(task);
            Err(RejectedExecution { reason: RejectReason::TimedOut, task: Task::new(|| ()) })
        };
        let panics: fn(Task) -> _ = |_task| panic!("in the executor below");
        let drops: fn(Task) -> _ = |_task| Ok(());
        let on_another_thread: fn(Task) -> _ = |task| {
            std::thread::spawn(move || drop(task.run()));
            Ok(())
        };
        for hostile in [refuses, another, panics, drops, on_another_thread] {
            let bounded = BoundedExecutor::over(BoundedExecutor::over(Hostile(hostile), 1), 1);
            for _ in 0..3 {
                let submit = || bounded.submit(|| 1).map(|handle| handle.join().ok());
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(submit));
                eventually("the permits are back", || {
                    bounded.under_way() + bounded.executor().under_way() == 0
                });
            }
            bounded.close();
            bounded.executor().close();
        }
    });
}

/// The outer executor takes a task back: the user owns the task again, and the task's permit of the inner
/// executor is free. The inner executor takes a task back: the task keeps its permit of the outer executor.
#[test]
fn one_in_another_takes_back_its_own() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let inner = Arc::new(BoundedExecutor::over(&pool, 9));
        let outer = BoundedExecutor::over(Arc::clone(&inner), 9);
        let busy = occupy(&pool);
        let through_both = outer.submit(|| 1).unwrap();
        let through_one = inner.submit(|| 2).unwrap();
        assert_eq!((inner.under_way(), outer.under_way()), (2, 1));
        let back = outer.shutdown_now();
        assert_eq!(back.iter().map(Task::id).collect::<Vec<_>>(), [through_both.id()]);
        assert_eq!((inner.under_way(), outer.under_way()), (1, 0));
        assert!(!through_both.is_finished() && outer.is_terminated());

        let outer = BoundedExecutor::over(Arc::clone(&inner), 9);
        let kept = outer.submit(|| 3).unwrap();
        let back = inner.shutdown_now();
        assert_eq!(back.iter().map(Task::id).collect::<Vec<_>>(), [through_one.id(), kept.id()]);
        assert_eq!((inner.under_way(), outer.under_way()), (0, 1));
        drop(back);
        assert_eq!(outer.under_way(), 0);
        drop(busy);
    });
}
