//! The events in a simulated pool, which are used for pictures and tests.

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
    /// The worker waits for the given half, because another worker has stolen the half.
    Waits(usize),
    /// The half has ended, so the worker that waited for it goes on.
    GoesOn(usize),
    /// The worker has ended the given half, which it had stolen before.
    Ends(usize),
    Sleeps,
    /// Another worker has woken this worker. When this worker has woken up, it looks for work.
    IsWoken,
}

/// The result of a simulation.
#[derive(Default)]
pub struct Run {
    /// The time at which the work of the whole tree ended.
    pub time: u64,
    /// The time that all workers together spent on the work itself.
    pub worked: u64,
    pub offered: u64,
    pub stolen: u64,
    /// How many times a worker was woken to look for a piece.
    pub wake_ups: u64,
    /// The events in the order of their times.
    pub log: Vec<Event>,
}
