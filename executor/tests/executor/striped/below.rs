//! Striped executors over executors that refuse tasks, drop tasks, panic, run tasks at once, or are shut down
//! by other code.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use executor::{
    CallerRuns, DirectExecutor, Discard, Executor, ExecutorService, FifoQueue, JoinError, RejectReason,
    RejectedExecution, StripedExecutor, Task, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, Signal, assert_matches, occupy, within_deadline};

/// An executor whose calls return only when the test permits it.
pub(crate) struct Slow {
    pub(crate) asked: Signal,
    pub(crate) answer: Signal,
}

impl Executor for Slow {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.asked.set();
        self.answer.wait();
        ThreadPerTaskExecutor.execute_task(task)
    }
}

#[test]
fn a_refusal_comes_back_whole_and_strands_nobody() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).build().unwrap());
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let busy = occupy(&pool);
        let in_the_queue = striped.submit_in("a", || 1).unwrap();
        for _ in 0..3 {
            let task = Task::new(|| ()).named("late");
            let id = task.id();
            let refused = striped.execute_in("b", task).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Saturated);
            assert_eq!((refused.task.id(), refused.task.name()), (id, Some("late")));
            let refused = striped.execute_task(Task::new(|| ()).named("of no stripe")).unwrap_err();
            assert_eq!(refused.task.name(), Some("of no stripe"));
        }
        assert_eq!(striped.stats().stripes, 1, "the stripe of the refused task is gone");
        let behind = striped.submit_in("a", || 2).unwrap(); // a stripe that exists needs no room
        drop(busy);
        assert_eq!((in_the_queue.join().unwrap(), behind.join_timeout(LONG).unwrap()), (1, 2));
        assert_eq!(striped.submit_in("b", || 3).unwrap().join_timeout(LONG).unwrap(), 3);
        striped.close();
    });
}

#[test]
fn an_executor_that_discards_ends_what_waits_in_the_stripe_and_the_next_begins_anew() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard);
        let pool = Arc::new(builder.build().unwrap());
        let striped = StripedExecutor::over(Arc::clone(&pool));
        let busy = occupy(&pool);
        let filler = pool.submit(|| ()).unwrap();
        assert_matches!(striped.submit_in("a", || ()).unwrap().join(), Err(JoinError::Cancelled(_)));
        assert_eq!(striped.stats().stripes, 0);
        drop(busy);
        filler.join().unwrap();
        assert_eq!(striped.submit_in("a", || 5).unwrap().join_timeout(LONG).unwrap(), 5);
        striped.close();
    });
}

#[test]
fn over_executors_that_run_tasks_at_once_the_order_is_kept_and_the_stack_does_not_grow() {
    fn check<E: Executor + 'static>(striped: StripedExecutor<u32, E>) {
        let striped = Arc::new(striped.turns_of(2));
        let (own, log) = (Arc::clone(&striped), Arc::new(Mutex::new(Vec::new())));
        let (deep, deepest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let notes = (Arc::clone(&log), Arc::clone(&deepest));
        let first = striped.submit_in(1, move || {
            for n in 0..2_000 {
                let (log, deep, deepest) = (Arc::clone(&notes.0), Arc::clone(&deep), Arc::clone(&notes.1));
                let task = move || {
                    deepest.fetch_max(deep.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    log.lock().unwrap().push(n);
                    deep.fetch_sub(1, Ordering::SeqCst);
                };
                own.execute_in(1, task).unwrap();
            }
        });
        first.unwrap().join_timeout(LONG).unwrap();
        striped.submit_in(1, || ()).unwrap().join_timeout(LONG).unwrap();
        assert!(log.lock().unwrap().iter().copied().eq(0..2_000));
        assert_eq!(deepest.load(Ordering::SeqCst), 1);
        striped.close();
        assert!(striped.is_terminated());
    }
    within_deadline(|| {
        check(StripedExecutor::over(DirectExecutor));
        let builder =
            || ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(CallerRuns);
        check(StripedExecutor::owning(builder().build().unwrap()));
        let pool = Arc::new(builder().build().unwrap());
        let busy = occupy(&pool);
        let filler = pool.submit(|| ()).unwrap();
        check(StripedExecutor::over(Arc::clone(&pool))); // runs on this thread
        drop(busy);
        filler.join().unwrap();
    });
}

#[test]
fn if_the_executor_below_is_shut_down_what_was_accepted_still_runs() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(1);
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..20).map(|n| striped.submit_in(n % 2, move || n).unwrap()).collect();
        pool.shutdown();
        assert_matches!(striped.submit_in(2, || ()).unwrap_err().reason, RejectReason::Shutdown);
        let behind = striped.submit_in(1, || 20).unwrap(); // the stripe exists
        drop(busy);
        for (n, handle) in handles.into_iter().chain([behind]).enumerate() {
            assert_eq!(handle.join_timeout(LONG).unwrap(), n);
        }
        striped.close();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn what_the_executor_below_hands_out_runs_the_stripe_or_ends_it() {
    within_deadline(|| {
        for runs in [true, false] {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1));
            let striped = StripedExecutor::over(Arc::clone(&pool));
            let busy = occupy(&pool);
            let handles: Vec<_> = (0..6).map(|n| striped.submit_in(n % 2, move || n).unwrap()).collect();
            let unstriped = striped.execute_task(Task::new(|| ()).named("of no stripe"));
            unstriped.unwrap();
            let back = pool.shutdown_now();
            assert_eq!((back.len(), back[2].name()), (3, Some("of no stripe")));
            assert_eq!(striped.stats().queued, 6);
            striped.shutdown();
            assert!(!striped.is_terminated());
            if runs {
                for task in back {
                    drop(task.run());
                }
                let sum: i32 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
                assert_eq!(sum, 15);
            } else {
                drop(back);
                for handle in handles {
                    assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
                }
            }
            assert!(striped.await_termination(LONG));
            drop(busy);
        }
    });
}

/// An executor that panics at every second call.
struct Unsteady(AtomicUsize);

impl Executor for Unsteady {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        assert!(self.0.fetch_add(1, Ordering::SeqCst) % 2 == 1, "the executor below");
        ThreadPerTaskExecutor.execute_task(task)
    }
}

#[test]
fn an_executor_that_panics_strands_nobody() {
    within_deadline(|| {
        let striped = StripedExecutor::over(Unsteady(AtomicUsize::new(0))).turns_of(1);
        for _ in 0..20 {
            let submit = std::panic::AssertUnwindSafe(|| striped.submit_in(0, || ()));
            match std::panic::catch_unwind(submit) {
                Ok(handle) => handle.unwrap().join_timeout(LONG).unwrap(),
                Err(_) => assert_eq!(striped.stats().stripes, 0),
            }
            crate::support::eventually("the stripe is gone", || striped.stats().stripes == 0);
        }
        striped.close();
    });
}
