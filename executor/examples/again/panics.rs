//! Two runs of a series panic, one after the other.

use crate::periods;
use executor::panics::PanicReport;
use executor::{AfterPanic, ScheduledThreadPoolExecutor};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

// ANCHOR: panics
pub(crate) fn show(period: Duration) {
    let handler =
        |report: &PanicReport<'_>| println!("          the panic handler is told: {}", report.message);
    let pool = ScheduledThreadPoolExecutor::builder().panic_handler(handler).build().unwrap();
    let back_off = AfterPanic::BackOff { first: period.mul_f64(1.5), most: period * 60 };
    for after_panic in [AfterPanic::Stop, AfterPanic::Continue, back_off] {
        println!("{after_panic:?}");
        let (begins, begun) = channel();
        let first = Instant::now() + period;
        let series = pool.series(move |series| {
            let _ = begins.send(Instant::now());
            match series.runs() {
                1 | 2 => panic!("no such file"),
                3 => _ = series.cancel(),
                _ => (),
            }
        });
        let series = series.first_at(first).after_panic(after_panic).at_fixed_rate(period).unwrap();
        let end = series.join().unwrap();
        let begins: Vec<_> = begun.iter().map(|begin| periods(first, period, begin)).collect();
        println!("          runs began at {}; {end}", begins.join(", "));
    }
}
// ANCHOR_END: panics
