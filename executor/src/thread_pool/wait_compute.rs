//! A measurement for the formula in `sizing.rs`: how long the tasks of a pool wait, and how long they compute.
//!
//! All time in which a task does not occupy a core counts as waiting.

use std::fmt;

use cpu_time::ThreadTime;

use super::sizing::recommended_threads;
use super::timing::Notes;
use super::{Hooks, TaskInfo};
use crate::sync::{Duration, Instant, Mutex, thread, thread_local};
use crate::task::outcome::Outcome;

thread_local! {
    static BEGAN: Notes<(Instant, ThreadTime)> = Notes::new();
}

/// Measures W / C: the time in which a pool's tasks wait, divided by the time in which they compute.
///
/// Pass the hooks to [`ThreadPoolBuilder::hooks`](crate::ThreadPoolBuilder::hooks), in an `Arc`. The
/// processor time of the task's own thread counts as computing; the rest of the task's time counts as
/// waiting. So measure while the machine has free cores. If there are more busy threads than cores, a
/// thread's wait for a core counts as waiting, too. In this case, the recommended number of threads is too
/// high.
///
/// ```
/// use executor::{ThreadPoolExecutor, WaitCompute, prelude::*};
/// use std::{sync::Arc, thread, time::Duration};
///
/// let measured = Arc::new(WaitCompute::new());
/// let pool = ThreadPoolExecutor::builder().threads(2).hooks(Arc::clone(&measured)).build()?;
/// pool.submit(|| thread::sleep(Duration::from_millis(2)))?.join()?; // waits more than it computes
/// assert!(measured.ratio().is_none_or(|ratio| ratio > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct WaitCompute {
    /// The total duration of the tasks, and the part of this duration in which they computed.
    sums: Mutex<(Duration, Duration)>,
}

impl WaitCompute {
    /// Makes hooks that have measured nothing yet.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, WaitCompute};
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(WaitCompute::new()).build()?;
    /// assert_eq!(WaitCompute::new().ratio(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the ratio W / C of all tasks so far, or `None` before the hooks have measured any computing
    /// time.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, WaitCompute, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let measured = Arc::new(WaitCompute::new());
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&measured)).build()?;
    /// let sum = || (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum + n));
    /// pool.submit(sum)?.join()?;
    /// assert!(measured.ratio().is_some_and(|ratio| ratio >= 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ratio(&self) -> Option<f64> {
        let (elapsed, computing) = *self.sums.lock();
        let waiting = elapsed.saturating_sub(computing);
        (!computing.is_zero()).then(|| waiting.as_secs_f64() / computing.as_secs_f64())
    }

    /// Computes the number of threads from the measured ratio and the number of cores of this machine.
    /// `utilisation` is the share of the cores that the pool should use (0 to 1). Returns `None` if the hooks
    /// have measured nothing yet.
    ///
    /// ```
    /// use executor::WaitCompute;
    ///
    /// assert_eq!(WaitCompute::new().recommended_threads(1.0), None); // no task has run yet
    /// ```
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
        // The two times are read from two different clocks. So a task can seem to compute for longer than it
        // runs.
        *measured.sums.lock() = (Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!(measured.ratio(), Some(0.0));
    }
}
