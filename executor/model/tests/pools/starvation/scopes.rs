//! The owner of a scope waits for closures that are lent, each of which somebody takes and then begins.

use std::sync::Arc;

use executor_model::prelude::*;

use super::{fixed, join};
use crate::check;

/// Between the two, a closure is nowhere to be found. It goes on all the same.
#[test]
fn whoever_waits_for_the_owner_of_a_scope_is_not_told() {
    check(|| {
        let (pool, other) = (fixed(2), fixed(1));
        let lends_to = Arc::clone(&other);
        let lends = move || {
            for _ in 0..4 {
                lends_to.scope(|scope| scope.spawn(|| ()).unwrap()).unwrap(); // it takes some to meet that moment
            }
        };
        let owner = pool.submit(lends).unwrap();
        let waits = pool.submit(move || join(owner).is_some());
        assert!(waits.unwrap().join().unwrap());
    });
}
