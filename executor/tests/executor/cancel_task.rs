//! Tests the cancellation of tasks before they begin, while they run and after they have ended; also tests
//! how a running body notices the cancellation.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, Cancelled, Canceller, DirectExecutor, ExecutorExt, FutureTask, JoinError, Latch, Outcome,
    Permit, Semaphore, TaskError, TaskHandle, TaskState, ThreadPerTaskExecutor, ThreadPoolExecutor,
    prelude::*,
};

use crate::support::{
    LONG, Signal, Spot, assert_matches, blocked, eventually, occupy, on_every_executor, rounds,
    within_deadline,
};

/// A running task ignores its token until the test lets the task end. When the test lets the task end, the
/// task returns its token as its result.
struct Oblivious {
    handle: TaskHandle<CancelToken>,
    release: Signal,
    token: CancelToken,
}

fn oblivious(executor: &(impl ExecutorExt + ?Sized)) -> Oblivious {
    let (tell, told) = mpsc::channel();
    let release = Signal::new();
    let handle = executor.submit({
        let release = release.clone();
        move || {
            tell.send(CancelToken::current()).unwrap();
            release.wait();
            CancelToken::current()
        }
    });
    Oblivious { handle: handle.unwrap(), release, token: told.recv_timeout(LONG).unwrap() }
}

/// FUT-11
#[test]
fn a_task_cancelled_before_it_began_never_runs() {
    within_deadline(|| {
        let cancels: [fn(&TaskHandle<()>) -> bool; 2] = [TaskHandle::cancel, TaskHandle::cancel_keep_running];
        for cancel in cancels {
            let pool = ThreadPoolExecutor::single();
            let busy = occupy(&pool);
            let ran = Signal::new();
            let handle = pool.submit({
                let ran = ran.clone();
                move || ran.set()
            });
            let handle = handle.unwrap();
            assert!(cancel(&handle));
            assert_eq!((handle.is_finished(), handle.state()), (true, TaskState::Cancelled));
            drop(busy);
            pool.close();
            assert!(!ran.is_set());
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        }
    });
}

/// FUT-35
#[test]
fn cancelling_a_second_time_or_too_late_says_no() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        assert!(handle.cancel());
        assert!(!handle.cancel() && !handle.cancel_keep_running() && !handle.canceller().cancel());
        assert_matches!(task.run(), Outcome::Cancelled(_));

        let FutureTask { task, handle } = FutureTask::new(|| 1);
        assert_matches!(task.run(), Outcome::Completed);
        assert!(!handle.cancel());
        assert_eq!(handle.join().unwrap(), 1, "and takes nothing away");
    });
}

/// FUT-15, FUT-21, FUT-49
#[test]
fn cancelling_a_running_task_decides_at_once_tells_the_body_and_releases_who_waits() {
    within_deadline(|| {
        on_threads(|executor| {
            let Oblivious { handle, release, token } = oblivious(executor);
            let canceller = handle.canceller();
            let waiter = blocked(move || handle.join());
            assert!(canceller.cancel());
            assert!(token.is_cancelled());
            assert_eq!((canceller.is_finished(), canceller.state()), (true, TaskState::Cancelled));
            assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
            release.set(); // the body has run all the while, and its result is dropped now
            assert_eq!(canceller.state(), TaskState::Cancelled);
        });
    });
}

/// FUT-21 with a time limit
#[test]
fn cancelling_releases_who_waits_with_a_timeout() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let Oblivious { handle, release, .. } = oblivious(&pool);
        let canceller = handle.canceller();
        let waiter = blocked(move || handle.join_timeout(Duration::MAX));
        assert!(canceller.cancel());
        assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
        release.set();
    });
}

/// FUT-20, FUT-48
#[test]
fn cancelling_without_disturbing_releases_who_waits_and_leaves_the_body_alone() {
    within_deadline(|| {
        on_threads(|executor| {
            let Oblivious { handle, release, token } = oblivious(executor);
            // A thread that waits in `join` has given its handle away; only an asynchronous caller can wait
            // and still have the handle.
            let mut handle = pin!(handle);
            let woken = Signal::new();
            let waker = Waker::from(Arc::new(SetWhenWoken(woken.clone())));
            let mut context = Context::from_waker(&waker);
            assert!(handle.as_mut().poll(&mut context).is_pending());

            assert!(handle.cancel_keep_running());
            assert!(woken.is_set());
            assert_matches!(handle.as_mut().poll(&mut context), Poll::Ready(Err(TaskError::Cancelled(_))));
            assert!(!token.is_cancelled());
            assert!(!handle.cancel(), "it is cancelled, so this does not reach the body any more");
            assert!(!token.is_cancelled());
            release.set();
        });
    });
}

struct SetWhenWoken(Signal);

impl Wake for SetWhenWoken {
    fn wake(self: Arc<Self>) {
        self.0.set();
    }
}

/// A body that asks for its token only after the task was cancelled.
#[test]
fn a_body_that_looks_late_sees_the_request() {
    within_deadline(|| {
        for disturb in [true, false] {
            let pool = ThreadPoolExecutor::single();
            let (started, release, seen) = (Signal::new(), Signal::new(), mpsc::channel());
            let there = (started.clone(), release.clone(), seen.0);
            let handle = pool.submit(move || {
                there.0.set();
                there.1.wait();
                // This wait needs no event, so it could end at once. When this wait begins, the task has not
                // made its token yet.
                let waited = Latch::new(0).wait();
                there.2.send((waited.is_err(), CancelToken::current().is_cancelled())).unwrap();
            });
            let handle = handle.unwrap();
            started.wait();
            assert!(if disturb { handle.cancel() } else { handle.cancel_keep_running() });
            release.set();
            assert_eq!(seen.1.recv_timeout(LONG).unwrap(), (disturb, disturb));
        }
    });
}

/// SLIP-12
#[test]
fn a_cancellation_does_not_leak_into_the_next_task_on_the_thread() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let Oblivious { handle, release, token } = oblivious(&pool);
        assert!(handle.cancel());
        release.set();
        let next = pool.submit(|| (CancelToken::current().is_cancelled(), Latch::new(0).wait()));
        assert_eq!(next.unwrap().join().unwrap(), (false, Ok(())));
        assert!(token.is_cancelled(), "it has not been cleared either");
    });
}

/// FUT-15
#[test]
fn a_cancellation_does_not_leak_to_the_thread_that_ran_the_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::cancellable(|token| {
            token.cancel();
            token.check()
        });
        assert_matches!(task.run(), Outcome::Cancelled(_));
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        assert!(!CancelToken::current().is_cancelled());
        assert!(Latch::new(0).wait().is_ok());
    });
}

#[test]
fn a_body_that_gives_up_by_itself_ends_as_cancelled() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let handle = executor.submit_cancellable(|_| Err::<(), _>(Cancelled)).unwrap();
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
            let handle = executor.submit_cancellable(|_| Ok(1)).unwrap();
            assert_eq!(handle.join().unwrap(), 1);
        });
    });
}

/// The behaviour FUT-34, with a semaphore in place of the lock.
#[test]
fn of_the_tasks_that_wait_for_one_permit_only_the_one_not_cancelled_gets_it() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(3);
        let semaphore = Arc::new(Semaphore::new(0));
        let mut handles: Vec<_> = (0..3)
            .map(|_| {
                let semaphore = Arc::clone(&semaphore);
                pool.submit_cancellable(move |_| Ok(semaphore.acquire().map(Permit::forget)?)).unwrap()
            })
            .collect();
        eventually("all three wait", || semaphore.waiting() == 3);
        let last = handles.pop().unwrap();
        for handle in handles {
            assert!(handle.cancel());
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        }
        eventually("only one waits", || semaphore.waiting() == 1);
        semaphore.release(1);
        assert_eq!(last.join().unwrap(), 1);
    });
}

#[test]
fn callbacks_of_the_running_body_run_on_the_thread_that_cancels() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (ready, ran_on) = (Signal::new(), mpsc::channel());
        let handle = pool.submit_cancellable({
            let ready = ready.clone();
            move |token| {
                token.on_cancel(move || ran_on.0.send(thread::current().id()).unwrap()).keep();
                ready.set();
                token.sleep(Duration::MAX)
            }
        });
        ready.wait();
        assert!(handle.unwrap().cancel());
        assert_eq!(ran_on.1.recv_timeout(LONG).unwrap(), thread::current().id());
    });
}

#[test]
fn a_canceller_outlives_its_handle_and_tells_the_same() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 1).unwrap();
        let canceller = handle.canceller();
        let all: Vec<Canceller> = vec![canceller.clone(), pool.submit(|| "text").unwrap().canceller()];
        assert_eq!(canceller.id(), handle.id());
        assert_ne!(all[0].id(), all[1].id());
        assert_eq!(canceller.state(), TaskState::Pending);
        drop(handle);
        assert!(all.iter().all(Canceller::cancel));
        assert!(canceller.is_finished());
        drop(busy);
    });
}

/// The behaviour FUT-16 as a race: the handle reports a cancellation if and only if `cancel` returned true.
#[test]
fn whoever_decides_the_outcome_first_wins_and_both_sides_agree() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        for round in rounds(2_000) {
            let runs = Arc::new(AtomicUsize::new(0));
            let handle = pool.submit({
                let runs = Arc::clone(&runs);
                move || runs.fetch_add(1, Ordering::Relaxed)
            });
            let handle = handle.unwrap();
            for _ in 0..round % 50 {
                std::hint::spin_loop();
            }
            match (handle.cancel(), handle.join()) {
                (true, Err(JoinError::Cancelled(_))) | (false, Ok(0)) => {}
                other => panic!("they disagree: {other:?}"),
            }
            assert!(runs.load(Ordering::Relaxed) <= 1);
        }
        pool.close();
        assert_eq!(pool.stats().active, 0);
    });
}

/// FUT-6, FUT-35
#[test]
fn the_callback_is_told_once_even_if_it_is_cancelled_twice_and_then_run() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let canceller = handle.canceller();
        handle.on_done(move |result| tell.send(result).unwrap());
        canceller.cancel();
        canceller.cancel();
        assert_matches!(task.run(), Outcome::Cancelled(_));
        assert_matches!(told.recv_timeout(LONG).unwrap(), Err(TaskError::Cancelled(_)));
        assert_matches!(told.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected));
    });
}

// ----- tasks in tasks -----

#[test]
fn a_task_that_runs_inline_is_cancelled_with_the_one_around_it() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (spot, inner_saw) = (Spot::default(), mpsc::channel());
        let outer = pool.submit({
            let spot = spot.clone();
            move || {
                let inner = DirectExecutor.submit_cancellable(move |token| {
                    spot.arrive();
                    let slept = token.sleep(Duration::MAX);
                    inner_saw.0.send(slept.clone()).unwrap();
                    slept
                });
                drop(inner);
            }
        });
        spot.wait_until_blocked();
        assert!(outer.unwrap().cancel());
        assert_eq!(inner_saw.1.recv_timeout(LONG).unwrap(), Err(Cancelled));
    });
}

#[test]
fn cancelling_a_task_that_runs_inline_does_not_cancel_the_one_around_it() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let outer = pool.submit_cancellable(|token| {
            let inner = DirectExecutor.submit_cancellable(|token| {
                token.cancel();
                token.check()
            });
            assert_matches!(inner.unwrap().join(), Err(JoinError::Cancelled(_)));
            token.check()
        });
        assert!(outer.unwrap().join().is_ok());
    });
}

#[test]
fn a_task_on_another_thread_is_not_a_child_of_the_one_that_submitted_it() {
    within_deadline(|| {
        let outer_token = CancelToken::new();
        outer_token.cancel();
        let inner = outer_token
            .attach(|| ThreadPerTaskExecutor.submit(|| CancelToken::current().is_cancelled()).unwrap());
        assert!(!inner.join().unwrap());
    });
}

/// Runs a test on both kinds of executors that own threads.
fn on_threads(test: impl Fn(&dyn executor::Executor)) {
    test(&ThreadPoolExecutor::single());
    test(&ThreadPerTaskExecutor);
}
