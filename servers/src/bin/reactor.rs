//! The server with one event loop, and a pool for the handlers: it serves thousands of connections on a
//! handful of threads. (The loop itself is the function `run` in `reactor/event_loop.rs`; the work for
//! one connection is in `reactor/connection.rs`, `turn`.)
//!
//! The loop reads requests and writes answers for all clients, and never waits for one particular client.
//! Handlers run on the pool, in the *stripe* of their connection. Requests that one client sends in a row are
//! answered in order, while other clients' requests are answered at the same time. An idle connection costs
//! memory but no thread.
//!
//! ```sh
//! cargo run --bin reactor
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! # A thousand connections, and how many threads? (`ls /proc/$(pgrep -x reactor)/task | wc -l`)
//! cargo run --bin cargo-course -- course load --connections 1000 http://127.0.0.1:8080/hello
//! # Slow handlers hold up a thread of the pool each, and no other client. (Start the server with `-- --threads 2`.)
//! for i in 1 2 3; do curl "http://127.0.0.1:8080/block?ms=2000" & done; sleep 1; curl http://127.0.0.1:8080/stats
//! ```
//!
//! The chapter "The event loop" of the book explains this program.

use clap::Parser;
use executor::{StripedExecutor, ThreadPoolExecutor};
use servers::http::Request;
use servers::reactor::Loops;
use servers::{Failure, Reactor, ServerArgs, Stats, StopArgs, Stoppable};
use std::process::ExitCode;
use std::sync::Arc;

/// A web server with one event loop; its handlers run on a fixed pool of threads (8 unless told otherwise).
#[derive(Parser)]
#[command(name = "reactor", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    stop: StopArgs,
}

fn main() -> Result<ExitCode, Failure> {
    let Args { server: args, stop } = Args::parse();
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads_or(8)));
    let stage = Stoppable::new::<Args>(&args, &stop, Stats::new().with_pool("pool", &pool))?;
    let server = Arc::new(stage.server()?.until(stage.stop()));

    let listener = stage.bind()?;
    let addr = listener.local_addr();
    // ANCHOR: hand_over
    let stripes = StripedExecutor::over(Arc::clone(&pool));
    let every_request = |_: &Request<'_>| true;
    let reactor = Reactor::new(listener, &server)?.handing_over(every_request, move |job| {
        // If the pool refuses a job, the job is dropped, and its drop answers 503.
        let _ = stripes.execute_in(job.connection(), move || job.run());
    });
    // ANCHOR_END: hand_over
    let mut loops = Loops::new(1);
    loops.start(reactor, stage.stats())?;
    stage.announce(addr);
    let status = loops.finish(&pool, stage.stop(), stage.grace().length());
    Ok(stage.end(status))
}
