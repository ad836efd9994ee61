//! The number of threads that a pool should have.
//!
//! A pool should have enough threads to keep the cores busy, and no more. A task that only computes needs a
//! core as long as it runs, so the right number of threads is the number of cores. A task that waits for
//! half of its time leaves its core idle for that half, so the right number of threads is twice the number
//! of cores. In general, for `N` cores, of which the pool should use the share `U` (from 0 to 1), and tasks
//! that wait for the time `W` and compute for the time `C`:
//!
//! ```text
//!   threads = N · U · (1 + W / C)
//! ```
//!
//! (*Java Concurrency in Practice*, section 8.2.) `W / C` is hard to guess, so [`WaitCompute`] measures it on
//! a running pool. It counts all time in which a task does not occupy a core as waiting.
//!
//! Cores are not always the scarce resource. If each task needs a connection from a pool of 10, more than 10
//! threads are of no use. So the scarcest resource decides.

use std::fmt;

use cpu_time::ThreadTime;

use super::timing::Notes;
use super::{Hooks, TaskInfo};
use crate::sync::{Duration, Instant, Mutex, thread, thread_local};
use crate::task::outcome::Outcome;

/// Returns the number of threads by the formula, at least one. `utilisation` is the share of the cores that
/// the pool should use (0 to 1), `wait_compute` the ratio of waiting to computing (0 or more).
///
/// ```
/// use executor::recommended_threads;
///
/// assert_eq!(recommended_threads(8, 1.0, 0.0), 8); // tasks that only compute
/// assert_eq!(recommended_threads(8, 1.0, 9.0), 80); // tasks that wait for 90 % of their time
/// assert_eq!(recommended_threads(8, 0.5, 1.0), 8); // half of the cores, tasks that wait half of their time
/// ```
// ANCHOR: formula
pub fn recommended_threads(cores: usize, utilisation: f64, wait_compute: f64) -> usize {
    let threads = cores as f64 * utilisation.clamp(0.0, 1.0) * (1.0 + wait_compute.max(0.0));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, and `as` saturates"
    )]
    let threads = threads.round() as usize;
    threads.max(1)
}
// ANCHOR_END: formula

thread_local! {
    static BEGAN: Notes<(Instant, ThreadTime)> = Notes::new();
}

/// Measures the ratio of the time in which a pool's tasks wait to the time in which they compute.
///
/// Pass it to [`ThreadPoolBuilder::hooks`](crate::ThreadPoolBuilder::hooks), in an `Arc`. The processor time
/// of the task's own thread counts as computing; the rest of the task's time counts as waiting. So measure
/// while the machine has free cores. If there are more busy threads than cores, a thread's wait for a core
/// counts as waiting, too. Then the recommended number is too high.
#[derive(Default)]
pub struct WaitCompute {
    /// The total duration of the tasks, and the part of it in which they computed.
    sums: Mutex<(Duration, Duration)>,
}

impl WaitCompute {
    /// Makes hooks that have measured nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns W / C of all tasks so far; `None` while they have not computed for a measurable time.
    pub fn ratio(&self) -> Option<f64> {
        let (elapsed, computing) = *self.sums.lock();
        let waiting = elapsed.saturating_sub(computing);
        (!computing.is_zero()).then(|| waiting.as_secs_f64() / computing.as_secs_f64())
    }

    /// Returns the number of threads by the formula, from the measured ratio and the cores of this machine.
    /// `utilisation` is the share of the cores that the pool should use (0 to 1). Returns `None` if nothing
    /// was measured.
    pub fn recommended_threads(&self, utilisation: f64) -> Option<usize> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        self.ratio().map(|ratio| recommended_threads(cores, utilisation, ratio))
    }
}

// ANCHOR: hooks
impl Hooks for WaitCompute {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        BEGAN.with(|began| began.note(self, task, (Instant::now(), ThreadTime::now())));
    }

    fn after_execute(&self, task: &TaskInfo<'_>, _outcome: &Outcome) {
        let Some((began, computed)) = BEGAN.with(|began| began.take(self, task)) else { return };
        let (elapsed, computing) = (began.elapsed(), computed.elapsed());
        let (all_elapsed, all_computing) = &mut *self.sums.lock();
        *all_elapsed += elapsed;
        *all_computing += computing;
    }
}
// ANCHOR_END: hooks

impl fmt::Debug for WaitCompute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitCompute").field("ratio", &self.ratio()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_computing_is_waiting() {
        let measured = WaitCompute::new();
        assert_eq!((measured.ratio(), measured.recommended_threads(1.0)), (None, None));
        *measured.sums.lock() = (Duration::from_secs(4), Duration::from_secs(1));
        assert_eq!(measured.ratio(), Some(3.0));
        let cores = thread::available_parallelism().unwrap().get();
        assert_eq!(measured.recommended_threads(0.5), Some(recommended_threads(cores, 0.5, 3.0)));
        // The two times come from two clocks. So a task can seem to compute for longer than it runs.
        *measured.sums.lock() = (Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!(measured.ratio(), Some(0.0));
    }
}
