//! Ends a stage whose connections are tasks of a pool.
//!
//! A stage that stops goes through these phases in this order:
//!
//! ```text
//! running ──stop is cancelled──▶ stopping ──grace over──▶ cut off ──LAST_WORDS over──▶ the process ends
//!                                   └──the last task is done─▶ the end, with SERVED
//! ```
//!
//! From the moment of the stop, the stage itself refuses new work: it shuts the pool down and ends its accept
//! loop. This module waits for accepted connections until a deadline, and reports to the operator.

use crate::diagnostics::report;
use crate::server::KEPT_FOR;
use crate::turned_away::TurnedAway;
use executor::{CancelToken, ExecutorService, ThreadPoolExecutor};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The interval between two reports that tell the operator what the stage still waits for.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// The time that the server has for its answers to clients that came too late.
const LATE: Duration = Duration::from_secs(1);

/// The time that the server gives cancelled requests to answer their clients.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// The exit status if every client was answered.
pub const SERVED: u8 = 0;

/// The exit status if at least one request was cut off.
pub const CUT_OFF: u8 = 3;

// ANCHOR: finish
/// Waits until the accepted connections are finished, and at the `deadline` cuts off the connections that are
/// not finished. Returns the exit status of the stage.
pub fn finish(pool: &ThreadPoolExecutor, turned_away: &TurnedAway, deadline: Instant) -> u8 {
    let late = turned_away.see_off(deadline.min(Instant::now() + LATE));
    if late > 0 {
        report(format_args!("stopping: refused {late} that came too late"));
    }
    // Idle connections stay open for a moment, and the operator needs no report about such a short wait.
    pool.await_termination((2 * KEPT_FOR).min(deadline.saturating_duration_since(Instant::now())));
    while !pool.is_terminated() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            cut_off(pool, turned_away, deadline + LAST_WORDS);
            return CUT_OFF;
        }
        let (stats, left_s) = (pool.stats(), left.as_secs_f64());
        report(format_args!(
            "stopping: {} in progress, {} waiting, at most {left_s:.1} s more; another signal ends it now",
            stats.active, stats.queued
        ));
        pool.await_termination(left.min(REPORT_EVERY));
    }
    SERVED
}

/// Cancels the running tasks and drops the waiting tasks, whose connections then answer 503.
fn cut_off(pool: &ThreadPoolExecutor, turned_away: &TurnedAway, deadline: Instant) {
    let never_begun = pool.shutdown_now();
    report(format_args!("out of time: cancelled what ran, refused {} that waited", never_begun.len()));
    drop(never_begun);
    turned_away.see_off(deadline);
    pool.await_termination(deadline.saturating_duration_since(Instant::now()));
}
// ANCHOR_END: finish

/// The time that a stage has to end after it is told to stop. This type is for a stage whose accepting thread
/// may be busy when the stage is told to stop.
///
/// [`finish`] cancels the pool's tasks. But a stage calls [`finish`] only after the accepting thread has
/// finished its own work. If the accepting thread uses the token [`over`](Grace::over) as its current token,
/// then `over` also cancels the thread's own work.
#[derive(Debug)]
pub struct Grace {
    over: CancelToken,
    /// The time when the grace period is over, and the token that is cancelled at that time. The
    /// stop sets this value.
    end: Arc<OnceLock<(Instant, CancelToken)>>,
    length: Duration,
}

impl Grace {
    /// Makes a grace period that begins when `stop` is cancelled and lasts for `length`.
    pub fn after(stop: &CancelToken, length: Duration) -> Grace {
        let (over, end) = (CancelToken::new(), Arc::new(OnceLock::new()));
        let (to_cancel, to_set) = (over.clone(), Arc::clone(&end));
        let start_the_clock = move || {
            let deadline = Instant::now() + length;
            let clock = CancelToken::new().with_deadline(deadline);
            let ring = move || {
                to_cancel.cancel();
            };
            clock.on_cancel(ring).keep();
            let _ = to_set.set((deadline, clock)); // a timer token that is dropped early is never cancelled
        };
        stop.on_cancel(start_the_clock).keep();
        Grace { over, end, length }
    }

    /// Returns the token that is cancelled when the grace period is over.
    pub fn over(&self) -> &CancelToken {
        &self.over
    }

    /// Returns the length of the grace period.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// Returns the time when the grace period is over; if the stage was not told to stop, the period is
    /// counted from now.
    pub fn deadline(&self) -> Instant {
        self.end.get().map_or_else(|| Instant::now() + self.length, |&(deadline, _)| deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executor::Latch;

    #[test]
    fn the_grace_begins_with_the_stop_and_ends_once() {
        let stop = CancelToken::new();
        let grace = Grace::after(&stop, Duration::from_millis(20));
        assert!(!grace.over().is_cancelled());
        stop.cancel();
        let deadline = grace.deadline();
        assert_eq!(deadline, grace.deadline());
        // No thread opens this latch: only the token ends the wait.
        assert!(grace.over().attach(|| Latch::new(1).wait()).is_err());
        assert!(Instant::now() >= deadline);
    }
}
