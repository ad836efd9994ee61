//! The results as data; the JSON is made from them.

use super::answer::Failure;
use super::args::{Plan, Step, Varied};
use super::rude::{Fate, Rudeness};
use super::session::Measured;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};
use std::{env, thread};

/// All results of one command.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) plan: Plan,
    pub(crate) setting: Setting,
    pub(crate) runs: Vec<Run>,
}

/// The place and time of the measurement; without them the numbers mean nothing.
#[derive(Serialize)]
pub(crate) struct Setting {
    pub(crate) date: String,
    pub(crate) processors: usize,
    pub(crate) system: String,
}

/// The results of one run, with one server, one number of connections and one rate.
#[derive(Serialize)]
pub(crate) struct Run {
    /// The name of the stage, if `load` started it.
    pub(crate) stage: Option<String>,
    pub(crate) url: String,
    pub(crate) connections: usize,
    pub(crate) rate: Option<f64>,
    pub(crate) elapsed_s: f64,
    /// The number of answers, with any status.
    pub(crate) answered: u64,
    /// The number of answers with a status below 400, in total and in a second.
    pub(crate) succeeded: u64,
    pub(crate) per_second: f64,
    pub(crate) bytes: u64,
    pub(crate) latency_us: Option<Latency>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) failed: u64,
    pub(crate) failures: BTreeMap<Failure, u64>,
    pub(crate) sent_again: u64,
    /// The number of requests that were due at the rate, but were not sent before the end.
    pub(crate) never_sent: u64,
    pub(crate) rude: Vec<RudeFate>,
    /// The processor time that the stage used in the run, divided by the number of answers.
    pub(crate) server_cpu_us_per_answer: Option<f64>,
    /// The peak memory of the stage.
    pub(crate) server_memory_kib: Option<u64>,
    pub(crate) interrupted: bool,
    pub(crate) remark: Option<String>,
}

/// The latencies of answers with a status below 400, in microseconds.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Latency {
    pub(crate) min: u64,
    pub(crate) mean: f64,
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p999: u64,
    pub(crate) max: u64,
}

#[derive(Serialize)]
pub(crate) struct RudeFate {
    pub(crate) kind: Rudeness,
    pub(crate) clients: usize,
    #[serde(flatten)]
    pub(crate) fate: Fate,
}

impl Run {
    pub(crate) fn new(url: String, Step { connections, rate }: Step, measured: Measured) -> Run {
        let Measured { elapsed, tally, never_sent, rude, interrupted } = measured;
        let latency = &tally.latency;
        let at = |quantile| latency.value_at_quantile(quantile).min(latency.max());
        let latency_us = (!latency.is_empty()).then(|| Latency {
            min: latency.min(),
            mean: latency.mean(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: latency.max(),
        });
        let rude = rude.into_iter().map(|(kind, clients, fate)| RudeFate { kind, clients, fate });
        Run {
            stage: None,
            url,
            connections,
            rate,
            elapsed_s: elapsed.as_secs_f64(),
            answered: tally.answered(),
            succeeded: tally.successes(),
            per_second: tally.successes() as f64 / elapsed.as_secs_f64().max(1e-6),
            bytes: tally.bytes,
            latency_us,
            failed: tally.failed(),
            statuses: tally.statuses,
            failures: tally.failures,
            sent_again: tally.retries,
            never_sent,
            rude: rude.collect(),
            server_cpu_us_per_answer: None,
            server_memory_kib: None,
            interrupted,
            remark: None,
        }
    }

    /// Records the processor time that the stage used during the run. The system counts processor time in
    /// hundredths of a second, so a time of only a few hundredths is not reported.
    pub(crate) fn used(&mut self, cpu: Option<Duration>) {
        const LEAST: Duration = Duration::from_millis(30);
        let per_answer = |cpu: Duration| cpu.as_secs_f64() * 1e6 / self.answered as f64;
        self.server_cpu_us_per_answer = cpu.filter(|&cpu| self.answered > 0 && cpu >= LEAST).map(per_answer);
    }

    pub(crate) fn name(&self) -> &str {
        self.stage.as_deref().unwrap_or(&self.url)
    }

    /// Returns the parameter in which this run differs from other runs with the same server.
    pub(crate) fn at(&self, varied: Varied) -> f64 {
        match varied {
            Varied::Connections => self.connections as f64,
            Varied::Rate => self.rate.unwrap_or_default(),
        }
    }

    /// Returns the fraction of all requests (sent or due) that did not succeed.
    pub(crate) fn part_not_served(&self) -> f64 {
        let all = self.answered + self.failed + self.never_sent;
        (all - self.succeeded) as f64 / all.max(1) as f64
    }

    /// Returns the number of answers that had a status of 400 or above.
    pub(crate) fn refused(&self) -> u64 {
        self.answered - self.succeeded
    }
}

impl Report {
    /// Returns the request as text, with the server if there is only one server.
    pub(crate) fn title(&self) -> String {
        match &self.runs[..] {
            [only] => format!("{}: {}", only.name(), self.plan.text()),
            _ => self.plan.text(),
        }
    }
}

impl Setting {
    /// Returns the place and time of a measurement that this machine makes now.
    pub(crate) fn here() -> Setting {
        Setting {
            date: httpdate::fmt_http_date(SystemTime::now()),
            processors: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            system: format!("{} on {}", env::consts::OS, env::consts::ARCH),
        }
    }

    pub(crate) fn text(&self) -> String {
        let Setting { date, processors, system } = self;
        format!("measured on {date}, {system}, {processors} processors for server and load together")
    }
}

/// Formats a time for human readers, with three digits and a unit.
pub(crate) fn time(microseconds: u64) -> String {
    let value = microseconds as f64;
    let (value, unit) = match microseconds {
        0..1_000 => return format!("{microseconds} µs"),
        1_000..1_000_000 => (value / 1e3, "ms"),
        _ => (value / 1e6, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn a_time_has_three_digits_and_a_unit() {
        for (microseconds, text) in [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_000, "1.00 ms"),
            (45_600, "45.6 ms"),
            (300_000, "300 ms"),
            (2_500_000, "2.50 s"),
        ] {
            assert_eq!(time(microseconds), text);
        }
    }
}
