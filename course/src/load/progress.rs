//! The progress line of a run. It is written only to a terminal.

use super::args::Plan;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

pub(crate) struct Progress {
    planned: Duration,
    visible: bool,
    before: (Duration, u64),
}

impl Progress {
    pub(crate) fn begin(plan: &Plan) -> Progress {
        Progress { planned: plan.duration, visible: io::stderr().is_terminal(), before: (Duration::ZERO, 0) }
    }

    /// Shows answers and failures since the beginning, and the rate since the last line.
    pub(crate) fn show(&mut self, elapsed: Duration, (answered, failed): (u64, u64)) {
        if !self.visible {
            return;
        }
        let (before, answered_before) = self.before;
        let rate =
            (answered - answered_before) as f64 / elapsed.saturating_sub(before).as_secs_f64().max(0.001);
        self.before = (elapsed, answered);
        let (elapsed, planned) = (elapsed.as_secs_f64(), self.planned.as_secs_f64());
        let waiting = if elapsed > planned { ", waiting for the last answers" } else { "" };
        let line = format!("{elapsed:.1} of {planned:.1} s, {rate:.0} answers/s, {failed} failed{waiting}");
        write(&format!("\r{line}\x1b[K"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.visible {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
