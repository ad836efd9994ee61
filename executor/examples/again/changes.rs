//! A series is paused, resumed, and made faster.

use crate::periods;
use executor::ScheduledThreadPoolExecutor;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

// ANCHOR: changes
pub(crate) fn show(period: Duration) {
    let pool = ScheduledThreadPoolExecutor::new(1);
    let (begins, begun) = channel();
    let first = Instant::now() + period;
    let say = move |_: &_| _ = begins.send(Instant::now());
    let series = pool.series(say).first_at(first).at_fixed_rate(period).unwrap();
    let next = || begun.recv().map(|begin| periods(first, period, begin)).unwrap();

    println!("runs begin at {}, {}, {}", next(), next(), next());
    series.pause();
    println!("paused; the next run: {:?}", series.next_run());
    thread::sleep((first + period.mul_f64(4.5)).duration_since(Instant::now()));
    series.resume();
    println!("resumed at 4.5; the next run: {}", periods(first, period, series.next_run().unwrap()));
    println!("runs begin at {}, {}", next(), next());
    series.set_period(period / 2);
    println!("twice as fast: {}, {}, {}", next(), next(), next());
    series.cancel();
}
// ANCHOR_END: changes
