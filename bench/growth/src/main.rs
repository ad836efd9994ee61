//! Measures how costs grow: 1, 10, 100 … queued tasks, keys, timers, waiting threads, lines of a log, connections, pages
//! of a crawl, and files of an index.
//!
//! ```sh
//! cargo run --release --manifest-path bench/Cargo.toml -p growth
//! ```
//!
//! The program fails if a cost clearly grows faster than n log n.

mod fit;
mod library;
mod programs;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use charts::{Axis, Chart, Panel, Scale, number, time};
use clap::Parser;
use kit::contest::progress;
use kit::figures::spread;

use fit::Fit;

/// Measures how the costs of tasks, timers, connections and others grow with their number
#[derive(Parser)]
#[command(name = "growth")]
struct Args {
    /// Measure only things whose name contains this, as in `--only timers`
    #[arg(long, value_name = "WORD")]
    only: Vec<String>,

    /// The largest number of things; each has a largest number of its own, too
    #[arg(long, default_value_t = 1_000_000)]
    most: usize,

    /// Draw the curves into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Handles this number of things, and returns how long that took.
type Measure = Box<dyn FnMut(usize) -> anyhow::Result<Duration>>;

/// Things whose number grows.
struct Things {
    name: &'static str,
    /// The largest number that is measured.
    most: usize,
    /// Whether the things are handled by another process.
    is_program: bool,
    start: fn() -> anyhow::Result<Measure>,
}

const fn things(name: &'static str, most: usize, start: fn() -> anyhow::Result<Measure>) -> Things {
    Things { name, most, is_program: false, start }
}

const fn of_program(name: &'static str, most: usize, start: fn() -> anyhow::Result<Measure>) -> Things {
    Things { is_program: true, ..things(name, most, start) }
}

const ALL: [Things; 8] = [
    things("queued tasks", 1_000_000, || Ok(Box::new(library::tasks))),
    things("keys", 100_000, || Ok(Box::new(library::keys))),
    things("timers", 100_000, || Ok(Box::new(library::timers))),
    things("waiting threads", 10_000, || Ok(Box::new(library::waiting_threads))),
    things("lines of a log", 100_000, || Ok(Box::new(library::log_lines))),
    of_program("connections", programs::CONNECTIONS, programs::connections),
    of_program("pages of a crawl", 100_000, programs::pages),
    of_program("files of an index", 100_000, programs::files),
];

/// The number of times that each number of things is measured. The shortest time counts, because other work on the
/// machine can only add to it.
const ROUNDS: u32 = 5;

/// The seconds for so many things, for each number.
type Curve = Vec<(f64, f64)>;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let is_chosen =
        |things: &&Things| args.only.is_empty() || args.only.iter().any(|word| things.name.contains(word));
    let mut curves = Vec::new();
    for things in ALL.iter().filter(is_chosen) {
        let curve = measured(things, args.most).with_context(|| things.name)?;
        curves.push((things, curve));
    }
    let too_fast = print(&curves);
    if let Some(file) = &args.svg {
        fs::write(file, svg(&curves)).with_context(|| format!("cannot write {}", file.display()))?;
    }
    ensure!(too_fast.is_empty(), "these costs grow faster than n log n: {}", too_fast.join(", "));
    Ok(())
}

fn measured(things: &Things, most: usize) -> anyhow::Result<Curve> {
    let mut measure = (things.start)()?;
    let numbers = std::iter::successors(Some(1), |number| Some(number * 10));
    let mut curve = Vec::new();
    for number in numbers.take_while(|number| *number <= things.most.min(most)) {
        progress(&format!("{number} {}", things.name));
        measure(number)?; // not counted
        let rounds = (0..ROUNDS).map(|_| Ok(measure(number)?.as_secs_f64()));
        let seconds = rounds.collect::<anyhow::Result<Vec<_>>>()?;
        curve.push((number as f64, spread(&seconds).least));
    }
    progress("");
    Ok(curve)
}

/// Prints the time for each thing and the exponents. Returns the things whose cost grows too fast.
fn print(curves: &[(&Things, Curve)]) -> Vec<&'static str> {
    let longest = curves.iter().map(|(_, curve)| curve.as_slice()).max_by_key(|curve| curve.len());
    let cells = |of: &dyn Fn(usize) -> Option<String>| -> String {
        let cell = |n| format!("{:>10}", of(n).unwrap_or_default());
        (0..longest.map_or(0, <[_]>::len)).map(cell).collect::<Vec<_>>().concat()
    };
    println!("the time for each, if there are so many");
    let head = cells(&|n| Some(longest?[n].0.to_string()));
    println!("{:<18}{head}{:>10}{:>9}", "", "exponent", "n log n");
    let mut too_fast = Vec::new();
    for (things, curve) in curves {
        let line = cells(&|n| curve.get(n).map(|(number, seconds)| short(seconds / number)));
        let Fit { exponent, of_n_log_n } = fit::of(curve);
        println!("{:<18}{line}{exponent:>10.2}{of_n_log_n:>9.2}", things.name);
        if fit::grows_too_fast(curve) {
            too_fast.push(things.name);
        }
    }
    if too_fast.is_empty() {
        println!("no cost grows faster than n log n");
    }
    too_fast
}

/// Formats a time with three digits.
fn short(seconds: f64) -> String {
    let digits = 2.0 - seconds.log10().floor();
    let rounded = (seconds * 10_f64.powf(digits)).round() / 10_f64.powf(digits);
    time(rounded)
}

/// Draws the time for each thing over their number: at the left in this process, at the right in another.
fn svg(curves: &[(&Things, Curve)]) -> String {
    let names = curves.iter().map(|(things, _)| things.name).collect();
    let panel = |is_program: bool| {
        let line = |(things, curve): &(&Things, Curve)| -> Curve {
            let each = curve.iter().map(|(number, seconds)| (*number, seconds / number));
            each.filter(|_| things.is_program == is_program).collect()
        };
        let name = if is_program { "number (in another process)" } else { "number (in one process)" };
        let axis = Axis::new(name, Scale::Logarithmic(10.0), number);
        let times = Axis::new("time for each", Scale::Logarithmic(10.0), time);
        Panel::new(axis, times, curves.iter().map(line).collect())
    };
    let panels = vec![panel(false), panel(true)];
    Chart { title: "The time for each thing, as their number grows", note: "", names, panels }.svg()
}
