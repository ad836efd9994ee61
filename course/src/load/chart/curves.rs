//! Throughput, latency and memory over the number of connections, or throughput, latency and unserved
//! requests over the rate: a panel for each, with a line for each server.

use super::{begin, end, escaped};
use crate::load::args::Varied;
use crate::load::report::{Report, Run, time};
use std::fmt::{self, Write};

const TOP: f64 = 96.0;
const HEIGHT: f64 = 180.0;
const PANEL: f64 = 260.0;
/// The width in a panel for the labels of its axis.
const LABELS: f64 = 58.0;

/// The least distance between the middles of two labels below a panel.
const LEAST_BETWEEN_LABELS: f64 = 22.0;

/// The number of colours in [`STYLE`](super::STYLE). Servers beyond that use the same colours again, dashed.
const COLOURS: usize = 5;

/// One result of the runs, over the parameter in which they differ.
struct Panel {
    title: &'static str,
    value: fn(&Run) -> Option<f64>,
    label: fn(f64) -> String,
    is_logarithmic: bool,
}

const THROUGHPUT: Panel = Panel {
    title: "answers a second",
    value: |run| Some(run.per_second),
    label: count,
    is_logarithmic: false,
};

const LATENCY: Panel = Panel {
    title: "latency, p99",
    value: |run| run.latency_us.map(|latency| latency.p99.max(1) as f64),
    label: microseconds,
    is_logarithmic: true,
};

const MEMORY: Panel = Panel {
    title: "memory of the server, MiB",
    value: |run| run.server_memory_kib.map(|kib| kib as f64 / 1024.0),
    label: |mebibytes| format!("{mebibytes:.0}"),
    is_logarithmic: false,
};

const NOT_SERVED: Panel = Panel {
    title: "refused, failed or not sent, %",
    value: |run| Some(100.0 * run.part_not_served()),
    label: |percent| format!("{percent:.0}"),
    is_logarithmic: false,
};

/// Draws the runs as curves. The runs of one server must follow one another, sorted by that parameter.
pub(super) fn write(to: &mut String, report: &Report, varied: Varied) -> fmt::Result {
    let mut panels = match varied {
        Varied::Connections => vec![THROUGHPUT, LATENCY, MEMORY],
        Varied::Rate => vec![THROUGHPUT, LATENCY, NOT_SERVED],
    };
    panels.retain(|panel| report.runs.iter().any(|run| (panel.value)(run).is_some()));
    let below = Below::of(varied, report);
    begin(to, report, PANEL * panels.len() as f64, TOP + HEIGHT + 66.0)?;
    let servers: Vec<_> = report.runs.chunk_by(|one, next| one.name() == next.name()).collect();
    let mut x = 12.0;
    for (number, server) in servers.iter().enumerate() {
        let name = server[0].name();
        writeln!(
            to,
            r#"<line class="{}" x1="{x}" y1="44" x2="{}" y2="44"/><text class="small" x="{}" y="48">{}</text>"#,
            class(number),
            x + 22.0,
            x + 28.0,
            escaped(name)
        )?;
        x += 52.0 + 6.5 * name.len() as f64;
    }
    for (column, panel) in panels.into_iter().enumerate() {
        write_panel(to, &panel, &below, report, &servers, PANEL * column as f64)?;
    }
    end(to)
}

fn class(server: usize) -> String {
    let again = if server < COLOURS { "" } else { "\" stroke-dasharray=\"5 3" };
    format!("curve s{}{again}", server % COLOURS)
}

fn write_panel(
    to: &mut String,
    panel: &Panel,
    below: &Below,
    report: &Report,
    servers: &[&[Run]],
    left: f64,
) -> fmt::Result {
    let (left, right, bottom) = (left + LABELS, left + PANEL - 18.0, TOP + HEIGHT);
    writeln!(to, r#"<text class="small" x="{left}" y="{}">{}</text>"#, TOP - 14.0, panel.title)?;
    let axis = Axis::of(panel, &report.runs);
    for value in axis.ticks() {
        let y = axis.y(value);
        writeln!(to, r#"<line class="grid" x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}"/>"#)?;
        let (x, y, label) = (left - 6.0, y + 4.0, (panel.label)(value));
        writeln!(to, r#"<text class="small" x="{x}" y="{y:.1}" text-anchor="end">{label}</text>"#)?;
    }
    let x_of = |number| left + (right - left) * below.place(number);
    let mut labelled = f64::NEG_INFINITY;
    for &number in &below.numbers {
        let x = x_of(number);
        if x - labelled < LEAST_BETWEEN_LABELS {
            continue;
        }
        labelled = x;
        writeln!(
            to,
            r#"<text class="small" x="{x:.1}" y="{}" text-anchor="middle">{number}</text>"#,
            bottom + 16.0
        )?;
    }
    let middle = f64::midpoint(left, right);
    writeln!(
        to,
        r#"<text class="small" x="{middle}" y="{}" text-anchor="middle">{}</text>"#,
        bottom + 32.0,
        below.title
    )?;
    for (number, server) in servers.iter().enumerate() {
        let points: Vec<_> =
            server.iter().filter_map(|run| Some((x_of(run.at(below.varied)), (panel.value)(run)?))).collect();
        let path: Vec<_> = points.iter().map(|(x, value)| format!("{x:.1},{:.1}", axis.y(*value))).collect();
        writeln!(to, r#"<polyline class="{}" points="{}"/>"#, class(number), path.join(" "))?;
        for (x, value) in points {
            let (y, label) = (axis.y(value), (panel.label)(value));
            let name = escaped(server[0].name());
            writeln!(
                to,
                r#"<circle class="{}" cx="{x:.1}" cy="{y:.1}" r="3"><title>{name}: {label}</title></circle>"#,
                class(number)
            )?;
        }
    }
    Ok(())
}

/// The axis below each panel.
struct Below {
    varied: Varied,
    numbers: Vec<f64>,
    title: &'static str,
}

impl Below {
    fn of(varied: Varied, report: &Report) -> Below {
        let mut numbers: Vec<_> = report.runs.iter().map(|run| run.at(varied)).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let title = match varied {
            Varied::Connections => "connections",
            Varied::Rate => "requests a second",
        };
        Below { varied, numbers, title }
    }

    /// Where a number is, from 0 to 1.
    fn place(&self, number: f64) -> f64 {
        match self.varied {
            // Evenly spaced: the numbers are usually multiples of each other.
            Varied::Connections => {
                let place = self.numbers.iter().position(|&other| other >= number).unwrap_or_default();
                place as f64 / (self.numbers.len() - 1).max(1) as f64
            }
            Varied::Rate => number / self.numbers.last().copied().unwrap_or(1.0),
        }
    }
}

/// From nothing to a round number above the most; or from one power of ten to another.
struct Axis {
    first: f64,
    last: f64,
    is_logarithmic: bool,
}

impl Axis {
    fn of(panel: &Panel, runs: &[Run]) -> Axis {
        let values = || runs.iter().filter_map(panel.value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(1.0, f64::max));
        if panel.is_logarithmic {
            let first = least.log10().floor();
            return Axis { first, last: most.log10().ceil().max(first + 1.0), is_logarithmic: true };
        }
        Axis { first: 0.0, last: round_number_above(most), is_logarithmic: false }
    }

    fn ticks(&self) -> Vec<f64> {
        if !self.is_logarithmic {
            return (0..=4).map(|quarter| self.last * f64::from(quarter) / 4.0).collect();
        }
        let next = |exponent: &f64| Some(exponent + 1.0).filter(|next| *next <= self.last);
        std::iter::successors(Some(self.first), next).map(|exponent| 10_f64.powf(exponent)).collect()
    }

    fn y(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.log10() } else { value };
        TOP + HEIGHT * (1.0 - (value - self.first) / (self.last - self.first))
    }
}

/// A round number above `most`, whose quarters are good labels.
fn round_number_above(most: f64) -> f64 {
    let step = 10_f64.powf((most / 4.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|multiple| multiple * step);
    steps.into_iter().find(|step| step * 4.0 >= most).unwrap_or(most / 4.0) * 4.0
}

fn count(value: f64) -> String {
    if value >= 10_000.0 { format!("{:.0} k", value / 1000.0) } else { format!("{value:.0}") }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was a whole number of microseconds"
)]
fn microseconds(value: f64) -> String {
    time(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_the_most() {
        for (most, last) in
            [(1.0, 1.0), (190.0, 200.0), (203.0, 400.0), (57_000.0, 80_000.0), (90_000.0, 100_000.0)]
        {
            let found = round_number_above(most);
            assert!((found - last).abs() < 1e-6, "{most}: {found}");
        }
    }
}
