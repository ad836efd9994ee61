//! The pooled server with an end: SIGINT, SIGTERM and `POST /shutdown` stop it in order.
//!
//! In order means: no new connections; clients that were accepted are served; clients that come too late are told so,
//! and counted. When `--grace` is over, requests in progress are cancelled and answered with 503. Two seconds later
//! the process ends, whatever its threads wait for. Another signal ends it at once.
//!
//! The exit status is 0 if every client was answered, 3 if something was cut off, 130 or 143 after another SIGINT or
//! SIGTERM. (It is 1 if the server could not start, 2 if the command line was wrong.)
//!
//! ```sh
//! cargo run --bin lifecycle
//! ```
//!
//! What to try, in a second terminal:
//!
//! ```sh
//! curl "http://127.0.0.1:8080/block?ms=5000" & sleep 1; curl -X POST http://127.0.0.1:8080/shutdown   # needs a free thread
//! curl "http://127.0.0.1:8080/block?ms=60000" & sleep 1; pkill -TERM lifecycle   # longer than it will wait
//! ```
//!
//! The book's chapter: Lifecycle and graceful stop.

use clap::Parser;
use executor::{CancelToken, ExecutorExt, ExecutorService, ThreadPoolExecutor};
use servers::control::ShutdownArgs;
use servers::ending::{CUT_OFF, LAST_WORDS, finish};
use servers::{Server, ServerArgs, limits, pool_stats, signals};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A web server that can be stopped in order.
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
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads.map_or(100, NonZeroUsize::get)));
    // ANCHOR: stop
    let stop = CancelToken::new();
    let (_shutdown, outcome) = signals::stop_on_signal(&stop, grace + LAST_WORDS, CUT_OFF)?;
    // ANCHOR_END: stop

    // ANCHOR: control
    let observed = Arc::clone(&pool);
    let site = args.site()?.with_stats(move || pool_stats(&observed.stats()));
    let control = shutdown.control()?;
    let site = control.route(site, stop.clone());
    // ANCHOR_END: control
    // ANCHOR: policy
    let waiting = Arc::clone(&pool);
    let server = Server::new(site, args.limits.clone(), args.log())
        .keep_alive_while(move || waiting.stats().backlog() == 0)
        .until(&stop);
    // ANCHOR_END: policy

    let listener = args.bind()?;
    listener.announce();
    control.announce();
    let server = Arc::new(server);
    // ANCHOR: accept_loop
    let accepting = Arc::clone(&pool);
    let _refuse_from_now_on = stop.on_cancel(move || accepting.shutdown());
    for connection in listener.incoming_until(&stop) {
        let server = Arc::clone(&server);
        // Refused, since the pool is shut down, the task is dropped here, and with it the connection, which answers 503.
        let _ = pool.execute(move || server.serve(connection));
    }
    let deadline = Instant::now() + grace;
    let leaving = listener.close();
    // ANCHOR_END: accept_loop
    // ANCHOR: outcome
    let status = finish(&pool, &leaving, deadline);
    let _ = outcome.complete(status);
    Ok(ExitCode::from(status))
    // ANCHOR_END: outcome
}
