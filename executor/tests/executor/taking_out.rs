//! A task's handle takes the waiting task out of its queue.

use std::thread;

use executor::{
    DirectExecutor, FutureTask, JoinError, Outcome, Task, TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{Signal, assert_matches, eventually, occupy, rounds, tracked, within_deadline};

#[test]
fn a_waiting_task_can_be_taken_out_by_its_handle_and_given_to_another_executor() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let ran_on = pool.submit(FutureTask::new(|| thread::current().id()).named("guest")).unwrap();
        let stays = pool.submit(|| ()).unwrap();
        assert_eq!(pool.queued(), 2);

        let task = ran_on.remove().expect("it waits");
        assert_eq!((task.id(), task.name()), (ran_on.id(), Some("guest")), "nothing of it is lost");
        assert!(ran_on.remove().is_none(), "it is there once");
        assert_eq!((pool.queued(), pool.stats().task_count()), (1, 2));
        assert_eq!(ran_on.state(), TaskState::Pending);

        DirectExecutor.execute(task).unwrap();
        assert_eq!(ran_on.join().unwrap(), thread::current().id());
        drop(busy);
        stays.join().unwrap();
        assert_eq!(pool.queued(), 0);
    });
}

#[test]
fn a_task_that_has_begun_or_ended_or_was_never_in_a_queue_cannot_be_taken_out() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (started, release) = (Signal::new(), Signal::new());
        let there = (started.clone(), release.clone());
        let running = pool.submit(move || {
            there.0.set();
            there.1.wait();
        });
        let running = running.unwrap();
        started.wait();
        assert!(running.remove().is_none());
        let cancelled = pool.submit(|| ()).unwrap();
        assert!(cancelled.cancel());
        assert!(cancelled.remove().is_none());
        release.set();
        eventually("it has ended", || running.is_finished());
        assert!(running.remove().is_none());

        let FutureTask { task, handle } = FutureTask::new(|| ());
        assert!(handle.remove().is_none());
        drop(task);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        pool.shutdown();
        drop(pool.execute(task).unwrap_err());
        assert!(handle.remove().is_none());
    });
}

#[test]
fn a_task_that_was_taken_out_by_its_handle_and_dropped_is_cancelled() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let _busy = occupy(&pool);
        let (captured, is_captured) = tracked();
        let handle = pool.submit(move || drop(captured)).unwrap();
        drop(handle.remove().expect("it waits"));
        assert!(!is_captured());
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

/// Either the worker runs the task, or the handle takes the task out.
#[test]
fn a_task_is_run_by_the_pool_or_taken_out_and_never_both() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (mut by_the_pool, mut taken_out) = (0, 0_u64);
        for round in rounds(2_000) {
            let handle = pool.submit(|| thread::current().id()).unwrap();
            for _ in 0..round % 50 {
                std::hint::spin_loop();
            }
            let removed = handle.remove().map(Task::run);
            let runner = handle.join().unwrap();
            if let Some(outcome) = removed {
                assert_matches!(outcome, Outcome::Completed);
                assert_eq!(runner, thread::current().id());
                taken_out += 1;
            } else {
                assert_ne!(runner, thread::current().id());
                by_the_pool += 1;
            }
        }
        pool.close();
        assert_eq!(pool.stats().completed, by_the_pool);
        assert!(by_the_pool + taken_out > 0);
    });
}
