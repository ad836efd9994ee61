//! Draws throughput as bars, and latency as points on a logarithmic axis.

use crate::load::report::{Latency, Report, Run};
use charts::{Anchor, Axis, Drawing, Scale, escaped, time};

const ROW: f64 = 46.0;
const TOP: f64 = 64.0;
const NAMES: f64 = 150.0;
const BARS: f64 = 210.0;
const LATENCY: f64 = 450.0;
const LATENCY_WIDTH: f64 = 290.0;
const WIDTH: f64 = 780.0;

/// Draws the runs one below the other.
pub(super) fn svg(report: &Report) -> String {
    let bottom = TOP + ROW * report.runs.len() as f64;
    let setting = report.setting.text();
    let mut drawing = Drawing::default();
    drawing.label(NAMES, 50.0, Anchor::Start, "answers a second");
    drawing.label(LATENCY, 50.0, Anchor::Start, "latency: p50, p90, p99, p99.9, max");
    drawing.label(12.0, bottom + 42.0, Anchor::Start, &setting);
    let latencies = report.runs.iter().filter_map(|run| run.latency_us);
    let latencies = latencies.flat_map(|latency| [latency.p50, latency.max].map(seconds));
    let axis = Axis::new("", Scale::Logarithmic(10.0), time).covering(latencies);
    for (place, label) in axis.ticks() {
        let x = LATENCY + LATENCY_WIDTH * place;
        drawing.line("grid", (x, TOP), (x, bottom));
        drawing.label(x, bottom + 18.0, Anchor::Middle, &label);
    }
    let most = report.runs.iter().map(|run| run.per_second).fold(1.0, f64::max);
    for (row, run) in report.runs.iter().enumerate() {
        let middle = TOP + ROW * (row as f64 + 0.5);
        draw_throughput(&mut drawing, run, most, middle);
        if let Some(latency) = run.latency_us {
            draw_latency(&mut drawing, &axis, latency, middle);
        }
    }
    drawing.svg(&report.title(), &setting, WIDTH, bottom + 50.0)
}

fn draw_throughput(drawing: &mut Drawing, run: &Run, most: f64, middle: f64) {
    let (name, bar) = (run.stage.as_deref().unwrap_or("server"), (BARS * run.per_second / most).max(1.0));
    drawing.add(format_args!(
        r#"<text x="12" y="{:.1}">{}</text><rect class="bar s0" x="{NAMES}" y="{:.1}" width="{bar:.1}" height="12"/>"#,
        middle + 4.0,
        escaped(name),
        middle - 12.0
    ));
    let bad = run.failed + run.refused();
    let bad = if bad > 0 { format!(", and {bad} refused or failed") } else { String::new() };
    drawing.label(NAMES, middle + 14.0, Anchor::Start, &format!("{:.0}{bad}", run.per_second));
}

fn draw_latency(drawing: &mut Drawing, axis: &Axis<'_>, latency: Latency, middle: f64) {
    let Latency { p50, p90, p99, p999, max, .. } = latency;
    let x = |microseconds| LATENCY + LATENCY_WIDTH * axis.place(seconds(microseconds));
    drawing.line("curve s0", (x(p50), middle), (x(max), middle));
    for (name, value) in [("p50", p50), ("p90", p90), ("p99", p99), ("p99.9", p999), ("max", max)] {
        let (x, radius) = (x(value), if name == "p50" { 6 } else { 4 });
        drawing.add(format_args!(
            r#"<circle class="bar s0" cx="{x:.1}" cy="{middle}" r="{radius}"><title>{name} {}</title></circle>"#,
            time(seconds(value))
        ));
    }
}

fn seconds(microseconds: u64) -> f64 {
    microseconds.max(1) as f64 / 1e6
}
