//! A peer for `servers`: `tiny_http`, answering what the stages of the course answer to `/hello`.
//!
//! Used as its documentation shows: the crate reads requests on a thread of its own for each connection, and hands
//! them to the threads that call `recv`. It answers whatever is asked for, without looking.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use tiny_http::{Response, Server};

/// The number with which it answers most, of 1, 2, 4, 16 and 64, where two processors have 64 clients.
const HANDLERS: usize = 1;

fn main() -> anyhow::Result<()> {
    let server = Arc::new(Server::http("127.0.0.1:0").map_err(|error| anyhow::anyhow!(error))?);
    let handlers = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => HANDLERS,
    };
    println!("listening on http://{}/", server.server_addr());
    std::io::stdout().flush()?;
    let handlers: Vec<_> = (0..handlers)
        .map(|_| {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                for request in server.incoming_requests() {
                    // A client that is gone is no reason to stop.
                    let _ = request.respond(Response::from_string("Hello, world!"));
                }
            })
        })
        .collect();
    for handler in handlers {
        handler.join().map_err(|_| anyhow::anyhow!("a handler panicked"))?;
    }
    Ok(())
}
