//! Helpers for the tests: clients, a listener without a network, and accept loops on their own threads.

use std::collections::VecDeque;
use std::hint::black_box;
use std::ptr;

use exercises_harness::{aside, at_once, expect, fail, panic_on_purpose, step};

use super::super::exercise::{Accepted, Acceptor, Connection, Executor, Job, Listener, WhenFull};
use super::{LOST, ONE_TOO_MANY, PLACE_FIRST, STOP, STOP_WAITS};
use crate::below::on_a_thread;
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// The state of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The client has not been accepted.
    #[default]
    Outside,
    /// The client was accepted, and has no answer.
    Accepted,
    Served,
    /// The client's request began to run, and panicked.
    Panicked,
    Refused,
    /// The listener was closed before the client was accepted.
    StayedOutside,
}

pub struct Client {
    pub name: String,
    fate: Shared<Fate>,
    work: Shared<Option<Job>>,
    has_work: bool,
    panics: bool,
    refused_on: Shared<Option<thread::ThreadId>>,
    pub answered: Counter,
}

impl Client {
    /// Makes a client whose request is answered at once.
    pub fn new(number: usize) -> Arc<Self> {
        Arc::new(Self::with(number, None, false))
    }

    /// Makes a client that runs the given closure when the client is served or refused.
    pub fn that(number: usize, work: Job) -> Arc<Self> {
        Arc::new(Self::with(number, Some(work), false))
    }

    /// Makes a client whose request panics.
    pub fn that_panics(number: usize) -> Arc<Self> {
        Arc::new(Self::with(number, None, true))
    }

    fn with(number: usize, work: Option<Job>, panics: bool) -> Self {
        let (given, work) = (work, Shared::default());
        let answered = Counter::new("a client to have its answer");
        let (name, has_work) = (format!("client {number}"), given.is_some());
        if has_work {
            work.with(|now| *now = given);
        }
        Self {
            name,
            fate: Shared::default(),
            work,
            has_work,
            panics,
            refused_on: Shared::default(),
            answered,
        }
    }

    fn works(&self) {
        if let Some(work) = self.has_work.then(|| self.work.with(Option::take)).flatten() {
            work();
        }
    }

    fn now_is(&self, fate: Fate) {
        step(&format!("{}: {fate:?}", self.name));
        self.fate.with(|now| *now = fate);
        self.answered.add();
    }

    pub fn fate(&self) -> Fate {
        self.fate.with(|fate| *fate)
    }

    /// Returns the thread on which the client was refused.
    pub fn refused_on(&self) -> Option<thread::ThreadId> {
        self.refused_on.with(|on| *on)
    }

    pub fn until_answered(&self, cause: &str) {
        expect("waiting for a client to have its answer", cause, || self.answered.wait_for(1));
    }

    /// Checks that the client is in the given state.
    pub fn must_be(&self, fate: Fate, when: &str, cause: &str) {
        if self.fate() != fate {
            fail(&format!("{when}: {} is {:?}, and should be {fate:?}", self.name, self.fate()), cause);
        }
    }
}

pub struct Link {
    client: Arc<Client>,
    door: Arc<Door>,
}

impl Connection for Link {
    fn serve(self) {
        step(&format!("{}: its request begins", self.client.name));
        let served = self.door.state.with(|state| {
            state.being_served += 1;
            state.being_served
        });
        if served > self.door.places {
            let places = self.door.places;
            fail(
                &format!("{served} clients are served at once, and there are {places} places"),
                ONE_TOO_MANY,
            );
        }
        self.client.works();
        thread::yield_now(); // gives a loop time to take the place too early
        if self.client.panics {
            self.leaves(Fate::Panicked);
            panic_on_purpose();
        }
        self.leaves(Fate::Served);
    }

    fn refuse(self) {
        self.client.works();
        thread::yield_now(); // as in `serve`
        self.client.refused_on.with(|on| *on = Some(thread::current().id()));
        self.leaves(Fate::Refused);
    }
}

impl Link {
    fn leaves(&self, fate: Fate) {
        self.door.state.with(|state| {
            state.without_answer -= 1;
            state.being_served -= usize::from(fate != Fate::Refused);
        });
        self.client.now_is(fate);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.client.fate() == Fate::Accepted {
            let name = &self.client.name;
            fail(&format!("{name} was accepted, and its connection is dropped without an answer"), LOST);
        }
    }
}

/// A listener without a network: clients wait in a queue until they are accepted.
pub struct Door {
    state: Shared<State>,
    places: usize,
    /// The bound on the number of accepted clients that have no answer.
    most: usize,
    /// The number of clients that have connected, plus one when the listener is closed.
    events: Counter,
    pub accepts: Counter,
    /// The lowest and the highest stack address seen in calls to `accept`.
    stack: Shared<Option<(usize, usize)>>,
}

/// The state of the listener; one lock guards all fields, because the model needs a step for each lock.
#[derive(Default)]
struct State {
    outside: VecDeque<Arc<Client>>,
    /// The number of calls to `accept` that will fail because the client has hung up.
    failures: usize,
    is_closed: bool,
    without_answer: usize,
    being_served: usize,
}

impl Door {
    pub fn connect(&self, client: &Arc<Client>) {
        step(&format!("{} connects", client.name));
        let is_closed = self.state.with(|state| {
            if !state.is_closed {
                state.outside.push_back(Arc::clone(client));
            }
            state.is_closed
        });
        if is_closed {
            client.now_is(Fate::StayedOutside);
        }
        self.events.add();
    }

    /// Returns the distance in bytes between the lowest and the highest stack address in calls to `accept`.
    /// Only tests with a single accept loop call this method.
    pub fn depth(&self) -> usize {
        self.stack.with(|stack| stack.map_or(0, |(low, high)| high - low))
    }

    /// Lets the given number of clients connect and hang up at once.
    pub fn fail_to_connect(&self, clients: usize) {
        self.state.with(|state| state.failures = clients);
        self.events.add();
    }

    /// Returns the next client, or `None` while there is none.
    fn next(&self) -> Option<Accepted<Arc<Client>>> {
        self.state.with(|state| {
            if state.is_closed {
                return Some(Accepted::Closed);
            }
            if let Some(less) = state.failures.checked_sub(1) {
                state.failures = less;
                return Some(Accepted::Failed);
            }
            let client = state.outside.pop_front()?;
            state.without_answer += 1;
            if state.without_answer > self.most {
                let (name, others) = (&client.name, state.without_answer - 1);
                let seen = format!(
                    "{name} is accepted; there are {} places, and {others} clients that were accepted before have no answer yet",
                    self.places
                );
                fail(&seen, PLACE_FIRST);
            }
            Some(Accepted::Client(client))
        })
    }
}

impl Listener for Arc<Door> {
    type Connection = Link;

    fn accept(&self) -> Accepted<Link> {
        self.accepts.add();
        let here = 0_u8;
        let here = ptr::from_ref(black_box(&here)).addr();
        self.stack.with(|stack| {
            let (low, high) = stack.unwrap_or((here, here));
            *stack = Some((low.min(here), high.max(here)));
        });
        loop {
            let seen = self.events.get();
            match self.next() {
                Some(Accepted::Closed) => return Accepted::Closed,
                Some(Accepted::Failed) => {
                    step("accept() fails");
                    return Accepted::Failed;
                }
                Some(Accepted::Client(client)) => {
                    step(&format!("{} is accepted", client.name));
                    client.fate.with(|now| *now = Fate::Accepted);
                    return Accepted::Client(Link { client, door: Arc::clone(self) });
                }
                None => self.events.wait_for(seen + 1),
            }
        }
    }

    fn close(&self) {
        step("closes the listener");
        let outside = self.state.with(|state| {
            state.is_closed = true;
            std::mem::take(&mut state.outside)
        });
        outside.iter().for_each(|client| client.now_is(Fate::StayedOutside));
        self.events.add();
    }
}

/// An acceptor with its listener and the threads of its accept loops.
pub struct Running<E> {
    pub acceptor: Arc<Acceptor<Arc<Door>, E>>,
    pub door: Arc<Door>,
    pub loops: Vec<thread::JoinHandle<()>>,
}

impl<E: Executor + 'static> Running<E> {
    pub fn start(below: E, places: usize, when_full: WhenFull, loops: usize) -> Self {
        // With `Refuse`, each loop may also hold a client that the loop is about to refuse.
        let most = if when_full == WhenFull::Wait { places } else { places + loops };
        let door = Arc::new(Door {
            state: Shared::default(),
            places,
            most,
            events: Counter::new("a client, or the listener to be closed"),
            accepts: Counter::new("the accept loop to call accept()"),
            stack: Shared::default(),
        });
        let acceptor = Arc::new(Acceptor::new(Arc::clone(&door), below, places, when_full));
        let loops = (0..loops).map(|_| accept_loop(&acceptor)).collect();
        Self { acceptor, door, loops }
    }

    /// Stops the acceptor and waits for its loops, in a test that is not about stopping.
    pub fn end(self) {
        aside(|| {
            at_once("stop()", STOP_WAITS, || self.acceptor.stop());
            self.loops_return(STOP);
        });
    }

    pub fn loops_return(self, cause: &str) {
        for thread in self.loops {
            returns(thread, cause);
        }
    }
}

pub fn accept_loop<E: Executor + 'static>(acceptor: &Arc<Acceptor<Arc<Door>, E>>) -> thread::JoinHandle<()> {
    let acceptor = Arc::clone(acceptor);
    on_a_thread("accept loop", Box::new(move || acceptor.run()))
}

/// Waits until an accept loop has returned.
pub fn returns(thread: thread::JoinHandle<()>, cause: &str) {
    if expect("run()", cause, || thread.join()).is_err() {
        let cause = "run() must not panic. An executor may refuse a client, and a request may panic";
        fail("run() panicked", cause);
    }
}
