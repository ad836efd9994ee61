//! The server with an event loop for each processor: the fast one.
//!
//! Each loop has a listener of its own at the same address, and the system deals new connections out among them. A
//! connection stays with its loop, and quick requests are answered right there: nobody has to be woken, and the loops share
//! nothing that a request writes. Only what computes or waits goes to a pool, since it would hold up every client of its loop.
//!
//! ```sh
//! cargo run --release --bin multi_reactor -- --quiet
//! ```
//!
//! What to try, in a second terminal:
//!
//! ```sh
//! cargo course load http://127.0.0.1:8080/hello --clients 64
//! # The site says which handlers are slow. (What if it were wrong? Start with `-- --loops 1 --trusting`.)
//! curl "http://127.0.0.1:8080/block?ms=5000" & sleep 1; time curl http://127.0.0.1:8080/hello
//! ```
//!
//! The book's chapter: One loop for each processor.

use clap::Parser;
use executor::{CancelToken, StripedExecutor, ThreadPoolExecutor};
use servers::control::ShutdownArgs;
use servers::ending::{CUT_OFF, LAST_WORDS};
use servers::reactor::Loops;
use servers::{Reactor, Server, ServerArgs, announce, limits, pool_stats, signals};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A web server with several event loops, and a pool of threads, 8 unless told otherwise, for what would hold them up.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// How many event loops there are [default: as many as processors]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..), help_heading = "Loops")]
    loops: Option<u8>,

    /// Take every handler for a quick one, and run it on the loop
    #[arg(long, help_heading = "Loops")]
    trusting: bool,

    /// Time that requests in progress have to finish when the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limits::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

fn main() -> anyhow::Result<ExitCode> {
    let Args { server: args, loops, trusting, grace, shutdown } = Args::parse();
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads.map_or(8, NonZeroUsize::get)));
    let stop = CancelToken::new();
    let (_shutdown, outcome) = signals::stop_on_signal(&stop, grace + LAST_WORDS, CUT_OFF)?;

    let observed = Arc::clone(&pool);
    let site = args.site()?.with_stats(move || pool_stats(&observed.stats()));
    let control = shutdown.control()?;
    let site = control.route(site, stop.clone());
    let server = Arc::new(Server::new(site, args.limits.clone(), args.log()).until(&stop));

    // ANCHOR: loops
    let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let listeners = args.bind_each(loops.map_or_else(processors, usize::from))?;
    let addr = listeners[0].local_addr();
    let stripes = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
    let mut loops = Loops::new(listeners.len());
    for listener in listeners {
        let (slow, stripes) = (Arc::clone(&server), Arc::clone(&stripes));
        let reactor = Reactor::new(listener, &server)?.handing_over(
            move |request| !trusting && slow.is_slow(request),
            move |job| _ = stripes.execute_in(job.connection(), move || job.run()),
        );
        loops.start(reactor)?;
    }
    // ANCHOR_END: loops
    announce(addr);
    control.announce();
    let status = loops.finish(&pool, &stop, grace);
    let _ = outcome.complete(status);
    Ok(ExitCode::from(status))
}
