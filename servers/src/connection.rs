//! A client between `accept` and the task that serves it: the client is answered even if no task ever serves
//! it.

use crate::client::Client;
use crate::crowd::Place;
use crate::limits::Limits;
use crate::turned_away::TurnedAway;
use std::io;
use std::net::{SocketAddr, TcpStream};

/// One accepted client, on its way to being served.
///
/// [`Server::serve`](crate::server::Server::serve) consumes it. A connection that is dropped *instead*
/// answers 503 first (but see [`silent_if_dropped`](Connection::silent_if_dropped)). So whatever happens to
/// the task that holds it (refused by the pool, discarded from its queue, handed back by `shutdown_now` and
/// thrown away), the client gets an answer, and no accept loop needs code for that.
///
/// # Blocking
///
/// The drop does not wait for the client: the answer is written at once. Afterwards [`TurnedAway`] waits for
/// all such clients together.
#[derive(Debug)]
pub struct Connection {
    /// `None` once the connection is served.
    stream: Option<TcpStream>,
    peer: SocketAddr,
    turned_away: TurnedAway,
    /// `None` if the connection is not going to be served.
    place: Option<Place>,
    is_silent: bool,
}

impl Connection {
    /// Makes a connection. If no task serves the connection, its client is told so and joins the clients in
    /// `turned_away`.
    pub(crate) fn new(
        stream: TcpStream,
        peer: SocketAddr,
        turned_away: TurnedAway,
        place: Option<Place>,
    ) -> Connection {
        Connection { stream: Some(stream), peer, turned_away, place, is_silent: false }
    }

    /// The client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    // ANCHOR: silent
    /// Arranges that the connection, if it is dropped, is closed without an answer; but once the stage stops,
    /// a dropped connection still answers 503.
    ///
    /// This is for a policy that discards tasks and cannot look into them. The connection still ends in
    /// order, and not with a reset.
    #[must_use]
    pub fn silent_if_dropped(mut self) -> Connection {
        self.is_silent = true;
        self
    }
    // ANCHOR_END: silent

    /// Makes the connection ready for the current task to serve it.
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
