//! The events in a simulated pool, for its pictures and its tests.

pub struct Event {
    pub at: u64,
    pub worker: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The worker runs the given node for the given time.
    Works(usize, u64),
    /// The worker puts the given half into its queue.
    Offers(usize),
    /// The worker takes the given half out of its own queue.
    TakesBack(usize),
    /// The worker steals the given half from the queue of the other worker.
    Steals(usize, usize),
    /// The worker waits for the half `.2`. During that wait, the worker steals the half `.0` from the worker
    /// `.1`.
    Helps(usize, usize, usize),
    /// The worker waits for the given half, which was stolen.
    Waits(usize),
    /// The half for which the worker waited has ended.
    GoesOn(usize),
    /// The worker has ended the given half, which it had stolen.
    Ends(usize),
    Sleeps,
    /// Another worker has woken this worker. This worker looks for work when the time of its wake-up is over.
    IsWoken,
}

/// The result of a simulation.
#[derive(Default)]
pub struct Run {
    /// The time at which the work of the whole tree ended.
    pub time: u64,
    /// The time that the workers spent on the work itself.
    pub worked: u64,
    pub offered: u64,
    pub stolen: u64,
    /// The number of workers that were woken to look for a piece.
    pub wake_ups: u64,
    /// The events in the order of their times.
    pub log: Vec<Event>,
}
