//! Right: each place holds the connection of its client. A job knows only the number of its place, and the
//! place becomes free when the job has been called or is dropped.
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
pub struct Acceptor<L: Listener, E> {
    listener: L,
    below: E,
    when_full: WhenFull,
    places: Arc<Places<L::Connection>>,
}

struct Places<C> {
    state: Mutex<State<C>>,
    /// Notified when a place has become free, or after `stop`.
    changed: Condvar,
}

struct State<C> {
    places: Vec<Room<C>>,
    stopped: bool,
}

enum Room<C> {
    Free,
    /// The place is kept by a loop that waits for a client.
    Kept,
    Client(C),
}

/// The number of a place that is taken.
struct Place<C: Connection> {
    number: usize,
    places: Arc<Places<C>>,
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
                // The loop takes the place first, so that it accepts no client that would have to wait for a
                // place.
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
    fn admit(&self, connection: L::Connection, reserved: Option<Place<L::Connection>>) {
        // With `Refuse`, the loop takes a place only now, because `accept` may have waited for a long time.
        let Some(place) = reserved.or_else(|| Places::take(&self.places)) else {
            return connection.refuse();
        };
        place.set(Room::Client(connection));
        drop(self.below.execute(Box::new(move || {
            // `place` is dropped when `serve` has returned or panicked.
            let place = place;
            if let Room::Client(connection) = place.set(Room::Kept) {
                connection.serve();
            }
        })));
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

impl<C: Connection> Places<C> {
    fn new(places: usize) -> Self {
        let places = (0..places).map(|_| Room::Free).collect();
        Self { state: Mutex::new(State { places, stopped: false }), changed: Condvar::new() }
    }

    /// Takes a free place, if there is one.
    fn take(this: &Arc<Self>) -> Option<Place<C>> {
        let mut state = this.state.lock().unwrap();
        let number = state.free()?;
        state.places[number] = Room::Kept;
        Some(Place { number, places: Arc::clone(this) })
    }

    /// Waits until a place is free, and takes it. Returns `None` after `stop`.
    fn wait_for_one(this: &Arc<Self>) -> Option<Place<C>> {
        let mut state = this.state.lock().unwrap();
        while !state.stopped {
            if let Some(number) = state.free() {
                state.places[number] = Room::Kept;
                return Some(Place { number, places: Arc::clone(this) });
            }
            state = this.changed.wait(state).unwrap();
        }
        None
    }

    fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.changed.notify_all();
    }
}

impl<C> State<C> {
    fn free(&self) -> Option<usize> {
        self.places.iter().position(|room| matches!(room, Room::Free))
    }
}

impl<C: Connection> Place<C> {
    /// Sets the content of the place, and returns the previous content.
    fn set(&self, room: Room<C>) -> Room<C> {
        let mut state = self.places.state.lock().unwrap();
        mem::replace(&mut state.places[self.number], room)
    }
}

impl<C: Connection> Drop for Place<C> {
    fn drop(&mut self) {
        if let Room::Client(connection) = self.set(Room::Kept) {
            connection.refuse(); // no executor has called the job
        }
        self.set(Room::Free);
        self.places.changed.notify_one();
    }
}
