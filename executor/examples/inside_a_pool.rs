//! Shows names, hooks, timing, a panic handler, and a look into a pool while the pool runs.
//!
//! ```sh
//! cargo run --example inside_a_pool
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::panics::PanicReport;
use executor::{Latch, NamedThreads, Task, ThreadPoolExecutor, Timing, prelude::*};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::panic::set_hook(Box::new(|_| ())); // the pool's handler reports each panic; no second report is needed
    // ANCHOR: pool
    let threads = Arc::new(NamedThreads::new("indexer").stack_size(256 * 1024));
    let pool = ThreadPoolExecutor::builder()
        .threads(2)
        .thread_factory(Arc::clone(&threads))
        .hooks(Timing::logging(|timing| println!("terminated: {} tasks", timing.tasks())))
        .panic_handler(report)
        .build()?;
    // ANCHOR_END: pool

    // ANCHOR: snapshot
    let (running, gate) = (Arc::new(Latch::new(2)), Arc::new(Latch::new(1)));
    for name in ["parse a.txt", "parse b.txt", "parse c.txt"] {
        let (running, gate) = (Arc::clone(&running), Arc::clone(&gate));
        let task = Task::new(move || {
            running.count_down();
            _ = gate.wait();
        });
        pool.execute(task.named(name))?;
    }
    running.wait()?;
    println!("{}", pool.snapshot());
    // ANCHOR_END: snapshot
    pool.execute(Task::new(|| panic!("not a text file")).named("parse d.png"))?;
    gate.count_down();
    pool.close();
    println!("threads: {} created", threads.created());
    Ok(())
}

// ANCHOR: report
fn report(panic: &PanicReport<'_>) {
    println!("reported: {} panicked: {}", panic.task.unwrap_or("a hook"), panic.message);
}
// ANCHOR_END: report
