//! The server with a bound: so many connections are served, so many wait, and a policy decides about the next.
//!
//! Without a bound an overload has no end: the queue grows, and each client waits for all before it. With one, overload
//! moves outward: from the threads to the queue, to the accepting thread, to the system's backlog, and to the client.
//! The policy says which of them notices. The server stops in order, as `lifecycle` does.
//!
//! ```sh
//! cargo run --bin bounded -- --threads 1 --queue 1   # and with --policy caller-runs, discard, discard-oldest, block
//! # In a second terminal. Who waits, and for how long?
//! for i in 1 2 3; do curl -sw "%{http_code}\n" "http://127.0.0.1:8080/block?ms=2000" & done; wait
//! ```
//!
//! The book's chapter: Overload, and who notices it.

use clap::{Parser, ValueEnum};
use executor::{
    Abort, Block, CallerRuns, CancelToken, Discard, ExecutorExt, ExecutorService, FifoQueue, RefusingPool,
    RejectReason, RejectedExecution, RejectionHandler, ThreadPoolExecutor,
};
use servers::control::ShutdownArgs;
use servers::ending::{CUT_OFF, Grace, LAST_WORDS, finish};
use servers::{Connection, Server, ServerArgs, limits, pool_stats, signals};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// A web server that bounds how many connections it serves, 8 unless told otherwise, and how many wait.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// What to do with a connection for which there is no room
    #[arg(long, value_enum, default_value = "abort", help_heading = "Overload")]
    policy: Policy,

    /// How many connections may wait for a thread
    #[arg(long, value_name = "COUNT", default_value = "48", help_heading = "Overload")]
    queue: NonZeroUsize,

    /// How many more the system may keep that are not accepted yet, more or less
    #[arg(long, value_name = "COUNT", default_value = "1024", help_heading = "Overload")]
    backlog: u16,

    /// Time that requests in progress have to finish when the server is told to stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limits::duration)]
    grace: Duration,

    #[command(flatten)]
    shutdown: ShutdownArgs,
}

// ANCHOR: policies
#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// Tell the client 503
    Abort,
    /// Serve it on the accepting thread, which accepts no other meanwhile
    CallerRuns,
    /// Close it without an answer
    Discard,
    /// Close the one that has waited longest without an answer, and let this one wait
    DiscardOldest,
    /// Wait for room, and accept no other meanwhile
    Block,
}

/// Decides about the connections for which there is no room, and counts them.
struct Saturation {
    policy: Policy,
    rejected: AtomicU64,
}

impl RejectionHandler for Saturation {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        if !matches!(refused.reason, RejectReason::Saturated) {
            return Err(refused); // the server is stopping, or has not a single thread
        }
        self.rejected.fetch_add(1, Ordering::Relaxed);
        match self.policy {
            Policy::Abort => Abort.rejected(refused, pool),
            Policy::CallerRuns => CallerRuns.rejected(refused, pool),
            Policy::Discard => Connection::close_in_silence(|| Discard.rejected(refused, pool)),
            Policy::DiscardOldest => {
                // As the policy of that name does it, but if the pool was shut down just now, the new one is told.
                Connection::close_in_silence(|| drop(pool.take_next()));
                pool.try_execute(refused.task)
            }
            Policy::Block => Block::new().rejected(refused, pool),
        }
    }
}
// ANCHOR_END: policies

fn main() -> anyhow::Result<ExitCode> {
    let Args { server: args, policy, queue, backlog, grace, shutdown } = Args::parse();
    // ANCHOR: pool
    let saturation = Arc::new(Saturation { policy, rejected: AtomicU64::new(0) });
    let pool = ThreadPoolExecutor::builder()
        .threads(args.threads.map_or(8, NonZeroUsize::get))
        .queue(FifoQueue::bounded(queue.get()))
        .rejection_handler(Arc::clone(&saturation))
        .build()?;
    // ANCHOR_END: pool
    let pool = Arc::new(pool);
    let stop = CancelToken::new();
    let (_shutdown, outcome) = signals::stop_on_signal(&stop, grace + LAST_WORDS, CUT_OFF)?;
    let grace = Grace::after(&stop, grace);

    let observed = Arc::clone(&pool);
    let site = args.site()?.with_stats(move || {
        let mut stats = pool_stats(&observed.stats());
        stats["pool"]["queue_capacity"] = queue.get().into();
        stats["pool"]["rejected"] = saturation.rejected.load(Ordering::Relaxed).into();
        stats
    });
    let control = shutdown.control()?;
    let site = control.route(site, stop.clone());
    // ANCHOR: keep_alive
    // An idle connection keeps its thread while no other waits for one. The accepting thread it never keeps: those that
    // wait for that are in the backlog, where no program can count them.
    let (waiting, accepting) = (Arc::clone(&pool), thread::current().id());
    let server = Server::new(site, args.limits.clone(), args.log())
        .keep_alive_while(move || thread::current().id() != accepting && waiting.stats().backlog() == 0)
        .until(&stop);
    // ANCHOR_END: keep_alive

    let listener = args.bind_with_backlog(backlog)?;
    listener.announce();
    control.announce();
    let server = Arc::new(server);
    // ANCHOR: accept_loop
    let refusing = Arc::clone(&pool);
    let _refuse_from_now_on = stop.on_cancel(move || refusing.shutdown());
    for connection in listener.incoming_until(&stop) {
        let server = Arc::clone(&server);
        let task = move || server.serve(connection);
        // What this thread serves itself ends with the grace, too. A task that comes back is dropped: 503.
        let _ = grace.over().attach(|| pool.execute(task));
    }
    let leaving = listener.close();
    // ANCHOR_END: accept_loop
    let status = finish(&pool, &leaving, grace.deadline());
    let _ = outcome.complete(status);
    Ok(ExitCode::from(status))
}
