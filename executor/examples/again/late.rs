//! One run of a series takes two and a half periods.

use crate::periods;
use executor::{MissedTicks, ScheduledThreadPoolExecutor};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

// ANCHOR: late
pub(crate) fn show(period: Duration) {
    for missed in [MissedTicks::CatchUp, MissedTicks::Skip, MissedTicks::Shift] {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (begins, begun) = channel();
        let first = Instant::now() + period;
        let series = pool.series(move |series| {
            let _ = begins.send(Instant::now());
            if series.runs() == 0 {
                thread::sleep((first + period.mul_f64(2.5)).duration_since(Instant::now()));
            }
        });
        let series = series.first_at(first).missed_ticks(missed).at_fixed_rate(period).unwrap();
        let begins: Vec<_> = begun.iter().take(5).map(|begin| periods(first, period, begin)).collect();
        series.cancel();
        println!("{:8} runs begin at {}", format!("{missed:?}"), begins.join(", "));
    }
}
// ANCHOR_END: late
