//! A task is cancelled in one of four situations: in the queue, at its start, in its body, or after its end.
//! In each situation either the cancellation or the other event wins, and the pool's counts are correct.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelToken, JoinError, Latch, TaskState, ThreadPoolExecutor, prelude::*};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

#[test]
fn a_body_runs_at_most_once_and_always_if_its_task_was_not_cancelled() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let runs = Arc::new(AtomicUsize::new(0));
                let body = {
                    let runs = Arc::clone(&runs);
                    move || runs.fetch_add(1, SeqCst)
                };
                (pool.submit(body).unwrap(), runs)
            })
            .collect();
        let cancellers: Vec<_> = tasks.iter().map(|(handle, _)| handle.canceller()).collect();
        let other = thread::spawn(move || {
            cancellers.iter().map(executor_model::Canceller::cancel).collect::<Vec<_>>()
        });
        pool.close();
        let cancelled = other.join().unwrap();
        let mut ran = 0;
        for ((handle, runs), cancelled) in tasks.into_iter().zip(cancelled) {
            let runs = runs.load(SeqCst);
            ran += runs as u64;
            match handle.join() {
                Ok(before) => assert_eq!((before, runs, cancelled), (0, 1, false)),
                Err(JoinError::Cancelled(_)) => assert!(runs <= 1 && cancelled),
                Err(other) => panic!("{other}"),
            }
        }
        // A task that is cancelled after its removal from the queue and before its start counts as completed.
        // A task that was cancelled in the queue does not count as completed.
        let stats = pool.stats();
        assert!((ran..=3).contains(&stats.completed), "{ran} bodies ran: {stats}");
        assert_eq!((stats.active, stats.queued, stats.task_count()), (0, 0, stats.completed));
    });
}

#[test]
fn a_task_cancelled_in_the_queue_is_gone_from_every_count() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let gate = Arc::new(Latch::new(1));
        pool.execute({
            let gate = Arc::clone(&gate);
            move || gate.wait().unwrap()
        })
        .unwrap();
        let captured = Arc::new(());
        let tasks = [(); 3].map(|()| {
            let captured = Arc::clone(&captured);
            pool.submit(move || drop(captured)).unwrap()
        });
        assert!(tasks[1].cancel());
        assert_eq!(Arc::strong_count(&captured), 3, "the cancelled body drops its captured values");
        let stats = pool.stats();
        assert_eq!((stats.queued + stats.active, stats.task_count()), (3, 3));
        gate.count_down();
        pool.close();
        assert_eq!(pool.stats().completed, 3);
        assert_eq!(tasks.map(|task| task.state() == TaskState::Completed), [true, false, true]);
    });
}

#[test]
fn a_cancelled_task_gives_its_thread_back_and_its_request_to_nobody() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let stuck = pool.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap();
        let next = pool.submit(|| (CancelToken::current().is_cancelled(), Latch::new(0).wait())).unwrap();
        assert!(stuck.cancel());
        assert!(matches!(stuck.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(next.join().unwrap(), (false, Ok(())));
        pool.close();
    });
}

#[test]
fn a_cancelled_waiter_leaves_the_task_it_waited_for_alone() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let gate = Arc::new(Latch::new(1));
        let awaited = pool.submit({
            let gate = Arc::clone(&gate);
            move || gate.wait().map(|()| 7)
        });
        let came_back = Arc::new(Mutex::new(None));
        let waiter = pool.submit({
            let came_back = Arc::clone(&came_back);
            let awaited = awaited.unwrap();
            move || *came_back.lock().unwrap() = Some(awaited.join())
        });
        let in_time = waiter.unwrap().cancel();
        gate.count_down();
        pool.close();
        let joined = came_back.lock().unwrap().take();
        match joined {
            Some(Ok(seven)) => assert_eq!(seven, Ok(7)),
            Some(Err(JoinError::Interrupted(handle))) => assert_eq!(handle.join().unwrap(), Ok(7)),
            // The waiting task never began. The handle that the task captured is dropped, and the task's
            // result is dropped, too.
            None => assert!(in_time && pool.stats().completed <= 2),
            other => panic!("{other:?}"),
        }
    });
}
