//! Counts the answers and the failures of the connections.

use super::answer::{Answer, Failure};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The counts of one connection, or the sums over all connections.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The latencies of answers with a status below 400, in microseconds. Refusals do not count here,
    /// because a quick refusal does not make a server fast.
    pub(crate) latency: Histogram<u64>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) failures: BTreeMap<Failure, u64>,
    pub(crate) bytes: u64,
    /// The number of requests that were sent again because the server had closed the connection between two
    /// requests; servers may do this.
    pub(crate) retries: u64,
    pub(crate) last_answer: Option<Instant>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            latency: Histogram::new(3).expect("three significant digits are possible"),
            statuses: BTreeMap::new(),
            failures: BTreeMap::new(),
            bytes: 0,
            retries: 0,
            last_answer: None,
        }
    }

    pub(crate) fn answer(&mut self, answer: &Answer, due: Instant, now: Instant) {
        *self.statuses.entry(answer.status).or_default() += 1;
        self.bytes += answer.bytes;
        self.last_answer = Some(now);
        if answer.status < 400 {
            let microseconds = now.saturating_duration_since(due).as_micros();
            // The histogram grows when needed; 64 bits are enough for half a million years.
            let _ = self.latency.record(u64::try_from(microseconds).unwrap_or(u64::MAX));
        }
    }

    pub(crate) fn fail(&mut self, failure: Failure, requests: usize) {
        *self.failures.entry(failure).or_default() += requests as u64;
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        self.latency.add(&other.latency).expect("both grow as needed");
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (failure, count) in &other.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
        self.bytes += other.bytes;
        self.retries += other.retries;
        self.last_answer = self.last_answer.max(other.last_answer);
    }

    /// Returns how many answers there were, with any status.
    pub(crate) fn answered(&self) -> u64 {
        self.statuses.values().sum()
    }

    /// Returns the number of answers that had a status below 400.
    pub(crate) fn successes(&self) -> u64 {
        self.latency.len()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failures.values().sum()
    }
}

/// Counts of answers and failures that other threads can read during the run. Relaxed is enough: the counts
/// are only numbers, and no other data depends on them.
#[derive(Debug, Default)]
pub(crate) struct Live {
    answered: AtomicU64,
    failed: AtomicU64,
}

impl Live {
    pub(crate) fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, requests: usize) {
        self.failed.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// Returns how many answers and failures there were so far.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.answered.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}
