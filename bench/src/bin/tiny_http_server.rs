//! A peer for `servers`: `tiny_http`, which answers as the stages of the course answer `/hello`.
//!
//! It is used as its documentation shows: the crate reads requests on a thread of its own for each
//! connection, and hands them to the threads that call `recv`. It gives that answer to each request, without
//! looking at the request.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use tiny_http::{Response, Server};

/// Among 1, 2, 4, 16 and 64 threads, the number that gives the most answers to 64 clients on two processors.
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
                    // The server goes on when a client is gone.
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
