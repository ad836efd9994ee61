//! Checks the protocols of the crawler's programs with a model checker. The tests compile source files of
//! `crawler`, with the model checker's locks, threads and channels in place of the usual ones.
//!
//! ```sh
//! cargo test -p crawler-model
//! ```

/// Items that the crawler's files use in place of items of std and `executor`.
pub mod door {
    pub use executor_model::program::sync;
    pub use executor_model::{
        CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TrackingExecutor, channel, masked,
    };

    /// In the model, the interval is infinite: if a worker is not woken, no later check finds its work.
    pub const TICK: std::time::Duration = std::time::Duration::from_hours(24 * 365 * 200);
}

/// Runs `body` under two kinds of schedules: some switch threads at any step, and others let one thread run
/// for long and switch at a few critical points. `MODEL_SCHEDULES` sets the number of schedules, and
/// `MODEL_SEED` selects other schedules.
pub fn check(body: impl Fn() + Send + Sync + Clone + 'static) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    use shuttle::{Config, Runner};

    let seed = number("MODEL_SEED").unwrap_or(0x5EED);
    let schedules =
        usize::try_from(number("MODEL_SCHEDULES").unwrap_or(1_000)).expect("a number of schedules");
    Runner::new(RandomScheduler::new_from_seed(seed, schedules), Config::new()).run(body.clone());
    Runner::new(PctScheduler::new_from_seed(seed, 3, schedules), Config::new()).run(body);
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} must be a number and is {value:?}")))
}
