//! What a line costs the thread that logs, and what it costs to be off.
//!
//! ```sh
//! cargo run --release -p logservice --example call_cost
//! ```

use std::hint::black_box;
use std::time::{Instant, SystemTime};

use logservice::format::{Facility, Human, Json, Syslog};
use logservice::{Format, Level, Record, Value};

/// So few that most runs are not interrupted, on a machine that does other things, too.
const CALLS: u32 = 1_000;
const RUNS: u32 = 2_000;

/// Nanoseconds of a call, in the quickest run.
fn nanos(mut call: impl FnMut(u32)) -> f64 {
    let mut run = || {
        let began = Instant::now();
        (0..CALLS).for_each(&mut call);
        began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn format(name: &str, format: &impl Format) {
    let mut out = String::new();
    let mut line = |n: u32, fields: &[(&str, Value<'_>)]| {
        out.clear();
        let message = format_args!("order {n} of customer {} was shipped", 7 * n);
        let (level, target) = (Level::Info, "shop::orders");
        let record = Record {
            time: black_box(SystemTime::UNIX_EPOCH),
            level,
            target,
            message,
            fields: &fields,
            spans: &[],
        };
        format.line(black_box(&record), 8_191, &mut out);
        black_box(out.len())
    };
    let length = line(100_000, &[]);
    let plain = nanos(|n| _ = line(n, &[]));
    let pairs =
        nanos(|n| _ = line(n, &[("host", Value::Text("db1.example")), ("rows", Value::Unsigned(n.into()))]));
    println!("{name:<24} {plain:6.1} ns   with two fields {pairs:6.1} ns   ({length} bytes)");
}

fn main() {
    format("human", &Human::utc());
    format("human, no thread", &Human::utc().threads(false));
    format("json", &Json::utc());
    format("syslog", &Syslog::new(Facility::User, "shop"));
    println!("{:<24} {:6.1} ns", "SystemTime::now", nanos(|_| _ = black_box(SystemTime::now())));
}
