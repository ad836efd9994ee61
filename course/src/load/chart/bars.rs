//! Throughput as bars, latency as points on a logarithmic axis.

use super::{begin, end, escaped};
use crate::load::report::{Latency, Report, Run, time};
use std::fmt::{self, Write};

const ROW: f64 = 46.0;
const TOP: f64 = 64.0;
const NAMES: f64 = 150.0;
const BARS: f64 = 210.0;
const LATENCY: f64 = 450.0;
const LATENCY_WIDTH: f64 = 290.0;
const WIDTH: f64 = 780.0;

/// Draws the runs, one below the other.
pub(super) fn write(to: &mut String, report: &Report) -> fmt::Result {
    let height = TOP + ROW * report.runs.len() as f64 + 50.0;
    begin(to, report, WIDTH, height)?;
    writeln!(to, r#"<text class="small" x="{NAMES}" y="50">answers a second</text>"#)?;
    writeln!(to, r#"<text class="small" x="{LATENCY}" y="50">latency: p50, p90, p99, p99.9, max</text>"#)?;
    let axis = Axis::of(&report.runs);
    axis.write(to, TOP, height - 50.0)?;
    let most = report.runs.iter().map(|run| run.per_second).fold(1.0, f64::max);
    for (row, run) in report.runs.iter().enumerate() {
        let middle = TOP + ROW * (row as f64 + 0.5);
        write_throughput(to, run, most, middle)?;
        if let Some(latency) = run.latency_us {
            axis.write_points(to, latency, middle)?;
        }
    }
    end(to)
}

fn write_throughput(to: &mut String, run: &Run, most: f64, middle: f64) -> fmt::Result {
    let name = escaped(run.stage.as_deref().unwrap_or("server"));
    writeln!(to, r#"<text x="12" y="{:.1}">{name}</text>"#, middle + 4.0)?;
    let bar = (BARS * run.per_second / most).max(1.0);
    writeln!(to, r#"<rect class="bar" x="{NAMES}" y="{:.1}" width="{bar:.1}" height="12"/>"#, middle - 12.0)?;
    let bad = run.failed + run.answered - run.succeeded;
    let bad = if bad > 0 { format!(", and {bad} refused or failed") } else { String::new() };
    writeln!(
        to,
        r#"<text class="small" x="{NAMES}" y="{:.1}">{:.0}{bad}</text>"#,
        middle + 14.0,
        run.per_second
    )
}

/// Powers of ten of a microsecond, as many as the values need.
struct Axis {
    first: i32,
    last: i32,
}

impl Axis {
    fn of(runs: &[Run]) -> Axis {
        let latencies = || runs.iter().filter_map(|run| run.latency_us);
        let least = latencies().map(|latency| latency.p50).min().unwrap_or(1).max(1);
        let most = latencies().map(|latency| latency.max).max().unwrap_or(10);
        let first = least.ilog10().cast_signed();
        Axis { first, last: (most.max(1).ilog10().cast_signed() + 1).max(first + 1) }
    }

    fn x(&self, microseconds: u64) -> f64 {
        let decades = (microseconds.max(1) as f64).log10() - f64::from(self.first);
        LATENCY + LATENCY_WIDTH * decades / f64::from(self.last - self.first)
    }

    fn write(&self, to: &mut String, top: f64, bottom: f64) -> fmt::Result {
        for decade in self.first..=self.last {
            let value = 10_u64.pow(decade.unsigned_abs());
            let x = self.x(value);
            writeln!(to, r#"<line class="grid" x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}"/>"#)?;
            let label = bottom + 18.0;
            writeln!(
                to,
                r#"<text class="small" x="{x:.1}" y="{label}" text-anchor="middle">{}</text>"#,
                time(value)
            )?;
        }
        Ok(())
    }

    fn write_points(&self, to: &mut String, latency: Latency, middle: f64) -> fmt::Result {
        let Latency { p50, p90, p99, p999, max, .. } = latency;
        let (left, right) = (self.x(p50), self.x(max));
        writeln!(to, r#"<line class="line" x1="{left:.1}" y1="{middle}" x2="{right:.1}" y2="{middle}"/>"#)?;
        for (name, value) in [("p50", p50), ("p90", p90), ("p99", p99), ("p99.9", p999), ("max", max)] {
            let radius = if name == "p50" { 6 } else { 4 };
            let x = self.x(value);
            writeln!(
                to,
                r#"<circle class="bar" cx="{x:.1}" cy="{middle}" r="{radius}"><title>{name} {}</title></circle>"#,
                time(value)
            )?;
        }
        Ok(())
    }
}
