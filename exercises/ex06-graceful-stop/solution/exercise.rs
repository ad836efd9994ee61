//! A server that stops in order: it accepts no new clients, and answers the accepted clients before a
//! deadline.
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
    refused: Arc<AtomicUsize>,
    cut_off: AtomicBool,
}

/// A connection on its way through the pool. The drop of a `Guest` refuses a connection that was not served.
struct Guest<C: Connection> {
    connection: Option<C>,
    refused: Arc<AtomicUsize>,
}

impl<C: Connection> Guest<C> {
    fn serve(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<C: Connection> Drop for Guest<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.refused.fetch_add(1, Ordering::Relaxed);
            connection.refuse();
        }
    }
}

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        Self { listener, pool, refused: Arc::default(), cut_off: AtomicBool::new(false) }
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let guest = Guest { connection: Some(connection), refused: Arc::clone(&self.refused) };
            // If the pool refuses the task, the guest is dropped with the error.
            let _ = self.pool.execute(move || guest.serve());
        }
    }

    /// Stops the server and waits until all clients are served, or until `deadline` is cancelled.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        // The wait ends early if the current token is cancelled.
        let over = self.cut_off.load(Ordering::Relaxed)
            || deadline.attach(|| self.pool.await_termination(Duration::MAX));
        if !over {
            // The flag is set first, so that no other caller mistakes the pool's end for an orderly stop.
            self.cut_off.store(true, Ordering::Relaxed);
            drop(self.pool.shutdown_now());
        }
        if self.cut_off.load(Ordering::Relaxed) { Stopped::CutOff } else { Stopped::InOrder }
    }

    /// Returns the number of connections that were refused so far.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }
}
