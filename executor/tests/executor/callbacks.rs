//! User code that runs outside any task: callbacks, hooks, and the `Drop` of values that are no longer
//! needed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, Cancelled, ExecutorService, FutureTask, Hooks, InvokeFailure, JoinError, Latch, Promise,
    TaskHandle, TaskInfo, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, Record, Signal, assert_matches, blocked, occupy, on_thread, with_enough_time, within_deadline,
};

// ----- whose token is current -----

/// Cancels the current token, like user code that takes the current token for its own token by mistake.
/// Returns true if this cancellation ends no wait and has no later effect.
fn cancel_the_current_token() -> bool {
    CancelToken::current().cancel();
    Latch::new(0).wait().is_ok() && !CancelToken::current().is_cancelled()
}

/// When this value is dropped, it cancels the current token and reports the result.
struct CancelsWhenDropped(mpsc::Sender<bool>);

impl Drop for CancelsWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(cancel_the_current_token());
    }
}

/// Asserts that the pool continues to work: a task that is submitted now is not cancelled.
fn assert_unharmed(pool: &impl ExecutorService) {
    pool.submit_cancellable(CancelToken::check).unwrap().join().unwrap();
}

#[test]
fn in_a_callback_of_a_task_that_has_ended_the_current_token_is_nobody_elses() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (tell, told) = mpsc::channel();
        for shared in [false, true] {
            let busy = occupy(&pool);
            let handle = pool.submit(|| ()).unwrap();
            let tell = tell.clone();
            if shared {
                handle.shared().on_done(move |_| tell.send(cancel_the_current_token()).unwrap());
            } else {
                handle.on_done(move |_| tell.send(cancel_the_current_token()).unwrap());
            }
            drop(busy);
            assert!(told.recv_timeout(LONG).unwrap());
            assert_unharmed(&pool);
        }
    });
}

#[test]
fn in_the_drop_of_a_result_that_nobody_wants_the_current_token_is_nobody_elses() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (tell, told) = mpsc::channel();
        let busy = occupy(&pool);
        drop(pool.submit(move || CancelsWhenDropped(tell)).unwrap());
        drop(busy);
        assert!(told.recv_timeout(LONG).unwrap());
        assert_unharmed(&pool);
    });
}

#[test]
fn in_a_hook_the_current_token_is_nobody_elses() {
    struct Cancels(mpsc::SyncSender<bool>);
    impl Hooks for Cancels {
        fn worker_started(&self) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
        fn before_execute(&self, _: &TaskInfo<'_>) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
        fn after_execute(&self, _: &TaskInfo<'_>, _: &executor::Outcome) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
    }

    within_deadline(|| {
        let (tell, told) = mpsc::sync_channel(100);
        let pool = ThreadPoolExecutor::builder().threads(1).hooks(Cancels(tell)).build().unwrap();
        assert_unharmed(&pool);
        assert_unharmed(&pool);
        pool.close();
        drop(pool);
        let told: Vec<_> = told.iter().collect();
        assert_eq!(told, [true; 5]);
    });
}

/// If a task completes a promise or cancels another task, the callbacks run on the thread of the first task,
/// but the token of the first task is not current.
#[test]
fn a_callback_that_runs_on_the_thread_of_a_task_does_not_run_in_that_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::cancellable(|token| {
            let (tell, told) = mpsc::channel();
            let (promise, promised) = Promise::new();
            promised.on_done({
                let tell = tell.clone();
                move |_| tell.send(cancel_the_current_token()).unwrap()
            });
            promise.complete(()).unwrap();

            let other = CancelToken::new();
            let _registration = other.on_cancel({
                let tell = tell.clone();
                move || tell.send(cancel_the_current_token()).unwrap()
            });
            other.cancel();
            // The callback runs at once, because `other` is already cancelled.
            let _late = other.on_cancel({
                let tell = tell.clone();
                move || tell.send(cancel_the_current_token()).unwrap()
            });

            let FutureTask { task: _never_run, handle } = FutureTask::new({
                let captured = CancelsWhenDropped(tell);
                move || drop(captured)
            });
            handle.cancel();
            token.check().map(|()| told.try_iter().collect::<Vec<_>>())
        });
        task.run();
        assert_eq!(handle.join().unwrap(), [true; 4]);
    });
}

#[test]
fn a_task_that_a_callback_runs_is_no_part_of_the_task_around_it() {
    let (token, other) = (CancelToken::new(), CancelToken::new());
    let (tell, told) = mpsc::channel();
    other
        .on_cancel(move || {
            let FutureTask { task, handle } = FutureTask::cancellable(|token| {
                let unharmed = token.check().and_then(|()| Latch::new(0).wait());
                CancelToken::current().cancel();
                unharmed
            });
            task.run();
            tell.send(handle.join().is_ok()).unwrap();
        })
        .keep();
    token.cancel();
    token.attach(|| other.cancel());
    assert_eq!(told.try_recv(), Ok(true));
}

#[test]
fn after_a_callback_the_task_around_it_is_current_again() {
    let (token, other) = (CancelToken::new(), CancelToken::new());
    other.on_cancel(|| ()).keep();
    token.attach(|| {
        other.cancel();
        assert!(!CancelToken::current().is_cancelled());
        token.cancel();
        assert!(CancelToken::current().is_cancelled());
        assert_eq!(Latch::new(0).wait(), Err(Cancelled));
    });
}

// ----- waiters come first -----

/// Starts a task whose token calls `callback` when the task is cancelled.
fn calls_back_when_cancelled(
    pool: &impl ExecutorService,
    callback: impl FnOnce() + Send + 'static,
) -> TaskHandle<()> {
    let ready = Signal::new();
    let there = ready.clone();
    let handle = pool.submit_cancellable(move |token| {
        token.on_cancel(callback).keep();
        there.set();
        token.sleep(Duration::MAX)
    });
    ready.wait();
    handle.unwrap()
}

#[test]
fn a_callback_of_a_cancelled_task_may_meet_the_thread_that_joins_it() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (hand_over, handed_over) = mpsc::sync_channel(0);
        let handle = calls_back_when_cancelled(&pool, move || hand_over.send(7).unwrap());
        let canceller = handle.canceller();
        let joiner = blocked(move || (handle.join().is_err(), handed_over.recv_timeout(LONG)));
        assert!(canceller.cancel());
        assert_eq!(joiner.result(), (true, Ok(7)));
    });
}

#[test]
fn the_drop_of_what_a_cancelled_task_has_captured_may_meet_the_thread_that_joins_it() {
    struct Meets(mpsc::SyncSender<i32>);
    impl Drop for Meets {
        fn drop(&mut self) {
            let _ = self.0.send(7);
        }
    }

    within_deadline(|| {
        for shared in [false, true] {
            let (hand_over, handed_over) = mpsc::sync_channel(0);
            let captured = Meets(hand_over);
            let FutureTask { task: _never_run, handle } = FutureTask::new(move || drop(captured));
            let canceller = handle.canceller();
            let joiner = blocked(move || {
                let released = if shared { handle.shared().join().is_err() } else { handle.join().is_err() };
                (released, handed_over.recv_timeout(LONG))
            });
            assert!(canceller.cancel());
            assert_eq!(joiner.result(), (true, Ok(7)));
        }
    });
}

#[test]
fn a_callback_of_a_shared_handle_may_meet_a_thread_that_came_later_to_join_it() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let handle = handle.shared();
        let (hand_over, handed_over) = mpsc::sync_channel(0);
        handle.on_done(move |result| hand_over.send(*result.unwrap()).unwrap());
        let joiner = blocked(move || (*handle.join().unwrap(), handed_over.recv_timeout(LONG)));
        task.run();
        assert_eq!(joiner.result(), (7, Ok(7)));
    });
}

#[test]
fn a_cancel_drops_what_was_captured_and_calls_back_in_this_order_before_it_returns() {
    struct Says(Record<&'static str>);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.add("captured value");
        }
    }

    within_deadline(|| {
        let record = Record::new();
        let captured = Says(record.clone());
        let FutureTask { task: _never_run, handle } = FutureTask::new(move || drop(captured));
        let canceller = handle.canceller();
        handle.on_done({
            let record = record.clone();
            move |_| record.add("on_done")
        });
        canceller.cancel();
        assert_eq!(record.so_far(), ["captured value", "on_done"]);

        let pool = ThreadPoolExecutor::single();
        let record = Record::new();
        let handle = calls_back_when_cancelled(&pool, {
            let record = record.clone();
            move || record.add("on_cancel")
        });
        let canceller = handle.canceller();
        handle.on_done({
            let record = record.clone();
            move |_| record.add("on_done")
        });
        canceller.cancel();
        assert_eq!(record.so_far(), ["on_cancel", "on_done"]);
    });
}

/// Returns tasks, each of which has a callback. Each callback waits until all of the tasks have been
/// released, and reports whether the tasks were released.
fn meeting_tasks(number: usize, met: &mpsc::Sender<bool>) -> Vec<FutureTask<Result<(), Cancelled>>> {
    let all_let_go = Arc::new(Latch::new(number));
    let task = || {
        let (all_let_go, met) = (Arc::clone(&all_let_go), met.clone());
        FutureTask::new(move || {
            let token = CancelToken::current();
            let others = Arc::clone(&all_let_go);
            let here = thread::current().id();
            let callback = move || {
                // If the token was cancelled before the callback was registered, the callback runs on this
                // thread. If the callback runs on this thread, the attempt does not count.
                if thread::current().id() != here {
                    met.send(others.wait_timeout(LONG / 10).is_ok()).unwrap();
                }
            };
            token.on_cancel(callback).keep();
            let slept = token.sleep(Duration::MAX);
            all_let_go.count_down();
            slept
        })
    };
    (0..number).map(|_| task()).collect()
}

#[test]
fn at_a_deadline_all_tasks_are_let_go_before_the_first_callback_runs() {
    within_deadline(|| {
        with_enough_time(|time| {
            let pool = ThreadPoolExecutor::fixed(3);
            let (tell, told) = mpsc::channel();
            for handle in pool.invoke_all_timeout(meeting_tasks(3, &tell), time).unwrap() {
                assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
            }
            let failed = pool.invoke_any_timeout(meeting_tasks(3, &tell), time).unwrap_err();
            assert_matches!(failed.reason, InvokeFailure::TimedOut);
            pool.close();
            let met: Vec<_> = told.try_iter().collect();
            let all_were_under_way = met.len() == 6;
            assert!(!all_were_under_way || met.iter().all(|&met| met), "{met:?}");
            all_were_under_way
        });
    });
}

// ----- how deep callbacks nest -----

/// Makes a chain of promises, in which the callback of each promise completes the next promise, and returns
/// the first promise. Each callback records its beginning and its end.
fn chain(length: usize, record: &Record<(usize, &'static str)>) -> Promise<usize> {
    let mut next: Option<Promise<usize>> = None;
    for n in (0..length).rev() {
        let (promise, handle) = Promise::new();
        let (record, following) = (record.clone(), next.replace(promise));
        handle.on_done(move |result| {
            assert_eq!(result.unwrap(), n);
            record.add((n, "begins"));
            if let Some(following) = following {
                following.complete(n + 1).unwrap();
                record.add((n, "ends"));
            }
        });
    }
    next.unwrap()
}

#[test]
fn a_chain_of_a_hundred_thousand_callbacks_does_not_overflow_the_stack() {
    const LENGTH: usize = 100_000;
    within_deadline(|| {
        let record = Record::new();
        chain(LENGTH, &record).complete(0).unwrap();
        let begun = record.so_far().into_iter().filter(|(_, what)| *what == "begins").map(|(n, _)| n);
        assert!(begun.eq(0..LENGTH), "all of them, in their order");
    });
}

#[test]
fn a_chain_of_a_hundred_thousand_cancels_does_not_overflow_the_stack() {
    const LENGTH: usize = 100_000;
    within_deadline(|| {
        let calls = Arc::new(AtomicUsize::new(0));
        let first = CancelToken::new();
        let last = (0..LENGTH).fold(first.clone(), |token, _| {
            let (next, calls) = (CancelToken::new(), Arc::clone(&calls));
            let cancels = next.clone();
            token
                .on_cancel(move || {
                    calls.fetch_add(1, Ordering::Relaxed);
                    cancels.cancel();
                })
                .keep();
            next
        });
        first.cancel();
        assert!(last.is_cancelled());
        assert_eq!(calls.load(Ordering::Relaxed), LENGTH);
    });
}

#[test]
fn a_chain_of_results_that_complete_others_when_they_are_dropped_does_not_overflow_the_stack() {
    const LENGTH: usize = 100_000;
    /// When a link is dropped, its destructor completes the link's promise with the next link.
    struct Link(Option<(Promise<Link>, Box<Link>)>);
    impl Drop for Link {
        fn drop(&mut self) {
            if let Some((promise, next)) = self.0.take() {
                drop(promise.complete(*next));
            }
        }
    }

    within_deadline(|| {
        let mut link = Link(None);
        for _ in 0..LENGTH {
            let (promise, handle) = Promise::new();
            drop(handle); // so the result is dropped at once
            link = Link(Some((promise, Box::new(link))));
        }
        drop(link);
    });
}

/// The callback of each token captures the next token. No thread cancels the first token.
#[test]
fn a_chain_of_tokens_that_callbacks_keep_is_dropped_without_overflowing_the_stack() {
    const LENGTH: usize = 100_000;
    within_deadline(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let first = CancelToken::new();
        let mut last = first.clone();
        for _ in 0..LENGTH {
            let next = CancelToken::new();
            let captured = (next.clone(), CountsItsDrop(Arc::clone(&dropped)));
            last.on_cancel(move || drop(captured)).keep();
            last = next;
        }
        drop((last, first));
        assert_eq!(dropped.load(Ordering::Relaxed), LENGTH);
    });
}

struct CountsItsDrop(Arc<AtomicUsize>);

impl Drop for CountsItsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn callbacks_run_inside_those_that_bring_them_about_to_a_depth_of_thirty_two() {
    within_deadline(|| {
        let record = Record::new();
        chain(40, &record).complete(0).unwrap();
        let record = record.so_far();
        let place = |entry| record.iter().position(|&other| other == entry).unwrap();
        for n in 0..39 {
            let inside = place((n + 1, "begins")) < place((n, "ends"));
            assert_eq!(inside, n + 1 < 32, "{n}");
        }
        assert!(place((39, "begins")) < place((30, "ends")), "the last one before the 31st goes on");
    });
}

#[test]
fn a_callback_may_wait_for_what_one_that_was_put_off_brings_about() {
    fn level(n: usize) {
        if n == 100 {
            return;
        }
        let (start, started) = Promise::new();
        let (answer, answered) = Promise::new();
        started.on_done(move |_| {
            answer.complete(n).unwrap();
            level(n + 1);
        });
        start.complete(()).unwrap();
        // If 32 callbacks are already nested, `complete` defers the callback of `started`: when `complete`
        // returns, the callback has not run yet.
        assert_eq!(answered.join().unwrap(), n);
    }

    within_deadline(|| level(0));
}

/// Returns a closure that calls `f` inside `depth` nested callbacks.
fn at_depth(depth: usize, f: impl FnOnce() + Send + 'static) -> Box<dyn FnOnce() + Send> {
    if depth == 0 {
        return Box::new(f);
    }
    let inner = at_depth(depth - 1, f);
    Box::new(move || {
        let (promise, handle) = Promise::new();
        handle.on_done(move |_: Result<(), _>| inner());
        promise.complete(()).unwrap();
    })
}

#[test]
fn a_callback_put_off_may_still_be_taken_back() {
    within_deadline(|| {
        let record = Record::new();
        let (start, started) = Promise::new();
        let token = CancelToken::new();
        let entry = record.clone();
        let registration = Mutex::new(Some(token.on_cancel(move || entry.add("taken back"))));
        let deep_down = {
            let (token, record) = (token.clone(), record.clone());
            move || {
                assert!(token.cancel() && token.is_cancelled());
                drop(registration.lock().unwrap().take());
                record.add("cancelled");
            }
        };
        let go_down = at_depth(31, deep_down);
        started.on_done(move |_| go_down());
        start.complete(()).unwrap();
        assert_eq!(record.so_far(), ["cancelled"]);
    });
}

#[test]
fn a_panic_deep_down_ends_no_callback_but_its_own() {
    within_deadline(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let mut next: Option<Promise<()>> = None;
        for n in 0..100 {
            let (promise, handle) = Promise::new();
            let (following, ran) = (next.replace(promise), Arc::clone(&ran));
            handle.on_done(move |_| {
                ran.fetch_add(1, Ordering::Relaxed);
                if let Some(following) = following {
                    following.complete(()).unwrap();
                }
                assert!(n % 7 > 0, "{n}");
            });
        }
        next.unwrap().complete(()).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 100);
        // Afterwards the library's count of nested callbacks is correct again: `complete` calls the callback
        // directly.
        let (promise, handle) = Promise::new();
        let ran_on = on_thread(move || {
            let (tell, told) = mpsc::channel();
            handle.on_done(move |_: Result<(), _>| tell.send(thread::current().id()).unwrap());
            promise.complete(()).unwrap();
            (told.try_recv(), thread::current().id())
        });
        let (called_on, completer) = ran_on.result();
        assert_eq!(called_on, Ok(completer));
    });
}
