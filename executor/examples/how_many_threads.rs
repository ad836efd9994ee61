//! Measures the throughput of four kinds of tasks with more and more threads, and prints the advice of the
//! formula for each kind. The example also shows that the formula gives wrong advice if the measurement is
//! made under overload. The example takes some twenty seconds. Run the example on a machine that does nothing
//! else.
//!
//! ```sh
//! cargo run --release --example how_many_threads
//! cargo run --release --example how_many_threads -- 32   # only the advice, measured with 32 threads
//! ```
//!
//! The book explains this example in the chapter "How many threads?".

use cpu_time::ThreadTime;
use executor::{ThreadPoolExecutor, WaitCompute, prelude::*};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

const TASKS: u32 = 96;
const MS: Duration = Duration::from_millis(1);
static CONNECTION: Mutex<()> = Mutex::new(());

fn main() -> Result<(), Box<dyn Error>> {
    let measuring = std::env::args().nth(1).map(|threads| threads.parse()).transpose()?;
    let [above, heading] = match measuring {
        None => ["       tasks a second with", "      1    2    4    8   16   32 threads"],
        Some(_) => ["", ""],
    };
    println!("                                   advised{above}");
    println!("tasks that                    W/C  threads{heading}");
    // ANCHOR: kinds
    let steps = steps_per_ms();
    row("compute 10 ms", measuring, move || compute(10 * steps))?;
    row("compute 5 ms, wait 5 ms", measuring, move || {
        compute(5 * steps);
        sleep(5 * MS);
    })?;
    row("compute 1 ms, wait 9 ms", measuring, move || {
        compute(steps);
        sleep(9 * MS);
    })?;
    row("… for the one connection", measuring, move || {
        compute(steps);
        let _connection = CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
        sleep(9 * MS);
    })?;
    // ANCHOR_END: kinds

    if measuring.is_none() {
        let (_, overloaded) = run(32, move || compute(10 * steps))?;
        println!("{:<28}{}  measured with 32 threads", "compute 10 ms", advice(&overloaded));
    }
    Ok(())
}

fn row(
    kind: &str,
    measuring: Option<usize>,
    task: impl Fn() + Copy + Send + 'static,
) -> Result<(), Box<dyn Error>> {
    let (_, measured) = run(measuring.unwrap_or(1), task)?; // with one thread, there are spare cores
    print!("{kind:<28}{}", advice(&measured));
    if measuring.is_none() {
        print!("  ");
        for threads in [1, 2, 4, 8, 16, 32] {
            print!("{:5.0}", run(threads, task)?.0);
        }
    }
    println!();
    Ok(())
}

// ANCHOR: measure
/// Runs the task again and again on a pool of `threads` threads. Returns the number of tasks per second, and
/// the pool's measurements.
fn run(
    threads: usize,
    task: impl Fn() + Copy + Send + 'static,
) -> Result<(f64, Arc<WaitCompute>), Box<dyn Error>> {
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

// This function is separate, so that all its callers run the same machine code. If the compiler made several
// copies of this code, the copy in a task could be faster than the copy in the measurement.
#[inline(never)]
fn compute(steps: u32) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}

/// Returns the number of steps in a millisecond of processor time. The measurement is repeated many times,
/// and the fastest result is returned. A core that was idle is slow for some tenths of a second, and a core
/// that shares parts with another core is slow while the other core is busy.
fn steps_per_ms() -> u32 {
    const STEPS: u32 = 10_000_000;
    let attempt = |_| {
        let began = ThreadTime::now();
        compute(STEPS);
        began.elapsed()
    };
    let fastest = (0..200).map(attempt).min().expect("some attempts");
    let steps = u128::from(STEPS) * MS.as_nanos() / fastest.as_nanos().max(1);
    u32::try_from(steps).unwrap_or(u32::MAX / 10)
}
