//! One thread provides a value, and another thread cancels the future.

use std::mem::ManuallyDrop;

use exercises_harness::model::graph::Scenario;

use super::exercise::promise;

pub fn scenario() -> Scenario {
    let (promise, future) = promise();
    // A scenario whose threads do not run is dropped outside the model, where no lock can be taken.
    let promise = ManuallyDrop::new(promise);
    Scenario::new()
        .thread("provider", "promise.complete(value)", move || {
            ManuallyDrop::into_inner(promise).complete("value");
        })
        .thread("caller", "if future.cancel() { assert!(future.join().is_err()) }", move || {
            if future.cancel() {
                assert!(future.join().is_err(), "cancel() returned true, and join() returned the value");
            }
        })
}
