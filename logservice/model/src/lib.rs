#![doc = include_str!("../README.md")]

/// The model's threads, locks and time, for the log service's files.
pub mod door {
    pub use executor_model::program::{sync, thread, time};
}

/// Runs `body` under schedules of two kinds: those that switch threads at any step, and those that let one
/// thread run for long and switch at few, awkward points. `MODEL_SCHEDULES` and `MODEL_SEED` ask for more
/// schedules and for different ones.
#[cfg(feature = "shuttle")]
pub fn check(body: fn()) {
    check_others(0, body);
}

/// Runs `body` as [`check`] does, under other schedules for each `offset`.
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
