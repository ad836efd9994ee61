//! A series with a hundred runs: one run every 10 ms. Each run takes 2 ms.

use executor::ScheduledThreadPoolExecutor;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(10);

// ANCHOR: drift
fn task(begins: &Sender<Instant>) {
    let _ = begins.send(Instant::now());
    thread::sleep(Duration::from_millis(2));
}

pub(crate) fn show() {
    let (begins, begun) = channel();
    thread::spawn(move || {
        for _ in 0..=100 {
            task(&begins);
            thread::sleep(PERIOD);
        }
    });
    report("sleep in a loop", &begun);

    let pool = ScheduledThreadPoolExecutor::new(1);
    let (begins, begun) = channel();
    let fixed_delay = pool.schedule_with_fixed_delay(Duration::ZERO, PERIOD, move |_| task(&begins)).unwrap();
    report("fixed delay", &begun);
    fixed_delay.cancel();

    let (begins, begun) = channel();
    let fixed_rate = pool.schedule_at_fixed_rate(Duration::ZERO, PERIOD, move |_| task(&begins)).unwrap();
    report("fixed rate", &begun);
    fixed_rate.cancel();
}
// ANCHOR_END: drift

fn report(what: &str, begun: &Receiver<Instant>) {
    let begins: Vec<_> = begun.iter().take(101).collect();
    let after = begins[100] - begins[0];
    println!("{what:16} run 100 begins {:.2} s after run 0", after.as_secs_f64());
}
