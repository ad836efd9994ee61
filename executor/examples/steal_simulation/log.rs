//! What happened in a simulated pool, for its pictures and its tests.

pub struct Event {
    pub at: u64,
    pub worker: usize,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It works on this node for so long.
    Works(usize, u64),
    /// It puts this half into its queue.
    Offers(usize),
    /// It takes this half out of its own queue.
    TakesBack(usize),
    /// It takes this half out of the queue of that worker.
    Steals(usize, usize),
    /// The same, while it waits for the half that comes last here.
    Helps(usize, usize, usize),
    /// It waits for this half, which was stolen.
    Waits(usize),
    /// The half for which it waited has ended.
    GoesOn(usize),
    /// It has ended this half, which it had stolen.
    Ends(usize),
    Sleeps,
    /// It is woken, and looks when the time that it takes to wake up is over.
    IsWoken,
}

/// What came out of a simulation.
#[derive(Default)]
pub struct Run {
    /// When the whole was done.
    pub time: u64,
    /// How much time went into the work itself.
    pub worked: u64,
    pub offered: u64,
    pub stolen: u64,
    /// How many workers were woken to look for a piece.
    pub wake_ups: u64,
    /// In the order of their times.
    pub log: Vec<Event>,
}
