//! Runs several event loops, each as a task on its own thread, and ends them.
//!
//! The end has the same phases as in [`ending`](crate::ending), but here event loops serve the connections,
//! so the stage waits for the loops. When the grace period is over, the tasks on the handlers' pool are
//! cancelled, and the loops have half a second to answer their clients.

use super::event_loop::{Reactor, ReactorStats};
use crate::diagnostics::report;
use crate::ending::{CUT_OFF, LAST_WORDS, SERVED};
use crate::server::KEPT_FOR;
use crate::stats::Stats;
use executor::{
    CancelToken, ExecutorExt, ExecutorService, RejectedSubmission, TaskHandle, ThreadPoolExecutor,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time before the first report that tells the operator what the end waits for. Idle connections stay
/// open for a moment, and the operator needs no report about such a short wait.
const FIRST_REPORT: Duration = KEPT_FOR.saturating_mul(2);

/// The interval between later reports.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Event loops, each of which is a task on its own thread.
#[derive(Debug)]
pub struct Loops {
    pool: ThreadPoolExecutor,
    running: Vec<TaskHandle<usize>>,
    stats: Vec<Arc<ReactorStats>>,
}

impl Loops {
    /// Makes threads for `count` loops.
    pub fn new(count: usize) -> Loops {
        Loops { pool: ThreadPoolExecutor::fixed(count), running: Vec::new(), stats: Vec::new() }
    }

    /// Starts a loop, and adds the loop to the statistics `shown`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread.
    pub fn start(&mut self, reactor: Reactor, shown: &Stats) -> Result<(), RejectedSubmission<usize>> {
        let (number, stats) = (self.stats.len(), reactor.stats());
        shown.add(move |samples| stats.measure(number, samples));
        self.stats.push(reactor.stats());
        self.running.push(self.pool.submit(move || reactor.run())?);
        Ok(())
    }

    // ANCHOR: finish
    /// Waits until `stop` is cancelled, and then until the loops have served their connections. When `grace`
    /// is over, the tasks on the pool `handlers` are cancelled, and the loops have half a second to answer
    /// their clients. Returns the exit status of the stage.
    pub fn finish(self, handlers: &ThreadPoolExecutor, stop: &CancelToken, grace: Duration) -> u8 {
        let _ = stop.sleep(Duration::MAX);
        let deadline = Instant::now() + grace;
        let left = || deadline.saturating_duration_since(Instant::now());
        self.pool.shutdown();
        let mut patience = FIRST_REPORT;
        while !self.pool.await_termination(left().min(patience)) && !left().is_zero() {
            let connections: usize = self.stats.iter().map(|stats| stats.connections()).sum();
            report(format_args!(
                "stopping: {connections} in progress, at most {:.1} s more; another signal ends it now",
                left().as_secs_f64()
            ));
            patience = REPORT_EVERY;
        }
        let is_served = self.pool.is_terminated();
        if !is_served {
            report(format_args!("out of time: cancelled what ran"));
            drop((handlers.shutdown_now(), self.pool.shutdown_now()));
            self.pool.await_termination(LAST_WORDS);
        }
        let cut_off: usize = self.running.into_iter().filter_map(|running| running.join().ok()).sum();
        if cut_off > 0 {
            report(format_args!("cut off {cut_off} connections"));
        }
        if is_served && cut_off == 0 { SERVED } else { CUT_OFF }
    }
    // ANCHOR_END: finish
}
