//! The end of a stage whose connections are tasks of a pool.
//!
//! A stage that stops goes through these phases, one way only:
//!
//! ```text
//! running ──stop is cancelled──▶ stopping ──grace over──▶ cut off ──LAST_WORDS over──▶ the process ends
//!                                   └──the last task is done─▶ the end, with SERVED
//! ```
//!
//! The stage itself refuses from the moment of the stop: it shuts the pool down and ends its accept loop. What is here is
//! the waiting, with a deadline, and what is said about it.

use crate::diagnostics::report;
use crate::server::KEPT_FOR;
use crate::turned_away::TurnedAway;
use executor::{CancelToken, ExecutorService, ThreadPoolExecutor};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often the operator is told what the end waits for.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// How long clients that came too late have to take their answer.
const LATE: Duration = Duration::from_secs(1);

/// How long requests that were cancelled may take to say so to their clients.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// The exit status when everybody was answered.
pub const SERVED: u8 = 0;

/// The exit status when something was cut off.
pub const CUT_OFF: u8 = 3;

// ANCHOR: finish
/// Waits for the connections that were accepted; cuts off what is not done by the `deadline`. Gives back the exit status.
pub fn finish(pool: &ThreadPoolExecutor, turned_away: &TurnedAway, deadline: Instant) -> u8 {
    let late = turned_away.see_off(deadline.min(Instant::now() + LATE));
    if late > 0 {
        report(format_args!("stopping: refused {late} that came too late"));
    }
    // Idle connections are kept for a moment, and that is not worth a word.
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

/// Cancels what runs and refuses what was not begun: dropped, such a connection answers 503.
fn cut_off(pool: &ThreadPoolExecutor, turned_away: &TurnedAway, deadline: Instant) {
    let never_begun = pool.shutdown_now();
    report(format_args!("out of time: cancelled what ran, refused {} that waited", never_begun.len()));
    drop(never_begun);
    turned_away.see_off(deadline);
    pool.await_termination(deadline.saturating_duration_since(Instant::now()));
}
// ANCHOR_END: finish

/// The time that a stage has from when it is told to stop, for a stage whose accepting thread may be busy at that moment.
///
/// The pool's tasks are cancelled by [`finish`]. What the accepting thread does itself is cancelled by the token
/// [`over`](Grace::over), if that is the thread's current one: `finish` is not called before the thread has done it.
#[derive(Debug)]
pub struct Grace {
    over: CancelToken,
    /// When it ends, and the token that rings then. Set by the stop.
    end: Arc<OnceLock<(Instant, CancelToken)>>,
    length: Duration,
}

impl Grace {
    /// Begins when `stop` is cancelled and is over `length` later.
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
            let _ = to_set.set((deadline, clock)); // a token that is dropped before its time never rings
        };
        stop.on_cancel(start_the_clock).keep();
        Grace { over, end, length }
    }

    /// Cancelled when the time is over.
    pub fn over(&self) -> &CancelToken {
        &self.over
    }

    /// How long it is.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// When the time is over: counted from now, if nobody has told the stage to stop.
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
        // Nobody opens this latch: what ends the wait is the token.
        assert!(grace.over().attach(|| Latch::new(1).wait()).is_err());
        assert!(Instant::now() >= deadline);
    }
}
