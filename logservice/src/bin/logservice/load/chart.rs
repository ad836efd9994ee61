//! Draws the durations of the calls as a curve: rarer calls are further right, longer calls are higher, and
//! both axes are logarithmic.

use super::report::Report;
use charts::{Axis, Chart, Panel, Scale, number, time};

pub(super) fn svg(report: &Report<'_>) -> String {
    let title = format!("How long a call took: {}", report.title());
    // The labels are: all calls, one call in ten, one call in a hundred, and so on.
    let rarity = |part| if part < 2.0 { "all".to_owned() } else { format!("1 in {}", number(part)) };
    let x = Axis::new("so many calls took at least as long", Scale::Logarithmic(10.0), rarity);
    let y = Axis::new("time", Scale::Logarithmic(10.0), time).covering([10e-9, 10.0]);
    // The curve ends at the longest call.
    let (parts, rarest) =
        ((0..=60).map(|step| 10_f64.powf(f64::from(step) / 10.0)), report.calls.len().max(1));
    let seconds = |part: f64| report.calls.value_at_quantile(1.0 - 1.0 / part) as f64 / 1e9;
    let line = parts.take_while(|part| *part <= rarest as f64).map(|part| (part, seconds(part)));
    let panel = Panel::new(x.covering([1.0, 1e6]), y, vec![line.collect()]);
    Chart { title: &title, note: "", names: vec![&*report.args.policy.name], panels: vec![panel] }.svg()
}
