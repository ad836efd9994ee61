#![doc = include_str!("../README.md")]

/// Replaces threads, locks and time in the log service's files by the model's versions.
pub mod door {
    pub use executor_model::program::{sync, thread, time};
}

/// Runs `body` under two kinds of schedules: schedules that switch threads at any step, and schedules that
/// let one thread run for long and switch at a few critical points. `MODEL_SCHEDULES` sets the number of
/// schedules, and `MODEL_SEED` selects other schedules.
#[cfg(feature = "shuttle")]
pub fn check(body: fn()) {
    check_others(0, body);
}

/// Runs `body` like [`check`], but under other schedules for each `offset`.
#[cfg(feature = "shuttle")]
pub fn check_others(offset: u64, body: fn()) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    use shuttle::{Config, Runner};

    let seed = number("MODEL_SEED").unwrap_or(0x5EED).wrapping_add(offset);
    let schedules =
        usize::try_from(number("MODEL_SCHEDULES").unwrap_or(1_000)).expect("a number of schedules");
    Runner::new(RandomScheduler::new_from_seed(seed, schedules), Config::new()).run(body);
    Runner::new(PctScheduler::new_from_seed(seed, 3, schedules), Config::new()).run(body);
}

#[cfg(feature = "shuttle")]
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {value:?}")))
}
