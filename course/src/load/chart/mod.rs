//! Draws the results as a picture. If there were several numbers of connections or several rates,
//! [`curves`] draws the picture, and otherwise [`bars`].

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
