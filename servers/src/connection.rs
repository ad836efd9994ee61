//! An accepted client that is not served yet: it gets an answer even if no task ever serves it.

use crate::client::Client;
use crate::crowd::Place;
use crate::limits::Limits;
use crate::turned_away::TurnedAway;
use std::io;
use std::net::{SocketAddr, TcpStream};

/// An accepted connection that is not served yet.
///
/// [`Server::serve`](crate::server::Server::serve) consumes the connection. A connection that is dropped
/// without being served answers 503 first (but see [`silent_if_dropped`](Connection::silent_if_dropped)).
/// So the client gets an answer whatever happens to the task that holds the connection: the pool may
/// refuse the task, discard it from the queue, or return it from `shutdown_now`. No accept loop needs its
/// own code for such clients.
///
/// # Blocking
///
/// The drop writes the answer without waiting for the client. Afterwards [`TurnedAway`] waits for all such
/// clients together.
#[derive(Debug)]
pub struct Connection {
    /// `None` after a task has begun to serve the connection.
    stream: Option<TcpStream>,
    peer: SocketAddr,
    turned_away: TurnedAway,
    /// `None` if the connection must be closed without an answer.
    place: Option<Place>,
    is_silent: bool,
}

impl Connection {
    /// Makes a connection. If no task serves the connection, its client gets a 503 and joins the clients in
    /// `turned_away`.
    pub(crate) fn new(
        stream: TcpStream,
        peer: SocketAddr,
        turned_away: TurnedAway,
        place: Option<Place>,
    ) -> Connection {
        Connection { stream: Some(stream), peer, turned_away, place, is_silent: false }
    }

    /// Returns the client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    // ANCHOR: silent
    /// From now on, dropping the connection closes it without an answer. But after the stop of the stage, a
    /// dropped connection still answers 503.
    ///
    /// This function is for a policy that discards tasks and cannot look into them. Even then the connection
    /// ends gracefully, without a reset.
    #[must_use]
    pub fn silent_if_dropped(mut self) -> Connection {
        self.is_silent = true;
        self
    }
    // ANCHOR_END: silent

    /// Takes the connection out of this value, so that the current task can serve it.
    pub(crate) fn take(mut self, limits: &Limits) -> io::Result<Client> {
        let stream = self.stream.take().expect("a connection is taken once");
        Client::new(stream, self.peer, self.place.take(), limits)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        let is_silent = self.is_silent && !self.turned_away.is_late();
        if let Some(place) = self.place.take() {
            place.is_not_served(is_silent);
        }
        if is_silent {
            self.turned_away.let_go(stream);
        } else {
            self.turned_away.turn_away(stream);
        }
    }
}
