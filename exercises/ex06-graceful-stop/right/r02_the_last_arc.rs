//! Right: this answer has no count of clients and no Condvar. Each client holds a clone of one Arc, and the
//! server holds a clone that the first shutdown() drops. The drop of the last Arc decides InOrder, and a
//! deadline decides CutOff. The first of these two events cancels a token, and so wakes every call of
//! shutdown() that waits.
#![allow(unused)]

use core::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, ThreadPoolExecutor, masked};

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
    refused: Arc<AtomicUsize>,
    fate: Arc<Fate>,
    open: Mutex<Option<Arc<Open>>>,
}

/// The outcome, which is decided once.
struct Fate {
    outcome: Mutex<Option<Stopped>>,
    decided: CancelToken,
}

impl Fate {
    fn decide(&self, outcome: Stopped) {
        self.outcome.lock().unwrap().get_or_insert(outcome);
        self.decided.cancel();
    }

    fn outcome(&self) -> Option<Stopped> {
        *self.outcome.lock().unwrap()
    }
}

/// The server holds a clone until the server must stop, and each client holds a clone until the client has
/// its answer.
struct Open(Arc<Fate>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.decide(Stopped::InOrder);
    }
}

/// A connection without an answer. If the connection is still here when this value is dropped, the connection
/// is refused.
struct Unanswered<C: Connection> {
    connection: Option<C>,
    refused: Arc<AtomicUsize>,
}

impl<C: Connection> Drop for Unanswered<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            connection.refuse();
        }
    }
}

/// A client on its way through the pool. Rust drops the fields in the order of their declaration, so the
/// client gets its answer before `open` is dropped.
struct Guest<C: Connection> {
    unanswered: Unanswered<C>,
    open: Arc<Open>,
}

impl<C: Connection> Guest<C> {
    fn serve(mut self) {
        if let Some(connection) = self.unanswered.connection.take() {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        let fate = Arc::new(Fate { outcome: Mutex::new(None), decided: CancelToken::new() });
        let open = Mutex::new(Some(Arc::new(Open(Arc::clone(&fate)))));
        Self { listener, pool, refused: Arc::default(), fate, open }
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let unanswered = Unanswered { connection: Some(connection), refused: Arc::clone(&self.refused) };
            let open = self.open.lock().unwrap().clone();
            let Some(open) = open else { continue }; // the server stops: the client is refused here
            let guest = Guest { unanswered, open };
            let _ = self.pool.execute(move || guest.serve());
        }
    }

    /// Stops the server and waits until all clients are served, or until `deadline` is cancelled.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        let open = self.open.lock().unwrap().take();
        drop(open); // decides the outcome if no client holds an Arc
        let fate = Arc::clone(&self.fate);
        let registration = deadline.on_cancel(move || fate.decide(Stopped::CutOff));
        let stopped = loop {
            match self.fate.outcome() {
                Some(stopped) => break stopped,
                // The deadline may end this wait. The token of a task that has called `shutdown` must not end
                // this wait, so the wait is masked.
                None => drop(masked(|| self.fate.decided.sleep(Duration::MAX))),
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
        self.refused.load(Ordering::Relaxed)
    }
}
