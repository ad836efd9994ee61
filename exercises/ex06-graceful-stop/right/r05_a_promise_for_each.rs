//! Right: the server's life is an enum: open, closing with those who wait for the end, over. Each shutdown() leaves a
//! Promise in it and waits for its value; the move to "over" keeps all of them, outside the lock.
#![allow(unused)]

use core::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, Promise, ThreadPoolExecutor, masked};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Where clients connect. The tests bring their own, without a network.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// Waits for the next client. `None` once the listener is closed.
    fn accept(&self) -> Option<Self::Connection>;

    /// Lets nobody connect any more, and brings back whoever waits in `accept`. Closing it twice is harmless.
    fn close(&self);
}

/// A client that has connected and wants an answer.
pub trait Connection: Send + 'static {
    /// Reads the request and answers it. That takes its time; if the token is cancelled, it gives up.
    /// Like any code, it may panic. That is no refusal.
    fn serve(self, token: &CancelToken);

    /// Answers at once that there is no place. Does not panic. A connection that is only dropped hangs up without a word.
    fn refuse(self);
}

/// How a server has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Everybody who was being served, or waited to be, was served.
    InOrder,
    /// The time was up before that.
    CutOff,
}

/// Accepts clients and has a pool serve them, until it is told to stop.
pub struct Server<L: Listener> {
    listener: L,
    pool: ThreadPoolExecutor,
    desk: Arc<Desk>,
}

enum Life {
    Open,
    Closing(Vec<Promise<Stopped>>),
    Over(Stopped),
}

struct State {
    life: Life,
    inside: usize,
    refused: usize,
}

struct Desk(Mutex<State>);

impl Desk {
    /// The end, if nobody else has decided it and there are no clients inside, or there need not be.
    fn end(&self, time_up: bool) {
        let mut state = self.0.lock().unwrap();
        if state.inside > 0 && !time_up {
            return;
        }
        let stopped = if state.inside > 0 { Stopped::CutOff } else { Stopped::InOrder };
        let Life::Closing(promises) = &mut state.life else { return };
        let promises = std::mem::take(promises);
        state.life = Life::Over(stopped);
        drop(state);
        for promise in promises {
            let _ = promise.complete(stopped);
        }
    }
}

/// A client is inside until this is dropped, and is refused then if nobody has served it.
struct Guest<C: Connection> {
    connection: Option<C>,
    desk: Arc<Desk>,
}

impl<C: Connection> Guest<C> {
    fn new(connection: C, desk: &Arc<Desk>) -> Self {
        desk.0.lock().unwrap().inside += 1;
        Self { connection: Some(connection), desk: Arc::clone(desk) }
    }

    fn serve(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.serve(&CancelToken::current());
        }
    }
}

impl<C: Connection> Drop for Guest<C> {
    fn drop(&mut self) {
        let refused = self.connection.take().map(Connection::refuse).is_some();
        let mut state = self.desk.0.lock().unwrap();
        state.inside -= 1;
        state.refused += usize::from(refused);
        drop(state);
        self.desk.end(false);
    }
}

impl<L: Listener> Server<L> {
    /// A server that runs as soon as somebody calls `run`.
    pub fn new(listener: L, pool: ThreadPoolExecutor) -> Self {
        let state = State { life: Life::Open, inside: 0, refused: 0 };
        Self { listener, pool, desk: Arc::new(Desk(Mutex::new(state))) }
    }

    /// The accept loop, on the calling thread. Returns when the server is told to stop.
    pub fn run(&self) {
        while let Some(connection) = self.listener.accept() {
            let guest = Guest::new(connection, &self.desk);
            let _ = self.pool.execute(move || guest.serve());
        }
    }

    /// Stops the server and waits until everybody is served; once `deadline` is cancelled, for nobody any more.
    pub fn shutdown(&self, deadline: &CancelToken) -> Stopped {
        self.listener.close();
        self.pool.shutdown();
        let (promise, end) = Promise::new();
        let mut state = self.desk.0.lock().unwrap();
        match &mut state.life {
            Life::Open => state.life = Life::Closing(vec![promise]),
            Life::Closing(promises) => promises.push(promise),
            Life::Over(stopped) => return *stopped,
        }
        drop(state);
        self.desk.end(false);
        let desk = Arc::clone(&self.desk);
        let registration = deadline.on_cancel(move || desk.end(true));
        // Masked, since the deadline ends this wait, and not the token of the task that may have called us.
        let stopped = masked(|| end.join()).expect("a promise in the state is kept");
        drop(registration);
        if stopped == Stopped::CutOff {
            drop(self.pool.shutdown_now());
        }
        stopped
    }

    /// How many connections were refused so far.
    pub fn refused(&self) -> usize {
        self.desk.0.lock().unwrap().refused
    }
}
