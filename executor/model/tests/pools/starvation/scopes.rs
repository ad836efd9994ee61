//! The owner of a scope waits for lent closures. A thread takes a closure first, and begins it later.

use std::sync::Arc;

use executor_model::prelude::*;

use super::{fixed, join};
use crate::check;

/// Between these two steps, a search cannot find the closure. But the closure will run, so the library must
/// not report any waiter as starved.
#[test]
fn whoever_waits_for_the_owner_of_a_scope_is_not_told() {
    check(|| {
        let (pool, other) = (fixed(2), fixed(1));
        let lends_to = Arc::clone(&other);
        let lends = move || {
            for _ in 0..4 {
                // One round can miss the moment between the two steps, so the test runs several rounds.
                lends_to.scope(|scope| scope.spawn(|| ()).unwrap()).unwrap();
            }
        };
        let owner = pool.submit(lends).unwrap();
        let waits = pool.submit(move || join(owner).is_some());
        assert!(waits.unwrap().join().unwrap());
    });
}
