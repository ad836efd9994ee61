//! Durations, counted in buckets.
//!
//! A thread that records a duration changes two atomics. The thread takes no lock, so it never waits for a
//! thread that reads.

use crate::sync::Duration;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The upper bounds of the buckets, in microseconds. The last bucket has no bound.
const BOUNDS: [u64; 21] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
];

/// A histogram to which threads add durations.
pub(super) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

// All accesses are Relaxed: the counts are statistics, and no other memory depends on them.
impl Histogram {
    pub(super) fn new() -> Self {
        Self { buckets: std::array::from_fn(|_| AtomicU64::new(0)), nanoseconds: AtomicU64::new(0) }
    }

    pub(super) fn record(&self, time: Duration) {
        let bucket = BOUNDS.partition_point(|&bound| Duration::from_micros(bound) < time);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> TimeHistogram {
        TimeHistogram {
            counts: std::array::from_fn(|bucket| self.buckets[bucket].load(Ordering::Relaxed)),
            sum: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
        }
    }
}

/// The number of durations in each range, as [`TaskMetrics`](crate::TaskMetrics) has measured them.
///
/// The ranges are 1, 2.5 and 5 times a power of ten, from 10 microseconds to 50 seconds.
///
/// ```
/// use executor::{TaskMetrics, ThreadPoolExecutor, prelude::*};
/// use std::{sync::Arc, thread, time::Duration};
///
/// let metrics = Arc::new(TaskMetrics::new());
/// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&metrics)).build()?;
/// pool.submit(|| thread::sleep(Duration::from_millis(2)))?.join()?;
/// pool.close();
/// let ran = metrics.ran();
/// assert_eq!(ran.count(), 1);
/// let (_, below) = ran.buckets().find(|(bound, _)| *bound == Duration::from_millis(1)).unwrap();
/// assert_eq!(below, 0); // it slept for longer than that
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeHistogram {
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl TimeHistogram {
    /// Returns the number of durations.
    ///
    /// ```
    /// assert_eq!(executor::TaskMetrics::new().ran().count(), 0); // no task has run yet
    /// ```
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the durations. The sum divided by [`count`](Self::count) is the mean of the
    /// durations.
    ///
    /// While tasks end, the sum can lack a duration that the count includes, or the count can lack a duration
    /// that the sum includes.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// assert_eq!(executor::TaskMetrics::new().ran().sum(), Duration::ZERO);
    /// ```
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// For each bucket, returns its upper bound and the number of durations that are not above this bound.
    /// The numbers are cumulative: a duration of 20 microseconds is in all buckets from 25 microseconds on. A
    /// duration above 50 seconds is in no bucket, but [`count`](Self::count) includes it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let bounds: Vec<Duration> = executor::TaskMetrics::new().ran().buckets().map(|(bound, _)| bound).collect();
    /// assert_eq!(bounds[..3], [10, 25, 50].map(Duration::from_micros));
    /// assert_eq!(bounds.last(), Some(&Duration::from_secs(50)));
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut sum = 0;
        BOUNDS.iter().zip(&self.counts).map(move |(&bound, count)| {
            sum += count;
            (Duration::from_micros(bound), sum)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        let micros = Duration::from_micros;
        let seconds = Duration::from_secs;
        for (time, bound) in [
            (Duration::ZERO, Some(micros(10))),
            (micros(10), Some(micros(10))),
            (micros(10) + Duration::from_nanos(1), Some(micros(25))),
            (seconds(50), Some(seconds(50))),
            (seconds(50) + Duration::from_nanos(1), None),
            (Duration::MAX, None),
        ] {
            let histogram = Histogram::new();
            histogram.record(time);
            let histogram = histogram.read();
            assert_eq!(histogram.buckets().find(|(_, count)| *count == 1).map(|(bound, _)| bound), bound);
            assert_eq!(histogram.count(), 1, "{time:?}");
        }
    }

    #[test]
    fn the_counts_are_cumulative_and_the_sum_is_exact() {
        let histogram = Histogram::new();
        for milliseconds in [1, 2, 3, 60_000] {
            histogram.record(Duration::from_millis(milliseconds));
        }
        let histogram = histogram.read();
        let counts: Vec<_> = histogram.buckets().map(|(_, count)| count).collect();
        assert_eq!(counts[5..9], [0, 1, 2, 3], "from half a millisecond to five");
        assert_eq!(counts.last(), Some(&3), "a minute is above all bounds");
        assert_eq!((histogram.count(), histogram.sum()), (4, Duration::from_millis(60_006)));
    }
}
