//! The reason for which a token was cancelled, as the holders of the token and the errors report it.

use std::sync::Arc;

use executor::{
    CancelKind, CancelReason, CancelToken, Cancelled, DirectExecutor, ExecutorCompletionService, FutureTask,
    Hooks, JoinError, Latch, Outcome, Promise, ScheduledThreadPoolExecutor, Semaphore, SharedJoinError,
    TaskFailure, TaskHandle, TaskInfo, ThreadPoolExecutor, prelude::*,
};

use crate::support::{Explosions, LONG, Signal, blocked, on_thread, tracked, within_deadline};

/// Returns the data that users can read from a reason.
fn read(cancelled: &Cancelled) -> (CancelKind, bool, Option<&str>) {
    let reason = cancelled.reason().expect("a reason");
    (reason.kind(), reason.is_inherited(), reason.message())
}

#[test]
fn a_token_that_is_not_cancelled_has_no_reason_and_a_plain_cancel_is_a_request() {
    let token = CancelToken::new();
    assert!(token.reason().is_none());
    token.cancel();
    assert_eq!(read(&token.check().unwrap_err()), (CancelKind::Requested, false, None));
    assert_eq!(token.check().unwrap_err().to_string(), "the task was cancelled");
}

/// A user can pass a reason on from one tree of tokens to another tree, for instance in a callback.
#[test]
fn a_reason_that_was_inherited_elsewhere_is_not_inherited_where_it_is_given() {
    let (request, other) = (CancelToken::new(), CancelToken::new());
    let below = request.child();
    request.cancel_because("the client hung up");
    other.cancel_because(below.reason().unwrap());
    assert_eq!(read(&below.check().unwrap_err()), (CancelKind::Requested, true, Some("the client hung up")));
    assert_eq!(read(&other.check().unwrap_err()), (CancelKind::Requested, false, Some("the client hung up")));
}

#[test]
fn the_first_request_gives_the_reason() {
    let token = CancelToken::new();
    assert!(token.cancel_because("the first"));
    assert!(!token.cancel_because("the second"));
    assert!(!token.cancel());
    assert_eq!(token.reason().unwrap().message(), Some("the first"));
}

#[test]
fn what_is_below_inherits_the_reason_and_what_was_cancelled_before_keeps_its_own() {
    let root = CancelToken::new();
    let (early, below) = (root.child(), root.child().child());
    early.cancel_because(format!("number {}", 7));
    root.cancel_because("all of you");
    let late = root.child();
    for inherits in [&below, &late] {
        assert_eq!(read(&inherits.check().unwrap_err()), (CancelKind::Requested, true, Some("all of you")));
    }
    assert_eq!(read(&early.check().unwrap_err()), (CancelKind::Requested, false, Some("number 7")));
    assert_eq!(read(&early.child().check().unwrap_err()), (CancelKind::Requested, true, Some("number 7")));
}

#[test]
fn a_value_of_any_type_comes_with_the_reason() {
    let token = CancelToken::new();
    token.cancel_because(CancelReason::new("no room").with_payload(vec![1, 2, 3]));
    let reason = token.child().reason().unwrap();
    assert_eq!(reason.payload::<Vec<i32>>(), Some(&vec![1, 2, 3]));
    assert_eq!(reason.payload::<String>(), None);
    assert_eq!(reason.message(), Some("no room"));
    assert_eq!(CancelReason::new("nothing more").payload::<Vec<i32>>(), None);
}

#[test]
fn every_wait_that_has_no_time_limit_tells_the_reason() {
    within_deadline(|| {
        let token = CancelToken::new();
        let waits: [fn() -> Result<(), Cancelled>; 4] = [
            || Latch::new(1).wait(),
            || Ok(Semaphore::new(0).acquire().map(drop)?),
            || CancelToken::current().sleep(LONG),
            || {
                let service = ExecutorCompletionService::new(ThreadPoolExecutor::fixed(1));
                let held = Arc::new(Latch::new(1));
                let until = Arc::clone(&held);
                drop(service.submit(move || until.wait().unwrap()).unwrap());
                let result = service.take().map(drop);
                held.count_down();
                Ok(result?)
            },
        ];
        let waiters = waits.map(|wait| {
            let token = token.clone();
            blocked(move || token.attach(wait))
        });
        token.cancel_because("closing time");
        let seen = |cancelled: &Cancelled| assert_eq!(read(cancelled).2, Some("closing time"));
        for waiter in waiters {
            seen(&waiter.result().unwrap_err());
        }
        for wait in waits {
            seen(&token.attach(wait).unwrap_err()); // waits that do not begin report it, too
        }
    });
}

#[test]
fn a_pool_that_is_stopped_says_so_to_its_tasks() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, told) = (Signal::new(), std::sync::mpsc::channel());
        let there = begun.clone();
        pool.execute(move || {
            there.set();
            told.0.send(CancelToken::current().sleep(LONG).unwrap_err()).unwrap();
        })
        .unwrap();
        begun.wait();
        drop(pool.shutdown_now());
        let cancelled = told.1.recv_timeout(LONG).unwrap();
        assert_eq!(read(&cancelled), (CancelKind::Shutdown, true, None));
        assert_eq!(cancelled.to_string(), "the task was cancelled: its executor was shut down");
    });
}

#[test]
fn a_task_whose_handle_is_cancelled_is_told_of_a_request() {
    within_deadline(|| {
        let (begun, told) = (Signal::new(), std::sync::mpsc::channel());
        let pool = ThreadPoolExecutor::fixed(1);
        let there = begun.clone();
        let handle = pool
            .submit(move || {
                there.set();
                while !CancelToken::current().is_cancelled() {
                    std::thread::yield_now();
                }
                told.0.send(Latch::new(0).wait().unwrap_err()).unwrap();
            })
            .unwrap();
        begun.wait();
        handle.cancel();
        assert_eq!(read(&told.1.recv_timeout(LONG).unwrap()), (CancelKind::Requested, false, None));
    });
}

/// Returns the reason in the outcome of a cancelled task.
fn outcome<T: std::fmt::Debug + Send + 'static>(handle: TaskHandle<T>) -> Cancelled {
    match handle.join() {
        Err(JoinError::Cancelled(cancelled)) => cancelled,
        other => panic!("{other:?}"),
    }
}

/// Returns a task that sleeps for a long time, unless its token is cancelled. The latch opens when the task
/// has begun.
fn sleeper() -> (FutureTask<()>, Arc<Latch>) {
    let begun = Arc::new(Latch::new(1));
    let there = Arc::clone(&begun);
    let sleeps = FutureTask::cancellable(move |token| {
        there.count_down();
        token.sleep(LONG)
    });
    (sleeps, begun)
}

#[test]
fn the_outcome_carries_the_reason_of_the_party_that_cancelled_through_any_handle() {
    type Cancel = fn(&TaskHandle<()>);
    let ways: [(Cancel, Option<&str>); 3] = [
        (|handle| assert!(handle.cancel()), None),
        (|handle| assert!(handle.cancel_because("by the handle")), Some("by the handle")),
        (|handle| assert!(handle.canceller().cancel_because("by a canceller")), Some("by a canceller")),
    ];
    within_deadline(move || {
        let pool = ThreadPoolExecutor::fixed(1);
        for (cancel, message) in ways {
            let (task, begun) = sleeper();
            let (running, unbegun) = (pool.submit(task).unwrap(), pool.submit(|| ()).unwrap());
            begun.wait().unwrap();
            for handle in [unbegun, running] {
                cancel(&handle);
                assert!(!handle.cancel_because("too late"));
                assert_eq!(read(&outcome(handle)), (CancelKind::Requested, false, message));
            }
        }
        let shared = pool.submit(sleeper().0).unwrap().shared();
        shared.cancel_because("by one of many");
        let Err(SharedJoinError::Cancelled(cancelled)) = shared.join() else { panic!("it was cancelled") };
        assert_eq!(read(&cancelled).2, Some("by one of many"));
        let (promise, handle) = Promise::<()>::new();
        promise.cancel_because("there is no answer");
        assert_eq!(promise.token().reason().unwrap().message(), Some("there is no answer"));
        assert_eq!(read(&outcome(handle)).2, Some("there is no answer"));
    });
}

/// If the body asks for its token after the cancellation, this token also has the reason, even if the joiner
/// already has the outcome.
#[test]
fn a_body_that_looks_late_is_told_the_reason() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, go_on) = (Signal::new(), Signal::new());
        let (told, tell) = std::sync::mpsc::channel();
        let (there, until) = (begun.clone(), go_on.clone());
        let handle = pool
            .submit(move || {
                there.set();
                until.wait();
                told.send(CancelToken::current().check().unwrap_err()).unwrap();
            })
            .unwrap();
        begun.wait();
        handle.cancel_because("not needed");
        assert_eq!(read(&outcome(handle)).2, Some("not needed"));
        go_on.set();
        assert_eq!(read(&tell.recv_timeout(LONG).unwrap()).2, Some("not needed"));
    });
}

#[test]
fn the_outcomes_of_a_stopped_pool_name_the_shutdown() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (task, begun) = sleeper();
        let (running, unbegun) = (pool.submit(task).unwrap(), pool.submit(|| ()).unwrap());
        begun.wait().unwrap();
        drop(pool.shutdown_now());
        assert_eq!(read(&outcome(running)).0, CancelKind::Shutdown);
        assert_eq!(read(&outcome(unbegun)).0, CancelKind::Shutdown);

        let later = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false).build().unwrap();
        let delayed = later.schedule(LONG, || ()).unwrap();
        later.shutdown();
        assert_eq!(read(&outcome(delayed)).0, CancelKind::Shutdown);
    });
}

#[test]
fn a_task_that_was_dropped_without_a_request_has_no_reason() {
    let FutureTask { task, handle, .. } = FutureTask::new(|| ());
    drop(task);
    assert!(outcome(handle).reason().is_none());
    let (promise, handle) = Promise::<()>::new();
    drop(promise);
    assert!(outcome(handle).reason().is_none());
}

#[test]
fn a_time_limit_is_the_reason_for_the_outcome_and_for_the_body() {
    let limit = std::time::Duration::from_millis(5);
    within_deadline(move || {
        let timed = ScheduledThreadPoolExecutor::new(1);
        let limited = timed.submit_with_timeout(limit, sleeper().0).unwrap();
        assert_eq!(read(&outcome(limited)).0, CancelKind::Deadline);

        let pool = ThreadPoolExecutor::fixed(2);
        let both = pool.invoke_all_timeout([sleeper().0, sleeper().0], limit).unwrap();
        for handle in both {
            assert_eq!(read(&outcome(handle)).0, CancelKind::Deadline);
        }

        let (told, tell) = std::sync::mpsc::channel();
        let begun = Arc::new(Latch::new(1));
        let there = Arc::clone(&begun);
        let slow = pool.submit(move || {
            there.count_down();
            told.send(CancelToken::current().sleep(LONG).unwrap_err()).unwrap();
        });
        begun.wait().unwrap(); // a task that is cancelled in the queue would say nothing
        assert!(matches!(slow.unwrap().join_or_cancel(limit), Err(JoinError::TimedOut(_))));
        assert_eq!(read(&tell.recv_timeout(LONG).unwrap()).0, CancelKind::Deadline);
    });
}

#[test]
fn the_losers_of_a_race_are_told_that_another_was_first() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let (told, tell) = std::sync::mpsc::channel();
        let begun = Arc::new(Latch::new(1));
        let there = Arc::clone(&begun);
        let loser: Box<dyn FnOnce() -> Result<u32, ()> + Send> = Box::new(move || {
            there.count_down();
            told.send(CancelToken::current().sleep(LONG).unwrap_err()).unwrap();
            Err(())
        });
        let winner = Box::new(move || begun.wait().map(|()| 7).map_err(drop));
        assert_eq!(pool.invoke_any([loser, winner]).unwrap(), 7);
        assert_eq!(read(&tell.recv_timeout(LONG).unwrap()).2, Some("another task was first"));

        let limit = std::time::Duration::from_millis(5);
        let sleeps = FutureTask::cancellable(|token| token.sleep(LONG).map(|()| Ok::<(), ()>(())));
        let Err(lost) = pool.invoke_any_timeout([sleeps], limit) else { panic!("no task has succeeded") };
        let [TaskFailure::Cancelled(cancelled)] = &lost.failures[..] else { panic!("{:?}", lost.failures) };
        assert_eq!(read(cancelled).0, CancelKind::Deadline);
    });
}

/// If a task that waits for other tasks is cancelled, the reason of this cancellation is passed on to the
/// other tasks.
#[test]
fn an_interrupted_call_hands_its_own_reason_to_the_tasks_that_it_cancels() {
    within_deadline(|| {
        let token = CancelToken::new();
        let pool = ThreadPoolExecutor::fixed(1);
        let (task, begun) = sleeper();
        let waiter = {
            let token = token.clone();
            blocked(move || token.attach(|| pool.invoke_all([task])).map(drop).map_err(|error| error.handles))
        };
        begun.wait().unwrap();
        token.cancel_because("the client hung up");
        let handle = waiter.result().unwrap_err().pop().unwrap();
        assert_eq!(read(&outcome(handle)), (CancelKind::Requested, true, Some("the client hung up")));
    });
}

#[test]
fn a_hook_sees_the_reason() {
    struct Notes(std::sync::mpsc::SyncSender<Cancelled>);
    impl Hooks for Notes {
        fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
            if let Outcome::Cancelled(cancelled) = outcome {
                self.0.send(cancelled.clone()).unwrap();
            }
        }
    }
    within_deadline(|| {
        let (note, notes) = std::sync::mpsc::sync_channel(1);
        let pool = ThreadPoolExecutor::builder().hooks(Notes(note)).build().unwrap();
        let (task, begun) = sleeper();
        let handle = pool.submit(task).unwrap();
        begun.wait().unwrap();
        handle.cancel_because("a better idea");
        assert_eq!(read(&notes.recv_timeout(LONG).unwrap()).2, Some("a better idea"));
    });
}

#[test]
fn a_scope_says_why_it_was_cancelled() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, told) = (Latch::new(1), std::sync::Mutex::new(None));
        let sleeps = || {
            begun.count_down();
            *told.lock().unwrap() = CancelToken::current().sleep(LONG).err();
        };
        pool.scope(|scope| {
            scope.spawn(sleeps).unwrap();
            begun.wait().unwrap();
            scope.cancel_because("enough");
        })
        .unwrap();
        assert_eq!(read(&told.into_inner().unwrap().unwrap()).2, Some("enough"));
    });
}

#[test]
fn the_error_of_a_task_that_gives_up_by_itself_has_none_and_all_are_equal() {
    let token = CancelToken::new();
    token.cancel_because("some reason");
    let with_a_reason = token.check().unwrap_err();
    assert!(Cancelled.reason().is_none());
    assert_eq!(Cancelled, with_a_reason);
    assert_eq!(
        (format!("{Cancelled}"), format!("{Cancelled:?}")),
        ("the task was cancelled".into(), "Cancelled".into())
    );
    assert_eq!(format!("{with_a_reason:?}"), "Cancelled(some reason)");
    assert!(format!("{:?}", with_a_reason.reason().unwrap()).starts_with("CancelReason { kind: Requested"));
}

#[test]
fn the_value_is_dropped_with_the_last_who_can_ask_for_it() {
    let (value, alive) = tracked();
    let token = CancelToken::new();
    let child = token.child();
    token.cancel_because(CancelReason::new("x").with_payload(value));
    drop(token);
    let cancelled = child.check().unwrap_err();
    drop(child);
    assert!(alive());
    drop(cancelled);
    assert!(!alive());
}

/// The reason contains a value of the user. So the `Drop` of this value may panic, wait, or use the token.
#[test]
fn a_value_that_cannot_be_dropped_quietly_disturbs_neither_token_nor_task() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let payload = || CancelReason::new("x").with_payload(std::sync::Mutex::new(Some(explosions.bomb())));
        let token = CancelToken::new();
        token.cancel_because(payload());
        let last = token.child();
        drop(token);
        let dropped = on_thread(move || drop(last));
        dropped.result();
        assert_eq!(explosions.count(), 1);

        let token = CancelToken::new();
        token.cancel_because(payload());
        let cancelled = token.check().unwrap_err();
        drop(token);
        let ended = DirectExecutor.submit_cancellable(move |_| Err::<(), _>(cancelled)).unwrap();
        assert!(matches!(ended.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(explosions.count(), 2);
    });
}
