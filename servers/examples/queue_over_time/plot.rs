//! Draws the number of waiting clients over time, as an SVG image.

use crate::observe::Observed;
use charts::{Axis, Band, Chart, Panel, Scale, number};

/// `phases` has the seconds and rates of the phases; the busiest phase is shaded.
pub(crate) fn of(phases: &[(f64, f64)], runs: &[(&str, &Observed)]) -> String {
    let busiest = phases.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    let mut end = 0.0;
    let phase = |&(length, rate): &(f64, f64)| {
        end += length;
        Band { from: end - length, to: end, name: format!("{rate} a second"), is_shaded: rate >= busiest }
    };
    let bands = phases.iter().map(phase).collect();
    let x = Axis::new("seconds", Scale::Linear(10), number).covering([end]);
    let y = Axis::new("clients", Scale::Linear(5), number);
    let lines = runs.iter().map(|(_, run)| run.curve().filter(|(at, _)| *at <= end).collect());
    let mut panel = Panel::new(x, y, lines.collect());
    panel.bands = bands;
    let names = runs.iter().map(|(name, _)| *name).collect();
    Chart { title: "clients waiting for a thread", note: "", names, panels: vec![panel] }.svg()
}
