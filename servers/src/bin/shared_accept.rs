//! The server whose threads share one listener: each thread accepts a connection, serves it, and accepts the
//! next one.
//!
//! No thread passes a connection to another thread, and the only queue is the system's backlog. This stage is
//! the smallest possible server with a bound, and it is fast. The stage has these drawbacks:
//!
//! - All threads of the stage exist from the start, even if they are not needed, and no thread is
//!   ever added or replaced.
//! - The stage can neither refuse waiting clients nor count them: the program does not know a client before a
//!   thread has accepted it.
//! - The stage ends only when the process ends.
//!
//! ```sh
//! cargo run --bin shared_accept
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! curl "http://127.0.0.1:8080/block?ms=5000" & curl http://127.0.0.1:8080/hello
//! # Three slow clients for two threads: the third waits, and /stats does not know. (Start with `-- --threads 2`.)
//! for i in 1 2 3; do curl "http://127.0.0.1:8080/block?ms=2000" & done; sleep 1; curl http://127.0.0.1:8080/stats
//! ```
//!
//! The chapter "Sharing the listener" of the book explains this program.

use anyhow::{Context, anyhow};
use clap::Parser;
use servers::{Failure, ServerArgs, Stage, Stats};
use std::sync::Arc;
use std::thread;

/// A web server whose threads (100 unless told otherwise) all accept connections and serve them.
#[derive(Parser)]
#[command(name = "shared_accept", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse().server;
    let stage = Stage::new::<Args>(&args, Stats::new())?;
    // ANCHOR: policy
    // No thread can tell whether a client waits in the backlog, so no thread keeps an idle connection.
    let server = Arc::new(stage.server()?.keep_alive_while(|| false));
    // ANCHOR_END: policy

    let listener = Arc::new(stage.bind()?);
    // ANCHOR: accept_loops
    let threads = args.threads_or(100);
    let mut acceptors = Vec::new();
    for number in 1..=threads {
        let (listener, server) = (Arc::clone(&listener), Arc::clone(&server));
        let accept_loop = move || {
            for connection in listener.incoming() {
                server.serve(connection);
            }
        };
        let thread = thread::Builder::new().name(format!("acceptor-{number}")).spawn(accept_loop);
        acceptors.push(thread.with_context(|| {
            format!("cannot start thread {number} of {threads}; ask for fewer with --threads")
        })?);
    }
    // ANCHOR_END: accept_loops
    stage.announce(listener.local_addr());
    // The threads of this stage never end. If a bug ended a thread, the program would notice it only here,
    // and would not replace the thread.
    for acceptor in acceptors {
        let _ = acceptor.join();
    }
    Err(anyhow!("every thread has died; the messages above say of what").into())
}
