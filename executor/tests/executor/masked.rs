//! Tests of masked steps: a cancellation does not end such a step early.

use std::panic::catch_unwind;
use std::sync::Arc;

use executor::{
    CancelToken, Cancelled, DirectExecutor, FutureTask, Latch, Semaphore, WaitError, masked, prelude::*,
};

use crate::support::{SHORT, Signal, blocked, on_thread, within_deadline};

#[test]
fn a_masked_step_is_not_cut_off_and_the_request_is_visible_in_it_and_after_it() {
    within_deadline(|| {
        let (token, release) = (CancelToken::new(), Arc::new(Latch::new(1)));
        let step = blocked({
            let (token, release) = (token.clone(), Arc::clone(&release));
            move || {
                token.attach(|| {
                    masked(|| {
                        let waited = release.wait();
                        (waited, CancelToken::current().is_cancelled())
                    })
                })
            }
        });
        token.cancel();
        assert!(step.still_waits());
        release.count_down();
        assert_eq!(step.result(), (Ok(()), true));
        token.attach(|| {
            assert!(masked(|| Semaphore::new(1).acquire().is_ok()));
            assert!(CancelToken::current().is_cancelled());
            assert_eq!(release.wait(), Err(Cancelled), "after the step the waits obey again");
        });
    });
}

#[test]
fn masked_steps_nest_and_a_panic_unmasks() {
    let (token, open) = (CancelToken::new(), Latch::new(0));
    token.cancel();
    token.attach(|| {
        masked(|| {
            assert!(masked(|| open.wait()).is_ok());
            assert!(open.wait().is_ok(), "still inside the outer one");
        });
        assert!(catch_unwind(|| masked(|| panic!("inside"))).is_err());
        assert!(open.wait().is_err());
    });
}

#[test]
fn masking_means_nothing_on_a_thread_without_a_task() {
    assert_eq!(masked(|| 1), 1);
}

#[test]
fn tasks_that_run_inline_in_a_masked_step_are_shielded() {
    within_deadline(|| {
        let token = CancelToken::new();
        token.cancel();
        token.attach(|| {
            // The first wait needs no event and could end at once; the second wait must block.
            let waits = || (Latch::new(0).wait(), Latch::new(1).wait_timeout(SHORT));
            let in_a_task = || DirectExecutor.submit(waits).unwrap().join().unwrap();
            assert_eq!(in_a_task(), (Err(Cancelled), Err(WaitError::Interrupted)));
            assert_eq!(masked(in_a_task), (Ok(()), Err(WaitError::TimedOut)));
            assert_eq!(in_a_task(), (Err(Cancelled), Err(WaitError::Interrupted)));
        });
    });
}

/// Waits while the token is current, once for each way in which a thread can get a token.
fn waits_under(token: &CancelToken) -> [bool; 3] {
    let closed = Latch::new(1);
    [
        token.sleep(SHORT).is_ok(),
        token.attach(|| Latch::new(0).wait()).is_ok(),
        token.attach(|| closed.wait_timeout(SHORT)) == Err(WaitError::TimedOut),
    ]
}

#[test]
fn the_current_token_is_ignored_in_a_masked_step_however_a_wait_comes_by_it() {
    within_deadline(|| {
        let token = CancelToken::new();
        token.cancel();
        token.attach(|| {
            assert_eq!(waits_under(&CancelToken::current()), [false; 3]);
            masked(|| {
                let current = CancelToken::current();
                assert_eq!(waits_under(&current), [true; 3]);
                assert_eq!(
                    CancelToken::new().attach(|| waits_under(&current)),
                    [true; 3],
                    "further down, too"
                );
                assert!(current.check().is_err(), "but it can be seen");
            });
            assert_eq!(waits_under(&CancelToken::current()), [false; 3]);
        });
    });
}

/// A task's token is not made before the task asks for it.
#[test]
fn a_task_that_asks_for_its_token_only_in_the_masked_step_is_shielded_from_it() {
    within_deadline(|| {
        let (entered, cancelled, waits) = (Signal::new(), Signal::new(), std::sync::mpsc::channel());
        let FutureTask { task, handle } = FutureTask::new({
            let (entered, cancelled) = (entered.clone(), cancelled.clone());
            move || {
                masked(|| {
                    entered.set();
                    cancelled.wait();
                    waits.0.send(waits_under(&CancelToken::current())).unwrap();
                });
            }
        });
        let worker = on_thread(move || drop(task.run()));
        entered.wait();
        assert!(handle.cancel());
        cancelled.set();
        worker.result();
        assert_eq!(waits.1.try_recv(), Ok([true; 3]));
    });
}

#[test]
fn a_masked_step_obeys_another_token_that_it_is_told_of() {
    within_deadline(|| {
        let (current, limit) = (CancelToken::new(), CancelToken::new());
        limit.cancel();
        current.cancel();
        current.attach(|| {
            masked(|| {
                assert_eq!(waits_under(&limit), [false; 3]);
                assert_eq!(waits_under(&CancelToken::new()), [true; 3]);
                assert_eq!(waits_under(&CancelToken::current().child()), [false; 3]);
            });
        });
    });
}
