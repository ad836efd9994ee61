//! Tests of scopes: the owner of a scope cannot end its wait early, because tasks borrow from the owner's
//! stack frame. So any thread that waits for the owner gets the report instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use executor::{JoinError, prelude::*};

use super::{named, outside};
use crate::support::{Spot, within_deadline};

/// The owner falls asleep after the scope's task, so the owner finds the cycle.
#[test]
fn a_task_of_a_scope_that_waits_for_the_owner_is_told_and_the_scope_ends() {
    within_deadline(|| {
        let (first, second) = (named("first", 1), named("second", 1));
        let (own, other) = (Arc::clone(&first), Arc::clone(&second));
        let owner = first.submit(move || {
            let (spot, is_told) = (Spot::default(), AtomicBool::new(false));
            let behind_the_owner = own.submit(|| ()).unwrap();
            let waits = || {
                spot.arrive();
                let told = matches!(behind_the_owner.join(), Err(JoinError::Starved(..)));
                is_told.store(told, Ordering::Relaxed); // the end of the scope orders it
            };
            other
                .scope(|scope| {
                    scope.spawn(waits).unwrap();
                    spot.wait_until_blocked();
                })
                .unwrap();
            is_told.into_inner()
        });
        assert!(outside(owner.unwrap()));
        assert_eq!((first.stats().starved, second.stats().starved), (0, 1));
    });
}
