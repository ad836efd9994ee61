//! A page on a pool of one thread cannot wait for its header, and is shown without it. Only the log says why.
//!
//! ```sh
//! RUST_LOG=executor=warn cargo run --example starvation_in_the_log
//! ```
//!
//! The book's chapter: Tasks that wait for tasks.

use executor::{FutureTask, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    servers::show_diagnostics(); // the events that RUST_LOG asks for, on standard error
    let pool = Arc::new(ThreadPoolExecutor::builder().name("renderer").build()?);
    let own = Arc::clone(&pool);
    let page = FutureTask::new(move || {
        let header =
            own.submit(FutureTask::new(|| "header").named("header")).expect("the pool accepts tasks");
        header.join().unwrap_or("no header")
    });
    println!("{}", pool.submit(page.named("page"))?.join()?);
    Ok(())
}
