use super::LoadArgs;
use hdrhistogram::Histogram;
use logservice::Counts;
use serde_json::{Value, json};
use std::fmt::{self, Display};
use std::time::Duration;

/// The quantiles in the report, with their names.
pub(super) const QUANTILES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (1.0, "max")];

/// The results of a load.
pub(super) struct Report<'a> {
    pub(super) args: &'a LoadArgs,
    pub(super) counts: Counts,
    /// The time from the first call to the end of the stop.
    pub(super) took: Duration,
    /// The durations of the calls, in nanoseconds.
    pub(super) calls: Histogram<u64>,
    /// The signal that ended the load early.
    pub(super) signal: Option<i32>,
}

impl Report<'_> {
    /// Returns the number of accepted lines that are neither written nor dropped.
    pub(super) fn lost(&self) -> u64 {
        self.counts.waiting()
    }

    fn lines_per_second(&self) -> f64 {
        self.counts.written as f64 / self.took.as_secs_f64()
    }

    pub(super) fn title(&self) -> String {
        let LoadArgs { threads, policy, .. } = self.args;
        format!("{threads} threads, {} calls, policy {}", self.calls.len(), policy.name)
    }

    pub(super) fn json(&self) -> Value {
        let call_ns: serde_json::Map<_, _> = QUANTILES
            .iter()
            .map(|&(quantile, name)| (name.to_owned(), self.calls.value_at_quantile(quantile).into()))
            .collect();
        json!({
            "threads": self.args.threads,
            "policy": self.args.policy.name,
            "calls": self.calls.len(),
            "accepted": self.counts.accepted,
            "written": self.counts.written,
            "dropped": self.counts.dropped,
            "refused": self.counts.refused,
            "lost": self.lost(),
            "seconds": self.took.as_secs_f64(),
            "lines_per_second": self.lines_per_second(),
            "call_ns": call_ns,
            "signal": self.signal,
        })
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { accepted, written, dropped, refused, .. } = self.counts;
        writeln!(f, "{}", self.title())?;
        if let Some(signal) = self.signal {
            writeln!(f, "ended early by signal {signal}")?;
        }
        for (name, count) in [
            ("accepted", accepted),
            ("written", written),
            ("dropped", dropped),
            ("refused", refused),
            ("lost", self.lost()),
        ] {
            writeln!(f, "{name:>12} {count:>12}")?;
        }
        writeln!(f, "{:>12} {:>12.3}", "seconds", self.took.as_secs_f64())?;
        writeln!(f, "{:>12} {:>12.0}", "lines/s", self.lines_per_second())?;
        writeln!(f, "\na call took, in microseconds")?;
        for (quantile, name) in QUANTILES {
            writeln!(f, "{name:>12} {:>12.2}", self.calls.value_at_quantile(quantile) as f64 / 1000.0)?;
        }
        Ok(())
    }
}
