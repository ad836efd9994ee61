//! A server that stops in order: it accepts no new clients, and answers the accepted clients before a
//! deadline.
//!
//! This is the only file to edit. `cargo test -p ex06-graceful-stop` checks your answer.
#![allow(unused)]

use core::time::Duration; // Duration::MAX is the longest duration

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
    // What must a thread that calls shutdown() know about other calls? Where are the refused clients counted?
}

// What happens to a connection that a closure has captured, if the closure is dropped and not called?

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        todo!("keep the listener and the pool")
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    ///
    /// A task of the pool serves a connection with the task's own token, `CancelToken::current()`.
    pub fn run(&self) {
        todo!("accept clients and hand them to the pool, until there are no more")
    }

    /// Stops the server and waits until every client is served. Once `deadline` is cancelled, `shutdown`
    /// waits for no client.
    ///
    /// Any thread may call `shutdown`, even while another thread calls it, and again after the server has
    /// ended. A request must not call `shutdown`, because this call waits for the request itself.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        todo!(
            "let no client in, wait for the accepted ones, cut off what is left when the time is up, and say which it was"
        )
    }

    /// Returns the number of connections that were refused so far.
    pub fn refused(&self) -> usize {
        todo!("say how many connections were refused")
    }
}
