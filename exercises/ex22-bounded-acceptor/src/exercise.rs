//! A bounded acceptor: an accept loop with a bounded number of places for clients, and a policy for when all
//! are taken.
//!
//! This is the only file to edit. `cargo test -p ex22-bounded-acceptor` checks it.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// The listener to which clients connect. The tests bring their own, without a network.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// Waits for the next client. Several threads may wait at the same time.
    fn accept(&self) -> Accepted<Self::Connection>;

    /// Closes the listener: no further client is let in, and each wait in `accept` ends. Closing it twice is
    /// harmless.
    fn close(&self);
}

/// The result of `accept`.
pub enum Accepted<C> {
    Client(C),
    /// A client has gone before it was let in. That happens; other clients will come.
    Failed,
    /// The listener is closed. No client will come.
    Closed,
}

/// A client that was accepted, and wants an answer.
pub trait Connection: Send + 'static {
    /// Reads the request and answers it. The call may take long, and may panic.
    fn serve(self);

    /// Answers that there is no room, as a status 503 does. Does not take long, and does not panic. A
    /// connection that is only dropped hangs up without a word.
    fn refuse(self);
}

/// The closure that an executor calls for one client.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error of a refusal: it gives back the job, which was not called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. A job that it takes is called some time later, or before `execute` returns,
    /// on this thread or on another one; or, if the executor ends before that, it is dropped. A panic of the
    /// job ends there.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

/// The policy for the next client when all places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The client is accepted and refused at once.
    Refuse,
    /// The client is not accepted until a place is free.
    Wait,
}

// ----- Yours. -----

/// Accepts clients and hands them to an executor, with a bound on the clients that are under way.
pub struct Acceptor<L, E> {
    listener: L,
    below: E,
    when_full: WhenFull,
    // What must a client's job give back when it ends, and how does it get there?
}

// In which ways can a job end? What becomes of a connection that a closure has captured, if the closure is
// dropped and not called?

impl<L: Listener, E: Executor> Acceptor<L, E> {
    /// Makes an acceptor with the given number of places, at least one. It accepts as soon as a thread calls
    /// `run`.
    pub fn new(listener: L, below: E, places: usize, when_full: WhenFull) -> Self {
        todo!("keep all of it, with all places free")
    }

    /// The accept loop, on the calling thread. Returns after `stop`, or when the listener is closed.
    ///
    /// Several threads may call `run`. They share the places.
    pub fn run(&self) {
        todo!(
            "accept clients, give each a place and hand it to the executor; and when all places are taken, do as `when_full` says"
        )
    }

    /// Ends the accepting, and makes `run` return. Waits for no thread: clients that were accepted are served
    /// as before.
    ///
    /// Any thread may call it, also a client's request, and more than once.
    pub fn stop(&self) {
        todo!("close the listener, and wake every loop that waits for a place")
    }
}
