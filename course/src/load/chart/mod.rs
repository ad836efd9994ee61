//! Draws the results as a picture: by [`bars`] if there was one number of connections and at most one rate,
//! and by [`curves`] if there were several numbers or rates.

mod bars;
mod curves;

use super::report::Report;

/// Draws a report.
pub(crate) fn svg(report: &Report) -> String {
    match report.plan.varied() {
        None => bars::svg(report),
        Some(varied) => curves::svg(report, varied),
    }
}
