//! The server with only its main thread: this thread serves one connection after the other.
//!
//! The server is correct and simple, but one slow request delays everyone. While the thread waits, the
//! processor is idle, and all other clients wait in the queue of the listening socket.
//!
//! ```sh
//! cargo run --bin single_threaded
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! curl http://127.0.0.1:8080/hello
//! # One slow client, and another one that only says hello:
//! curl "http://127.0.0.1:8080/block?ms=5000" & curl http://127.0.0.1:8080/hello
//! # A client that connects and says nothing has the same effect for a second:
//! nc 127.0.0.1 8080 & curl http://127.0.0.1:8080/hello
//! ```
//!
//! The chapter "The single-threaded server" of the book explains this program.

use clap::Parser;
use servers::{Failure, ServerArgs, Stage, Stats};
use std::sync::Arc;

/// A web server that serves one connection at a time.
#[derive(Parser)]
#[command(name = "single_threaded", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse().server;
    if args.threads.is_some() {
        servers::report("--threads has no effect here: this stage serves every connection on its one thread");
    }
    let stage = Stage::new::<Args>(&args, Stats::new())?;
    // ANCHOR: policy
    // An idle connection would hold the only thread, so no connection may stay open while it is
    // idle.
    let server = Arc::new(stage.server()?.keep_alive_while(|| false));
    // ANCHOR_END: policy

    let listener = stage.listen()?;
    // ANCHOR: accept_loop
    for connection in listener.incoming() {
        let server = Arc::clone(&server);
        let task = move || server.serve(connection);
        task();
    }
    // ANCHOR_END: accept_loop
    Ok(())
}
