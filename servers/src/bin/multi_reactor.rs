//! The server with an event loop for each processor: the fast one.
//!
//! Each loop has a listener of its own at the same address, and the system deals new connections out among them. A
//! connection stays with its loop, handlers run on the loop, and the loops share nothing that is written. The price: a
//! handler that computes or waits holds up every connection of its loop.
//!
//! ```sh
//! cargo run --release --bin multi_reactor -- --quiet
//! ```
//!
//! What to try, in a second terminal:
//!
//! ```sh
//! cargo run --release -p course --bin cargo-course -- course load --connections 64 http://127.0.0.1:8080/hello
//! # The price. (Start the server with `-- --loops 1`.)
//! curl "http://127.0.0.1:8080/block?ms=5000" & sleep 1; time curl http://127.0.0.1:8080/hello
//! ```
//!
//! The book's chapter: One loop for each processor.

use clap::Parser;
use executor::{CancelToken, ExecutorExt, ExecutorService, ThreadPoolExecutor};
use servers::control::ShutdownArgs;
use servers::ending::{CUT_OFF, Grace, LAST_WORDS, SERVED};
use servers::{Reactor, Server, ServerArgs, limits, report, signals};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A web server with several event loops, as many as there are processors unless told otherwise.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// How many event loops there are; `--threads` means the same here
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(NonZeroUsize))]
    loops: Option<NonZeroUsize>,

    /// Time that requests in progress have to finish when the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limits::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

fn main() -> anyhow::Result<ExitCode> {
    let Args { server: args, loops, grace, shutdown } = Args::parse();
    let stop = CancelToken::new();
    let (_shutdown, outcome) = signals::stop_on_signal(&stop, grace + LAST_WORDS, CUT_OFF)?;
    let grace = Grace::after(&stop, grace);
    let control = shutdown.control()?;
    let site = control.route(args.site()?, stop.clone());
    let server = Arc::new(Server::new(site, args.limits.clone(), args.log()).until(&stop));

    // ANCHOR: loops
    let count = loops.or(args.threads).or_else(|| thread::available_parallelism().ok());
    let listeners = args.bind_each(count.unwrap_or(NonZeroUsize::MIN))?;
    listeners[0].announce();
    control.announce();
    let pool = ThreadPoolExecutor::fixed(listeners.len());
    let mut running = Vec::new();
    for listener in listeners {
        let reactor = Reactor::new(listener, &server)?;
        running.push(pool.submit(move || reactor.run())?);
    }
    // ANCHOR_END: loops
    // ANCHOR: end
    let pool = Arc::new(pool);
    let loops = Arc::clone(&pool);
    let _cancel_loops = grace.over().on_cancel(move || drop(loops.shutdown_now()));
    let cut_off = running.into_iter().map(|running| running.join()).sum::<Result<usize, _>>()?;
    // ANCHOR_END: end
    if cut_off > 0 {
        report(format_args!("out of time: cut off {cut_off} connections"));
    }
    let status = if grace.over().is_cancelled() { CUT_OFF } else { SERVED };
    let _ = outcome.complete(status);
    Ok(ExitCode::from(status))
}
