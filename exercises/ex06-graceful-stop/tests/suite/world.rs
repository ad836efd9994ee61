//! Clients, a listener without a network, and a running server, for the properties of the server.

use std::collections::VecDeque;

use executor::{CancelToken, ThreadPoolExecutor};
use exercises_harness::{expect, fail, live_threads, panic_on_purpose, step};

use super::super::exercise::{Connection, Listener, Server, Stopped};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// The state of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The client waits for an answer.
    #[default]
    Waits,
    Served,
    /// The request was begun, and was cancelled.
    GivenUp,
    /// The request was begun, and panicked.
    Panicked,
    Refused,
    /// The connection was dropped without an answer.
    HungUpOn,
    /// The client was not accepted before the listener was closed.
    StayedOutside,
}

pub struct Client {
    pub name: String,
    fate: Shared<Fate>,
    /// True if the client's request ends when the request is cancelled.
    obeys: bool,
    panics: bool,
    may_finish: Shared<bool>,
    wake_up: Counter,
    pub begun: Counter,
    pub ended: Counter,
}

impl Client {
    pub fn new(name: &str, obeys: bool) -> Arc<Self> {
        Arc::new(Self::with(name, obeys, false))
    }

    /// Makes a client whose request panics.
    pub fn panicking(name: &str) -> Arc<Self> {
        Arc::new(Self::with(name, true, true))
    }

    fn with(name: &str, obeys: bool, panics: bool) -> Self {
        Self {
            name: format!("client {name}"),
            fate: Shared::default(),
            obeys,
            panics,
            may_finish: Shared::default(),
            wake_up: Counter::new("the test to let a request be finished"),
            begun: Counter::new("a request to begin"),
            ended: Counter::new("a request to end"),
        }
    }

    /// Makes a client whose request is finished at once.
    pub fn quick(name: &str) -> Arc<Self> {
        let client = Self::new(name, true);
        client.let_finish();
        client
    }

    pub fn let_finish(&self) {
        self.may_finish.with(|may| *may = true);
        self.wake_up.add();
    }

    fn now_is(&self, fate: Fate) {
        step(&format!("{}: {fate:?}", self.name));
        self.fate.with(|now| *now = fate);
        self.ended.add();
    }

    pub fn fate(&self) -> Fate {
        self.fate.with(|fate| *fate)
    }

    pub fn must_be_served(&self, cause: &str) {
        if self.fate() != Fate::Served {
            fail(
                &format!(
                    "{} was accepted before shutdown(), and its state is now {:?}",
                    self.name,
                    self.fate()
                ),
                cause,
            );
        }
    }

    pub fn wait_until_begun(&self) {
        let cause = "the accept loop does not hand the client to the pool";
        expect("waiting for a request to begin", cause, || self.begun.wait_for(1));
    }
}

pub struct Link(Arc<Client>);

impl Connection for Link {
    fn serve(self, token: &CancelToken) {
        let client = &self.0;
        step(&format!("{}: its request begins", client.name));
        client.begun.add();
        if client.panics {
            client.now_is(Fate::Panicked);
            panic_on_purpose();
        }
        if client.obeys {
            let client = Arc::clone(client);
            let registration = token.on_cancel(move || {
                client.wake_up.add();
                // Yields, so that first the request and then the pool can end before this callback returns.
                (0..A_WHILE).for_each(|_| thread::yield_now());
            });
            registration.keep(); // the drop of the registration would wait for the callback
        }
        client.wake_up.wait_for(1);
        client.now_is(if client.may_finish.with(|may| *may) { Fate::Served } else { Fate::GivenUp });
    }

    fn refuse(self) {
        self.0.now_is(Fate::Refused);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.0.fate() == Fate::Waits {
            self.0.now_is(Fate::HungUpOn);
        }
    }
}

/// A listener without a network: clients wait in a queue until they are accepted.
pub struct Door {
    outside: Shared<VecDeque<Arc<Client>>>,
    is_closed: Shared<bool>,
    /// The number of clients that have connected, plus one when the listener is closed.
    events: Counter,
    closed: Counter,
    pub accepts: Counter,
}

impl Door {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            outside: Shared::default(),
            is_closed: Shared::default(),
            events: Counter::new("a client, or the listener to be closed"),
            closed: Counter::new("the listener to be closed"),
            accepts: Counter::new("the accept loop to call accept()"),
        })
    }

    pub fn connect(&self, client: &Arc<Client>) {
        step(&format!("{} connects", client.name));
        self.outside.with(|outside| outside.push_back(Arc::clone(client)));
        if self.is_closed.with(|closed| *closed) {
            self.turn_away();
        }
        self.events.add();
    }

    fn turn_away(&self) {
        for client in self.outside.with(std::mem::take) {
            client.now_is(Fate::StayedOutside);
        }
    }
}

impl Listener for Arc<Door> {
    type Connection = Link;

    fn accept(&self) -> Option<Link> {
        self.accepts.add();
        loop {
            let seen = self.events.get();
            if self.is_closed.with(|closed| *closed) {
                return None;
            }
            if let Some(client) = self.outside.with(VecDeque::pop_front) {
                step(&format!("accepts {}", client.name));
                return Some(Link(client));
            }
            self.events.wait_for(seen + 1);
        }
    }

    fn close(&self) {
        step("closes the listener");
        self.is_closed.with(|closed| *closed = true);
        self.turn_away();
        self.events.add();
        self.closed.add();
    }
}

/// A server whose accept loop runs on its own thread.
pub struct Running {
    pub server: Arc<Server<Arc<Door>>>,
    pub door: Arc<Door>,
    loop_thread: thread::JoinHandle<()>,
}

/// The number of times that a thread yields to other threads.
pub const A_WHILE: usize = 10;

pub const NO_END: &str = "shutdown() waits for an event that does not come";

impl Running {
    pub fn start(threads: usize) -> Self {
        Self::on(ThreadPoolExecutor::fixed(threads))
    }

    pub fn on(pool: ThreadPoolExecutor) -> Self {
        let door = Door::new();
        let server = Arc::new(Server::new(Arc::clone(&door), pool));
        let loop_thread = {
            let server = Arc::clone(&server);
            let cause = "run() must not panic. It is nothing unusual that the pool refuses a client: a pool refuses tasks when it is full, \
                         and after its shutdown()";
            spawn("accept loop", move || expect("run()", cause, || server.run()))
        };
        Self { server, door, loop_thread }
    }

    /// Starts a server with one client that is being served.
    pub fn with_request_in_progress(threads: usize, client: &Arc<Client>) -> Self {
        let running = Self::start(threads);
        running.door.connect(client);
        client.wait_until_begun();
        running
    }

    /// Waits until the given number of clients have been handed to the pool.
    pub fn wait_for_hand_over(&self, clients: usize) {
        let cause = "the accept loop must hand a client to the pool and come back for the next one, however long the first request takes";
        expect("waiting for the accept loop to come back", cause, || self.door.accepts.wait_for(clients + 1));
    }

    pub fn shutdown(&self, cause: &str, deadline: &CancelToken) -> Stopped {
        expect("shutdown()", cause, || self.server.shutdown(deadline))
    }

    /// Calls `shutdown` on another thread.
    pub fn begin_shutdown(&self, deadline: &CancelToken) -> thread::JoinHandle<Stopped> {
        let (server, deadline) = (Arc::clone(&self.server), deadline.clone());
        spawn("shutdown", move || {
            let stopped = server.shutdown(&deadline);
            step("shutdown() has returned");
            stopped
        })
    }

    pub fn wait_for_close(&self) {
        let cause = "the listener is open while shutdown() waits, and clients keep coming: close it first";
        expect("waiting for the listener to be closed", cause, || self.door.closed.wait_for(1));
    }

    /// Checks the server after a shutdown, when no request is blocked any more.
    pub fn end(self) {
        let cause = "the accept loop is still waiting for clients: a flag is seen only by a thread that looks at it. Only close() ends a \
                     wait in accept()";
        expect("run()", cause, || join(self.loop_thread));
        let cause = "a thread that your code has started is left over. Perhaps the thread waits for a deadline that never passes: start \
                     no such thread, or end it in shutdown()";
        expect("waiting for the threads of the answer to end", cause, || {
            while live_threads() > 0 {
                thread::yield_now();
            }
        });
    }
}

pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    thread::Builder::new().name(name.into()).spawn(body).expect("a thread")
}

pub fn join<T>(thread: thread::JoinHandle<T>) -> T {
    thread
        .join()
        .unwrap_or_else(|_| fail("a thread of the test panicked", "run() and shutdown() never panic"))
}

pub fn join_shutdown(cause: &str, thread: thread::JoinHandle<Stopped>) -> Stopped {
    expect("shutdown()", cause, || join(thread))
}

/// A deadline that never passes.
pub fn no_deadline() -> CancelToken {
    CancelToken::new()
}

/// A deadline that has passed.
pub fn time_is_up() -> CancelToken {
    let deadline = CancelToken::new();
    step("the time is up");
    deadline.cancel();
    deadline
}
