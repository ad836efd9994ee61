use crate::client::Client;
use crate::leaving::Leaving;
use crate::limits::Limits;
use std::io;
use std::net::{SocketAddr, TcpStream};

/// One accepted client, on its way to being served.
///
/// [`Server::serve`](crate::server::Server::serve) consumes it. One that is dropped *instead* answers 503 first.
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
}

impl Connection {
    /// If nobody serves it, the client is told so and becomes one of those that are `leaving`.
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, leaving: Leaving) -> Connection {
        Connection { stream: Some(stream), peer, leaving }
    }

    /// The client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Makes ready for being served by the current task.
    pub(crate) fn take(mut self, limits: &Limits) -> io::Result<Client> {
        let stream = self.stream.take().expect("a connection is taken once");
        Client::new(stream, self.peer, limits)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.leaving.turn_away(stream);
        }
    }
}
