//! The statistics of a running stage: one list, as JSON and as the text that Prometheus reads.
//!
//! ```text
//!   pool, loops, listener, server, process          sources: each adds samples of what it is now
//!                  │
//!                  ▼
//!              Samples ──────▶ JSON   (/stats)      a sample goes to the place that its family names
//!                      ──────▶ text   (/metrics)    the same sample, below the name of its family
//! ```
//!
//! A *family* is one quantity that is measured; [`families()`](families) lists all families, with both names
//! and a description of each. A *sample* is a family's value for one pool, one loop or one status code. Both
//! forms are made from the same samples, so they agree.
//!
//! Values are measured only when a request asks for them. Events that must be counted when they happen are in
//! the `Tally`, whose counters are atomics: no answer waits for a lock.

mod board;
pub(crate) mod family;
mod process;
mod tally;

pub(crate) use board::Board;
pub use family::{Family, Kind, families};
pub(crate) use tally::Tally;

use executor::{PrometheusText, ThreadPoolExecutor};
use serde_json::{Value as Json, json};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The media type of the text for Prometheus.
pub const TEXT_TYPE: &str = PrometheusText::CONTENT_TYPE;

/// The sources of a stage's statistics.
pub struct Stats {
    sources: Mutex<Vec<Source>>,
}

type Source = Box<dyn Fn(&mut Samples) + Send + Sync>;

/// The samples of one measurement.
#[derive(Debug, Default)]
pub struct Samples(Vec<Sample>);

#[derive(Debug)]
struct Sample {
    family: &'static Family,
    /// The pool, loop or status to which the sample belongs; empty if the family has only one
    /// sample.
    of: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Count(u64),
    Seconds(f64),
    /// The value is one of several words, such as the state of a pool.
    Word(String),
}

impl Stats {
    /// Makes statistics that at first measure only the process.
    pub fn new() -> Stats {
        let stats = Stats { sources: Mutex::default() };
        stats.add(process::source());
        stats
    }

    /// Also measures a pool. `name` distinguishes the pool from other pools, and from the other groups in the
    /// JSON, which are called `server`, `loops` and `process`.
    #[must_use]
    pub fn with_pool(self, name: &'static str, pool: &Arc<ThreadPoolExecutor>) -> Stats {
        let pool = Arc::clone(pool);
        self.add(move |samples| {
            let now = pool.stats();
            samples.word_of(&family::POOL_STATE, name, now.state);
            for (family, count) in [
                (&family::POOL_SIZE, now.threads as u64),
                (&family::POOL_CORE, now.core_threads as u64),
                (&family::POOL_MAX, now.maximum_threads as u64),
                (&family::POOL_PEAK, now.peak_threads as u64),
                (&family::ACTIVE, now.active as u64),
                (&family::QUEUED, now.queued as u64),
                (&family::COMPLETED, now.completed),
                (&family::PANICKED, now.panicked),
            ] {
                samples.count_of(family, name, count);
            }
        });
        self
    }

    /// Also measures how much room the queue of a pool has, and how many tasks did not find room immediately.
    #[must_use]
    pub fn with_bound(self, name: &'static str, capacity: usize, pool: &Arc<ThreadPoolExecutor>) -> Stats {
        let pool = Arc::clone(pool);
        self.add(move |samples| {
            samples.count_of(&family::QUEUE_CAPACITY, name, capacity as u64);
            samples.count_of(&family::REJECTED, name, pool.stats().refused);
        });
        self
    }

    /// Also measures the values that `source` adds. The source is called for each measurement, under a lock,
    /// so the source must not use these statistics.
    pub(crate) fn add(&self, source: impl Fn(&mut Samples) + Send + Sync + 'static) {
        self.lock().push(Box::new(source));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Source>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> Samples {
        let mut samples = Samples::default();
        self.lock().iter().for_each(|source| source(&mut samples));
        samples
    }

    /// Returns the answer to `/stats`: a group of values for each pool, for the server, for its loops and for
    /// the process. Without a pool, `pool` is null, and a note in the answer says that there is no pool.
    pub fn json(&self) -> Json {
        self.look().json()
    }

    /// Returns the answer to `/metrics`, of the type [`TEXT_TYPE`].
    pub fn text(&self) -> String {
        self.look().text()
    }
}

impl Samples {
    /// Adds `count` to a value that has no label. Several sources may add to the same value, which then is
    /// the sum of their counts.
    pub(crate) fn count(&mut self, family: &'static Family, count: u64) {
        let before = self.0.iter_mut().find(|sample| std::ptr::eq(sample.family, family));
        match before.map(|sample| &mut sample.value) {
            Some(Value::Count(sum)) => *sum += count,
            _ => self.push(family, "", Value::Count(count)),
        }
    }

    pub(crate) fn count_of(&mut self, family: &'static Family, of: &str, count: u64) {
        self.push(family, of, Value::Count(count));
    }

    fn seconds(&mut self, family: &'static Family, seconds: f64) {
        self.push(family, "", Value::Seconds(seconds));
    }

    pub(crate) fn word(&mut self, family: &'static Family, word: impl fmt::Display) {
        self.push(family, "", Value::Word(word.to_string()));
    }

    fn word_of(&mut self, family: &'static Family, of: &str, word: impl fmt::Display) {
        self.push(family, of, Value::Word(word.to_string()));
    }

    fn push(&mut self, family: &'static Family, of: &str, value: Value) {
        self.0.push(Sample { family, of: of.to_owned(), value });
    }

    fn json(&self) -> Json {
        let mut json = json!({ "pool": null });
        for Sample { family, of, value } in &self.0 {
            let value = match value {
                Value::Count(count) => json!(count),
                Value::Seconds(seconds) => json!(seconds),
                Value::Word(word) => json!(word),
            };
            match (family.group, family.label) {
                ("", _) => json[of][family.key] = value,
                (group, "") => json[group][family.key] = value,
                (group, _) => json[group][family.key][of] = value,
            }
        }
        if json["pool"].is_null() {
            json["note"] = "this stage has no thread pool, so there is no queue of its own to look at".into();
        }
        json
    }

    fn text(&self) -> String {
        let mut text = PrometheusText::new();
        for family in families() {
            let samples = self.0.iter().filter(|sample| std::ptr::eq(sample.family, family));
            samples.for_each(|sample| sample.add_to(&mut text));
        }
        text.to_string()
    }
}

impl Sample {
    /// Adds the sample to the text for Prometheus. If the sample is a word, the word becomes the value of a
    /// label, and the number is 1.
    fn add_to(&self, text: &mut PrometheusText) {
        let Family { name, kind, help, label, key, .. } = *self.family;
        let of = (!label.is_empty()).then_some((label, &*self.of));
        let word = if let Value::Word(word) = &self.value { Some((key, &**word)) } else { None };
        let labels: Vec<_> = of.into_iter().chain(word).collect();
        let number = match self.value {
            Value::Count(count) => count.to_string(),
            Value::Seconds(seconds) => seconds.to_string(),
            Value::Word(_) => "1".to_owned(),
        };
        text.sample(name, &kind.to_string(), help, &labels, number);
    }
}

impl Default for Stats {
    fn default() -> Stats {
        Stats::new()
    }
}

impl fmt::Debug for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stats").field("sources", &self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_s_value_cannot_end_the_label_or_the_line() {
        let mut samples = Samples::default();
        samples.count_of(&family::ACTIVE, "a\\b\"c\nd", 3);
        assert_eq!(samples.text().lines().last(), Some(r#"executor_active_threads{name="a\\b\"c\nd"} 3"#));
        assert_eq!(samples.json()["a\\b\"c\nd"]["active"], 3);
    }

    #[test]
    fn what_several_sources_count_is_added_up() {
        let mut samples = Samples::default();
        samples.count(&family::CONNECTIONS, 2);
        samples.count(&family::CONNECTIONS, 3);
        assert_eq!(samples.json()["server"]["connections"], 5);
        assert_eq!(samples.text().lines().last(), Some("http_server_connections 5"));
    }

    #[test]
    fn a_word_is_a_label() {
        let mut samples = Samples::default();
        samples.word_of(&family::POOL_STATE, "pool", "running");
        assert_eq!(
            samples.text().lines().last(),
            Some(r#"executor_pool_state{name="pool",state="running"} 1"#)
        );
        assert_eq!(samples.json()["pool"]["state"], "running");
    }
}
