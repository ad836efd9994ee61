//! Either all parties of a barrier continue, or none of them: if one party is cancelled, the other parties do
//! not wait forever.

use std::sync::Arc;

use executor_model::{Barrier, BarrierError, CancelToken};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{model, model_bounded};

#[test]
fn who_has_met_sees_what_the_others_did_before() {
    model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let done: [_; 2] = std::array::from_fn(|_| Arc::new(AtomicUsize::new(0)));
        let other = thread::spawn({
            let (barrier, done) = (Arc::clone(&barrier), done.clone());
            move || {
                done[1].store(1, Relaxed);
                (barrier.wait(), done[0].load(Relaxed))
            }
        });
        done[0].store(1, Relaxed);
        let mine = (barrier.wait(), done[1].load(Relaxed));
        let its = other.join().unwrap();
        assert_eq!((mine.1, its.1), (1, 1));
        assert!(matches!((mine.0, its.0), (Ok(0), Ok(1)) | (Ok(1), Ok(0))));
    });
}

/// If the barrier is wrong, loom reports a deadlock, or only one of the two parties gets an error.
#[test]
fn a_cancel_ends_the_wait_of_both_unless_they_have_met() {
    model_bounded(3, || {
        let (barrier, token) = (Arc::new(Barrier::new(2)), CancelToken::new());
        let cancelled = thread::spawn({
            let (barrier, token) = (Arc::clone(&barrier), token.clone());
            move || token.attach(|| barrier.wait())
        });
        let other = thread::spawn({
            let barrier = Arc::clone(&barrier);
            move || barrier.wait()
        });
        token.cancel();
        match (cancelled.join().unwrap(), other.join().unwrap()) {
            (Ok(_), Ok(_)) => assert!(!barrier.is_broken()),
            (Err(BarrierError::Interrupted(_)), Err(BarrierError::Broken)) => assert!(barrier.is_broken()),
            ends => panic!("{ends:?}"),
        }
    });
}
