//! The server that gives each connection its own thread, so that no client waits for another
//! client.
//!
//! The server responds as soon as possible, until there are too many clients. Each client needs a thread,
//! even if the client is silent; the program sets no bound on the number of threads. The system sets a bound:
//! when the bound is reached, the server cannot start a thread, so it answers the client with 503 and goes
//! on. The server survives this because of the executor: where `thread::spawn` would panic, the executor
//! reports the failure and gives the task back.
//!
//! ```sh
//! cargo run --bin thread_per_task
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! curl "http://127.0.0.1:8080/block?ms=5000" & curl http://127.0.0.1:8080/hello
//! # A thread for each client that says nothing:
//! for i in $(seq 200); do nc 127.0.0.1 8080 & done; ls /proc/$(pgrep thread_per_task)/task | wc -l
//! ```
//!
//! The chapter "A thread per task" of the book explains this program.

use clap::Parser;
use executor::{ExecutorExt, ThreadPerTaskExecutor};
use servers::{Failure, ServerArgs, Stage, Stats};
use std::sync::Arc;

/// A web server that serves each connection on a new thread.
#[derive(Parser)]
#[command(name = "thread_per_task", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse().server;
    if args.threads.is_some() {
        servers::report("--threads has no effect here: this stage starts a thread for each connection");
    }
    let stage = Stage::new::<Args>(&args, Stats::new())?;
    // ANCHOR: policy
    // No other client needs the thread of an idle connection, so the connection may stay open until its
    // idle time-out.
    let server = Arc::new(stage.server()?);
    // ANCHOR_END: policy

    let listener = stage.listen()?;
    // ANCHOR: accept_loop
    let executor = ThreadPerTaskExecutor::new();
    for connection in listener.incoming() {
        let server = Arc::clone(&server);
        let task = move || server.serve(connection);
        // A refused task is dropped here together with its connection, and the dropped connection answers
        // 503.
        executor.execute(task).unwrap_or_else(servers::report);
    }
    // ANCHOR_END: accept_loop
    Ok(())
}
