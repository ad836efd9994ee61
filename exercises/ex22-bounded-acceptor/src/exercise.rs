//! A bounded acceptor: an accept loop with a bounded number of places for clients, and a policy for clients
//! that come while all places are taken.
//!
//! This is the only file to edit. `cargo test -p ex22-bounded-acceptor` checks the answer.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// The listener to which clients connect. The tests bring their own listeners, without a network.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// Waits for the next client, and accepts it. Several threads may call `accept` at the same time.
    fn accept(&self) -> Accepted<Self::Connection>;

    /// Closes the listener. After `close`, no client is accepted, and each waiting `accept` returns. Closing
    /// a closed listener has no effect.
    fn close(&self);
}

/// The result of `accept`.
pub enum Accepted<C> {
    Client(C),
    /// A client has hung up before it was accepted. `Failed` does not mean that the listener has failed:
    /// other clients will come.
    Failed,
    /// The listener is closed. No further client will come.
    Closed,
}

/// The connection to a client that was accepted and waits for an answer.
pub trait Connection: Send + 'static {
    /// Reads the request and answers it. The call to `serve` can take long, and can panic.
    fn serve(self);

    /// Tells the client that the server is overloaded, like a response with status 503. `refuse` does not
    /// take long, and does not panic. A connection that is dropped without `serve` or `refuse` is closed
    /// without an answer.
    fn refuse(self);
}

/// The closure that an executor calls for one client.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that an executor returns when it refuses a job. The error contains the job, which was not
/// called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. The executor calls each job that it takes, on any thread, before or after
    /// `execute` returns. An executor that ends drops the jobs that it has not called. The executor catches a
    /// panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

/// The policy for the next client when all places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Refuse: the client is accepted, and refused at once.
    Refuse,
    /// Wait: the client is not accepted until a place is free.
    Wait,
}

// ----- Yours. -----

/// Accepts clients and hands them to an executor, with a bound on the clients that have no answer yet.
pub struct Acceptor<L, E> {
    listener: L,
    below: E,
    when_full: WhenFull,
    // What must a client's job give back when the job ends, and how?
}

// In which ways can a job end? What happens to a captured connection if the closure is dropped without having
// been called?

impl<L: Listener, E: Executor> Acceptor<L, E> {
    /// Makes an acceptor with the given number of places, at least one. The acceptor accepts clients as soon
    /// as a thread calls `run`.
    pub fn new(listener: L, below: E, places: usize, when_full: WhenFull) -> Self {
        todo!("keep all of it, with all places free")
    }

    /// Runs the accept loop on the calling thread. `run` returns after `stop`, or when the listener is
    /// closed.
    ///
    /// Several threads may call `run`. All loops share the places.
    pub fn run(&self) {
        todo!(
            "accept clients, give each a place and hand it to the executor; and when all places are taken, do as `when_full` says"
        )
    }

    /// Closes the listener, and makes each `run` return. `stop` waits for no thread, and accepted clients are
    /// served as before.
    ///
    /// Any thread may call `stop`, even a thread that serves a client. More than one call is allowed.
    pub fn stop(&self) {
        todo!("close the listener, and wake every loop that waits for a place")
    }
}
