//! Draws curves over the number of connections (throughput, latency and memory), or over the rate
//! (throughput, latency and unserved requests). Each value has its own panel, with one line for each
//! server.

use crate::load::args::Varied;
use crate::load::report::{Report, Run};
use charts::{Axis, Chart, Panel, Scale, number, time};

/// A value of a run, with the name, the scale and the labels of its axis.
type Measure = (fn(&Run) -> Option<f64>, &'static str, Scale, fn(f64) -> String);

const THROUGHPUT: Measure = (|run| Some(run.per_second), "answers a second", Scale::Linear(5), count);
const LATENCY: Measure = (
    |run| run.latency_us.map(|latency| latency.p99.max(1) as f64 / 1e6),
    "latency, p99",
    Scale::Logarithmic(10.0),
    time,
);
const MEMORY: Measure = (
    |run| run.server_memory_kib.map(|kib| kib as f64 / 1024.0),
    "memory of the server, MiB",
    Scale::Linear(5),
    number,
);
const NOT_SERVED: Measure =
    (|run| Some(100.0 * run.part_not_served()), "refused, failed or not sent, %", Scale::Linear(5), number);

/// Draws the runs as curves. The runs of one server are neighbours, in the order of the parameter in which
/// they differ.
pub(super) fn svg(report: &Report, varied: Varied) -> String {
    let (below, scale, last) = match varied {
        // Neighbouring values are at equal distances on the axis, because each number is usually a multiple
        // of the one before.
        Varied::Connections => ("connections", Scale::Even, MEMORY),
        Varied::Rate => ("requests a second", Scale::Measured, NOT_SERVED),
    };
    let servers: Vec<_> = report.runs.chunk_by(|one, next| one.name() == next.name()).collect();
    let panel = |(value, name, values, label): Measure| {
        let points = |run: &Run| Some((run.at(varied), value(run)?));
        let lines: Vec<Vec<_>> =
            servers.iter().map(|runs| runs.iter().filter_map(points).collect()).collect();
        let (x, y) = (Axis::new(below, scale, number), Axis::new(name, values, label));
        lines.iter().any(|points| !points.is_empty()).then(|| Panel::new(x, y, lines))
    };
    let panels = [THROUGHPUT, LATENCY, last].into_iter().filter_map(panel).collect();
    let names = servers.iter().map(|runs| runs[0].name()).collect();
    Chart { title: &report.title(), note: &report.setting.text(), names, panels }.svg()
}

fn count(value: f64) -> String {
    if value >= 10_000.0 { format!("{} k", number(value / 1000.0)) } else { number(value) }
}
