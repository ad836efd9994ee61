//! The payload that a cancellation carries if the service must begin a new round.

use executor::{CancelReason, Cancelled};

struct Restart;

// ANCHOR: request
pub fn begin_again() -> CancelReason {
    CancelReason::new("there is a new greeting").with_payload(Restart)
}

pub fn says_begin_again(cancelled: &Cancelled) -> bool {
    cancelled.reason().is_some_and(|reason| reason.payload::<Restart>().is_some())
}
// ANCHOR_END: request
