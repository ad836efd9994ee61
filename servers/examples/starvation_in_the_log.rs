//! On a pool of one thread, the task of a page cannot wait for the task of its header, so the page
//! is shown without the header. Only the log shows the reason.
//!
//! ```sh
//! RUST_LOG=executor=warn cargo run --example starvation_in_the_log
//! ```
//!
//! The chapter "Tasks that wait for tasks" of the book explains this program.

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
