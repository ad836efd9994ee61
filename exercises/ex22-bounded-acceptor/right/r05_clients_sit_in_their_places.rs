//! Right: each place has room for its client. A job knows only the number of its place, and clears that place
//! when the job is called or dropped.
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

/// The error of a refusal: it gives back the job, which was not called. Here it is, and it was not called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. A job that it takes is called some time later, or before `execute` returns, on this thread
    /// or on another one; or, if the executor ends before that, it is dropped. A panic of the job ends there.
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

/// Accepts clients and hands them to an executor, with so many at most under way.
pub struct Acceptor<L: Listener, E> {
    listener: L,
    below: E,
    when_full: WhenFull,
    places: Arc<Places<L::Connection>>,
}

struct Places<C> {
    state: Mutex<State<C>>,
    /// A place is free, or the end has come.
    changed: Condvar,
}

struct State<C> {
    places: Vec<Room<C>>,
    stopped: bool,
}

enum Room<C> {
    Free,
    /// The place is kept for a client that may come.
    Kept,
    Client(C),
}

/// The number of a place that is taken.
struct Place<C: Connection> {
    number: usize,
    places: Arc<Places<C>>,
}

impl<L: Listener, E: Executor> Acceptor<L, E> {
    /// Makes an acceptor with the given number of places, at least one. It accepts as soon as a thread calls
    /// `run`.
    pub fn new(listener: L, below: E, places: usize, when_full: WhenFull) -> Self {
        Self { listener, below, when_full, places: Arc::new(Places::new(places)) }
    }

    /// The accept loop, on the calling thread. Returns after `stop`, or when the listener is closed.
    ///
    /// Several threads may call `run`. They share the places.
    pub fn run(&self) {
        loop {
            let mut reserved = None;
            if self.when_full == WhenFull::Wait {
                // The place comes first: no client is accepted that would have to wait for one.
                reserved = Places::wait_for_one(&self.places);
                if reserved.is_none() {
                    return;
                }
            }
            match self.listener.accept() {
                Accepted::Client(connection) => self.admit(connection, reserved),
                Accepted::Failed => {} // and the place is free again
                Accepted::Closed => return,
            }
        }
    }

    /// Hands the client to the executor, or refuses it.
    fn admit(&self, connection: L::Connection, reserved: Option<Place<L::Connection>>) {
        // With `Refuse`, what counts is now, and not when this thread began to wait for a client.
        let Some(place) = reserved.or_else(|| Places::take(&self.places)) else {
            return connection.refuse();
        };
        place.set(Room::Client(connection));
        drop(self.below.execute(Box::new(move || {
            // `place` is dropped when this call has returned or panicked.
            let place = place;
            if let Room::Client(connection) = place.set(Room::Kept) {
                connection.serve();
            }
        })));
    }

    /// Ends the accepting, and makes `run` return. Waits for no thread: clients that were accepted are served
    /// as before.
    ///
    /// Any thread may call it, also a client's request, and more than once.
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

    /// Waits until a place is free, and takes it. Returns `None` after the end.
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
    /// Returns the previous content.
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
