//! Right: connections do not go through the pool. The connections are in a cloakroom, which is a map under a
//! lock, and the pool gets numbered tickets. A ticket takes its client out of the cloakroom: a ticket that
//! runs serves the client, and a ticket that is dropped refuses the client.
#![allow(unused)]

use core::time::Duration;
use std::collections::HashMap;

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
    cloakroom: Arc<Cloakroom<L::Connection>>,
}

struct Room<C> {
    waiting: HashMap<usize, C>,
    next: usize,
    /// The number of clients who were taken out and are being served or refused.
    leaving: usize,
    refused: usize,
    time_up: bool,
    outcome: Option<Stopped>,
}

impl<C> Room<C> {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.leaving == 0
    }
}

struct Cloakroom<C> {
    room: Mutex<Room<C>>,
    changed: Condvar,
}

impl<C> Cloakroom<C> {
    fn hang(&self, connection: C) -> usize {
        let mut room = self.room.lock().unwrap();
        room.next += 1;
        let number = room.next;
        room.waiting.insert(number, connection);
        number
    }

    /// Removes the client from the cloakroom, and returns the client with a guard. The guard is dropped when
    /// the client has its answer.
    fn take(&self, number: usize, refused: bool) -> Option<(C, Leaving<'_, C>)> {
        let mut room = self.room.lock().unwrap();
        let connection = room.waiting.remove(&number)?;
        room.leaving += 1;
        room.refused += usize::from(refused);
        Some((connection, Leaving(self)))
    }
}

struct Leaving<'a, C>(&'a Cloakroom<C>);

impl<C> Drop for Leaving<'_, C> {
    fn drop(&mut self) {
        self.0.room.lock().unwrap().leaving -= 1;
        self.0.changed.notify_all();
    }
}

struct Ticket<C: Connection> {
    number: usize,
    cloakroom: Arc<Cloakroom<C>>,
}

impl<C: Connection> Ticket<C> {
    fn serve(self) {
        if let Some((connection, _leaving)) = self.cloakroom.take(self.number, false) {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<C: Connection> Drop for Ticket<C> {
    fn drop(&mut self) {
        // If the client was served, it is no longer in the cloakroom.
        if let Some((connection, _leaving)) = self.cloakroom.take(self.number, true) {
            connection.refuse();
        }
    }
}

impl<L: Listener> Server<L> {
    /// Makes a server, which runs as soon as a thread calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        let room =
            Room { waiting: HashMap::new(), next: 0, leaving: 0, refused: 0, time_up: false, outcome: None };
        let cloakroom = Cloakroom { room: Mutex::new(room), changed: Condvar::new() };
        Self { listener, pool, cloakroom: Arc::new(cloakroom) }
    }

    /// Runs the accept loop on the calling thread, until the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let number = self.cloakroom.hang(connection);
            let ticket = Ticket { number, cloakroom: Arc::clone(&self.cloakroom) };
            let _ = self.pool.execute(move || ticket.serve());
        }
    }

    /// Stops the server and waits until all clients are served, or until `deadline` is cancelled.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        let cloakroom = Arc::clone(&self.cloakroom);
        let registration = deadline.on_cancel(move || {
            cloakroom.room.lock().unwrap().time_up = true;
            cloakroom.changed.notify_all();
        });
        let mut room = self.cloakroom.room.lock().unwrap();
        while !room.is_empty() && !room.time_up && room.outcome.is_none() {
            room = self.cloakroom.changed.wait(room).unwrap();
        }
        let stopped = if room.is_empty() { Stopped::InOrder } else { Stopped::CutOff };
        let stopped = *room.outcome.get_or_insert(stopped);
        drop(room);
        self.cloakroom.changed.notify_all();
        drop(registration);
        if stopped == Stopped::CutOff {
            drop(self.pool.shutdown_now());
        }
        stopped
    }

    /// Returns the number of connections that were refused so far.
    pub fn refused(&self) -> usize {
        self.cloakroom.room.lock().unwrap().refused
    }
}
