//! One thread waits for a value, and another thread provides the value.

use std::mem::ManuallyDrop;

use exercises_harness::model::graph::Scenario;

use super::exercise::promise;

pub fn scenario() -> Scenario {
    let (promise, future) = promise();
    // A scenario whose threads do not run is dropped outside the model, where no lock can be taken.
    let promise = ManuallyDrop::new(promise);
    Scenario::new().thread("waiter", "future.join()", move || _ = future.join()).thread(
        "provider",
        "promise.complete(value)",
        move || ManuallyDrop::into_inner(promise).complete("value"),
    )
}
