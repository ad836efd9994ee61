//! Curves over a threshold, as SVG. Both scales are logarithmic.

use charts::{Axis, Chart, Panel, Scale, number};

/// Draws `lines`, each of which is a name and a value for each threshold.
pub fn of(title: &str, thresholds: &[u64], lines: &[(&str, Vec<f64>)]) -> String {
    let points = |values: &[f64]| thresholds.iter().map(|&x| x as f64).zip(values.iter().copied()).collect();
    let x = Axis::new("elements in a piece, at most", Scale::Logarithmic(2.0), number);
    let y = Axis::new("parts of the sequential time", Scale::Logarithmic(2.0), number);
    let panel = Panel::new(x, y, lines.iter().map(|(_, values)| points(values)).collect());
    let names = lines.iter().map(|(name, _)| *name).collect();
    Chart { title, note: "", names, panels: vec![panel] }.svg()
}
