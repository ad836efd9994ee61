//! Shows a progress line during a run. The line is written only to a terminal.

use super::args::Plan;
use command_line::ProgressLine;
use std::time::Duration;

pub(crate) struct Progress {
    planned: Duration,
    line: ProgressLine,
    before: (Duration, u64),
}

impl Progress {
    pub(crate) fn begin(plan: &Plan) -> Progress {
        let line = ProgressLine::after(Duration::ZERO);
        Progress { planned: plan.duration, line, before: (Duration::ZERO, 0) }
    }

    /// Shows the number of answers and failures since the beginning, and the rate since the previous progress
    /// line.
    pub(crate) fn show(&mut self, elapsed: Duration, (answered, failed): (u64, u64)) {
        let (before, answered_before) = self.before;
        self.before = (elapsed, answered);
        self.line.show(|| {
            let time = elapsed.saturating_sub(before).as_secs_f64().max(0.001);
            let rate = (answered - answered_before) as f64 / time;
            let (elapsed, planned) = (elapsed.as_secs_f64(), self.planned.as_secs_f64());
            let waiting = if elapsed > planned { ", waiting for the last answers" } else { "" };
            format!("{elapsed:.1} of {planned:.1} s, {rate:.0} answers/s, {failed} failed{waiting}")
        });
    }
}
