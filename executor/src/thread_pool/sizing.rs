//! The number of threads that a pool should have.
//!
//! A pool should have enough threads to keep the cores busy, and no more. A task that only computes needs a
//! core as long as it runs, so the right number of threads is the number of cores. A task that waits for
//! half of its time leaves its core idle for that half, so the right number of threads is twice the number
//! of cores. In general, let `N` be the number of cores, `U` the share of them that the pool should use (0 to
//! 1), and `W` and `C` the times for which a task waits and computes:
//!
//! ```text
//!   threads = N · U · (1 + W / C)
//! ```
//!
//! (*Java Concurrency in Practice*, section 8.2.) The ratio `W / C` is hard to guess, so `WaitCompute`
//! (feature `processor-time`) measures the ratio on a running pool.
//!
//! Cores are not always the scarce resource. If each task needs a connection from a pool of 10, more than 10
//! threads are of no use. So the scarcest resource decides.

/// Returns the number of threads that the formula of *Java Concurrency in Practice* recommends, and at least
/// one. `utilisation` is the share of the cores that the pool should use (0 to 1), and `wait_compute` is the
/// ratio of waiting to computing (0 or more).
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
