//! The results as text for human readers.

use super::args::Varied;
use super::report::{Latency, Report, RudeFate, Run, time};
use exercises_protocol::counted;
use std::fmt::{self, Write};

/// The columns of the comparison that contain figures, each with its width.
const COLUMNS: [(&str, usize); 9] = [
    ("answers/s", 9),
    ("p50", 8),
    ("p99", 8),
    ("p99.9", 8),
    ("max", 8),
    ("refused", 7),
    ("failed", 7),
    ("CPU µs", 7),
    ("MiB", 6),
];
/// The width of these columns with gaps of two characters between them, and the width of a page of the book.
const FIGURES: usize = 86;
const PAGE: usize = 110;

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
        writeln!(to, "{}", self.title())?;
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
        if let Some(memory) = run.server_memory_kib {
            writeln!(to, "  memory     {:.1} MiB at most, of the server", memory as f64 / 1024.0)?;
        }
        write_notes(to, run)
    }

    fn write_comparison(&self, to: &mut String, runs: &[Run]) -> fmt::Result {
        writeln!(to, "{}", self.title())?;
        let width = runs.iter().map(|run| run.name().chars().count()).max().unwrap_or(0).max(5);
        let varied = self.plan.varied();
        let heading = match varied {
            None => "",
            Some(Varied::Connections) => " conn.",
            Some(Varied::Rate) => "  rate",
        };
        let at = |run: &Run| varied.map_or_else(String::new, |varied| format!("{:>6}", run.at(varied)));
        let is_wide = width + at(&runs[0]).len() + FIGURES > PAGE;
        let row = |name: &str, at: &str, cells: [String; COLUMNS.len()]| {
            let gap = if is_wide { " " } else { "  " };
            let cells = cells.iter().zip(COLUMNS).map(|(cell, (_, width))| format!("{gap}{cell:>width$}"));
            format!("{name:width$}{at}{}", cells.collect::<String>())
        };
        writeln!(to, "{}", row("stage", heading, COLUMNS.map(|(name, _)| name.to_owned())))?;
        for run in runs {
            let latency = run.latency_us.map(|latency| [latency.p50, latency.p99, latency.p999, latency.max]);
            let [p50, p99, p999, max] =
                latency.map_or_else(|| ["–"; 4].map(str::to_owned), |values| values.map(time));
            let cpu = run.server_cpu_us_per_answer.map_or_else(|| "–".to_owned(), |cpu| format!("{cpu:.1}"));
            let memory = run.server_memory_kib.map(|kib| format!("{:.1}", kib as f64 / 1024.0));
            let [refused, failed] = [run.refused(), run.failed].map(|count| count.to_string());
            let (rate, memory) = (format!("{:.0}", run.per_second), memory.unwrap_or_else(|| "–".to_owned()));
            let cells = [rate, p50, p99, p999, max, refused, failed, cpu, memory];
            writeln!(to, "{}", row(run.name(), &at(run), cells))?;
        }
        writeln!(
            to,
            "refused: answered with 400 or above; CPU: processor time of the server for an answer; MiB: its memory at most"
        )?;
        writeln!(to, "{}", self.setting.text())?;
        for run in runs {
            let mut notes = String::new();
            write_notes(&mut notes, run)?;
            if !notes.is_empty() {
                write!(to, "\n{}{}\n{notes}", run.name(), at(run))?;
            }
        }
        Ok(())
    }
}

/// Writes notes about failures, and about how the connections of rude clients ended.
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
            "  {} × {}: {}, {} refused, {} answered, ended by the server {}, by the client {}, \
             held to the end {}, longest {}",
            clients,
            kind.text(),
            counted(fate.connections, "connection"),
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
