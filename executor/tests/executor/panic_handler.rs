//! If no joiner reads a panic, the pool's handler gets the panic, exactly once. (The process's handler has a
//! test in a separate process.)

use std::sync::Arc;
use std::thread;

use executor::panics::PanicReport;
use executor::{
    CallerRuns, ExecutorService, FifoQueue, FutureTask, JoinError, Task, TaskHandle, ThreadPoolBuilder,
    ThreadPoolExecutor, prelude::*,
};

use crate::support::{Explosions, LONG, Record, Signal, assert_matches, eventually, occupy, within_deadline};

/// The content of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heard {
    text: String,
    after_cancel: bool,
}

/// Returns a pool of one thread, and the reports that its handler receives.
fn pool() -> (ThreadPoolExecutor, Record<Heard>) {
    let (builder, heard) = builder();
    (builder.build().unwrap(), heard)
}

fn builder() -> (ThreadPoolBuilder, Record<Heard>) {
    let heard = Record::new();
    let builder = ThreadPoolExecutor::builder().name("told").panic_handler({
        let heard = heard.clone();
        move |report: &PanicReport<'_>| {
            heard.add(Heard { text: report.to_string(), after_cancel: report.after_cancel });
        }
    });
    (builder, heard)
}

/// Panics without a call of the panic hook, because the hook would fill the output.
fn fail() -> ! {
    std::panic::resume_unwind(Box::new("oh"))
}

fn failing() -> FutureTask<()> {
    FutureTask::new(|| fail()).named("bad")
}

fn report() -> Vec<Heard> {
    vec![Heard { text: "task bad panicked on thread told-thread-1: oh".to_owned(), after_cancel: false }]
}

/// HOOK-7
#[test]
fn a_panic_in_an_executed_task_is_reported() {
    within_deadline(|| {
        let (pool, heard) = pool();
        pool.execute(Task::new(|| fail()).named("bad")).unwrap();
        pool.close();
        assert_eq!(heard.so_far(), report());
        let (pool, heard) = self::pool();
        let task = Task::new(|| fail());
        let id = task.id().to_string();
        pool.execute(task).unwrap();
        pool.close();
        assert!(heard.so_far()[0].text.contains(&id), "a task without a name is known by its id");
    });
}

#[test]
fn a_panic_whose_handle_was_dropped_before_is_reported() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let busy = occupy(&pool);
        drop(pool.submit(failing()).unwrap());
        drop(busy);
        pool.close();
        eventually("it is reported", || heard.len() > 0);
        assert_eq!(heard.so_far(), report());
    });
}

#[test]
fn a_panic_whose_handle_is_dropped_unread_is_reported_then() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let handle = pool.submit(failing()).unwrap();
        pool.close();
        assert_eq!(handle.state(), executor::TaskState::Panicked);
        assert_eq!(heard.so_far(), [], "a look at the state is no read, but there is still a handle");
        drop(handle);
        eventually("it is reported", || heard.len() > 0);
        assert_eq!(heard.so_far(), report());
    });
}

/// If the holder of the handle reads the panic, in any of the possible ways, the panic belongs to this reader
/// and is not reported.
#[test]
fn a_panic_that_was_read_is_not_reported() {
    within_deadline(|| {
        let reads: [fn(TaskHandle<()>); 11] = [
            |handle| assert_matches!(handle.join(), Err(JoinError::Panicked(_))),
            |handle| drop(handle.join_timeout(LONG)),
            |handle| {
                eventually("it is done", || handle.is_finished());
                drop(handle.try_join());
            },
            |handle| handle.on_done(drop),
            |handle| drop(pollster::block_on(handle)),
            |handle| drop(handle.shared().join()),
            |handle| drop(pollster::block_on(handle.shared())),
            |handle| handle.shared().on_done(drop),
            |handle| {
                let shared = handle.shared();
                eventually("it is done", || shared.try_join().is_some());
            },
            |handle| drop(handle.join_or_cancel(LONG)),
            |handle| {
                let shared = handle.shared();
                let others = [shared.clone(), shared.clone()];
                drop(shared.join());
                drop(others);
            },
        ];
        for read in reads {
            let (pool, heard) = pool();
            read(pool.submit(failing()).unwrap());
            pool.close();
            drop(pool);
            assert_eq!(heard.so_far(), []);
        }
    });
}

#[test]
fn a_panic_that_none_of_several_handles_has_read_is_reported_once() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let shared = pool.submit(failing()).unwrap().shared();
        let others = [shared.clone(), shared.clone()];
        pool.close();
        drop(shared);
        assert_eq!(heard.so_far(), []);
        drop(others);
        eventually("it is reported", || heard.len() > 0);
        assert_eq!(heard.so_far(), report());
    });
}

/// FUT-16: the handle can no longer report the panic, so the pool must report the panic to the handler.
#[test]
fn a_panic_after_a_cancellation_that_won_is_reported_and_marked_so() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let (started, release) = (Signal::new(), Signal::new());
        let task = FutureTask::new({
            let (started, release) = (started.clone(), release.clone());
            move || -> () {
                started.set();
                release.wait();
                fail()
            }
        });
        let handle = pool.submit(task.named("bad")).unwrap();
        started.wait();
        assert!(handle.cancel());
        release.set();
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        pool.close();
        let text = "task bad panicked on thread told-thread-1 after it was cancelled: oh".to_owned();
        assert_eq!(heard.so_far(), [Heard { text, after_cancel: true }]);
    });
}

/// No task has failed, so the handler gets no report.
#[test]
fn neither_cancelled_nor_completed_tasks_are_reported() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let busy = occupy(&pool);
        let cancelled = pool.submit(failing()).unwrap();
        assert!(cancelled.cancel());
        drop(pool.submit(|| ()).unwrap());
        drop(busy);
        drop(pool.submit_cancellable(|_| Err::<(), _>(executor::Cancelled)).unwrap());
        pool.close();
        drop(cancelled);
        assert_eq!(heard.so_far(), []);
    });
}

/// The submitter runs the task, but the task still counts as a task of the pool.
#[test]
fn a_panic_in_a_task_that_its_submitter_runs_is_reported_to_the_pools_handler() {
    within_deadline(|| {
        let (builder, heard) = builder();
        let pool = builder.queue(FifoQueue::bounded(1)).rejection_handler(CallerRuns).build().unwrap();
        let busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        pool.execute(Task::new(|| fail()).named("bad")).unwrap();
        assert_eq!(heard.len(), 1, "it has run already");
        drop(pool.submit(failing()).unwrap());
        assert_eq!(heard.len(), 2);
        assert!(
            heard.so_far().iter().all(|heard| heard.text.starts_with("task bad panicked")),
            "{:?}",
            heard.so_far()
        );
        assert_matches!(pool.submit(failing()).unwrap().join(), Err(JoinError::Panicked(_)));
        assert_eq!(heard.len(), 2, "that one was read");
        drop(busy);
    });
}

#[test]
fn a_panic_in_the_handler_itself_costs_nothing() {
    within_deadline(|| {
        let calls = Record::new();
        let pool = ThreadPoolExecutor::builder().panic_handler({
            let calls = calls.clone();
            move |_: &PanicReport<'_>| {
                calls.add(());
                fail()
            }
        });
        let pool = pool.build().unwrap();
        for n in 0..10 {
            pool.execute(|| fail()).unwrap();
            assert_eq!(pool.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n);
        }
        pool.close();
        let stats = pool.stats();
        assert_eq!((calls.len(), stats.completed, stats.panicked, stats.peak_threads), (10, 20, 10, 1));
    });
}

/// The handler panics, and the payload of this panic panics when it is dropped.
#[test]
fn a_payload_of_the_handlers_own_panic_that_panics_again_costs_nothing() {
    within_deadline(|| {
        let (explosions, calls) = (Explosions::default(), Record::new());
        let pool = ThreadPoolExecutor::builder().panic_handler({
            let (explosions, calls) = (explosions.clone(), calls.clone());
            move |_: &PanicReport<'_>| {
                calls.add(());
                std::panic::resume_unwind(Box::new(explosions.bomb()))
            }
        });
        let pool = pool.build().unwrap();
        let worker = || pool.submit(|| thread::current().id()).unwrap().join_timeout(LONG).unwrap();
        let before = worker();
        pool.execute(|| fail()).unwrap();
        assert_eq!(worker(), before, "the thread is still the same one");
        pool.close();
        assert_eq!((pool.stats().completed, calls.len()), (3, 1));
        assert_eq!(explosions.count(), 0, "the bomb is not dropped");
    });
}

/// The handler is user code: it runs outside the pool's locks, and may submit the failed task again.
#[test]
fn the_handler_may_use_the_pool() {
    within_deadline(|| {
        let own = Arc::new(std::sync::OnceLock::<std::sync::Weak<ThreadPoolExecutor>>::new());
        let again = Signal::new();
        let pool = ThreadPoolExecutor::builder().panic_handler({
            let (own, again) = (Arc::clone(&own), again.clone());
            move |_: &PanicReport<'_>| {
                let pool = own.get().unwrap().upgrade().unwrap();
                let again = again.clone();
                pool.execute(move || again.set()).unwrap();
                drop(pool.snapshot());
            }
        });
        let pool = Arc::new(pool.build().unwrap());
        own.set(Arc::downgrade(&pool)).unwrap();
        pool.execute(|| fail()).unwrap();
        again.wait();
        pool.close();
        assert_eq!(pool.stats().completed, 2);
    });
}

#[test]
fn a_handler_outlives_its_pool_for_as_long_as_somebody_may_need_it() {
    within_deadline(|| {
        let (pool, heard) = pool();
        let handle = pool.submit(failing()).unwrap();
        drop(pool);
        assert_eq!(heard.so_far(), []);
        drop(handle);
        assert_eq!(heard.so_far(), report());
    });
}
