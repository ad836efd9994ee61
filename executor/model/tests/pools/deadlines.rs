//! A deadline passes at the same time as a task ends, as a token is cancelled, or as a pool ends; in each
//! case exactly one of the two events wins. No thread of the timer remains, and the timer forgets no
//! deadline.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelKind, CancelToken, JoinError, Latch, ThreadPoolExecutor, prelude::*};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, check_often, thread, without_new_threads};

const MS: Duration = Duration::from_millis(1);
/// A deadline this far away never comes under a model.
const FAR: Duration = Duration::from_secs(200 * 365 * 24 * 3600);

fn kind(token: &CancelToken) -> Option<CancelKind> {
    token.reason().map(|reason| reason.kind())
}

#[test]
fn a_task_ends_in_time_or_by_its_deadline_and_the_next_one_is_left_alone() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let limited = pool.submit_cancellable(|token| {
            let limit = token.with_timeout(2 * MS);
            let ended = limit.sleep(MS);
            let late = ended.as_ref().err().map(|cancelled| cancelled.reason().unwrap().kind());
            drop(limit);
            token.check()?; // the task itself goes on
            Ok((ended.is_ok(), late))
        });
        let next = pool.submit(|| (CancelToken::current().is_cancelled(), Latch::new(0).wait()));
        let (in_time, late) = limited.unwrap().join().unwrap();
        assert_eq!(late, (!in_time).then_some(CancelKind::Deadline));
        assert_eq!(next.unwrap().join().unwrap(), (false, Ok(())));
        pool.close();
    });
}

#[test]
fn of_completion_cancel_and_deadline_one_decides_the_outcome() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let gate = Arc::new(Latch::new(1));
        let opens = Arc::clone(&gate);
        let task = pool.submit_cancellable(move |token| {
            let limit = token.with_timeout(MS);
            limit.attach(|| gate.wait()).map(|()| 7)
        });
        let task = task.unwrap();
        let canceller = task.canceller();
        let others =
            [thread::spawn(move || opens.count_down()), thread::spawn(move || _ = canceller.cancel())];
        match task.join() {
            Ok(seven) => assert_eq!(seven, 7),
            Err(JoinError::Cancelled(_)) => {}
            Err(other) => panic!("{other}"),
        }
        for other in others {
            other.join().unwrap();
        }
        pool.close();
    });
}

#[test]
fn deadlines_that_several_threads_register_all_come_and_each_callback_runs_once() {
    check(|| {
        let called = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = [3, 1, 2]
            .map(|limit| {
                let called = Arc::clone(&called);
                thread::spawn(move || {
                    let token = CancelToken::new().with_timeout(limit * MS);
                    token.on_cancel(move || _ = called.fetch_add(1, SeqCst)).keep();
                    assert!(token.sleep(Duration::MAX).is_err());
                    assert_eq!(kind(&token), Some(CancelKind::Deadline));
                })
            })
            .into();
        for thread in threads {
            thread.join().unwrap();
        }
        // The library releases a waiter before the library has run the callbacks of the same token.
        while called.load(SeqCst) < 3 {
            thread::yield_now();
        }
    });
}

#[test]
fn tokens_that_are_taken_back_while_others_come_leave_nothing_behind() {
    check(|| {
        let parent = CancelToken::new();
        let takes_back = thread::spawn({
            let parent = parent.clone();
            move || {
                drop(parent.with_timeout(MS));
                assert!(parent.with_timeout(FAR).cancel());
            }
        });
        assert!(parent.with_timeout(2 * MS).sleep(Duration::MAX).is_err());
        takes_back.join().unwrap();
        assert!(!parent.is_cancelled());
    });
}

/// A callback may wait for a later deadline, no matter which thread of the timer handles that deadline.
#[test]
fn callbacks_that_wait_for_later_deadlines_get_them() {
    check(|| {
        let last = CancelToken::new().with_timeout(4 * MS);
        let tokens = [1, 2, 3].map(|limit| {
            let (token, last) = (CancelToken::new().with_timeout(limit * MS), last.clone());
            // The first callback is short, so its thread is free again when the next deadline comes.
            token.on_cancel(move || assert!(limit == 1 || last.sleep(Duration::MAX).is_err())).keep();
            token
        });
        assert!(last.sleep(Duration::MAX).is_err()); // otherwise shuttle reports a deadlock
        assert!(tokens.iter().all(|token| token.sleep(Duration::MAX).is_err()));
    });
}

#[test]
fn a_deadline_for_which_there_was_no_thread_comes_when_there_is_one() {
    check(|| {
        let first = without_new_threads(|| CancelToken::new().with_timeout(MS));
        assert!(!first.is_cancelled());
        let second = CancelToken::new().with_timeout(MS);
        assert!([first, second].iter().all(|token| token.sleep(Duration::MAX).is_err()));
    });
}

#[test]
fn a_pool_that_hangs_on_a_deadline_ends_whatever_it_is_doing() {
    check(|| {
        let limit = CancelToken::new().with_timeout(MS);
        let pool = ThreadPoolExecutor::builder().threads(1).cancel_token(&limit).build().unwrap();
        let tasks = [(); 2].map(|()| pool.submit_cancellable(|token| token.sleep(Duration::MAX)));
        for task in tasks.into_iter().flatten() {
            assert!(matches!(task.join(), Err(JoinError::Cancelled(_))));
        }
        assert!(pool.await_termination(Duration::MAX)); // otherwise shuttle reports a deadlock
        assert_eq!(kind(&limit), Some(CancelKind::Deadline));
    });
}

/// The watchdog can look at the tasks for the first time before the pool has stored the watchdog's
/// registration. In this case, too, the watchdog must look again later.
#[test]
fn a_watchdog_hears_of_a_task_that_hangs() {
    check_often(4, || {
        let told = Arc::new(Latch::new(1));
        let tell = Arc::clone(&told);
        let pool = ThreadPoolExecutor::builder().threads(1).watchdog(4 * MS, move |_| tell.count_down());
        let pool = pool.build().unwrap();
        let hangs = pool.submit(move || told.wait().is_ok()).unwrap(); // shuttle reports a deadlock if it is not told
        assert!(hangs.join().unwrap());
        pool.close();
    });
}
