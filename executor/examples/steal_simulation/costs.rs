//! The costs of the pool itself, without the work.

use std::fmt;

// ANCHOR: costs
/// The costs, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Costs {
    /// The cost of a join that does not offer its second half, because the queue already has enough halves.
    pub call: u64,
    /// The cost of a join that puts its second half into the queue, and takes the half back.
    pub offer: u64,
    /// The time that a thief needs from finding a piece until it runs the piece.
    pub steal: u64,
    /// The time that a worker needs to look for a piece and find none; the worker looks at all queues, or at
    /// the awaited half.
    pub look: u64,
    /// The time for which a worker without work looks for work before it sleeps.
    pub patience: u64,
    /// The time that a worker needs to wake another worker.
    pub wake: u64,
    /// The time from the moment when a worker is woken until it looks for work.
    pub wake_up: u64,
    pub offers: Offers,
}

/// The rule that decides which joins offer their second halves to thieves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offers {
    /// Each join offers its second half.
    All,
    /// While pieces are fine, a join offers its half only if the queue has fewer than three halves.
    Adaptive,
}
// ANCHOR_END: costs

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, offer, steal, look, patience, wake, wake_up, .. } = self;
        write!(f, "call {call} ns, offer {offer}, steal {steal}, look {look}, patience {patience}, ")?;
        write!(f, "wake {wake}, wake-up {wake_up}")
    }
}

/// The costs that the course's tables use: round numbers, near to the numbers that `check` measures.
pub const ROUND: Costs = Costs {
    call: 1,
    offer: 100,
    steal: 500,
    look: 500,
    patience: 5_000,
    wake: 3_000,
    wake_up: 20_000,
    offers: Offers::Adaptive,
};
