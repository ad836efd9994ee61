//! The pooled server, with a graceful stop: SIGINT, SIGTERM, SIGHUP and `POST /shutdown` stop the
//! server gracefully.
//!
//! A graceful stop means that the server accepts no new connections and serves the clients that it has
//! accepted. The server turns away clients that come too late, and counts them. When `--grace` is over,
//! the server cancels requests in progress and answers them with 503. If threads are still waiting two
//! seconds later, the process ends anyway. Another signal ends the process at once.
//!
//! The exit status is 0 if every client was answered, 3 if something was cut off, and 130, 143 or 129
//! after a second SIGINT, SIGTERM or SIGHUP. (It is 1 if the server could not start, and 2 if the
//! command line was wrong.)
//!
//! ```sh
//! cargo run --bin lifecycle
//! ```
//!
//! Commands to try in a second terminal:
//!
//! ```sh
//! curl "http://127.0.0.1:8080/block?ms=5000" & sleep 1; curl -X POST http://127.0.0.1:8080/shutdown   # needs a free thread
//! curl "http://127.0.0.1:8080/block?ms=60000" & sleep 1; pkill -TERM lifecycle   # longer than it will wait
//! ```
//!
//! The chapter "Lifecycle and graceful stop" of the book explains this program.

use clap::Parser;
use executor::{ExecutorExt, ExecutorService, ThreadPoolExecutor};
use servers::ending::finish;
use servers::{Failure, ServerArgs, Stats, StopArgs, Stoppable};
use std::process::ExitCode;
use std::sync::Arc;

/// A web server that stops gracefully.
#[derive(Parser)]
#[command(name = "lifecycle", version)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    stop: StopArgs,
}

fn main() -> Result<ExitCode, Failure> {
    let Args { server: args, stop } = Args::parse();
    let pool = Arc::new(ThreadPoolExecutor::fixed(args.threads_or(100)));
    let stage = Stoppable::new::<Args>(&args, &stop, Stats::new().with_pool("pool", &pool))?;
    let stop = stage.stop();
    // ANCHOR: policy
    let waiting = Arc::clone(&pool);
    let server =
        Arc::new(stage.server()?.keep_alive_while(move || waiting.stats().backlog() == 0).until(stop));
    // ANCHOR_END: policy

    let listener = stage.listen()?;
    // ANCHOR: accept_loop
    let accepting = Arc::clone(&pool);
    let _refuse_from_now_on = stop.on_cancel(move || accepting.shutdown());
    for connection in listener.incoming_until(stop) {
        let server = Arc::clone(&server);
        // A pool that has been shut down refuses the task. The task is then dropped here together with its
        // connection, and the dropped connection answers 503.
        let _ = pool.execute(move || server.serve(connection));
    }
    let turned_away = listener.close();
    // ANCHOR_END: accept_loop
    let status = finish(&pool, &turned_away, stage.grace().deadline());
    Ok(stage.end(status))
}
