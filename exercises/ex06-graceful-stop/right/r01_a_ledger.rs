//! Right: the server counts for itself. A ledger under one lock says how many clients are inside, whether a deadline is
//! up and what was decided; all shutdown() wait at one Condvar, and the first to see enough decides for all.
#![allow(unused)]

use core::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, ThreadPoolExecutor};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Where clients connect. The tests bring their own, without a network.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// Waits for the next client. `None` once the listener is closed.
    fn accept(&self) -> Option<Self::Connection>;

    /// Lets no client connect any more, and ends each wait in `accept`. Closing it twice is harmless.
    fn close(&self);
}

/// A client that has connected and wants an answer.
pub trait Connection: Send + 'static {
    /// Reads the request and answers it. That takes its time; if the token is cancelled, it gives up.
    /// Like any code, it may panic. That is no refusal.
    fn serve(self, token: &CancelToken);

    /// Answers at once that there is no place. Does not panic. A connection that is only dropped hangs up without a word.
    fn refuse(self);
}

/// How a server has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Everybody who was being served, or waited to be, was served.
    InOrder,
    /// The time was up before that.
    CutOff,
}

/// Accepts clients and has a pool serve them, until it is told to stop.
pub struct Server<L: Listener> {
    listener: L,
    pool: ThreadPoolExecutor,
    desk: Arc<Desk>,
}

/// What all threads know of each other.
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

/// A client is inside until this is dropped, and is refused then if no thread has served it.
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
    /// A server that runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        Self { listener, pool, desk: Arc::default() }
    }

    /// The accept loop, on the calling thread. Returns when the server is told to stop.
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

    /// How many connections were refused so far.
    pub fn refused(&self) -> usize {
        self.desk.ledger.lock().unwrap().refused
    }
}
