//! How much work four kinds of tasks get done with more and more threads, what the formula advises for each, and how a
//! measurement under overload misleads it. Takes about fifteen seconds; run it on a machine that is otherwise quiet.
//!
//! ```sh
//! cargo run --release -p executor --example how_many_threads
//! ```
//!
//! The book's chapter: How many threads?

use executor::{PoolConfigError, ThreadPoolExecutor, WaitCompute, prelude::*};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TASKS: u32 = 96;
const MS: Duration = Duration::from_millis(1);
static CONNECTION: Mutex<()> = Mutex::new(());

fn main() -> Result<(), PoolConfigError> {
    println!("                                   advised       tasks a second with");
    println!("tasks that                    W/C  threads      1    2    4    8   16   32 threads");
    // ANCHOR: kinds
    let steps = steps_per_ms();
    row("compute 10 ms", move || compute(10 * steps))?;
    row("compute 5 ms, wait 5 ms", move || {
        compute(5 * steps);
        sleep(5 * MS);
    })?;
    row("compute 1 ms, wait 9 ms", move || {
        compute(steps);
        sleep(9 * MS);
    })?;
    row("… for the one connection", move || {
        compute(steps);
        let _connection = CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
        sleep(9 * MS);
    })?;
    // ANCHOR_END: kinds

    let (_, overloaded) = run(32, move || compute(10 * steps))?;
    println!("{:<28}{}  measured with 32 threads", "compute 10 ms", advice(&overloaded));
    Ok(())
}

fn row(kind: &str, task: impl Fn() + Copy + Send + 'static) -> Result<(), PoolConfigError> {
    let (per_second, measured) = run(1, task)?; // one thread: a core is to spare
    print!("{kind:<28}{}  {per_second:5.0}", advice(&measured));
    for threads in [2, 4, 8, 16, 32] {
        print!("{:5.0}", run(threads, task)?.0);
    }
    println!();
    Ok(())
}

// ANCHOR: measure
/// Has a pool of so many threads run the task again and again: tasks a second, and what was measured meanwhile.
fn run(
    threads: usize,
    task: impl Fn() + Copy + Send + 'static,
) -> Result<(f64, Arc<WaitCompute>), PoolConfigError> {
    let measured = Arc::new(WaitCompute::new());
    let pool = ThreadPoolExecutor::builder().threads(threads).hooks(Arc::clone(&measured)).build()?;
    let began = Instant::now();
    for _ in 0..TASKS {
        pool.execute(task).expect("the queue has no bound");
    }
    pool.close();
    Ok((f64::from(TASKS) / began.elapsed().as_secs_f64(), measured))
}

fn advice(measured: &WaitCompute) -> String {
    let (ratio, threads) = (measured.ratio().unwrap_or(0.0), measured.recommended_threads(1.0).unwrap_or(1));
    format!("{ratio:5.1}{threads:9}")
}
// ANCHOR_END: measure

fn compute(steps: u32) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}

/// How many steps take a millisecond: the fastest of some attempts, since only interruptions make one slower.
fn steps_per_ms() -> u32 {
    let attempt = |_| {
        let began = Instant::now();
        compute(100_000);
        began.elapsed()
    };
    let fastest = (0..50).map(attempt).min().expect("fifty attempts");
    let steps = 100_000 * MS.as_nanos() / fastest.as_nanos().max(1);
    u32::try_from(steps).unwrap_or(u32::MAX / 10)
}
