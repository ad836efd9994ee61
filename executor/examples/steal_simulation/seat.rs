//! A worker as other workers see it: its queue, its stack, and the halves for which it waits.

use super::granularity::Granularity;
use std::collections::VecDeque;
use std::ops::Range;

/// An entry in the stack of a worker.
#[derive(Clone, Copy)]
pub enum Frame {
    /// The next step is to call the given node.
    Call(usize),
    /// The worker has done the work before the given node's join.
    Join(usize),
    /// The worker has done the given node's first half.
    Settle(usize),
    /// Both halves of the given node are done.
    After(usize),
    /// The given stolen half is done.
    End(usize),
}

#[derive(Default)]
pub struct Seat {
    pub frames: Vec<Frame>,
    /// The second halves that thieves can take, from the oldest to the youngest.
    pub queue: VecDeque<usize>,
    pub granularity: Granularity,
    /// The stolen halves that the worker has begun: for each half, its nodes, and the granularity of the job
    /// that the worker ran before it stole the half.
    pub running: Vec<(Range<usize>, Granularity)>,
    /// The halves for which the worker waits; the innermost half is the last.
    pub waits: Vec<usize>,
    /// The workers that wait until this worker offers a piece of its job.
    pub followers: Vec<usize>,
    /// The time at which the worker began to look for a piece.
    pub searches: Option<u64>,
    /// The time at which the worker began to wait for a half and had no other piece to run.
    pub parked: Option<u64>,
    pub random: u64,
}

impl Seat {
    /// Returns true if the queue has enough halves: then a join calls both halves one after the other.
    pub fn offers_enough(&self) -> bool {
        let oldest = self.granularity.enough.and_then(|enough| self.queue.len().checked_sub(enough));
        let is_piece = |half| self.running.last().is_none_or(|(pieces, _)| pieces.contains(half));
        oldest.and_then(|oldest| self.queue.get(oldest)).is_some_and(is_piece)
    }

    /// The Xorshift generator that the pool's workers use, too.
    pub fn next_random(&mut self) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) as usize
    }
}
