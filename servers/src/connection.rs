use crate::client::Client;
use crate::crowd::Place;
use crate::leaving::Leaving;
use crate::limits::Limits;
use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, TcpStream};

thread_local! {
    /// Whether the connections that this thread drops are closed without an answer.
    static IN_SILENCE: Cell<bool> = const { Cell::new(false) };
}

/// One accepted client, on its way to being served.
///
/// [`Server::serve`](crate::server::Server::serve) consumes it. One that is dropped *instead* answers 503 first (but see
/// [`close_in_silence`](Connection::close_in_silence)).
/// So whatever happens to the task that holds it (refused by the pool, discarded from its queue, handed back by
/// `shutdown_now` and thrown away), the client gets an answer, and no accept loop needs code for that.
///
/// # Blocking
///
/// Dropping it does not wait for the client: the answer is written at once. [`Leaving`] waits for all such clients
/// together.
#[derive(Debug)]
pub struct Connection {
    /// None once the connection is served.
    stream: Option<TcpStream>,
    peer: SocketAddr,
    leaving: Leaving,
    /// None for one that nobody is going to serve.
    place: Option<Place>,
}

impl Connection {
    /// If nobody serves it, the client is told so and becomes one of those that are `leaving`.
    pub(crate) fn new(
        stream: TcpStream,
        peer: SocketAddr,
        leaving: Leaving,
        place: Option<Place>,
    ) -> Connection {
        Connection { stream: Some(stream), peer, leaving, place }
    }

    /// The client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    // ANCHOR: in_silence
    /// Runs `f`. A connection that is dropped meanwhile, by this thread, is closed without an answer.
    ///
    /// For a policy that throws tasks away without a word, and that sees of a task only that it is one. The end is an
    /// orderly one all the same, and no reset.
    pub fn close_in_silence<R>(f: impl FnOnce() -> R) -> R {
        struct Restore(bool);
        impl Drop for Restore {
            fn drop(&mut self) {
                IN_SILENCE.set(self.0);
            }
        }
        let _restore = Restore(IN_SILENCE.replace(true));
        f()
    }
    // ANCHOR_END: in_silence

    /// Makes ready for being served by the current task.
    pub(crate) fn take(mut self, limits: &Limits) -> io::Result<Client> {
        let stream = self.stream.take().expect("a connection is taken once");
        Client::new(stream, self.peer, self.place.take(), limits)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            // A thread that ends drops its own values in any order; then the client is answered.
            if IN_SILENCE.try_with(Cell::get).unwrap_or(false) {
                self.leaving.let_go(stream);
            } else {
                self.leaving.turn_away(stream);
            }
        }
    }
}
