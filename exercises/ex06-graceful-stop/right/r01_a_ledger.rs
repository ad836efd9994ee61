//! Right: the server counts its own clients. A ledger under one lock says how many clients are inside,
//! whether a deadline has passed, and which outcome is decided. All calls of shutdown() wait on one Condvar,
//! and the first call that can decide the outcome decides it for all calls.
#![allow(unused)]

use core::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, ThreadPoolExecutor};

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
    desk: Arc<Desk>,
}

/// The state that all threads share.
#[derive(Default)]
struct Ledger {
    /// Clients who were accepted and have no answer yet.
    inside: usize,
    refused: usize,
    time_up: bool,
    outcome: Option<Stopped>,
}

#[derive(Default)]
struct Desk {
    ledger: Mutex<Ledger>,
    changed: Condvar,
}

/// A client that is inside until this value is dropped. If no thread has served the client, the drop refuses
/// the client.
struct Guest<C: Connection> {
    connection: Option<C>,
    desk: Arc<Desk>,
}

impl<C: Connection> Guest<C> {
    fn new(connection: C, desk: &Arc<Desk>) -> Self {
        desk.ledger.lock().unwrap().inside += 1;
        Self { connection: Some(connection), desk: Arc::clone(desk) }
    }

    fn serve(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<C: Connection> Drop for Guest<C> {
    fn drop(&mut self) {
        let refused = self.connection.take().map(Connection::refuse).is_some();
        let mut ledger = self.desk.ledger.lock().unwrap();
        ledger.refused += usize::from(refused);
        ledger.inside -= 1;
        drop(ledger);
        self.desk.changed.notify_all();
    }
}

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        Self { listener, pool, desk: Arc::default() }
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let guest = Guest::new(connection, &self.desk);
            let _ = self.pool.execute(move || guest.serve());
        }
    }

    /// Stops the server and waits until all clients are served, or until `deadline` is cancelled.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        let desk = Arc::clone(&self.desk);
        let registration = deadline.on_cancel(move || {
            desk.ledger.lock().unwrap().time_up = true;
            desk.changed.notify_all();
        });
        let mut ledger = self.desk.ledger.lock().unwrap();
        while ledger.inside > 0 && !ledger.time_up && ledger.outcome.is_none() {
            ledger = self.desk.changed.wait(ledger).unwrap();
        }
        let stopped = if ledger.inside == 0 { Stopped::InOrder } else { Stopped::CutOff };
        let stopped = *ledger.outcome.get_or_insert(stopped);
        drop(ledger);
        self.desk.changed.notify_all();
        drop(registration);
        if stopped == Stopped::CutOff {
            drop(self.pool.shutdown_now());
        }
        stopped
    }

    /// Returns the number of connections that were refused so far.
    pub fn refused(&self) -> usize {
        self.desk.ledger.lock().unwrap().refused
    }
}
