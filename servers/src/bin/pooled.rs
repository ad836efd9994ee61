//! The server that runs each connection as a task on a pool of threads: a slow client keeps one thread
//! busy and does not delay all other clients.
//!
//! The line with `execute` is the only line of the accept loop that differs from the previous stage.
//! With `--threads 1` the server behaves like `single_threaded`, except that waiting connections are in
//! the program's own queue.
//!
//! ```sh
//! cargo run --bin pooled
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! curl "http://127.0.0.1:8080/block?ms=5000" & curl http://127.0.0.1:8080/hello
//! # Three slow clients for two threads: who waits? (Start the server with `-- --threads 2` for this one.)
//! for i in 1 2 3; do curl "http://127.0.0.1:8080/block?ms=2000" & done; sleep 1; curl http://127.0.0.1:8080/stats
//! ```
//!
//! One fault remains. Ctrl-C ends the server in the middle of its work. The `lifecycle` stage fixes
//! that fault.
//!
//! The chapter "The pooled server" of the book explains this program.

use clap::Parser;
use executor::{ExecutorExt, ThreadPoolExecutor};
use servers::{Failure, ServerArgs, Stage, Stats};
use std::sync::Arc;

/// A web server that serves connections on a fixed pool of threads (100 unless told otherwise).
#[derive(Parser)]
#[command(name = "pooled", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

fn main() -> Result<(), Failure> {
    let args = Args::parse().server;
    // ANCHOR: pool
    let threads = args.threads_or(100);
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads));
    // ANCHOR_END: pool

    let stage = Stage::new::<Args>(&args, Stats::new().with_pool("pool", &pool))?;
    // ANCHOR: policy
    // An idle connection may keep its thread until another connection waits for a thread and finds no free
    // one.
    let waiting = Arc::clone(&pool);
    let server = Arc::new(stage.server()?.keep_alive_while(move || waiting.stats().backlog() == 0));
    // ANCHOR_END: policy

    let listener = stage.listen()?;
    // ANCHOR: accept_loop
    for connection in listener.incoming() {
        let server = Arc::clone(&server);
        let task = move || server.serve(connection);
        pool.execute(task).unwrap_or_else(servers::report);
    }
    // ANCHOR_END: accept_loop
    Ok(())
}
