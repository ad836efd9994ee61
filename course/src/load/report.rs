//! The results: as data (which is also the JSON), and as text for people.

use super::answer::Failure;
use super::args::Plan;
use super::rude::{Fate, Rudeness};
use super::session::Measured;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

/// Everything that one command measured.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) plan: Plan,
    pub(crate) runs: Vec<Run>,
}

/// What was measured at one server.
#[derive(Serialize)]
pub(crate) struct Run {
    /// The stage, if it was one that we started.
    pub(crate) stage: Option<String>,
    pub(crate) url: String,
    pub(crate) elapsed_s: f64,
    /// Answers of any status.
    pub(crate) answered: u64,
    /// Answers below status 400, and how many a second.
    pub(crate) succeeded: u64,
    pub(crate) per_second: f64,
    pub(crate) bytes: u64,
    pub(crate) latency_us: Option<Latency>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) failed: u64,
    pub(crate) failures: BTreeMap<Failure, u64>,
    pub(crate) sent_again: u64,
    /// Due at the rate asked for, and not sent before the end.
    pub(crate) never_sent: u64,
    pub(crate) rude: Vec<RudeFate>,
    /// Of the stage, for all it did during the run.
    pub(crate) server_cpu_us_per_answer: Option<f64>,
    pub(crate) interrupted: bool,
    pub(crate) remark: Option<String>,
}

/// Microseconds, of answers below status 400.
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
    pub(crate) fn new(url: String, measured: Measured) -> Run {
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
            interrupted,
            remark: None,
        }
    }

    /// The processor time that the stage used during the run.
    pub(crate) fn used(&mut self, cpu: Option<Duration>) {
        let per_answer = |cpu: Duration| cpu.as_secs_f64() * 1e6 / self.answered as f64;
        self.server_cpu_us_per_answer = cpu.filter(|_| self.answered > 0).map(per_answer);
    }

    fn name(&self) -> &str {
        self.stage.as_deref().unwrap_or(&self.url)
    }

    /// Answers that say that it went wrong.
    fn refused(&self) -> u64 {
        self.answered - self.succeeded
    }
}

impl Report {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let written = match &self.runs[..] {
            [only] => self.write_one(&mut text, only),
            several => self.write_comparison(&mut text, several),
        };
        written.expect("a String takes everything");
        text
    }

    fn write_one(&self, to: &mut String, run: &Run) -> fmt::Result {
        writeln!(to, "{}: {}", run.name(), self.plan.text())?;
        writeln!(
            to,
            "  in         {:.2} s{}",
            run.elapsed_s,
            if run.interrupted { ", interrupted" } else { "" }
        )?;
        writeln!(
            to,
            "  answers    {}, below 400: {} ({:.0} a second)",
            run.answered, run.succeeded, run.per_second
        )?;
        if let Some(Latency { p50, p90, p99, p999, max, .. }) = run.latency_us {
            let [p50, p90, p99, p999, max] = [p50, p90, p99, p999, max].map(time);
            writeln!(to, "  latency    p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, max {max}")?;
        }
        if let Some(cpu) = run.server_cpu_us_per_answer {
            writeln!(to, "  server     {cpu:.1} µs of processor time an answer")?;
        }
        write_notes(to, run)
    }

    fn write_comparison(&self, to: &mut String, runs: &[Run]) -> fmt::Result {
        writeln!(to, "{}", self.plan.text())?;
        let width = runs.iter().map(|run| run.name().len()).max().unwrap_or(0).max(5);
        writeln!(
            to,
            "{:width$}  {:>9}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}",
            "stage", "answers/s", "p50", "p99", "p99.9", "max", "refused", "failed", "CPU µs"
        )?;
        for run in runs {
            let latency = run.latency_us.map(|latency| [latency.p50, latency.p99, latency.p999, latency.max]);
            let [p50, p99, p999, max] =
                latency.map_or_else(|| ["–"; 4].map(str::to_owned), |values| values.map(time));
            let cpu = run.server_cpu_us_per_answer.map_or_else(|| "–".to_owned(), |cpu| format!("{cpu:.1}"));
            let (name, refused) = (run.name(), run.refused());
            writeln!(
                to,
                "{name:width$}  {:>9.0}  {p50:>8}  {p99:>8}  {p999:>8}  {max:>8}  {refused:>8}  {:>8}  {cpu:>9}",
                run.per_second, run.failed
            )?;
        }
        writeln!(to, "refused: answered with 400 or above; CPU: processor time of the server for an answer")?;
        for run in runs {
            let mut notes = String::new();
            write_notes(&mut notes, run)?;
            if !notes.is_empty() {
                write!(to, "\n{}\n{notes}", run.name())?;
            }
        }
        Ok(())
    }
}

/// What is not as it should be, and what became of those who did not behave.
fn write_notes(to: &mut String, run: &Run) -> fmt::Result {
    for (status, count) in run.statuses.iter().filter(|(status, _)| **status >= 400) {
        writeln!(to, "  refused    {count} with status {status}")?;
    }
    for (failure, count) in &run.failures {
        writeln!(to, "  failed     {count}: {}", failure.text())?;
    }
    if run.failed > 0 {
        writeln!(to, "             (a request that failed is in no latency above)")?;
    }
    if run.sent_again > 0 {
        writeln!(to, "  sent again {}, closed between two requests", run.sent_again)?;
    }
    if run.never_sent > 0 {
        writeln!(
            to,
            "  NOT SENT   {} that were due: the server or this machine cannot keep that rate, and the latencies \
             above are too good",
            run.never_sent
        )?;
    }
    for RudeFate { kind, clients, fate } in &run.rude {
        writeln!(
            to,
            "  {} × {}: {} connections, {} refused, {} answered, ended by the server {}, by the client {}, \
             held to the end {}, longest {}",
            clients,
            kind.text(),
            fate.connections,
            fate.refused,
            fate.answered,
            fate.ended_by_server,
            fate.ended_by_client,
            fate.held_to_the_end,
            time(fate.longest_ms * 1000)
        )?;
    }
    if let Some(remark) = &run.remark {
        writeln!(to, "  REMARK     {remark}")?;
    }
    Ok(())
}

/// Microseconds, for people: three digits, and a unit.
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
