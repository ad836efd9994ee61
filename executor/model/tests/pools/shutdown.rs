//! A shutdown loses no task, and releases all threads that wait for the pool's end.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    CancelToken, Cancelled, DirectExecutor, FutureTask, JoinError, Latch, RejectReason, Semaphore, TaskState,
    ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

/// The events of a task, as the submitter and the body saw them.
#[derive(Debug, PartialEq, Eq)]
struct Fate {
    accepted: bool,
    runs: usize,
}

/// Starts a thread that submits `tasks` tasks one by one. A refused task must come back to the submitter
/// intact and not yet run.
fn submitter(
    pool: &Arc<ThreadPoolExecutor>,
    tasks: usize,
) -> thread::JoinHandle<Vec<(Arc<AtomicUsize>, bool)>> {
    let pool = Arc::clone(pool);
    thread::spawn(move || {
        (0..tasks)
            .map(|_| {
                let runs = Arc::new(AtomicUsize::new(0));
                let body = {
                    let runs = Arc::clone(&runs);
                    move || _ = runs.fetch_add(1, SeqCst)
                };
                let Err(refused) = pool.execute(body) else { return (runs, true) };
                assert!(matches!(refused.reason, RejectReason::Shutdown), "{refused}");
                assert_eq!(runs.load(SeqCst), 0);
                refused.task.run();
                assert_eq!(runs.swap(0, SeqCst), 1, "a refused task can be run elsewhere");
                (runs, false)
            })
            .collect()
    })
}

fn fates(submitter: thread::JoinHandle<Vec<(Arc<AtomicUsize>, bool)>>) -> Vec<Fate> {
    let tasks = submitter.join().unwrap().into_iter();
    tasks.map(|(runs, accepted)| Fate { accepted, runs: runs.load(SeqCst) }).collect()
}

#[test]
fn of_tasks_submitted_during_a_shutdown_the_accepted_run_and_the_refused_come_back() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let submitter = submitter(&pool, 3);
        pool.shutdown();
        assert!(pool.is_shutdown());
        assert!(pool.await_termination(Duration::MAX));
        let fates = fates(submitter);
        assert!(fates.iter().all(|fate| fate.runs == usize::from(fate.accepted)), "{fates:?}");
        assert!(fates.is_sorted_by_key(|fate| !fate.accepted), "accepted after a refusal: {fates:?}");
    });
}

#[test]
fn of_tasks_submitted_during_a_shutdown_now_each_ran_or_came_back_once() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let submitter = submitter(&pool, 4);
        let handed_back = pool.shutdown_now();
        assert!(pool.await_termination(Duration::MAX));
        let not_begun = handed_back.len();
        for task in handed_back {
            task.run();
        }
        let fates = fates(submitter);
        assert!(fates.iter().all(|fate| fate.runs == usize::from(fate.accepted)), "{fates:?}");
        let accepted = fates.iter().filter(|fate| fate.accepted).count();
        assert_eq!(pool.stats().completed, (accepted - not_begun) as u64);
    });
}

#[test]
fn what_shutdown_now_hands_back_can_still_be_run_and_joined() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let handles: Vec<_> = (0..3).map(|n| pool.submit(move || n).unwrap()).collect();
        let handed_back = pool.shutdown_now();
        for (handle, task) in handles.iter().rev().zip(handed_back.iter().rev()) {
            assert_eq!((handle.id(), handle.state()), (task.id(), TaskState::Pending));
        }
        for task in handed_back {
            task.run();
        }
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.join().unwrap(), n);
        }
    });
}

#[test]
fn a_shutdown_ends_all_idle_workers() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(3);
        for _ in 0..3 {
            pool.submit(|| ()).unwrap().join().unwrap();
        }
        pool.shutdown();
        assert!(pool.await_termination(Duration::MAX)); // otherwise shuttle reports a deadlock
        assert_eq!(pool.stats().threads, 0);
    });
}

#[test]
fn a_pool_without_threads_ends_with_its_shutdown() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(3));
        let waiter = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.await_termination(Duration::MAX)
        });
        pool.shutdown();
        assert!(pool.is_terminated());
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn all_who_wait_for_the_end_are_let_go() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            pool.execute(move || _ = ran.fetch_add(1, SeqCst)).unwrap();
        }
        let waiter = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.await_termination(Duration::MAX)
        });
        let closer = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                pool.close();
                pool.is_terminated()
            }
        });
        pool.close();
        assert!(pool.is_terminated());
        assert_eq!(ran.load(SeqCst), 2);
        assert!(waiter.join().unwrap());
        assert!(closer.join().unwrap());
    });
}

#[test]
fn a_timed_wait_for_the_end_says_whether_it_has_come() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let gate = Arc::new(Latch::new(1));
        let task = pool.submit({
            let gate = Arc::clone(&gate);
            move || gate.wait()
        });
        pool.shutdown();
        assert!(!pool.await_termination(Duration::from_secs(1)), "a task is in its way");
        gate.count_down();
        task.unwrap().join().unwrap().unwrap();
        if pool.await_termination(Duration::from_secs(1)) {
            assert!(pool.is_terminated());
        }
        assert!(pool.await_termination(Duration::MAX));
    });
}

#[test]
fn a_dropped_pool_runs_what_it_has() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let ran = Arc::clone(&ran);
            pool.execute(move || _ = ran.fetch_add(1, SeqCst)).unwrap();
        }
        drop(pool);
        assert_eq!(ran.load(SeqCst), 3);
    });
}

#[test]
fn a_pool_dropped_or_closed_by_its_own_worker_does_not_wait_for_itself() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let ended = Arc::new(Latch::new(2));
        let owner = {
            let (pool, ended) = (Arc::clone(&pool), Arc::clone(&ended));
            move || {
                pool.close();
                drop(pool); // perhaps it is the last one
                ended.count_down();
            }
        };
        let follower = {
            let ended = Arc::clone(&ended);
            move || ended.count_down()
        };
        pool.execute(owner).unwrap();
        let refused = pool.execute(follower).err();
        drop(pool);
        if let Some(refused) = refused {
            refused.task.run();
        }
        ended.wait().unwrap(); // otherwise shuttle reports a deadlock
    });
}

fn sleep() -> Result<(), Cancelled> {
    CancelToken::new().sleep(Duration::MAX)
}

fn wait_at_a_latch() -> Result<(), Cancelled> {
    Latch::new(1).wait()
}

fn acquire() -> Result<(), Cancelled> {
    Semaphore::new(0).acquire().map(drop)?;
    Ok(())
}

fn join() -> Result<(), Cancelled> {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let joined = handle.join();
    drop(task); // not earlier: the drop would end the join
    joined.map_err(|error| {
        assert!(matches!(error, JoinError::Interrupted(_)), "{error}");
        Cancelled
    })
}

fn sleep_in_a_task_run_inline() -> Result<(), Cancelled> {
    let inline = DirectExecutor.submit_cancellable(|_| sleep()).unwrap();
    assert!(matches!(inline.join(), Err(JoinError::Cancelled(_))));
    Err(Cancelled)
}

fn close_another_pool() -> Result<(), Cancelled> {
    let inner = ThreadPoolExecutor::single();
    let stuck = inner.submit_cancellable(|_| sleep()).unwrap();
    let queued = inner.submit(|| ()).unwrap();
    inner.close(); // turns into a `shutdown_now` when the closing task is cancelled
    assert!(inner.is_terminated());
    assert!(matches!(stuck.join(), Err(JoinError::Cancelled(_))));
    assert!(matches!(queued.join(), Err(JoinError::Cancelled(_))));
    Err(Cancelled)
}

/// A task that is blocked in any wait of this library returns from the wait when the pool is stopped.
fn a_shutdown_now_ends(blocked: fn() -> Result<(), Cancelled>) {
    check(move || {
        let pool = ThreadPoolExecutor::fixed(2);
        let stuck = pool.submit_cancellable(move |_| blocked()).unwrap();
        let handed_back = pool.shutdown_now();
        assert!(pool.await_termination(Duration::MAX)); // otherwise shuttle reports a deadlock
        assert_eq!(handed_back.len() as u64 + pool.stats().completed, 1);
        drop(handed_back);
        assert!(matches!(stuck.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn a_shutdown_now_ends_a_sleep() {
    a_shutdown_now_ends(sleep);
}

#[test]
fn a_shutdown_now_ends_a_wait_at_a_latch() {
    a_shutdown_now_ends(wait_at_a_latch);
}

#[test]
fn a_shutdown_now_ends_a_wait_for_a_permit() {
    a_shutdown_now_ends(acquire);
}

#[test]
fn a_shutdown_now_ends_a_join() {
    a_shutdown_now_ends(join);
}

#[test]
fn a_shutdown_now_ends_a_task_run_inline_by_another() {
    a_shutdown_now_ends(sleep_in_a_task_run_inline);
}

#[test]
fn a_shutdown_now_ends_a_task_that_closes_another_pool_and_that_pool() {
    a_shutdown_now_ends(close_another_pool);
}

#[test]
fn a_shutdown_now_overtakes_a_shutdown() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let order = Arc::new(Mutex::new(Vec::new()));
        let stuck = pool.submit_cancellable(|_| wait_at_a_latch()).unwrap();
        for n in 0..2 {
            let order = Arc::clone(&order);
            pool.execute(move || order.lock().unwrap().push(n)).unwrap();
        }
        let orderly = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.shutdown()
        });
        let handed_back = pool.shutdown_now();
        orderly.join().unwrap();
        assert!(pool.await_termination(Duration::MAX));
        assert!(order.lock().unwrap().is_empty(), "nothing can overtake the task that is stuck");
        for task in handed_back {
            if task.id() != stuck.id() {
                task.run();
            }
        }
        assert_eq!(*order.lock().unwrap(), [0, 1]);
        assert!(matches!(stuck.join(), Err(JoinError::Cancelled(_))));
    });
}
