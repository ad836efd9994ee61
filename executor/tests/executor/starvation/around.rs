//! Tests of waits on a pool's thread outside the bodies of the pool's tasks: in hooks, callbacks and
//! destructors. The other tests in this file use completion services over a serial executor.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use executor::{
    CutShort, DirectExecutor, ExecutorCompletionService, FutureTask, Hooks, JoinError, Outcome,
    SerialExecutor, SharedHandle, SharedJoinError, Stripe, StripedExecutor, TaskInfo, ThreadPoolExecutor,
    WaitsFor, masked, prelude::*,
};

use super::{named, outside, shared};
use crate::support::{Signal, assert_matches, within_deadline};

/// Hooks that make each task with the name "hooked" wait for another task.
#[derive(Clone, Default)]
struct Waits {
    before: Arc<Mutex<Option<SharedHandle<()>>>>,
    after: Arc<Mutex<Option<SharedHandle<()>>>>,
    starved: Arc<AtomicUsize>,
}

impl Waits {
    fn wait_for(&self, what: &Mutex<Option<SharedHandle<()>>>, task: &TaskInfo<'_>) {
        let what = what.lock().unwrap().take_if(|_| task.name == Some("hooked"));
        if let Some(Err(SharedJoinError::Starved(_))) = what.map(|handle| handle.join()) {
            self.starved.fetch_add(1, Relaxed);
        }
    }
}

impl Hooks for Waits {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.wait_for(&self.before, task);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, _outcome: &Outcome) {
        self.wait_for(&self.after, task);
    }
}

/// A task of the pool "below" waits for a second task, whose hook waits for a third task. The third task is
/// in the queue of "below".
#[test]
fn a_hook_before_or_after_a_task_holds_up_whoever_waits_for_it() {
    for after in [false, true] {
        within_deadline(move || {
            let hooks = Waits::default();
            let above = ThreadPoolExecutor::builder().name("above").hooks(hooks.clone());
            let (above, below) = (shared(above), named("below", 1));
            let (own, waits) = (Arc::clone(&below), hooks.clone());
            let task = below.submit(move || {
                let queued = own.submit(|| ()).unwrap().shared();
                *if after { &waits.after } else { &waits.before }.lock().unwrap() = Some(queued.clone());
                let hooked = above.submit(FutureTask::new(|| ()).named("hooked")).unwrap();
                let starved = matches!(hooked.join(), Err(JoinError::Starved(..)));
                queued.cancel();
                starved
            });
            let told = usize::from(outside(task.unwrap())) + hooks.starved.load(Relaxed);
            assert_eq!(told, 1, "after: {after}");
        });
    }
}

#[test]
fn a_callback_on_a_pools_thread_waits_for_a_task_of_the_pool() {
    within_deadline(|| {
        let pool = named("own", 1);
        let (own, told, may_end) = (Arc::clone(&pool), Signal::new(), Signal::new());
        let (tells, ends) = (told.clone(), may_end.clone());
        let task = pool.submit(move || ends.wait()).unwrap();
        task.on_done(move |_| {
            if let Err(JoinError::Starved(..)) = own.submit(|| ()).unwrap().join() {
                tells.set();
            }
        });
        may_end.set();
        told.wait();
    });
}

/// After the body has ended, the destructor of a captured value waits.
#[test]
fn a_destructor_on_a_pools_thread_waits_for_a_task_of_the_pool() {
    struct Waits(Arc<ThreadPoolExecutor>, Signal);
    impl Drop for Waits {
        fn drop(&mut self) {
            if let Err(JoinError::Starved(..)) = self.0.submit(|| ()).unwrap().join() {
                self.1.set();
            }
        }
    }
    within_deadline(|| {
        let (pool, told) = (named("own", 1), Signal::new());
        let waits = Waits(Arc::clone(&pool), told.clone());
        pool.execute(move || drop(waits)).unwrap();
        told.wait();

        let (told, begun) = (Signal::new(), Signal::new());
        let result = Waits(Arc::clone(&pool), told.clone());
        let (begins, may_end) = (begun.clone(), Signal::new());
        let ends = may_end.clone();
        let task = pool.submit(move || {
            begins.set();
            ends.wait();
            result // the result is dropped, because no handle is left
        });
        begun.wait();
        drop(task.unwrap());
        may_end.set();
        told.wait();
    });
}

#[test]
fn a_step_that_no_cancel_reaches_is_told_all_the_same() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let task = pool.submit(move || {
            masked(|| matches!(own.submit(|| ()).unwrap().join(), Err(JoinError::Starved(..))))
        });
        assert!(outside(task.unwrap()));
    });
}

/// The executor below the strand runs tasks on the submitting thread. So a task of a strand runs inside a
/// task of a pool.
#[test]
fn a_task_that_runs_inline_waits_for_the_pool_below_it() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let task = pool.submit(move || {
            let line = SerialExecutor::over(DirectExecutor);
            let inline = line.submit(move || match own.submit(|| ()).unwrap().join() {
                Err(JoinError::Starved(_, report)) => report.chain()[0].task.clone(),
                other => panic!("{other:?}"),
            });
            let inline = inline.unwrap();
            (Some(inline.id()), inline.join().unwrap().map(|task| task.id))
        });
        let (id, told) = outside(task.unwrap());
        assert_eq!(id, told, "the report names the task that waits, not the task below it");
    });
}

/// The service's tasks wait in the strand of a serial executor. In the queue, the drain task of this strand
/// is behind the taker's task.
#[test]
fn a_service_over_a_line_that_has_not_begun() {
    within_deadline(|| {
        let pool = named("own", 1);
        let line = Arc::new(SerialExecutor::over(Arc::clone(&pool)));
        let takes = pool.submit(move || {
            let service = ExecutorCompletionService::new(line);
            for _ in 0..3 {
                service.submit(|| ()).unwrap();
            }
            service.take().map(drop).unwrap_err()
        });
        let error = outside(takes.unwrap());
        let CutShort::Starved(report) = &error else { panic!("{error:?}") };
        assert_matches!(&report.chain()[0].waits_for, WaitsFor::OneOf { tasks: 3, pools, .. } if *pools == ["a serial executor"]);
    });
}

/// The service's tasks are in a stripe. The drain task of the stripe is behind the taker's task in the queue.
#[test]
fn a_service_over_a_stripe_that_has_not_begun() {
    within_deadline(|| {
        let pool = named("own", 1);
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        let takes = pool.submit(move || {
            let service = ExecutorCompletionService::new(Stripe::of(striped, "Ada"));
            for _ in 0..3 {
                service.submit(|| ()).unwrap();
            }
            service.take().map(drop).unwrap_err()
        });
        let error = outside(takes.unwrap());
        let CutShort::Starved(report) = &error else { panic!("{error:?}") };
        assert_matches!(&report.chain()[0].waits_for, WaitsFor::OneOf { tasks: 3, pools, .. } if *pools == ["a striped executor"]);
    });
}

/// The service's tasks run one after the other, on a free thread. The service returns both tasks, including
/// the cancelled task, even if the cancelled task was still waiting in the strand.
#[test]
fn a_service_over_a_line_that_moves() {
    within_deadline(|| {
        let pool = named("own", 2);
        let line = Arc::new(SerialExecutor::over(Arc::clone(&pool)));
        let takes = pool.submit(move || {
            let service = ExecutorCompletionService::new(line);
            let first = service.submit(|| 1).unwrap();
            let second = service.submit(|| 2).unwrap();
            second.cancel();
            let _ = first;
            let handles = std::iter::from_fn(|| service.take().unwrap());
            handles.map(|handle| handle.join().unwrap_or(2)).sum::<i32>()
        });
        assert_eq!(outside(takes.unwrap()), 3);
    });
}
