//! A client of the connection, and the event loop that calls the connection.

use std::cell::RefCell;
use std::rc::Rc;

use exercises_harness::{begin_trial, expect, fail, step};

use super::super::exercise::{Connection, Limits, Next, Ready};
use super::causes::{PANICS, SPINS};
use super::script::Event;
use super::wire::{Transport, Wire, text};

type Handler = Box<dyn FnMut(&[u8]) -> Vec<u8>>;

/// The number of turns after which a test fails. A correct connection needs a few dozen turns; for a thousand
/// requests, it needs a few thousand turns.
const MOST_TURNS: usize = 5000;

/// A connection, its transport, and the loop that calls the connection.
pub struct Client {
    wire: Rc<RefCell<Wire>>,
    connection: Connection<Transport, Handler>,
}

impl Client {
    /// Makes a client whose transport follows two scripts, one for reads and one for writes. Without a script
    /// for writes, the transport takes all bytes.
    pub fn new(input: Vec<Event>, output: Vec<Event>, limits: Limits) -> Self {
        begin_trial();
        let wire = Rc::new(RefCell::new(Wire::new(input, output, limits)));
        let asked = Rc::clone(&wire);
        let handler: Handler = Box::new(move |request| asked.borrow_mut().answer(request));
        let connection = Connection::new(Transport(Rc::clone(&wire)), handler, limits);
        Self { wire, connection }
    }

    /// Calls `turn` once, with the directions that the poller reports.
    pub fn turn(&mut self, told: Ready) -> Next {
        step(match (told.readable, told.writable) {
            (true, true) => "the poller tells: readable and writable",
            (true, false) => "the poller tells: readable",
            (false, true) => "the poller tells: writable",
            (false, false) => "a turn without a report of the poller",
        });
        self.wire.borrow_mut().begin_turn(told);
        let next = expect("turn()", PANICS, || self.connection.turn(told));
        step(&format!("turn() says {next:?}"));
        self.wire.borrow().end_turn(next);
        next
    }

    /// Calls `turn` until it returns anything other than `Again`.
    pub fn settle(&mut self, told: Ready) -> Next {
        let mut next = self.turn(told);
        while next == Next::Again {
            next = self.turn(Ready::default()); // the turn returns `Again` only if it has taken a step
        }
        next
    }

    /// Calls `turn` until the connection is closed, or until it waits and the poller has nothing to report.
    pub fn run(&mut self) -> Next {
        let told = self.wire.borrow().at_first();
        self.goes_on(told)
    }

    /// Calls `turn` repeatedly like `run`, beginning with the given directions.
    pub fn goes_on(&mut self, mut told: Ready) -> Next {
        for _ in 0..MOST_TURNS {
            let next = self.turn(told);
            told = match next {
                Next::Close(_) => return next,
                Next::Again => Ready::default(),
                Next::Wait(interest) => self.wire.borrow_mut().poll(interest),
            };
            if told == Ready::default() && next != Next::Again {
                return next;
            }
        }
        fail(&format!("after {MOST_TURNS} turns, the connection still asks for another turn"), SPINS)
    }

    /// Checks that the client has received the expected bytes, and nothing else.
    pub fn has_got(&self, expected: &(impl AsRef<[u8]> + ?Sized), cause: &str) {
        let (wire, expected) = (self.wire.borrow(), expected.as_ref());
        if wire.written() != expected {
            let (written, expected) = (text(wire.written()), text(expected));
            fail(&format!("at the end the client has received {written}, and not {expected}"), cause);
        }
    }
}

/// Returns all ways to cut the bytes into pieces.
pub fn cuts(bytes: &'static [u8]) -> Vec<Vec<&'static [u8]>> {
    let places = bytes.len() - 1;
    (0..1_usize << places)
        .map(|chosen| {
            let mut pieces = Vec::new();
            let mut begin = 0;
            for place in (0..places).filter(|place| chosen & (1 << place) != 0) {
                pieces.push(&bytes[begin..=place]);
                begin = place + 1;
            }
            pieces.push(&bytes[begin..]);
            pieces
        })
        .collect()
}

/// Returns the events, with a `WouldBlock` before each event if `blocks` is true.
pub fn with_blocks(events: impl IntoIterator<Item = Event>, blocks: bool) -> Vec<Event> {
    let mut all = Vec::new();
    for event in events {
        if blocks {
            all.push(Event::Block);
        }
        all.push(event);
    }
    all
}
