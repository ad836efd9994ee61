//! A bounded acceptor: an accept loop with a bounded number of places for clients, and a policy for clients
//! that come while all places are taken.
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
    places: Arc<Places>,
}

/// The free places, and whether the acceptor was stopped.
struct Places {
    state: Mutex<State>,
    /// Notified when a place has become free, or after `stop`.
    changed: Condvar,
}

struct State {
    free: usize,
    stopped: bool,
}

/// A place that is taken. Dropping a `Place` makes the place free again.
struct Place(Arc<Places>);

/// A client that has a place. If the guest is dropped before a thread serves it, the client is refused.
struct Guest<C: Connection> {
    connection: Option<C>,
    /// This field is dropped after `Guest::drop` has run, so the place becomes free only when the client has
    /// its answer.
    place: Place,
}

impl<L: Listener, E: Executor> Acceptor<L, E> {
    /// Makes an acceptor with the given number of places, at least one. The acceptor accepts clients as soon
    /// as a thread calls `run`.
    pub fn new(listener: L, below: E, places: usize, when_full: WhenFull) -> Self {
        Self { listener, below, when_full, places: Arc::new(Places::new(places)) }
    }

    /// Runs the accept loop on the calling thread. `run` returns after `stop`, or when the listener is
    /// closed.
    ///
    /// Several threads may call `run`. All loops share the places.
    pub fn run(&self) {
        loop {
            let mut reserved = None;
            if self.when_full == WhenFull::Wait {
                // The loop takes the place first, so that it accepts no client that would have to wait.
                reserved = Places::wait_for_one(&self.places);
                if reserved.is_none() {
                    return;
                }
            }
            match self.listener.accept() {
                Accepted::Client(connection) => self.admit(connection, reserved),
                Accepted::Failed => {} // the place becomes free again
                Accepted::Closed => return,
            }
        }
    }

    /// Hands the client to the executor, or refuses it.
    fn admit(&self, connection: L::Connection, reserved: Option<Place>) {
        // With `Refuse`, the loop takes a place only now, because `accept` may have waited for a long time.
        let Some(place) = reserved.or_else(|| Places::take(&self.places)) else {
            return connection.refuse();
        };
        let guest = Guest { connection: Some(connection), place };
        // No lock is held here. If the executor refuses the job, the guest is dropped with the error.
        drop(self.below.execute(Box::new(move || guest.serve())));
    }

    /// Closes the listener, and makes each `run` return. `stop` waits for no thread, and accepted clients are
    /// served as before.
    ///
    /// Any thread may call `stop`, even a thread that serves a client. More than one call is allowed.
    pub fn stop(&self) {
        self.places.stop();
        self.listener.close();
    }
}

impl Places {
    fn new(free: usize) -> Self {
        Self { state: Mutex::new(State { free, stopped: false }), changed: Condvar::new() }
    }

    /// Takes a free place, if there is one.
    fn take(this: &Arc<Self>) -> Option<Place> {
        let mut state = this.state.lock().unwrap();
        state.free = state.free.checked_sub(1)?;
        Some(Place(Arc::clone(this)))
    }

    /// Waits until a place is free, and takes it. Returns `None` after `stop`.
    fn wait_for_one(this: &Arc<Self>) -> Option<Place> {
        let mut state = this.state.lock().unwrap();
        while state.free == 0 && !state.stopped {
            state = this.changed.wait(state).unwrap();
        }
        if state.stopped {
            return None;
        }
        state.free -= 1;
        Some(Place(Arc::clone(this)))
    }

    fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.changed.notify_all();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().free += 1;
        self.0.changed.notify_one();
    }
}

impl<C: Connection> Guest<C> {
    fn serve(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.serve();
        }
    }
}

impl<C: Connection> Drop for Guest<C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.refuse();
        }
    }
}
