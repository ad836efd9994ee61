//! Right: the places are messages in a channel; stop() sends one more message, which each loop passes on.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::mpsc::{Receiver, Sender, channel};
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
pub struct Acceptor<L, E> {
    listener: L,
    below: E,
    when_full: WhenFull,
    places: Arc<Places>,
}

/// A message for each free place.
struct Places {
    free: Mutex<Receiver<()>>,
    back: Mutex<Sender<()>>,
    stopped: AtomicBool,
}

/// One that is taken. It is free again when this is dropped.
struct Place(Arc<Places>);

/// A client that has a place. If the guest is dropped before a thread serves it, the client is refused.
struct Guest<C: Connection> {
    connection: Option<C>,
    /// Dropped after `Guest::drop` has run, so the place is free only when the client has its answer.
    place: Place,
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
    fn admit(&self, connection: L::Connection, reserved: Option<Place>) {
        // With `Refuse`, what counts is now, and not when this thread began to wait for a client.
        let Some(place) = reserved.or_else(|| Places::take(&self.places)) else {
            return connection.refuse();
        };
        let guest = Guest { connection: Some(connection), place };
        // No lock is held here. If the executor refuses, the guest is dropped with the error.
        drop(self.below.execute(Box::new(move || guest.serve())));
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

impl Places {
    fn new(places: usize) -> Self {
        let (back, free) = channel();
        for _ in 0..places {
            let _ = back.send(());
        }
        Self { free: Mutex::new(free), back: Mutex::new(back), stopped: AtomicBool::new(false) }
    }

    /// Takes a free place, if there is one.
    fn take(this: &Arc<Self>) -> Option<Place> {
        this.free.lock().unwrap().try_recv().ok()?;
        Some(Place(Arc::clone(this)))
    }

    /// Waits until a place is free, and takes it. Returns `None` after the end.
    fn wait_for_one(this: &Arc<Self>) -> Option<Place> {
        this.free.lock().unwrap().recv().ok()?;
        let place = Place(Arc::clone(this)); // if this is the end, its drop passes the message on
        (!this.stopped.load(Ordering::SeqCst)).then_some(place)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = self.back.lock().unwrap().send(());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.0.back.lock().unwrap().send(());
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
