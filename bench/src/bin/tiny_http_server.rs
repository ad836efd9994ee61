//! A peer for `servers`: the crate `tiny_http`, which gives the same answer as the course's stages give for
//! `/hello`.
//!
//! The program uses the crate as the crate's documentation shows: the crate reads requests on a separate
//! thread for each connection, and passes them to the threads that call `recv`. The server gives the same
//! answer to each request, and does not look at the request.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use tiny_http::{Response, Server};

/// The number of threads, among 1, 2, 4, 16 and 64, that gives the most answers to 64 clients on
/// two processors.
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
                    // When a client closes its connection, the server continues.
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
