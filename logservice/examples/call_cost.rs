//! What a line costs the thread that logs, and what a call costs whose level is off.
//!
//! ```sh
//! cargo run --release --example call_cost
//! ```

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::time::{Instant, SystemTime};

use logservice::format::{Facility, Human, Json, Syslog};
use logservice::{Format, Level, Levels, LogService, Record, Sink, Value, facade};

/// So few calls that most runs are not interrupted by other work of the machine.
const CALLS: u32 = 1_000;
const RUNS: u32 = 2_000;

/// Nanoseconds per call, in the quickest run.
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
            file: None,
            line: None,
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

/// Takes everything and keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "nowhere".into()
    }
}

fn call(name: &str, call: impl FnMut(u32)) {
    println!("{name:<44} {:6.1} ns", nanos(call));
}

/// The facades' costs: one thread, and a sink that costs nothing.
fn facades() -> Result<(), Box<dyn Error>> {
    let service = LogService::builder().start(Nowhere)?;
    let levels = Levels::parse("info")?;
    facade::install(&service, &levels)?;
    println!();
    call("log, off for all", |n| log::debug!("{n}"));
    call("tracing, off for all", |n| tracing::debug!("{n}"));
    levels.set("info,other=debug,third=trace")?;
    call("log, off for this target", |n| log::debug!("{n}"));
    call("tracing, off for this target", |n| tracing::debug!("{n}"));
    println!();
    let target = "shop::orders";
    call("LogHandle::say", |n| {
        _ = service.say(Level::Info, target, format_args!("order {n} of customer {} was shipped", 7 * n));
    });
    call("log", |n| log::info!(target: "shop::orders", "order {n} of customer {} was shipped", 7 * n));
    call(
        "tracing",
        |n| tracing::info!(target: "shop::orders", "order {n} of customer {} was shipped", 7 * n),
    );
    let request = tracing::info_span!("request", id = 7);
    let _in_it = request.enter();
    call("tracing, in a span", |n| {
        tracing::info!(target: "shop::orders", "order {n} of customer {} was shipped", 7 * n);
    });
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    format("human", &Human::utc());
    format("human, no thread", &Human::utc().threads(false));
    format("json", &Json::utc());
    format("syslog", &Syslog::new(Facility::User, "shop"));
    call("SystemTime::now", |_| _ = black_box(SystemTime::now()));
    facades()
}
