//! Right: this answer uses atomics. One atomic number counts the clients inside, and the number's lowest bit
//! says whether the server stops. When the server stops and no client is inside, the thread that made the
//! last change announces the end. A second atomic number is the outcome, which is set once, and a Latch
//! releases the waiting threads.
#![allow(unused)]

use core::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, Latch, ThreadPoolExecutor, masked};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// The place where clients connect. The tests have their own listener, without a network.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// Waits for the next client. Returns `None` once the listener is closed.
    fn accept(&self) -> Option<Self::Connection>;

    /// Lets no client connect any more, and makes every waiting `accept` return. Closing the listener twice
    /// is harmless.
    fn close(&self);
}

/// A client that has connected and wants an answer.
pub trait Connection: Send + 'static {
    /// Reads the request and answers it. Reading and answering may take long; if the token is cancelled, the
    /// call gives up. The call may panic, like any code. A panic does not count as a refusal.
    fn serve(self, token: &CancelToken);

    /// Tells the client at once that it is refused. The call does not panic. If a connection is dropped
    /// before `serve` or `refuse` is called, it is closed without an answer.
    fn refuse(self);
}

/// The way in which a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The server has served every client whose request was running or waiting.
    InOrder,
    /// The time was up before all clients were served.
    CutOff,
}

/// Accepts clients and lets a pool serve the clients, until the server is told to stop.
pub struct Server<L: Listener> {
    listener: L,
    pool: ThreadPoolExecutor,
    gate: Arc<Gate>,
}

const STOPPING: usize = 1;
const CLIENT: usize = 2;

const UNDECIDED: usize = 0;
const IN_ORDER: usize = 1;
const CUT_OFF: usize = 2;

struct Gate {
    /// Holds CLIENT for each client that is inside. When the server stops, STOPPING is added.
    inside: AtomicUsize,
    outcome: AtomicUsize,
    decided: Latch,
    refused: AtomicUsize,
}

impl Gate {
    fn stop(&self) {
        if self.inside.fetch_or(STOPPING, Ordering::SeqCst) < CLIENT {
            self.decide(IN_ORDER);
        }
    }

    fn leave(&self) {
        if self.inside.fetch_sub(CLIENT, Ordering::SeqCst) == CLIENT | STOPPING {
            self.decide(IN_ORDER);
        }
    }

    fn decide(&self, outcome: usize) {
        let first = self.outcome.compare_exchange(UNDECIDED, outcome, Ordering::SeqCst, Ordering::SeqCst);
        if first.is_ok() {
            self.decided.count_down();
        }
    }

    fn outcome(&self) -> Option<Stopped> {
        match self.outcome.load(Ordering::SeqCst) {
            UNDECIDED => None,
            IN_ORDER => Some(Stopped::InOrder),
            _ => Some(Stopped::CutOff),
        }
    }
}

/// A client that is inside until this value is dropped. If no thread has served the client, the drop refuses
/// the client.
struct Guest<C: Connection> {
    connection: Option<C>,
    gate: Arc<Gate>,
}

impl<C: Connection> Guest<C> {
    fn new(connection: C, gate: &Arc<Gate>) -> Self {
        gate.inside.fetch_add(CLIENT, Ordering::SeqCst);
        Self { connection: Some(connection), gate: Arc::clone(gate) }
    }

    fn serve(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<C: Connection> Drop for Guest<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.gate.refused.fetch_add(1, Ordering::SeqCst);
            connection.refuse();
        }
        self.gate.leave();
    }
}

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        let gate = Gate {
            inside: AtomicUsize::new(0),
            outcome: AtomicUsize::new(UNDECIDED),
            decided: Latch::new(1),
            refused: AtomicUsize::new(0),
        };
        Self { listener, pool, gate: Arc::new(gate) }
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let guest = Guest::new(connection, &self.gate);
            let _ = self.pool.execute(move || guest.serve());
        }
    }

    /// Stops the server and waits until all clients are served, or until `deadline` is cancelled.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        self.gate.stop();
        let gate = Arc::clone(&self.gate);
        let registration = deadline.on_cancel(move || gate.decide(CUT_OFF));
        let stopped = loop {
            match self.gate.outcome() {
                Some(stopped) => break stopped,
                // The deadline may end this wait. The token of a task that has called `shutdown` must not end
                // this wait, so the wait is masked.
                None => drop(masked(|| self.gate.decided.wait())),
            }
        };
        drop(registration);
        if stopped == Stopped::CutOff {
            drop(self.pool.shutdown_now());
        }
        stopped
    }

    /// Returns the number of connections that were refused so far.
    pub fn refused(&self) -> usize {
        self.gate.refused.load(Ordering::SeqCst)
    }
}
