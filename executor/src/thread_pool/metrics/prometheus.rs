//! The text that Prometheus and compatible systems read: the [text format] of version 0.0.4.
//!
//! All samples of one family must be in one block, below one header. Pools are added one after the other, and
//! each pool has samples of many families. So the text has a part for each family, and the parts are joined
//! at the end.
//!
//! [text format]: https://prometheus.io/docs/instrumenting/exposition_formats/

use std::fmt::{self, Write};

use super::histogram::TimeHistogram;
use super::task_metrics::TaskMetrics;
use crate::thread_pool::PoolStats;

/// A text with the numbers of pools, in the format that Prometheus reads.
///
/// Make a new text for each request, add pools and times, and answer the request with the text's `Display`
/// and [`CONTENT_TYPE`](Self::CONTENT_TYPE). Numbers of your own can be added with [`sample`](Self::sample).
///
/// | family | kind | |
/// |---|---|---|
/// | `executor_pool_state` | gauge | always 1; the label `state` has the state |
/// | `executor_pool_size_threads`, `_core_`, `_max_`, `_peak_threads` | gauge | threads |
/// | `executor_active_threads`, `executor_queued_tasks` | gauge | tasks that run, tasks that wait |
/// | `executor_completed_tasks_total` | counter | tasks that have run, whatever their outcome |
/// | `executor_panicked_tasks_total` | counter | completed tasks that panicked |
/// | `executor_cancelled_tasks_total` | counter | tasks that were cancelled, running or not |
/// | `executor_cancelled_in_queue_tasks_total` | counter | of these, those that were cancelled in the queue |
/// | `executor_timed_out_tasks_total` | counter | of the cancelled tasks, those whose time was up |
/// | `executor_rejected_tasks_total` | counter | tasks that the pool did not accept at once |
/// | `executor_queue_seconds`, `executor_run_seconds` | histogram | seconds that tasks waited, and ran |
///
/// Each sample has the label `name`. If Micrometer has a name for a family, the text uses that name.
///
/// ```
/// use executor::{PrometheusText, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::builder().name("orders").build()?;
/// pool.submit(|| 6 * 7)?.join()?;
/// let mut text = PrometheusText::new();
/// text.add_pool("orders", &pool.stats());
/// assert!(text.to_string().contains("\nexecutor_completed_tasks_total{name=\"orders\"} 1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PrometheusText {
    parts: Vec<Part>,
}

/// The samples of one family.
#[derive(Debug, Clone)]
struct Part {
    family: String,
    text: String,
}

impl PrometheusText {
    /// The value of the header `Content-Type` for this text.
    ///
    /// ```
    /// assert!(executor::PrometheusText::CONTENT_TYPE.starts_with("text/plain; version=0.0.4"));
    /// ```
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Makes an empty text.
    ///
    /// ```
    /// assert_eq!(executor::PrometheusText::new().to_string(), "");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the numbers of a pool, as samples whose label `name` is `pool`. Add each pool once, with a name that
    /// no other pool in this text has.
    ///
    /// ```
    /// use executor::{PrometheusText, ThreadPoolExecutor};
    ///
    /// let [orders, mails] = [ThreadPoolExecutor::fixed(4), ThreadPoolExecutor::fixed(1)];
    /// let mut text = PrometheusText::new();
    /// text.add_pool("orders", &orders.stats());
    /// text.add_pool("mails", &mails.stats());
    /// assert!(text.to_string().contains("executor_pool_max_threads{name=\"mails\"} 1\n"));
    /// ```
    pub fn add_pool(&mut self, pool: &str, stats: &PoolStats) {
        let phase = stats.state.to_string();
        let help = "State of the pool: always 1, the label has the state";
        self.sample("executor_pool_state", "gauge", help, &[("name", pool), ("state", &phase)], 1);
        for (family, help, value) in [
            ("executor_pool_size_threads", "Threads that the pool has", stats.threads),
            (
                "executor_pool_core_threads",
                "Threads up to which the pool starts one for each task",
                stats.core_threads,
            ),
            ("executor_pool_max_threads", "Threads that the pool has at most", stats.maximum_threads),
            ("executor_pool_peak_threads", "The most threads that the pool has had", stats.peak_threads),
            ("executor_active_threads", "Threads that run a task", stats.active),
            ("executor_queued_tasks", "Tasks that wait for a thread", stats.queued),
        ] {
            self.sample(family, "gauge", help, &[("name", pool)], value);
        }
        for (family, help, value) in [
            (
                "executor_completed_tasks_total",
                "Tasks that have run, whatever their outcome",
                stats.completed,
            ),
            ("executor_panicked_tasks_total", "Completed tasks that panicked", stats.panicked),
            ("executor_cancelled_tasks_total", "Tasks that were cancelled", stats.cancelled),
            (
                "executor_cancelled_in_queue_tasks_total",
                "Cancelled tasks that were cancelled in the queue",
                stats.cancelled_in_queue,
            ),
            ("executor_timed_out_tasks_total", "Cancelled tasks whose time was up", stats.timed_out),
            ("executor_rejected_tasks_total", "Tasks that the pool did not accept at once", stats.refused),
        ] {
            self.sample(family, "counter", help, &[("name", pool)], value);
        }
    }

    /// Adds the histograms of the times that the tasks of a pool have waited and run, as samples whose label
    /// `name` is `pool`.
    ///
    /// ```
    /// use executor::{PrometheusText, TaskMetrics};
    ///
    /// let metrics = TaskMetrics::new(); // the hooks of a pool
    /// let mut text = PrometheusText::new();
    /// text.add_times("orders", &metrics);
    /// assert!(text.to_string().contains("executor_queue_seconds_bucket{name=\"orders\",le=\"+Inf\"} 0\n"));
    /// ```
    pub fn add_times(&mut self, pool: &str, times: &TaskMetrics) {
        let (waited, ran) = (times.waited(), times.ran());
        self.histogram("executor_queue_seconds", "Seconds that tasks waited for a thread", pool, &waited);
        self.histogram("executor_run_seconds", "Seconds that tasks ran", pool, &ran);
    }

    /// Adds a sample of any family. `kind` is `counter` or `gauge`. The first sample of a family determines
    /// the kind and the help text of the family.
    ///
    /// The names of the family and of the labels must be valid in Prometheus: they consist of letters, digits
    /// and `_`, and do not begin with a digit. The values of labels can be any text.
    ///
    /// ```
    /// use executor::PrometheusText;
    ///
    /// let mut text = PrometheusText::new();
    /// text.sample("shop_orders_total", "counter", "Orders", &[("country", "DE")], 5);
    /// assert!(text.to_string().ends_with("\nshop_orders_total{country=\"DE\"} 5\n"));
    /// ```
    pub fn sample(
        &mut self,
        family: &str,
        kind: &str,
        help: &str,
        labels: &[(&str, &str)],
        value: impl fmt::Display,
    ) {
        append_line(self.part(family, kind, help), family, labels, value);
    }

    fn histogram(&mut self, family: &str, help: &str, pool: &str, times: &TimeHistogram) {
        let text = self.part(family, "histogram", help);
        let bucket = format!("{family}_bucket");
        for (bound, count) in times.buckets() {
            let bound = bound.as_secs_f64().to_string();
            append_line(text, &bucket, &[("name", pool), ("le", &bound)], count);
        }
        append_line(text, &bucket, &[("name", pool), ("le", "+Inf")], times.count());
        append_line(text, &format!("{family}_sum"), &[("name", pool)], times.sum().as_secs_f64());
        append_line(text, &format!("{family}_count"), &[("name", pool)], times.count());
    }

    /// Returns the part of the text that contains the samples of a family.
    fn part(&mut self, family: &str, kind: &str, help: &str) -> &mut String {
        let known = self.parts.iter().position(|part| part.family == family);
        let index = known.unwrap_or_else(|| {
            let help = help.replace('\\', "\\\\").replace('\n', "\\n");
            let text = format!("# HELP {family} {help}\n# TYPE {family} {kind}\n");
            self.parts.push(Part { family: family.to_owned(), text });
            self.parts.len() - 1
        });
        &mut self.parts[index].text
    }
}

fn append_line(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
    text.push_str(name);
    for (index, (label, value)) in labels.iter().enumerate() {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(text, "{}{label}=\"{value}\"", if index == 0 { '{' } else { ',' });
    }
    let end = if labels.is_empty() { "" } else { "}" };
    let _ = writeln!(text, "{end} {value}");
}

impl fmt::Display for PrometheusText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| f.write_str(&part.text))
    }
}
