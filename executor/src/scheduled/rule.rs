//! The rules that determine the time of the next run of a series. The functions of this file only calculate
//! with instants.
//!
//! A series at a fixed rate has a grid of *ticks*: the first tick is the time of the first run, and one more
//! tick follows after each period. A tick is computed from the tick before it and never from the clock. So
//! the series does not drift: a late run does not delay the runs after it. A series with a fixed delay has no
//! grid: it waits from the end of a run to the next run.
//!
//! ```text
//!   fixed rate, period 4         fixed rate, one run takes 9 and misses the ticks at 4 and 8
//!   ■──■──■──■──▶                ■■■■■■■■■■■■▶
//!   0  4  8  12                  0   4   8   12
//!                                          CatchUp: runs at 9 and 9, then 12
//!   fixed delay 4                          Skip:    runs at 12
//!   ■■■────■────■──▶                       Shift:   runs at 9, then 13
//! ```

use crate::sync::{Duration, Instant};

/// The reaction of a series at a fixed rate to missed ticks: ticks that passed while a run took too long or
/// had no thread.
///
/// ```
/// use executor::{Latch, MissedTicks, ScheduledThreadPoolExecutor};
/// use std::{sync::Arc, time::{Duration, Instant}};
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let runs = Arc::new(Latch::new(3));
/// let run = Arc::clone(&runs);
/// let series = pool
///     .series(move |_| run.count_down())
///     .missed_ticks(MissedTicks::CatchUp)
///     .first_at(Instant::now() - Duration::from_secs(2)) // two ticks were missed
///     .at_fixed_rate(Duration::from_secs(1))?;
/// runs.wait()?; // three runs at once
/// assert!(series.runs() >= 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTicks {
    /// The series runs once for each missed tick, one run right after the other, until the series is on time
    /// again. Use this rule for counting: after an hour with a period of a second, there were 3600 runs. If
    /// each run takes longer than the period, the series runs without a break.
    #[default]
    CatchUp,
    /// The series skips the missed ticks: the next run is at the next tick. Use this rule for work that is
    /// pointless when it is late, such as the update of a display.
    Skip,
    /// The series makes one run at once, and counts the later ticks from that run. Use this rule for work
    /// that needs at least one period *between* two runs.
    Shift,
}

/// The reaction of a series to the panic of one of its runs.
///
/// The panic is never lost. If the series goes on, the panic goes to the [panic handler](crate::panics) at
/// once, like the panic of a task without a handle. If the series stops, the panic is part of its
/// [end](crate::SeriesEnd). If no caller reads the end, the panic goes to the panic handler.
///
/// ```
/// use executor::{AfterPanic, ScheduledThreadPoolExecutor, SeriesEnd};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let poll = pool.series(|_| panic!("the server does not answer"));
/// let poll = poll.after_panic(AfterPanic::Stop).at_fixed_rate(Duration::from_secs(1))?;
/// assert!(matches!(poll.join()?, SeriesEnd::Panicked(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum AfterPanic {
    /// The series ends, and the panic is part of its end.
    #[default]
    Stop,
    /// The series goes on as if the run had returned.
    Continue,
    /// The series goes on after a waiting time. The waiting time doubles with each further panic until a run
    /// has returned. A series at a fixed rate goes on at its first tick after the waiting time.
    BackOff {
        /// The waiting time after the first panic.
        first: Duration,
        /// The longest waiting time.
        most: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    FixedRate,
    FixedDelay,
}

/// The rule that determines when a series runs next.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) pace: Pace,
    /// The time between two ticks (never zero), or between the end of a run and the start of the next run.
    pub(super) period: Duration,
    pub(super) missed: MissedTicks,
    pub(super) after_panic: AfterPanic,
    /// The number of runs that have panicked since the last run that returned.
    pub(super) panics: u32,
}

impl Rule {
    /// Returns the time of the next run, after a run that was planned for `tick` and has returned at `now`.
    pub(super) fn next(&mut self, tick: Instant, now: Instant) -> Instant {
        self.panics = 0;
        self.regular(tick, now)
    }

    /// Returns the time of the next run, after a run that was planned for `tick` and has panicked at `now`.
    /// Returns `None` if the panic ends the series.
    pub(super) fn next_after_panic(&mut self, tick: Instant, now: Instant) -> Option<Instant> {
        match self.after_panic {
            AfterPanic::Stop => None,
            AfterPanic::Continue => Some(self.regular(tick, now)),
            AfterPanic::BackOff { first, most } => {
                let doubled = 1_u32.checked_shl(self.panics).unwrap_or(u32::MAX);
                self.panics = self.panics.saturating_add(1);
                let rested = later(now, first.saturating_mul(doubled).min(most));
                Some(match self.pace {
                    Pace::FixedDelay => rested.max(later(now, self.period)),
                    Pace::FixedRate => self.tick_from(tick, rested).max(later(tick, self.period)),
                })
            }
        }
    }

    fn regular(&self, tick: Instant, now: Instant) -> Instant {
        let next = match self.pace {
            Pace::FixedDelay => return later(now, self.period),
            Pace::FixedRate => later(tick, self.period),
        };
        match self.missed {
            _ if next >= now => next,
            MissedTicks::CatchUp => next,
            MissedTicks::Skip => self.tick_from(tick, now),
            MissedTicks::Shift => now,
        }
    }

    /// After a run, returns the time at which the current period began.
    pub(super) fn counts_from(&self, tick: Instant, now: Instant) -> Instant {
        match self.pace {
            Pace::FixedRate => tick,
            Pace::FixedDelay => now,
        }
    }

    /// Returns the time of the next run after a pause. Before the pause, this run was planned for `planned`.
    /// Ticks during the pause do not count as missed.
    pub(super) fn resumed(&self, planned: Instant, now: Instant) -> Instant {
        match self.pace {
            Pace::FixedDelay => planned.max(now),
            Pace::FixedRate => self.tick_from(planned, now),
        }
    }

    /// Returns the first tick that is not before `now`.
    fn tick_from(&self, tick: Instant, now: Instant) -> Instant {
        if tick >= now {
            return tick;
        }
        let past = (now - tick).as_nanos() % self.period.as_nanos();
        let past = Duration::from_nanos(u64::try_from(past).unwrap_or(u64::MAX)); // no clock runs for 500 years
        if past.is_zero() { now } else { later(now, self.period.saturating_sub(past)) }
    }
}

/// The delay that replaces a delay beyond the clock's range. This delay is so long that its end
/// never comes.
const FAR: Duration = Duration::from_secs(200 * 365 * 24 * 60 * 60);

/// Returns the moment that is `time` after `from`. If the clock does not reach that moment, returns a moment
/// in the far future.
pub(super) fn later(from: Instant, time: Duration) -> Instant {
    from.checked_add(time).or_else(|| from.checked_add(FAR)).unwrap_or(from)
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rule(pace: Pace, missed: MissedTicks) -> Rule {
        Rule { pace, period: 4 * SECOND, missed, after_panic: AfterPanic::Stop, panics: 0 }
    }

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Returns the times of a series' runs, in seconds from its first run. The runs take the given times, and
    /// there is always a free thread.
    fn begins(mut rule: Rule, runs: &[u64]) -> Vec<u64> {
        let start = Instant::now();
        let (mut planned, mut now, mut begins) = (start, start, Vec::new());
        for &takes in runs {
            now = now.max(planned);
            begins.push((now - start).as_secs());
            now += secs(takes);
            planned = rule.next(planned, now);
        }
        begins
    }

    #[test]
    fn a_run_that_is_in_time_leaves_the_ticks_where_they_are() {
        for missed in [MissedTicks::CatchUp, MissedTicks::Skip, MissedTicks::Shift] {
            assert_eq!(begins(rule(Pace::FixedRate, missed), &[0, 3, 1, 4, 0]), [0, 4, 8, 12, 16]);
        }
    }

    #[test]
    fn ticks_that_were_missed_are_caught_up_with_left_out_or_shifted() {
        let runs = [9, 0, 0, 0];
        assert_eq!(begins(rule(Pace::FixedRate, MissedTicks::CatchUp), &runs), [0, 9, 9, 12]);
        assert_eq!(begins(rule(Pace::FixedRate, MissedTicks::Skip), &runs), [0, 12, 16, 20]);
        assert_eq!(begins(rule(Pace::FixedRate, MissedTicks::Shift), &runs), [0, 9, 13, 17]);
    }

    #[test]
    fn a_tick_that_is_due_this_moment_is_not_missed() {
        assert_eq!(begins(rule(Pace::FixedRate, MissedTicks::Skip), &[8, 0]), [0, 8]);
    }

    #[test]
    fn a_fixed_delay_counts_from_the_end_of_the_run() {
        assert_eq!(begins(rule(Pace::FixedDelay, MissedTicks::Skip), &[9, 1, 0, 0]), [0, 13, 18, 22]);
    }

    /// Each run is late, and the delays of neighbouring runs differ.
    #[test]
    fn a_fixed_rate_does_not_drift() {
        let (mut rule, start) = (rule(Pace::FixedRate, MissedTicks::CatchUp), Instant::now());
        let mut planned = start;
        for run in 1..=1_000_000_u32 {
            let late = Duration::from_nanos(u64::from(run % 977) * 1_000_003);
            planned = rule.next(planned, planned + late);
        }
        assert_eq!(planned - start, 4 * SECOND * 1_000_000);
    }

    #[test]
    fn a_rest_doubles_with_each_panic_up_to_the_longest_and_a_run_that_returns_ends_that() {
        let mut rule = rule(Pace::FixedDelay, MissedTicks::CatchUp);
        rule.after_panic = AfterPanic::BackOff { first: secs(3), most: secs(20) };
        let now = Instant::now();
        let rests = |rule: &mut Rule, times: usize| -> Vec<u64> {
            (0..times).map(|_| (rule.next_after_panic(now, now).unwrap() - now).as_secs()).collect()
        };
        assert_eq!(rests(&mut rule, 5), [4, 6, 12, 20, 20], "never less than the delay");
        rule.next(now, now);
        assert_eq!(rests(&mut rule, 2), [4, 6]);
        rule.panics = 40; // two to the power of 40 does not fit into a u32
        assert_eq!(rests(&mut rule, 2), [20, 20]);
    }

    #[test]
    fn a_series_at_a_fixed_rate_rests_until_one_of_its_ticks() {
        let mut rule = rule(Pace::FixedRate, MissedTicks::CatchUp);
        rule.after_panic = AfterPanic::BackOff { first: secs(5), most: secs(5) };
        let tick = Instant::now();
        assert_eq!(rule.next_after_panic(tick, tick + SECOND), Some(tick + secs(8)));
        rule.after_panic = AfterPanic::BackOff { first: Duration::ZERO, most: Duration::ZERO };
        assert_eq!(rule.next_after_panic(tick, tick), Some(tick + secs(4)), "not the same tick again");
        rule.after_panic = AfterPanic::Continue;
        assert_eq!(rule.next_after_panic(tick, tick + SECOND), Some(tick + secs(4)));
        rule.after_panic = AfterPanic::Stop;
        assert_eq!(rule.next_after_panic(tick, tick), None);
    }

    #[test]
    fn no_time_is_too_long() {
        let now = Instant::now();
        let long = now + secs(3_000_000_000);
        assert!(later(now, Duration::MAX) > long);
        for pace in [Pace::FixedRate, Pace::FixedDelay] {
            for missed in [MissedTicks::CatchUp, MissedTicks::Skip, MissedTicks::Shift] {
                let mut rule = Rule { period: Duration::MAX, ..rule(pace, missed) };
                assert!(rule.next(now, now + SECOND) > long);
                assert!(rule.resumed(now, now + SECOND) >= now);
                rule.after_panic = AfterPanic::BackOff { first: Duration::MAX, most: Duration::MAX };
                assert!(rule.next_after_panic(now, now).unwrap() > long);
            }
        }
    }
}
