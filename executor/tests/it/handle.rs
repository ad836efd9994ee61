//! The handle of a task: waiting for it, looking at it, and what the outcomes look like.
//!
//! A handle that is completed by hand is in [`crate::promise`], one with many waiters in [`crate::shared`], calling off in
//! [`crate::cancel_task`].
//!
//! differs: FUT-27 (a `Duration` has no negative values; zero is tested in their place) · INV-27 and 30 (it is the
//! waiter who calls the task off when its time is up; a task that is called off with nobody waiting needs a timer, which
//! the scheduled pool has). n/a: INV-28 and 29 (what takes the place of the result is a match on the waiter's error) ·
//! CS-2 and the identity of futures (ids take their place).

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    CancelToken, Cancelled, DirectExecutor, FutureTask, JoinError, JoinTimeoutError, Outcome, Task,
    TaskError, TaskHandle, TaskState, ThreadPoolExecutor, TryJoinError, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, assert_matches, blocked, eventually, occupy, on_every_executor, on_every_pool,
    on_thread, rounds, tracked, within_deadline,
};

/// FUT-1, FUT-4, FUT-25, FUT-32
#[test]
fn cancelling_the_waiting_task_ends_its_wait_and_the_awaited_task_goes_on() {
    within_deadline(|| {
        let waits: [fn(TaskHandle<i32>) -> TaskHandle<i32>; 2] = [
            |handle| match handle.join() {
                Err(JoinError::Interrupted(handle)) => handle,
                other => panic!("not interrupted but {other:?}"),
            },
            |handle| match handle.join_timeout(Duration::MAX) {
                Err(JoinTimeoutError::Interrupted(handle)) => handle,
                other => panic!("not interrupted but {other:?}"),
            },
        ];
        for wait in waits {
            let (awaited, waiting) = (ThreadPoolExecutor::single(), ThreadPoolExecutor::single());
            let release = Signal::new();
            let handle = awaited.submit({
                let release = release.clone();
                move || {
                    release.wait();
                    1
                }
            });
            let (spot, back) = (Spot::default(), mpsc::channel());
            let waiter = waiting.submit({
                let (spot, handle) = (spot.clone(), handle.unwrap());
                move || {
                    spot.arrive();
                    back.0.send(wait(handle)).unwrap();
                }
            });
            spot.wait_until_blocked();
            assert!(waiter.unwrap().cancel());
            let handle = back.1.recv_timeout(LONG).unwrap();
            assert!(!handle.is_finished());
            release.set();
            assert_eq!(handle.join().unwrap(), 1);
        }
    });
}

/// FUT-26
#[test]
fn a_timed_join_gives_up_when_the_time_is_up_and_not_before_and_the_task_goes_on() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let start = Instant::now();
        let Err(JoinTimeoutError::TimedOut(handle)) = handle.join_timeout(SHORT) else {
            panic!("nobody has run it");
        };
        assert!(start.elapsed() >= SHORT);
        assert!(!handle.is_finished());
        task.run();
        assert_eq!(handle.join().unwrap(), 1);
    });
}

/// FUT-3
#[test]
fn a_timed_join_of_a_task_that_runs_too_long_gives_up_on_every_kind_of_pool() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let (started, release) = (Signal::new(), Signal::new());
            let there = (started.clone(), release.clone());
            let handle = pool.submit(move || {
                there.0.set();
                there.1.wait();
                1
            });
            started.wait();
            let start = Instant::now();
            let Err(JoinTimeoutError::TimedOut(handle)) = handle.unwrap().join_timeout(SHORT) else {
                panic!("it cannot have finished");
            };
            assert!(start.elapsed() >= SHORT);
            assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Running));
            release.set();
            assert_eq!(handle.join_timeout(LONG).unwrap(), 1);
        });
    });
}

/// INV-27
#[test]
fn a_join_that_may_cancel_calls_the_task_off_when_the_time_is_up_and_not_before() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let (tell, told) = mpsc::channel();
            let handle = pool.submit_cancellable(move |token| {
                let slept = token.sleep(Duration::MAX);
                tell.send(slept).unwrap();
                slept
            });
            let start = Instant::now();
            let Err(JoinTimeoutError::TimedOut(handle)) = handle.unwrap().join_or_cancel(SHORT) else {
                panic!("it sleeps for ever");
            };
            assert!(start.elapsed() >= SHORT);
            assert_eq!(handle.state(), TaskState::Cancelled);
            // It may not have begun; then it never does.
            assert_matches!(
                told.recv_timeout(LONG),
                Ok(Err(Cancelled)) | Err(mpsc::RecvTimeoutError::Disconnected)
            );
            assert_matches!(handle.join(), Err(JoinError::Cancelled));
        });
    });
}

/// INV-30
#[test]
fn a_join_that_may_cancel_leaves_a_task_that_is_in_time_alone() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let token = pool.submit_cancellable(|token| Ok(token.clone())).unwrap();
            assert!(!token.join_or_cancel(LONG).unwrap().is_cancelled());
            let failed = pool.submit(|| std::panic::resume_unwind(Box::new("no"))).unwrap();
            assert_matches!(failed.join_or_cancel(LONG), Err::<(), _>(JoinTimeoutError::Panicked(_)));
        });
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        task.run();
        assert_eq!(handle.join_or_cancel(Duration::ZERO).unwrap(), 1);
    });
}

#[test]
fn a_join_that_may_cancel_calls_the_task_off_when_the_waiter_is_called_off() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let token = CancelToken::new();
        let waiter = blocked({
            let token = token.clone();
            move || token.attach(|| handle.join_or_cancel(Duration::MAX))
        });
        token.cancel();
        assert_matches!(
            waiter.result(),
            Err(JoinTimeoutError::Interrupted(handle)) if handle.state() == TaskState::Cancelled
        );
        assert_matches!(task.run(), Outcome::Cancelled);
    });
}

/// FUT-27
#[test]
fn a_join_without_time_gives_up_at_once_and_one_with_all_the_time_does_not() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let Err(JoinTimeoutError::TimedOut(handle)) = handle.join_timeout(Duration::ZERO) else {
            panic!("nobody has run it");
        };
        let waiter = blocked(move || handle.join_timeout(Duration::MAX));
        assert!(waiter.still_waits());
        task.run();
        assert_eq!(waiter.result().unwrap(), 1);
    });
}

/// FUT-5, FUT-22, FUT-23, FUT-33, FUT-44
#[test]
fn a_panic_reaches_every_way_of_asking_with_its_payload() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let panicking = || executor.submit(|| -> i32 { std::panic::resume_unwind(Box::new(7)) }).unwrap();
            let panics = [
                match panicking().join() {
                    Err(JoinError::Panicked(panic)) => panic,
                    other => panic!("{other:?}"),
                },
                match panicking().join_timeout(LONG) {
                    Err(JoinTimeoutError::Panicked(panic)) => panic,
                    other => panic!("{other:?}"),
                },
                {
                    let handle = panicking();
                    eventually("it is finished", || handle.is_finished());
                    assert_eq!(handle.state(), TaskState::Panicked);
                    assert!(!handle.cancel());
                    match handle.try_join() {
                        Err(TryJoinError::Panicked(panic)) => panic,
                        other => panic!("{other:?}"),
                    }
                },
            ];
            for panic in panics {
                assert_eq!(*panic.take_payload().unwrap().downcast::<i32>().unwrap(), 7);
            }
        });
    });
}

/// FUT-6
#[test]
fn a_handle_is_unfinished_before_the_run_and_finished_after_it() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Pending));
    assert_matches!(task.run(), Outcome::Completed);
    assert_eq!((handle.is_finished(), handle.state()), (true, TaskState::Completed));
}

#[test]
fn the_state_of_a_running_task_is_running() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (started, release) = (Signal::new(), Signal::new());
        let there = (started.clone(), release.clone());
        let handle = pool.submit(move || {
            there.0.set();
            there.1.wait();
        });
        let handle = handle.unwrap();
        started.wait();
        assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Running));
        release.set();
        assert!(handle.join().is_ok());
    });
}

/// FUT-36, and one of the things that are easy to get wrong (11).
#[test]
fn a_finished_handle_gives_its_outcome_to_a_cancelled_waiter_with_no_time_left() {
    let (cancelled, finished) = (CancelToken::new(), || {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        task.run();
        handle
    });
    cancelled.cancel();
    cancelled.attach(|| {
        assert_eq!(finished().join().unwrap(), 1);
        assert_eq!(finished().join_timeout(Duration::ZERO).unwrap(), 1);
        assert_eq!(finished().try_join().unwrap(), 1);
        assert_eq!(*finished().shared().join_timeout(Duration::ZERO).unwrap(), 1);
    });
}

/// FUT-37
#[test]
fn finished_means_that_the_outcome_is_there() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        for n in rounds(1_000) {
            let handle = pool
                .submit(move || if n % 2 == 0 { n } else { std::panic::resume_unwind(Box::new("odd")) })
                .unwrap();
            while !handle.is_finished() {
                thread::yield_now();
            }
            match handle.join_timeout(Duration::ZERO) {
                Ok(value) => assert!(value == n && n % 2 == 0),
                Err(JoinTimeoutError::Panicked(_)) => assert!(n % 2 == 1),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// FUT-42, FUT-43, FUT-46
#[test]
fn looking_without_waiting_gives_the_result_or_the_handle() {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let Err(TryJoinError::NotFinished(handle)) = handle.try_join() else { panic!("nobody has run it") };
    task.run();
    assert_matches!(handle.try_join(), Ok(()));

    let FutureTask { task, handle } = FutureTask::new(|| ());
    handle.cancel();
    drop(task);
    assert_matches!(handle.try_join(), Err(TryJoinError::Cancelled));
}

#[test]
fn a_waiter_is_released_whoever_runs_the_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| thread::current().id());
        let waiter = blocked(move || handle.join());
        let runner = on_thread(move || {
            task.run();
            thread::current().id()
        });
        assert_eq!(waiter.result().unwrap(), runner.result());
    });
}

#[test]
fn a_waiter_is_released_when_the_task_is_dropped_unrun() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let waiter = blocked(move || handle.join());
        drop(task);
        assert_matches!(waiter.result(), Err(JoinError::Cancelled));
    });
}

#[test]
fn a_task_whose_handle_is_gone_runs_all_the_same() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let ran = Signal::new();
            let there = ran.clone();
            drop(executor.submit(move || there.set()).unwrap());
            ran.wait();
        });
    });
}

/// FUT-6, FUT-35
#[test]
fn the_callback_gets_the_result_on_the_thread_that_finishes_the_task_or_at_once() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let callback = || {
            let tell = tell.clone();
            move |result: Result<i32, TaskError>| {
                tell.send((result.unwrap(), thread::current().id())).unwrap();
            }
        };
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        handle.on_done(callback());
        let runner = on_thread(move || {
            task.run();
            thread::current().id()
        });
        assert_eq!(told.recv_timeout(LONG).unwrap(), (1, runner.result()));

        let FutureTask { task, handle } = FutureTask::new(|| 2);
        task.run();
        handle.on_done(callback());
        assert_eq!(told.try_recv().unwrap(), (2, thread::current().id()));
    });
}

#[test]
fn the_callback_is_told_of_a_panic_and_of_a_task_dropped_unrun() {
    let told = Arc::new(AtomicUsize::new(0));
    let FutureTask { task, handle } = FutureTask::new(|| std::panic::resume_unwind(Box::new("no")));
    handle.on_done({
        let told = Arc::clone(&told);
        move |result: Result<(), _>| {
            assert_matches!(result, Err(TaskError::Panicked(panic)) if panic.message() == "no");
            told.fetch_add(1, Ordering::Relaxed);
        }
    });
    task.run();

    let FutureTask { task, handle } = FutureTask::new(|| ());
    handle.on_done({
        let told = Arc::clone(&told);
        move |result| {
            assert_matches!(result, Err(TaskError::Cancelled));
            told.fetch_add(1, Ordering::Relaxed);
        }
    });
    drop(task);
    assert_eq!(told.load(Ordering::Relaxed), 2);
}

#[test]
fn a_task_and_its_handle_have_one_id_and_no_two_tasks_have_the_same() {
    let (first, second) = (FutureTask::new(|| ()), FutureTask::new(|| ()));
    assert_eq!(first.task.id(), first.handle.id());
    assert_ne!(first.handle.id(), second.handle.id());
}

/// FUT-29, FUT-30, FUT-31
#[test]
fn the_printed_form_says_how_it_ended_and_of_a_failure_why() {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let id = handle.id();
    assert_eq!(format!("{handle:?}"), format!("TaskHandle {{ id: {id}, state: Pending }}"));
    task.run();
    assert_eq!(format!("{handle:?}"), format!("TaskHandle {{ id: {id}, state: Completed }}"));

    let FutureTask { task, handle } = FutureTask::<()>::new(|| std::panic::resume_unwind(Box::new("why")));
    task.run();
    let (id, canceller) = (handle.id(), handle.canceller());
    let text = format!("{{ id: {id}, state: Panicked, panic: \"why\" }}");
    assert_eq!(format!("{handle:?} {canceller:?}"), format!("TaskHandle {text} Canceller {text}"));
    let handle = handle.shared();
    assert_eq!(format!("{handle:?}"), format!("SharedHandle {text}"));
    let error = handle.join().unwrap_err();
    assert_eq!(error.to_string(), "the task panicked: why");
    assert_eq!(format!("{handle:?}"), format!("SharedHandle {text}"), "however often it is read");

    let FutureTask { task, handle } = FutureTask::new(|| ());
    drop(task);
    assert!(format!("{:?}", handle.canceller()).contains("state: Cancelled"));
    let error = handle.join().unwrap_err();
    assert_eq!(
        (error.to_string(), format!("{error:?}")),
        ("the task was cancelled".into(), "Cancelled".into())
    );
}

/// STAT-5, STAT-6
#[test]
fn the_printed_form_of_either_end_names_the_task() {
    let FutureTask { task, handle } = FutureTask::new(|| ()).named("draft").named(String::from("index"));
    let canceller = handle.canceller();
    assert_eq!([task.name(), handle.name(), canceller.name()], [Some("index"); 3]);
    for text in [format!("{task:?}"), format!("{handle:?}"), format!("{canceller:?}")] {
        assert!(text.contains("name: \"index\""), "{text}");
    }
    let handle = handle.shared();
    assert!(handle.name() == Some("index") && format!("{handle:?}").contains("name: \"index\""));
    assert_eq!(FutureTask::new(|| ()).handle.name(), None);
}

#[test]
fn a_state_prints_as_a_word_of_a_sentence() {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let before = handle.state();
    task.run();
    assert_eq!(format!("{before}, then {:>11}", handle.state()), "pending, then   completed");
}

// ----- taking a task out of its queue -----

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
        assert_matches!(handle.join(), Err(JoinError::Cancelled));
    });
}

/// Either the worker gets the task or the handle does.
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

#[test]
fn an_error_passes_through_a_question_mark() {
    fn joined() -> Result<i32, Box<dyn Error + Send + Sync>> {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        drop(task);
        Ok(handle.join()?)
    }
    assert_eq!(joined().unwrap_err().to_string(), "the task was cancelled");
}
