//! The pooled server with an end: SIGINT, SIGTERM and `POST /shutdown` stop it in order.
//!
//! In order means: no new connections; those accepted are served; those that come too late are told so, and logged.
//! When `--grace` is over, requests in progress are cancelled and answered with 503. Another signal ends it at once.
//!
//! The exit status is 0 if everybody was answered, 3 if something was cut off, 130 or 143 after another SIGINT or
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
use executor::{CancelToken, ExecutorExt, ExecutorService, Registration, ThreadPoolExecutor};
use servers::control::ShutdownArgs;
use servers::{Server, ServerArgs, limits, pool_stats, report};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, mem, thread};

/// How often somebody who waits for the end is told what is being waited for.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// How long requests that were cancelled may take to say so to their clients.
const LAST_WORDS: Duration = Duration::from_secs(2);

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
    let stop = CancelToken::new();
    let _armed = stop_on_signal(&stop)?;

    // ANCHOR: control
    let observed = Arc::clone(&pool);
    let site = args.site()?.with_stats(move || pool_stats(&observed.stats()));
    let control = shutdown.control()?;
    let site = control.route(site, stop.clone());
    // ANCHOR_END: control
    // ANCHOR: policy
    let (waiting, stopping) = (Arc::clone(&pool), stop.clone());
    let may_stay = move || waiting.stats().backlog() == 0 && !stopping.is_cancelled();
    let server = Server::new(site, args.limits.clone(), args.log()).keep_alive_while(may_stay);
    // ANCHOR_END: policy

    let listener = args.bind()?;
    listener.announce();
    control.announce();
    let server = Arc::new(server);
    // ANCHOR: accept_loop
    let accepting = Arc::clone(&pool);
    let _refuse_from_now_on = stop.on_cancel(move || accepting.shutdown());
    for connection in listener.incoming_until(&stop) {
        let (server, peer) = (Arc::clone(&server), connection.peer());
        let task = move || server.serve(connection);
        pool.execute(task).unwrap_or_else(|refused| report(format_args!("{peer}: {refused}")));
    }
    listener.close();
    // ANCHOR_END: accept_loop
    Ok(finish(&pool, grace))
}

// ANCHOR: finish
/// Waits for the connections that were accepted; cuts off what takes longer than `grace`.
fn finish(pool: &ThreadPoolExecutor, grace: Duration) -> ExitCode {
    let deadline = Instant::now() + grace;
    while !pool.is_terminated() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            cut_off(pool);
            return ExitCode::from(3);
        }
        let (stats, left_s) = (pool.stats(), left.as_secs_f64());
        report(format_args!(
            "stopping: {} connections in progress, {} waiting, at most {left_s:.1} s more; another signal ends it now",
            stats.active, stats.queued
        ));
        pool.await_termination(left.min(REPORT_EVERY));
    }
    ExitCode::SUCCESS
}

/// Cancels what runs and refuses what was not begun: dropped, such a connection answers 503.
fn cut_off(pool: &ThreadPoolExecutor) {
    let never_begun = pool.shutdown_now();
    report(format_args!("out of time: cancelled what ran, refused {} that waited", never_begun.len()));
    let deadline = Instant::now() + LAST_WORDS;
    for task in never_begun {
        // Each may take a moment. When there are too many, the end of the process has to do as an answer.
        if Instant::now() < deadline { drop(task) } else { mem::forget(task) }
    }
    pool.await_termination(deadline.saturating_duration_since(Instant::now()));
}
// ANCHOR_END: finish

// ANCHOR: signals
/// Cancels `stop` when the first signal arrives; one that arrives after `stop` was cancelled ends the process.
fn stop_on_signal(stop: &CancelToken) -> io::Result<Registration> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Run in this order: the first signal finds the flag down and raises it, the next finds it up.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    let raise = Arc::clone(&asked);
    let armed = stop.on_cancel(move || raise.store(true, Ordering::Relaxed));
    // A signal handler may do next to nothing, and certainly not take a lock. So it raises a flag, and this looks.
    let stop = stop.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        stop.cancel();
    })?;
    Ok(armed)
}
// ANCHOR_END: signals
