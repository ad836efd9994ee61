//! A pool ends by `close` or by its drop: both wait for the accepted tasks, unless the wait could only
//! deadlock.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use executor::{
    CancelToken, DropPolicy, Executor, ExecutorExt, ExecutorService, Hooks, JoinError, TaskState,
    ThreadPoolExecutor,
};

use crate::support::{
    LONG, Signal, Spot, assert_matches, blocked, eventually, occupy, on_every_pool, within_deadline,
};

/// END-27
#[test]
fn closing_an_idle_pool_terminates_it() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.submit(|| ()).unwrap().join().unwrap();
            pool.close();
            assert!(pool.is_terminated());
            pool.close(); // a second call is no mistake
        });
    });
}

/// END-14
#[test]
fn closing_runs_what_was_accepted_first() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let busy = occupy(pool);
            let waiting: Vec<_> = (0..3).map(|n| pool.submit(move || n).unwrap()).collect();
            drop(busy);
            pool.close();
            assert!(waiting.iter().all(|handle| handle.state() == TaskState::Completed));
        });
    });
}

/// END-29
#[test]
fn closing_waits_even_if_the_pool_was_shut_down_before() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let busy = occupy(&pool);
        pool.shutdown();
        let closing = blocked({
            let pool = Arc::clone(&pool);
            move || {
                pool.close();
                pool.is_terminated()
            }
        });
        assert!(closing.still_waits());
        drop(busy);
        assert!(closing.result());
    });
}

/// END-14, END-16
#[test]
fn dropping_runs_what_was_accepted_first() {
    within_deadline(|| {
        for waiting in 0..3 {
            let runs = Arc::new(AtomicUsize::new(0));
            let pool = ThreadPoolExecutor::single();
            let busy = occupy(&pool);
            for _ in 0..waiting {
                let runs = Arc::clone(&runs);
                pool.execute(move || _ = runs.fetch_add(1, Ordering::Relaxed)).unwrap();
            }
            let dropping = blocked(move || drop(pool));
            assert!(dropping.still_waits());
            drop(busy);
            dropping.result();
            assert_eq!(runs.load(Ordering::Relaxed), waiting);
        }
    });
}

/// The behaviour END-10: the drop of a thread-local value shows that the thread itself ends.
#[test]
fn the_threads_of_a_dropped_pool_end() {
    struct Farewell(mpsc::Sender<()>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    thread_local! {
        static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    }
    within_deadline(|| {
        let (ended, thread_ended) = mpsc::channel();
        for _ in 0..10 {
            let pool = ThreadPoolExecutor::single();
            let ended = ended.clone();
            pool.execute(move || FAREWELL.set(Some(Farewell(ended)))).unwrap();
        }
        for _ in 0..10 {
            thread_ended.recv_timeout(LONG).expect("each thread ends");
        }
    });
}

/// END-31, END-32
#[test]
fn closing_turns_into_shutting_down_now_when_the_closing_task_is_cancelled() {
    within_deadline(|| {
        for cancelled_before in [true, false] {
            let pool = Arc::new(ThreadPoolExecutor::single());
            let spot = Spot::default();
            let running = pool.submit_cancellable({
                let spot = spot.clone();
                move |token| {
                    spot.arrive();
                    token.sleep(Duration::MAX)
                }
            });
            spot.wait_until_blocked();
            let waiting = pool.submit(|| ()).unwrap();
            let token = CancelToken::new();
            if cancelled_before {
                token.cancel();
            }
            let closing = blocked({
                let (pool, token) = (Arc::clone(&pool), token.clone());
                move || {
                    token.attach(|| pool.close());
                    (pool.is_terminated(), token.is_cancelled())
                }
            });
            token.cancel();
            assert_eq!(
                closing.result(),
                (true, true),
                "it has waited for the end, and the request is still there"
            );
            assert_matches!(running.unwrap().join(), Err(JoinError::Cancelled(_)));
            assert_matches!(waiting.join(), Err(JoinError::Cancelled(_)));
        }
    });
}

/// If the caller of `close` is cancelled, `close` stops the pool, but still waits for a running task that
/// ignores its token.
#[test]
fn a_cancelled_close_returns_only_when_what_ran_has_ended() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let busy = occupy(&pool);
        let token = CancelToken::new();
        token.cancel();
        let closing = blocked({
            let pool = Arc::clone(&pool);
            move || token.attach(|| pool.close())
        });
        assert!(closing.still_waits() && pool.is_shutdown());
        drop(busy);
        closing.result();
        assert!(pool.is_terminated());
    });
}

/// A pool is a local variable of a cancelled task. The cancellation of the task does not shorten the wait in
/// the pool's drop.
#[test]
fn dropping_waits_even_in_a_cancelled_task() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let waiting = pool.submit(|| 1).unwrap();
        let token = CancelToken::new();
        token.cancel();
        let dropping = blocked(move || token.attach(|| drop(pool)));
        assert!(dropping.still_waits());
        drop(busy);
        dropping.result();
        assert_eq!(waiting.join().unwrap(), 1);
    });
}

#[test]
fn closing_from_one_of_its_own_tasks_does_not_wait_for_that_task() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let closing = pool.submit(move || own.close()).unwrap();
        closing.join_timeout(LONG).unwrap();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn closing_from_a_cancelled_task_of_its_own_does_not_wait_either() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let closed = Signal::new();
        pool.execute({
            let closed = closed.clone();
            move || {
                CancelToken::current().cancel();
                own.close();
                closed.set();
            }
        })
        .unwrap();
        closed.wait();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_pool_dropped_by_one_of_its_own_tasks_shuts_down_and_does_not_wait() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let only_the_task_has_it = Signal::new();
        let dropping = pool.submit({
            let (own, go) = (Arc::clone(&pool), only_the_task_has_it.clone());
            move || {
                go.wait();
                assert_eq!(Arc::strong_count(&own), 1);
                drop(own);
            }
        });
        let after = pool.submit(|| 1).unwrap();
        drop(pool);
        only_the_task_has_it.set();
        dropping.unwrap().join_timeout(LONG).unwrap();
        assert_eq!(after.join_timeout(LONG).unwrap(), 1, "an accepted task still runs");
    });
}

#[test]
fn a_pool_dropped_while_its_owner_unwinds_shuts_down_and_does_not_wait() {
    within_deadline(|| {
        let (busy, waiting) = {
            let pool = ThreadPoolExecutor::single();
            let busy = occupy(&pool);
            let waiting = pool.submit(|| 1).unwrap();
            let panic = catch_unwind(AssertUnwindSafe(move || {
                let _pool = pool;
                panic!("the owner's own trouble");
            }));
            let message = *panic.unwrap_err().downcast::<&str>().unwrap();
            assert_eq!(message, "the owner's own trouble");
            (busy, waiting)
        };
        assert!(!waiting.is_finished(), "the task before it still runs");
        drop(busy);
        assert_eq!(waiting.join_timeout(LONG).unwrap(), 1);
    });
}

#[test]
fn a_pool_that_outlives_its_owner_inside_a_queued_task_ends_with_that_task() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let (own, weak) = (Arc::clone(&pool), Arc::downgrade(&pool));
        let busy = occupy(&pool);
        pool.execute(move || drop(own)).unwrap();
        drop(pool);
        assert!(weak.strong_count() == 1, "the queue keeps it");
        drop(busy);
        eventually("the pool is gone", || weak.strong_count() == 0);
    });
}

/// The pool has handed a task back, and this task is the only owner of the pool, so there is a reference
/// cycle.
#[test]
fn a_handed_back_task_that_owns_its_pool_can_be_dropped() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let busy = occupy(&pool);
        let own = Arc::clone(&pool);
        let handle = pool.submit(move || own.is_shutdown()).unwrap();
        let handed_back = pool.shutdown_now();
        drop(pool);
        drop(busy);
        drop(handed_back); // drops the pool, which waits for its thread
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn several_threads_can_close_at_once() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let busy = occupy(&pool);
        let closing: Vec<_> = (0..3)
            .map(|_| {
                let pool = Arc::clone(&pool);
                blocked(move || pool.close())
            })
            .collect();
        assert!(closing.iter().all(crate::support::Waiter::still_waits));
        drop(busy);
        closing.into_iter().for_each(crate::support::Waiter::result);
        assert_matches!(pool.execute_task(executor::Task::new(|| ())), Err(_));
    });
}

#[test]
fn a_pool_told_to_cancel_when_it_is_dropped_cancels_what_runs_drops_what_waits_and_waits() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Cancel).build().unwrap();
        let (spot, saw_it) = (Spot::default(), Signal::new());
        let running = pool.submit_cancellable({
            let (spot, saw_it) = (spot.clone(), saw_it.clone());
            move |token| {
                spot.arrive();
                let slept = token.sleep(Duration::MAX);
                saw_it.set();
                slept
            }
        });
        spot.wait_until_blocked();
        let waiting = pool.submit(|| ()).unwrap();
        drop(pool);
        assert!(saw_it.is_set(), "the drop has waited for it");
        assert_matches!(running.unwrap().join(), Err(JoinError::Cancelled(_)));
        assert_eq!(waiting.state(), TaskState::Cancelled);
    });
}

#[test]
fn a_pool_told_to_detach_when_it_is_dropped_does_not_wait_and_still_does_what_it_has() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Detach).build().unwrap();
        let busy = occupy(&pool);
        let waiting = pool.submit(|| 7).unwrap();
        drop(pool);
        assert_eq!(waiting.state(), TaskState::Pending);
        drop(busy);
        assert_eq!(waiting.join_timeout(LONG).unwrap(), 7);
    });
}

#[test]
fn a_pool_told_to_finish_when_it_is_dropped_is_as_one_told_nothing() {
    within_deadline(|| {
        assert_eq!(DropPolicy::default(), DropPolicy::Finish);
        let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Finish).build().unwrap();
        let waiting = pool.submit(|| 7).unwrap();
        drop(pool);
        assert_eq!(waiting.try_join().unwrap(), 7);
    });
}

/// The owner of the pool panics, and the unwinding drops the pool. With this policy, too, the drop does not
/// wait for the tasks.
#[test]
fn a_pool_told_to_cancel_that_is_dropped_by_its_own_task_or_a_panic_does_not_wait() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Cancel).build().unwrap();
        let busy = occupy(&pool);
        let waiting = pool.submit(|| ()).unwrap();
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _pool = pool;
            std::panic::resume_unwind(Box::new("the owner's own trouble"));
        }));
        assert!(unwound.is_err());
        assert_eq!(waiting.state(), TaskState::Cancelled);
        drop(busy);
    });
}

/// The pool never had a worker, so the thread that shuts the pool down calls the hook.
#[test]
fn a_pool_without_a_worker_can_be_closed_by_its_last_hook() {
    struct Closes(OnceLock<Weak<ThreadPoolExecutor>>);
    impl Hooks for Closes {
        fn terminated(&self) {
            self.0.get().unwrap().upgrade().unwrap().close();
        }
    }

    within_deadline(|| {
        let hooks = Arc::new(Closes(OnceLock::new()));
        let pool = Arc::new(ThreadPoolExecutor::builder().hooks(Arc::clone(&hooks)).build().unwrap());
        hooks.0.set(Arc::downgrade(&pool)).unwrap();
        pool.shutdown();
        assert!(pool.is_terminated());
    });
}
