//! Steps that are not to be cut off.

use std::panic::catch_unwind;
use std::sync::Arc;

use executor::{CancelToken, Cancelled, DirectExecutor, Latch, Semaphore, WaitError, masked, prelude::*};

use crate::support::{SHORT, blocked, within_deadline};

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
            // A wait that could end at once, and one that has to block.
            let waits = || (Latch::new(0).wait(), Latch::new(1).wait_timeout(SHORT));
            let in_a_task = || DirectExecutor.submit(waits).unwrap().join().unwrap();
            assert_eq!(in_a_task(), (Err(Cancelled), Err(WaitError::Cancelled)));
            assert_eq!(masked(in_a_task), (Ok(()), Err(WaitError::TimedOut)));
            assert_eq!(in_a_task(), (Err(Cancelled), Err(WaitError::Cancelled)));
        });
    });
}
