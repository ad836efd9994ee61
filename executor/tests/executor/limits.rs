//! A task's own time limit, deadline or token takes effect on every executor, both in the queue and while the
//! task runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use executor::fork_join::ForkJoinPool;
use executor::{
    BoundedExecutor, CancelKind, CancelReason, CancelToken, Cancelled, ExecutorService, FutureTask,
    JoinError, Latch, ManualExecutor, ScheduledThreadPoolExecutor, SerialExecutor, StripedExecutor,
    TaskHandle, TaskState, ThreadPoolExecutor, TrackingExecutor, prelude::*,
};

use crate::support::{LONG, SHORT, Signal, eventually, occupy, on_thread, within_deadline};

type Limit = fn(FutureTask<()>, &CancelToken) -> FutureTask<()>;

/// Each kind of limit, with the kind of the reason that this limit gives when it cancels a task. The caller
/// cancels the token.
const LIMITS: [(Limit, CancelKind); 4] = [
    (|task, _| task.timeout(SHORT), CancelKind::Deadline),
    (|task, _| task.deadline(Instant::now() + SHORT), CancelKind::Deadline),
    (|task, token| task.under(token), CancelKind::Requested),
    (|task, _| task.under(&CancelToken::new().with_timeout(SHORT)), CancelKind::Deadline),
];

fn why<T: std::fmt::Debug + Send + 'static>(handle: TaskHandle<T>) -> CancelReason {
    match handle.join() {
        Err(JoinError::Cancelled(cancelled)) => cancelled.reason().expect("a reason").clone(),
        other => panic!("{other:?}"),
    }
}

/// The executor has one thread, and this thread is busy. So the limit must end the task while it is in the
/// queue.
#[test]
fn a_limit_acts_in_the_queue_of_every_executor() {
    let single = || ThreadPoolExecutor::single();
    let executors: [(&str, Box<dyn ExecutorService>); 8] = [
        ("pool", Box::new(single())),
        ("scheduled", Box::new(ScheduledThreadPoolExecutor::new(1))),
        ("fork/join", Box::new(ForkJoinPool::new(1).unwrap())),
        ("bounded", Box::new(BoundedExecutor::owning(single(), 8))),
        ("tracking", Box::new(TrackingExecutor::owning(single()))),
        ("serial", Box::new(SerialExecutor::owning(single()))),
        ("shared serial", Box::new(SerialExecutor::owning(ThreadPoolExecutor::fixed(2)))),
        ("manual", Box::new(ManualExecutor::new())),
    ];
    within_deadline(move || {
        for (name, executor) in &executors {
            let busy = (*name != "manual").then(|| occupy(executor));
            for (limit, kind) in LIMITS {
                let token = CancelToken::new();
                let task = FutureTask::new(|| unreachable!("it must not begin"));
                let waits = executor.submit(limit(task, &token)).unwrap();
                token.cancel_because("the client hung up");
                assert_eq!(why(waits).kind(), kind, "{name}");
            }
            drop(busy);
        }
    });
}

#[test]
fn a_limit_acts_in_the_line_of_a_stripe() {
    within_deadline(|| {
        let striped = StripedExecutor::owning(ThreadPoolExecutor::fixed(2));
        let stripe = striped.stripe("ada");
        let _busy = occupy(&stripe);
        let late = stripe.submit(FutureTask::new(|| unreachable!()).timeout(SHORT)).unwrap();
        assert_eq!(why(late).kind(), CancelKind::Deadline);
    });
}

#[test]
fn a_limit_cancels_the_token_of_a_running_task_and_says_why() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        for (limit, kind) in LIMITS {
            let token = CancelToken::new();
            let (begun, told) = (Signal::new(), Arc::new(std::sync::Mutex::new(None)));
            let (there, tell) = (begun.clone(), Arc::clone(&told));
            let task = FutureTask::new(move || {
                there.set();
                *tell.lock().unwrap() = CancelToken::current().sleep(LONG).err();
            });
            let running = pool.submit(limit(task, &token)).unwrap();
            let may_never_begin = kind == CancelKind::Deadline;
            if !may_never_begin {
                begun.wait();
            }
            token.cancel_because("the client hung up");
            let reason = why(running);
            pool.submit(|| ()).unwrap().join().unwrap(); // the body has ended
            assert_eq!(reason.kind(), kind);
            match told.lock().unwrap().take() {
                Some(cancelled) => assert_eq!(cancelled.reason().unwrap().kind(), kind),
                None => assert!(may_never_begin, "the machine was busy, and the time was up before"),
            }
        }
    });
}

/// The reason comes from the parent token, and the reason is marked as inherited.
#[test]
fn the_token_above_gives_its_reason() {
    let token = CancelToken::new();
    let unbegun = FutureTask::new(|| ()).under(&token);
    token.cancel_because("the client hung up");
    let reason = why(unbegun.handle);
    assert_eq!((reason.message(), reason.is_inherited()), (Some("the client hung up"), true));
}

/// If a task is cancelled before its body ends, the cancellation decides the outcome, even if the body
/// notices the cancellation before the handle does. In this test the body ends during the call of `cancel`,
/// in the first callback of the token.
#[test]
fn a_cancel_before_the_end_of_the_body_decides_the_outcome() {
    within_deadline(|| {
        let token = CancelToken::new();
        let (begun, may_end) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
        let (there, wait) = (Arc::clone(&begun), Arc::clone(&may_end));
        let FutureTask { task, handle } = FutureTask::new(move || {
            there.count_down();
            executor::masked(|| wait.wait()).unwrap();
        });
        let worker = Arc::new(std::sync::Mutex::new(None));
        let to_join = Arc::clone(&worker);
        let first = token.on_cancel(move || {
            may_end.count_down();
            let worker: std::thread::JoinHandle<_> = to_join.lock().unwrap().take().unwrap();
            worker.join().unwrap(); // the body has ended, and its outcome is decided
        });
        let FutureTask { task, handle } = FutureTask { task, handle }.under(&token);
        *worker.lock().unwrap() = Some(std::thread::spawn(move || _ = task.run()));
        begun.wait().unwrap();
        token.cancel_because("the client hung up");
        assert_eq!(why(handle).message(), Some("the client hung up"));
        drop(first);
    });
}

/// The token of a running task is below the user's token: when the first callback of the user's token runs,
/// the task's token is already cancelled.
#[test]
fn the_token_of_the_task_is_marked_in_the_same_step_as_the_token_above() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let token = CancelToken::new();
        let (own, is_marked) = (Arc::new(std::sync::OnceLock::<CancelToken>::new()), Signal::new());
        let (of_task, seen) = (Arc::clone(&own), is_marked.clone());
        let _first = token.on_cancel(move || {
            if of_task.get().is_some_and(CancelToken::is_cancelled) {
                seen.set();
            }
        });
        let (tell, begun) = (Arc::clone(&own), Signal::new());
        let there = begun.clone();
        let task = FutureTask::cancellable(move |token| {
            tell.set(token.clone()).unwrap();
            there.set();
            token.sleep(LONG)
        });
        let _handle = pool.submit(task.under(&token)).unwrap();
        begun.wait();
        token.cancel();
        is_marked.wait();
    });
}

#[test]
fn a_task_can_have_several_limits_and_the_first_counts() {
    within_deadline(|| {
        let (a, b) = (CancelToken::new(), CancelToken::new());
        let nap = || FutureTask::cancellable(|token| token.sleep(LONG)).timeout(LONG).under(&a).under(&b);
        let pool = ThreadPoolExecutor::fixed(2);
        let [one, two] = [nap(), nap()].map(|task| pool.submit(task).unwrap());
        b.cancel_because("b");
        a.cancel_because("a");
        assert_eq!(why(one).message(), Some("b"));
        assert_eq!(why(two).message(), Some("b"));
    });
}

#[test]
fn a_limit_that_is_up_already_cancels_the_task_before_it_is_submitted() {
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let past = Instant::now();
    let tasks = [
        FutureTask::new(|| ()).timeout(Duration::ZERO),
        FutureTask::new(|| ()).deadline(past),
        FutureTask::new(|| ()).under(&cancelled),
    ];
    let pool = ThreadPoolExecutor::single();
    for task in tasks {
        assert_eq!(task.handle.state(), TaskState::Cancelled);
        let handle = pool.submit(task).unwrap(); // as any cancelled task
        assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
    }
}

#[test]
fn the_longest_time_limit_is_none() {
    let FutureTask { task, handle } = FutureTask::new(|| 7).timeout(Duration::MAX);
    task.run();
    assert_eq!(handle.join().unwrap(), 7);
}

/// A refused task keeps its limits, because the caller may give the task to another executor.
#[test]
fn a_refused_task_keeps_its_limit() {
    within_deadline(|| {
        let closed = ThreadPoolExecutor::single();
        closed.shutdown();
        let token = CancelToken::new();
        let refused = closed.submit(FutureTask::new(|| ()).under(&token)).unwrap_err();
        token.cancel();
        assert_eq!(refused.handle.state(), TaskState::Cancelled);
    });
}

/// A task that has ended leaves nothing behind in the token. A token of the program may exist for years.
#[test]
fn a_task_that_has_ended_takes_its_limits_back() {
    struct CountsClones(Arc<()>);
    within_deadline(|| {
        let token = CancelToken::new();
        let pool = ThreadPoolExecutor::single();
        let result = Arc::new(());
        for _ in 0..10 {
            let own = CountsClones(Arc::clone(&result));
            let task = FutureTask::new(move || own).under(&token).timeout(LONG);
            let handle = pool.submit(task).unwrap();
            handle.on_done(|ended| assert_eq!(Arc::strong_count(&ended.unwrap().0), 2));
        }
        for _ in 0..10 {
            let own = CountsClones(Arc::clone(&result));
            drop(FutureTask::new(move || own).under(&token).timeout(LONG)); // never submitted
        }
        pool.close();
        assert_eq!(Arc::strong_count(&result), 1);
        assert!(token.cancel());
    });
}

/// The cancelling thread runs a callback, which waits for the only worker. Meanwhile the worker ends the
/// cancelled task, and the worker must not wait for the callback.
#[test]
fn a_worker_does_not_wait_for_the_callback_that_cancels_its_task() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let token = CancelToken::new();
        let (begun, decided) = (Signal::new(), Arc::new(Latch::new(1)));
        let (there, may_end) = (begun.clone(), Arc::clone(&decided));
        let task = FutureTask::new(move || {
            there.set();
            executor::masked(|| may_end.wait()).unwrap(); // the callback is first to decide the outcome
        });
        let next = Latch::new(1);
        let (next, counts) = (Arc::new(next), Arc::clone(&pool));
        let handle = pool.submit(task.under(&token)).unwrap();
        let waits = Arc::clone(&next);
        handle.on_done(move |_| {
            decided.count_down();
            counts.execute(move || next.count_down()).unwrap();
            waits.wait().unwrap();
        });
        begun.wait();
        on_thread(move || token.cancel()).result();
    });
}

/// The time limit of the awaited task ends the wait, so the library must not report starvation.
#[test]
fn a_wait_for_a_task_with_a_limit_is_no_starvation() {
    let limits: [Limit; 2] = [
        |task, _| task.timeout(4 * SHORT),
        |task, _| task.under(&CancelToken::new().with_timeout(4 * SHORT)),
    ];
    within_deadline(move || {
        for limit in limits {
            let pool = Arc::new(ThreadPoolExecutor::single());
            let own = Arc::clone(&pool);
            let waits = pool.submit(move || {
                let behind_itself = limit(FutureTask::new(|| ()), &CancelToken::new());
                own.submit(behind_itself).unwrap().join()
            });
            assert!(matches!(waits.unwrap().join().unwrap(), Err(JoinError::Cancelled(_))));
        }
    });
}

/// If a limit cancels a task in the queue, the task counts as cancelled, not as waiting.
#[test]
fn the_counts_of_the_pool_are_right_when_a_limit_was_up() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let _busy = occupy(&pool);
        let token = CancelToken::new();
        let waits = pool.submit(FutureTask::new(|| ()).under(&token)).unwrap();
        assert_eq!(pool.stats().queued, 1);
        token.cancel();
        drop(waits);
        eventually("no task waits", || pool.stats().queued == 0);
    });
}

/// The body returns the reason, so the callers of the body get an error that contains the reason.
#[test]
fn a_body_that_returns_the_error_of_its_wait_ends_for_the_reason_of_the_token_above() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let token = CancelToken::new();
        let (begun, there) = {
            let s = Signal::new();
            (s.clone(), s)
        };
        let task = FutureTask::cancellable(move |own| -> Result<(), Cancelled> {
            there.set();
            own.sleep(LONG)
        });
        let running = pool.submit(task.under(&token)).unwrap();
        begun.wait();
        token.cancel_because(CancelReason::new("quota").with_payload(429_u16));
        assert_eq!(why(running).payload::<u16>(), Some(&429));
    });
}
