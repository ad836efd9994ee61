//! A script of events that a transport follows in each direction.

use std::collections::VecDeque;
use std::io::ErrorKind;

use exercises_harness::fail;

use super::causes::SPINS;

/// The next action of the transport in one direction.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The bytes can be read.
    Bytes(&'static [u8]),
    /// There is room for this number of bytes.
    Room(usize),
    /// The direction returns `WouldBlock` until the poller has reported it as ready.
    Block,
    /// The input has ended.
    End,
    Fails(ErrorKind),
}

/// One direction.
#[derive(Default)]
pub struct Direction {
    pub events: VecDeque<Event>,
    /// True if the direction has returned `WouldBlock`, and the poller has not reported the direction since.
    pub blocked: bool,
    /// True if the direction has returned `WouldBlock` in this turn, and the poller has not reported the
    /// direction since.
    blocked_now: bool,
    /// True if the direction has ended or failed.
    pub over: bool,
    /// The number of calls in this turn that have moved bytes.
    pub moved: usize,
}

impl Direction {
    /// Makes a direction that follows the script. If the direction is not ready at the beginning, the poller
    /// reports it when it becomes ready.
    pub fn of(events: Vec<Event>) -> Self {
        let blocked = matches!(events.first(), Some(Event::Block));
        Self { events: events.into(), blocked, ..Self::default() }
    }

    /// Begins a turn: if the poller has reported this direction, rightly or wrongly, the connection may use
    /// this direction again.
    pub fn begin_turn(&mut self, told: bool) {
        self.blocked &= !told;
        (self.blocked_now, self.moved) = (false, 0);
    }

    /// Returns true if this direction has become ready, so that the poller reports it.
    pub fn poll(&mut self, is_wanted: bool) -> bool {
        let tells = is_wanted && self.blocked && self.events.len() > 1;
        if tells {
            self.events.pop_front();
            self.blocked = false;
        }
        tells
    }

    /// Returns true if this direction returns `WouldBlock` now.
    pub fn blocks(&mut self, what: &str) -> bool {
        let blocks = matches!(self.events.front(), None | Some(Event::Block));
        if blocks {
            if self.blocked_now {
                fail(&format!("{what} has returned WouldBlock, and is called again in the same turn"), SPINS);
            }
            (self.blocked, self.blocked_now) = (true, true);
        }
        blocks
    }
}
