//! The server with one event loop, and a pool for the handlers: thousands of connections on a handful of threads.
//!
//! The loop reads requests and writes answers for everybody, and never waits for anybody. What a request asks for runs on
//! the pool, in the *stripe* of its connection: requests that one client sends in a row are answered in order, those of
//! others at the same time. An idle connection costs memory and no thread.
//!
//! ```sh
//! cargo run --bin reactor
//! ```
//!
//! What to try, in a second terminal:
//!
//! ```sh
//! # A thousand connections, and how many threads? (`ls /proc/$(pgrep -x reactor)/task | wc -l`)
//! cargo run --bin cargo-course -- course load --connections 1000 http://127.0.0.1:8080/hello
//! # Slow handlers hold up a thread of the pool each, and nobody else. (Start the server with `-- --threads 2`.)
//! for i in 1 2 3; do curl "http://127.0.0.1:8080/block?ms=2000" & done; sleep 1; curl http://127.0.0.1:8080/stats
//! ```
//!
//! The book's chapter: The event loop.

use clap::Parser;
use executor::{CancelToken, StripedExecutor, ThreadPoolExecutor};
use servers::control::ShutdownArgs;
use servers::ending::{CUT_OFF, LAST_WORDS};
use servers::http::Request;
use servers::reactor::Loops;
use servers::{Reactor, Server, ServerArgs, announce, limits, pool_stats, signals};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// A web server with one event loop, whose handlers run on a fixed pool of threads, 8 unless told otherwise.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// Time that requests in progress have to finish when the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limits::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

fn main() -> anyhow::Result<ExitCode> {
    let Args { server: args, grace, shutdown } = Args::parse();
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads.map_or(8, NonZeroUsize::get)));
    let stop = CancelToken::new();
    let (_shutdown, outcome) = signals::stop_on_signal(&stop, grace + LAST_WORDS, CUT_OFF)?;

    let observed = Arc::clone(&pool);
    let site = args.site()?.with_stats(move || pool_stats(&observed.stats()));
    let control = shutdown.control()?;
    let site = control.route(site, stop.clone());
    let server = Arc::new(Server::new(site, args.limits.clone(), args.log()).until(&stop));

    let listener = args.bind()?;
    let addr = listener.local_addr();
    // ANCHOR: hand_over
    let stripes = StripedExecutor::over(Arc::clone(&pool));
    let every_request = |_: &Request<'_>| true;
    let reactor = Reactor::new(listener, &server)?.handing_over(every_request, move |job| {
        // One that is refused is dropped, and answers 503.
        let _ = stripes.execute_in(job.connection(), move || job.run());
    });
    // ANCHOR_END: hand_over
    let mut loops = Loops::new(1);
    loops.start(reactor)?;
    announce(addr);
    control.announce();
    let status = loops.finish(&pool, &stop, grace);
    let _ = outcome.complete(status);
    Ok(ExitCode::from(status))
}
