//! Four tasks panic. A thread that joins a panicked task learns of the panic; the pool's panic handler
//! reports the panics of the tasks that no thread joins.
//!
//! ```sh
//! cargo run --example who_hears_of_a_panic
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::panics::PanicReport;
use executor::{FutureTask, Latch, Task, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::panic::set_hook(Box::new(|_| ())); // hides Rust's own message for each panic
    // ANCHOR: pool
    let pool = ThreadPoolExecutor::builder()
        .name("worker")
        .panic_handler(|report: &PanicReport<'_>| println!("  handler: {report}"))
        .build()?;
    // ANCHOR_END: pool

    // ANCHOR: panics
    println!("submitted and joined");
    let handle = pool.submit(FutureTask::new(|| panic!("disk full")).named("save"))?;
    let error = handle.join().expect_err("it panics");
    println!("  joiner:  {error}");

    println!("executed, so there is no handle");
    pool.execute(Task::new(|| panic!("disk full")).named("log"))?;
    pool.submit(|| ())?.join()?; // now the only worker has finished the task before

    println!("submitted, and the handle dropped");
    drop(pool.submit(FutureTask::new(|| panic!("disk full")).named("prefetch"))?);
    pool.submit(|| ())?.join()?;

    println!("cancelled while it ran, which it did not notice");
    let (running, gate) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let (has_begun, may_panic) = (Arc::clone(&running), Arc::clone(&gate));
    let stubborn = FutureTask::new(move || {
        has_begun.count_down();
        _ = executor::masked(|| may_panic.wait());
        panic!("disk full");
    });
    let handle = pool.submit(stubborn.named("index"))?;
    running.wait()?;
    handle.cancel();
    println!("  joiner:  {}", handle.join().expect_err("it was cancelled"));
    gate.count_down();
    pool.close();
    // ANCHOR_END: panics
    println!("{}", pool.stats());
    Ok(())
}
