//! The numbers of pools for a monitoring system: how long tasks wait and run, and the text that Prometheus reads.
//!
//! | file | |
//! |---|---|
//! | `histogram` | durations, counted in buckets without a lock |
//! | `task_metrics` | hooks that fill two histograms |
//! | `prometheus` | the text for Prometheus |
//! | `facade` | hooks that hand the same numbers to the crate `metrics` |
//!
//! [`PoolStats`](crate::PoolStats) has the counts of a pool. So hooks are needed only for durations, and a pool
//! without hooks reads no clock.

mod histogram;
pub use histogram::TimeHistogram;

mod task_metrics;
pub use task_metrics::TaskMetrics;

mod prometheus;
pub use prometheus::PrometheusText;

#[cfg(feature = "metrics")]
mod facade;
#[cfg(feature = "metrics")]
pub use facade::MetricsFacade;
