//! What the transport does, one thing after the other.

use std::collections::VecDeque;
use std::io::ErrorKind;

use exercises_harness::fail;

use super::causes::SPINS;

/// What the transport does next, in one direction.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// These bytes are there.
    Bytes(&'static [u8]),
    /// There is room for so many bytes.
    Room(usize),
    /// `WouldBlock`, until the poller has told of it.
    Block,
    /// Nothing more comes, ever.
    End,
    Fails(ErrorKind),
}

/// One direction.
#[derive(Default)]
pub struct Direction {
    pub events: VecDeque<Event>,
    /// Has said `WouldBlock`, and the poller has not told since.
    pub blocked: bool,
    /// Has said `WouldBlock` in this turn, and the poller has not told since.
    blocked_now: bool,
    /// Has ended or failed.
    pub over: bool,
    /// Calls of this turn that have moved something.
    pub moved: usize,
}

impl Direction {
    /// Makes a direction. If it is not ready at the beginning, the poller tells when it is.
    pub fn of(events: Vec<Event>) -> Self {
        let blocked = matches!(events.first(), Some(Event::Block));
        Self { events: events.into(), blocked, ..Self::default() }
    }

    /// What the poller tells, rightly or not, is worth another call.
    pub fn begin_turn(&mut self, told: bool) {
        self.blocked &= !told;
        (self.blocked_now, self.moved) = (false, 0);
    }

    /// Tells of it, if it has become ready.
    pub fn poll(&mut self, is_wanted: bool) -> bool {
        let tells = is_wanted && self.blocked && self.events.len() > 1;
        if tells {
            self.events.pop_front();
            self.blocked = false;
        }
        tells
    }

    /// Whether this direction says `WouldBlock` now.
    pub fn blocks(&mut self, what: &str) -> bool {
        let blocks = matches!(self.events.front(), None | Some(Event::Block));
        if blocks {
            if self.blocked_now {
                fail(&format!("{what} has said WouldBlock, and is called again in the same turn"), SPINS);
            }
            (self.blocked, self.blocked_now) = (true, true);
        }
        blocks
    }
}
