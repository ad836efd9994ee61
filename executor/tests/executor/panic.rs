//! After a panic in user code, no thread, task or count is lost, no matter where the code panics.
//!
//! The module [`crate::panic_handler`] tests the handler that gets the report. Panics in hooks, factories and
//! queues are tested in [`crate::hooks`], [`crate::factory`] and [`crate::bad_queue`].

use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, ExecutorService, FutureTask, JoinError, Outcome, TaskError, TaskState, ThreadPoolExecutor,
    prelude::*,
};

use crate::support::{
    Explosions, LONG, Signal, assert_matches, blocked, occupy, on_every_executor, within_deadline,
};

/// Calls `trouble` with a pool of one thread. Then the function asserts that the thread is still alive and
/// that the numbers are correct: `trouble` must add `tasks` and `panics` to the counters.
fn the_pool_survives(tasks: u64, panics: u64, trouble: impl FnOnce(&ThreadPoolExecutor)) {
    let pool = ThreadPoolExecutor::fixed(1);
    let worker = || pool.submit(|| thread::current().id()).unwrap().join_timeout(LONG).unwrap();
    let before = worker();
    trouble(&pool);
    assert_eq!(worker(), before, "the thread is still the same one");
    let stats = pool.stats();
    assert_eq!((stats.threads, stats.peak_threads), (1, 1), "{stats}");
    assert_eq!((stats.active, stats.queued), (0, 0), "{stats}");
    assert_eq!((stats.completed, stats.panicked), (tasks + 2, panics), "{stats}");
    pool.shutdown();
    assert!(pool.await_termination(LONG));
}

/// SLIP-4
#[test]
fn in_the_body() {
    within_deadline(|| {
        the_pool_survives(2, 2, |pool| {
            pool.execute(|| panic!("in the body")).unwrap();
            let handle = pool.submit(|| panic!("the handle is told")).unwrap();
            assert_matches!(handle.join(), Err(JoinError::<()>::Panicked(panic)) if panic.message() == "the handle is told");
        });
    });
}

#[test]
fn in_the_drop_of_what_the_body_has_captured() {
    within_deadline(|| {
        let explosions = Explosions::default();
        the_pool_survives(2, 2, |pool| {
            let (bomb, other) = (explosions.bomb(), explosions.bomb());
            pool.execute(move || _ = &bomb).unwrap();
            let handle = pool.submit(move || _ = &other).unwrap();
            assert_matches!(handle.join(), Err(JoinError::Panicked(panic)) if panic.message() == "the bomb goes off");
        });
        assert_eq!(explosions.count(), 2);
    });
}

#[test]
fn in_the_drop_of_what_a_cancelled_task_has_captured() {
    within_deadline(|| {
        let explosions = Explosions::default();
        the_pool_survives(1, 0, |pool| {
            let _busy = occupy(pool);
            let bomb = explosions.bomb();
            let handle = pool.submit(move || drop(bomb)).unwrap();
            assert!(handle.cancel(), "the panic does not reach the canceller");
            assert_eq!(explosions.count(), 1);
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        });
    });
}

#[test]
fn in_the_drop_of_tasks_that_are_handed_back() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let (plain, with_handle) = (explosions.bomb(), explosions.bomb());
        pool.execute(move || drop(plain)).unwrap();
        let handle = pool.submit(move || drop(with_handle)).unwrap();
        drop(pool.shutdown_now());
        assert_eq!(explosions.count(), 2);
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        drop(busy);
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn in_the_drop_of_a_result_that_nobody_wants() {
    within_deadline(|| {
        let explosions = Explosions::default();
        the_pool_survives(2, 0, |pool| {
            let bomb = explosions.bomb();
            let busy = occupy(pool);
            drop(pool.submit(move || bomb).unwrap());
            drop(busy);
        });
        assert_eq!(explosions.count(), 1);
    });
}

#[test]
fn in_the_drop_of_a_result_that_comes_after_the_cancellation() {
    within_deadline(|| {
        let explosions = Explosions::default();
        the_pool_survives(1, 0, |pool| {
            let (started, release) = (Signal::new(), Signal::new());
            let (bomb, there) = (explosions.bomb(), (started.clone(), release.clone()));
            let handle = pool.submit(move || {
                there.0.set();
                there.1.wait();
                bomb
            });
            started.wait();
            assert!(handle.unwrap().cancel());
            release.set();
        });
        assert_eq!(explosions.count(), 1);
    });
}

#[test]
fn in_the_drop_of_a_finished_handle() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let bomb = explosions.bomb();
        let FutureTask { task, handle } = FutureTask::new(move || bomb);
        assert_matches!(task.run(), Outcome::Completed);
        drop(handle);
        assert_eq!(explosions.count(), 1);
    });
}

#[test]
fn in_the_drop_of_the_payload() {
    within_deadline(|| {
        let explosions = Explosions::default();
        the_pool_survives(3, 2, |pool| {
            let (first, second) = (explosions.bomb(), explosions.bomb());
            pool.execute(move || panic_any(first)).unwrap();
            let busy = occupy(pool);
            drop(pool.submit(move || panic_any(second)).unwrap());
            drop(busy);
        });
        assert_eq!(explosions.count(), 2);
    });
}

#[test]
fn in_a_callback_that_is_told_of_the_outcome() {
    within_deadline(|| {
        let called = Arc::new(AtomicUsize::new(0));
        the_pool_survives(3, 1, |pool| {
            let busy = occupy(pool);
            let callback = || {
                let called = Arc::clone(&called);
                move |_| {
                    called.fetch_add(1, Ordering::Relaxed);
                    panic!("in the callback");
                }
            };
            pool.submit(|| 1).unwrap().on_done(callback());
            pool.submit(|| -> i32 { panic!("in the body") }).unwrap().on_done(callback());
            drop(busy);
        });
        assert_eq!(called.load(Ordering::Relaxed), 2);

        let FutureTask { task, handle } = FutureTask::new(|| ());
        task.run();
        handle.on_done(|_| panic!("called at once, and does not hit the caller"));
    });
}

#[test]
fn in_a_callback_of_a_cancelled_task() {
    within_deadline(|| {
        the_pool_survives(2, 0, |pool| {
            let (ready, release) = (Signal::new(), Signal::new());
            let after = Arc::new(Mutex::new(Vec::new()));
            let handle = pool.submit_cancellable({
                let (ready, release, after) = (ready.clone(), release.clone(), Arc::clone(&after));
                move |token| {
                    let _first = token.on_cancel(|| panic!("in the first callback"));
                    let _second = token.on_cancel(move || after.lock().unwrap().push("second"));
                    ready.set();
                    release.wait(); // a body that ended earlier would take the second callback back
                    token.check()
                }
            });
            ready.wait();
            assert!(handle.unwrap().cancel(), "the panic does not reach the canceller");
            assert_eq!(*after.lock().unwrap(), ["second"]);
            release.set();
            pool.execute(|| ()).unwrap();
        });
    });
}

#[test]
fn in_a_callback_when_the_whole_pool_is_stopped() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let reached = Arc::new(AtomicUsize::new(0));
        let ready = [Signal::new(), Signal::new()];
        for ready in ready.clone() {
            let reached = Arc::clone(&reached);
            pool.execute(move || {
                let token = CancelToken::current();
                let callback = move || {
                    reached.fetch_add(1, Ordering::Relaxed);
                    panic!("in a callback");
                };
                token.on_cancel(callback).keep(); // perhaps the sleep ends before the callback is called
                ready.set();
                let _ = token.sleep(Duration::MAX);
            })
            .unwrap();
        }
        ready.iter().for_each(Signal::wait);
        drop(pool.shutdown_now());
        assert!(pool.await_termination(LONG));
        assert_eq!(reached.load(Ordering::Relaxed), 2);
        assert_eq!((pool.stats().completed, pool.stats().panicked), (2, 0));
    });
}

#[test]
fn in_the_drop_of_a_callback_that_is_taken_back() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let (token, bomb) = (CancelToken::new(), explosions.bomb());
        drop(token.on_cancel(move || drop(bomb)));
        assert_eq!(explosions.count(), 1);
        assert!(token.cancel());
    });
}

#[test]
fn in_a_waker() {
    struct BadWaker(AtomicUsize);
    impl Wake for BadWaker {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("in the waker");
        }
    }

    within_deadline(|| {
        let bad = Arc::new(BadWaker(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&bad));
        let mut context = std::task::Context::from_waker(&waker);
        the_pool_survives(3, 0, |pool| {
            let busy = occupy(pool);
            let mut unique = Box::pin(pool.submit(|| 1).unwrap());
            assert!(unique.as_mut().poll(&mut context).is_pending());
            let shared = pool.submit(|| 2).unwrap().shared();
            let mut other = Box::pin(shared.clone());
            assert!(other.as_mut().poll(&mut context).is_pending());
            let good = blocked(move || shared.join());
            drop(busy);
            assert_eq!(*good.result().unwrap(), 2, "the other waiter of the same task is woken, too");
        });
        assert_eq!(bad.0.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn in_the_waker_of_a_task_that_is_cancelled() {
    struct BadWaker;
    impl Wake for BadWaker {
        fn wake(self: Arc<Self>) {
            panic!("in the waker");
        }
    }

    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let canceller = handle.canceller();
        let waker = Waker::from(Arc::new(BadWaker));
        let mut handle = Box::pin(handle);
        assert!(handle.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        assert!(canceller.cancel());
        drop(task);
        assert_matches!(pollster::block_on(handle), Err(TaskError::Cancelled(_)));
    });
}

/// FUT-5: on any executor, the holder of the handle gets the panic, and the submitter gets no panic.
#[test]
fn in_the_body_on_every_executor() {
    within_deadline(|| {
        on_every_executor(|executor| {
            executor.execute(|| panic!("in the body")).unwrap();
            let handle = executor.submit(|| panic_any(7)).unwrap();
            let Err(JoinError::<()>::Panicked(panic)) = handle.join() else { panic!("it has panicked") };
            assert_eq!(*panic.take_payload().unwrap().downcast::<i32>().unwrap(), 7);
            assert_eq!(executor.submit(|| 1).unwrap().join().unwrap(), 1);
        });
    });
}

#[test]
fn in_a_thousand_bodies() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let handles: Vec<_> = (0..1_000_usize)
            .map(|n| pool.submit(move || std::panic::resume_unwind(Box::new(n))).unwrap())
            .collect();
        for (n, handle) in handles.into_iter().enumerate() {
            let Err(JoinError::<()>::Panicked(panic)) = handle.join() else { panic!("it has panicked") };
            assert_eq!(*panic.take_payload().unwrap().downcast::<usize>().unwrap(), n);
        }
        let stats = pool.stats();
        assert_eq!((stats.threads, stats.completed, stats.panicked), (2, 1_000, 1_000));
    });
}

#[test]
fn a_caught_panic_can_go_on_where_the_result_was_wanted() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| panic_any("the payload"));
        task.run();
        let Err(JoinError::<()>::Panicked(panic)) = handle.join() else { panic!("it has panicked") };
        let payload = std::panic::catch_unwind(|| panic.resume()).unwrap_err();
        assert_eq!(*payload.downcast::<&str>().unwrap(), "the payload");
    });
}

/// FUT-16
#[test]
fn a_panic_after_the_cancellation_does_not_change_the_outcome_but_is_counted() {
    within_deadline(|| {
        the_pool_survives(1, 1, |pool| {
            let (started, release) = (Signal::new(), Signal::new());
            let there = (started.clone(), release.clone());
            let handle = pool.submit(move || {
                there.0.set();
                there.1.wait();
                panic!("too late to matter");
            });
            let handle = handle.unwrap();
            started.wait();
            assert!(handle.cancel());
            release.set();
            assert_eq!(handle.state(), TaskState::Cancelled);
            assert_matches!(handle.join(), Err(JoinError::<()>::Cancelled(_)));
        });
    });
}
