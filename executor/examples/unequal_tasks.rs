//! Shows how much time a program saves if two tasks of different lengths run at the same time and not one
//! after the other.
//!
//! ```sh
//! cargo run --example unequal_tasks
//! ```
//!
//! The book explains this example in the chapter "Tasks of different kinds".

use executor::{ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

/// Waits for `units` units of time, like a task that uses a network. This wait needs no core.
fn work(units: u32) {
    thread::sleep(Duration::from_millis(40) * units);
}

fn time(f: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    f()?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: shapes
    let shapes: [(&str, &[u32]); 5] = [
        ("text 5, images 5", &[5, 5]),
        ("text 2, images 8", &[2, 8]),
        ("text 1, images 9", &[1, 9]),
        ("text 1, an image 6, three of 1", &[1, 6, 1, 1, 1]),
        ("text 1, nine images of 1", &[1; 10]),
    ];
    // ANCHOR_END: shapes
    println!("{:<32}tasks  2 threads  5 threads", "ten units of work");
    for (shape, tasks) in shapes {
        print!("{shape:<32}{:>5}", tasks.len());
        let one_after_the_other = time(|| {
            for &units in tasks {
                work(units);
            }
            Ok(())
        })?;
        for threads in [2, 5] {
            // ANCHOR: measure
            let pool = ThreadPoolExecutor::fixed(threads);
            pool.invoke_all(vec![|| (); threads])?; // all its threads have started now
            let at_once = time(|| {
                pool.invoke_all(tasks.iter().map(|&units| move || work(units)))?;
                Ok(())
            })?;
            // ANCHOR_END: measure
            print!("{:>11.1}", one_after_the_other / at_once);
        }
        println!();
    }
    Ok(())
}
