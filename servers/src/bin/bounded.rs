//! The server that limits both the number of connections in service and the number of connections that wait.
//! A policy decides what happens to any further connection.
//!
//! Without a bound, the queue of an overloaded server grows without end, and each client waits for all
//! clients before it. With a bound, the overload reaches one part after the other, from the inside out: the
//! threads, the queue, the accepting thread, the system's backlog, and the client. The policy decides which
//! of these parts notices the overload. The server stops gracefully, as `lifecycle` does.
//!
//! ```sh
//! cargo run --bin bounded -- --threads 1 --queue 1   # and with --policy caller-runs, discard, discard-oldest, block
//! # In a second terminal. Who waits, and for how long?
//! for i in 1 2 3; do curl -sw "%{http_code}\n" "http://127.0.0.1:8080/block?ms=2000" & done; wait
//! ```
//!
//! The chapter "Overload, and who notices it" of the book explains this program.

use clap::{Parser, ValueEnum};
use executor::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, ExecutorExt, ExecutorService, FifoQueue, RefusingPool,
    RejectReason, RejectedExecution, RejectionHandler, ThreadPoolExecutor,
};
use servers::ending::finish;
use servers::{Connection, Failure, ServerArgs, Stats, StopArgs, Stoppable};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A web server that limits how many connections it serves (8 unless told otherwise) and how many wait.
#[derive(Parser)]
#[command(name = "bounded", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    /// What to do with a connection if all threads are busy and the queue is full
    #[arg(long, value_enum, default_value = "abort", help_heading = "Overload")]
    policy: Policy,

    /// How many connections may wait for a thread
    #[arg(long, value_name = "COUNT", default_value = "48", help_heading = "Overload")]
    queue: NonZeroUsize,

    /// About how many connections the system may keep before the server accepts them
    #[arg(long, value_name = "COUNT", default_value = "1024", help_heading = "Overload")]
    backlog: u16,

    #[command(flatten)]
    stop: StopArgs,
}

// ANCHOR: policies
#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// Answer the client with 503
    Abort,
    /// Serve the client on the accepting thread, which accepts no other client meanwhile
    CallerRuns,
    /// Close the connection without an answer
    Discard,
    /// Close, without an answer, the connection that has waited longest, and let the new connection wait
    DiscardOldest,
    /// Let the accepting thread wait for room; it accepts no other client meanwhile
    Block,
}

/// Applies the policy to connections for which there is no room.
struct Saturation {
    policy: Policy,
    /// True if the accepting thread is serving a client.
    is_lent: AtomicBool,
}

impl RejectionHandler for Saturation {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        if !matches!(refused.reason, RejectReason::Saturated) {
            return Err(refused); // the server is stopping, or it has no thread at all
        }
        match self.policy {
            Policy::Abort => Abort.rejected(refused, pool),
            Policy::CallerRuns => {
                self.is_lent.store(true, Ordering::Relaxed);
                let done = CallerRuns.rejected(refused, pool);
                self.is_lent.store(false, Ordering::Relaxed);
                done
            }
            Policy::Discard => Discard.rejected(refused, pool),
            Policy::DiscardOldest => DiscardOldest.rejected(refused, pool),
            Policy::Block => Block::new().rejected(refused, pool),
        }
    }
}

impl Policy {
    /// Some policies discard a connection's task and cannot look into it, so the connection must be prepared
    /// in advance.
    fn prepare(self, connection: Connection) -> Connection {
        match self {
            Policy::Discard | Policy::DiscardOldest => connection.silent_if_dropped(),
            Policy::Abort | Policy::CallerRuns | Policy::Block => connection, // its drop answers 503
        }
    }
}
// ANCHOR_END: policies

fn main() -> Result<ExitCode, Failure> {
    let Args { server: args, policy, queue, backlog, stop } = Args::parse();
    // ANCHOR: pool
    let saturation = Arc::new(Saturation { policy, is_lent: AtomicBool::new(false) });
    let pool = ThreadPoolExecutor::builder()
        .threads(args.threads_or(8))
        .queue(FifoQueue::bounded(queue.get()))
        .rejection_handler(Arc::clone(&saturation))
        .build()?;
    // ANCHOR_END: pool
    let pool = Arc::new(pool);
    let numbers = Stats::new().with_pool("pool", &pool).with_bound("pool", queue.get(), &pool);
    let stage = Stoppable::new::<Args>(&args, &stop, numbers)?;
    let stop = stage.stop();
    // ANCHOR: keep_alive
    // An idle connection keeps its thread as long as no other connection waits for a thread. The other
    // connection may be in the queue or, while the accepting thread serves a client, in the backlog. No
    // program can count the connections in the backlog of a socket.
    let waiting = Arc::clone(&pool);
    let server = stage
        .server()?
        .keep_alive_while(move || {
            !saturation.is_lent.load(Ordering::Relaxed) && waiting.stats().backlog() == 0
        })
        .until(stop);
    // ANCHOR_END: keep_alive

    let listener = stage.bind_with_backlog(backlog)?;
    stage.announce(listener.local_addr());
    let server = Arc::new(server);
    // ANCHOR: accept_loop
    let refusing = Arc::clone(&pool);
    let _refuse_from_now_on = stop.on_cancel(move || refusing.shutdown());
    for connection in listener.incoming_until(stop) {
        let (server, connection) = (Arc::clone(&server), policy.prepare(connection));
        let task = move || server.serve(connection);
        // The grace period also limits a request that the accepting thread serves itself: when the period
        // ends, the request is cancelled. The server drops the tasks that the pool hands back, so their
        // clients get a 503.
        let _ = stage.grace().over().attach(|| pool.execute(task));
    }
    let turned_away = listener.close();
    // ANCHOR_END: accept_loop
    let status = finish(&pool, &turned_away, stage.grace().deadline());
    Ok(stage.end(status))
}
