//! The server with an event loop for each processor; this server is the fastest stage.
//!
//! Each loop has its own listener at the same address, and the system distributes new connections among the
//! listeners. A connection stays with its loop, and the loop itself answers quick requests: it wakes no
//! other thread, and the loops share no data that a request changes. Handlers that compute or wait run on a
//! pool, because on the loop they would delay every client of that loop.
//!
//! ```sh
//! cargo run --release --bin multi_reactor -- --quiet
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! cargo course load http://127.0.0.1:8080/hello --clients 64
//! # The site says which handlers are slow. (What if it were wrong? Start with `-- --loops 1 --trusting`.)
//! curl "http://127.0.0.1:8080/block?ms=5000" & sleep 1; time curl http://127.0.0.1:8080/hello
//! ```
//!
//! The chapter "One loop for each processor" of the book explains this program.

use clap::Parser;
use executor::{StripedExecutor, ThreadPoolExecutor};
use servers::reactor::Loops;
use servers::{Failure, Reactor, ServerArgs, Stats, StopArgs, Stoppable};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

/// A web server with several event loops, and a pool (8 threads unless told otherwise) for handlers that
/// would hold up a loop.
#[derive(Parser)]
#[command(name = "multi_reactor", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// How many event loops run [default: one for each processor]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..), help_heading = "Loops")]
    loops: Option<u8>,

    /// Assume that every handler is quick, and run it on the loop
    #[arg(long, help_heading = "Loops")]
    trusting: bool,

    #[command(flatten)]
    stop: StopArgs,
}

fn main() -> Result<ExitCode, Failure> {
    let Args { server: args, loops, trusting, stop } = Args::parse();
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads_or(8)));
    let stage = Stoppable::new::<Args>(&args, &stop, Stats::new().with_pool("pool", &pool))?;
    let server = Arc::new(stage.server()?.until(stage.stop()));

    // ANCHOR: loops
    let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let listeners = stage.bind_each(loops.map_or_else(processors, usize::from))?;
    let addr = listeners[0].local_addr();
    let stripes = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
    let mut loops = Loops::new(listeners.len());
    for listener in listeners {
        let (slow, stripes) = (Arc::clone(&server), Arc::clone(&stripes));
        let reactor = Reactor::new(listener, &server)?.handing_over(
            move |request| !trusting && slow.is_slow(request),
            move |job| _ = stripes.execute_in(job.connection(), move || job.run()),
        );
        loops.start(reactor, stage.stats())?;
    }
    // ANCHOR_END: loops
    stage.announce(addr);
    let status = loops.finish(&pool, stage.stop(), stage.grace().length());
    Ok(stage.end(status))
}
