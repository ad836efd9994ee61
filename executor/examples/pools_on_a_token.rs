//! Two pools share a token; when the token is cancelled, both pools are stopped.
//!
//! ```sh
//! cargo run --example pools_on_a_token
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelToken, Cancelled, TaskState, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

fn work() -> Result<(), Cancelled> {
    CancelToken::current().sleep(LONG)
}

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: pools
    let service = CancelToken::new();
    let pool = || ThreadPoolExecutor::builder().threads(1).cancel_token(&service).build();
    let pages = pool()?;
    let images = pool()?;
    // ANCHOR_END: pools
    let page = pages.submit(work)?;
    let image = images.submit(work)?;
    let waits = images.submit_cancellable(|token| token.sleep(LONG))?;
    while [&page, &image].iter().any(|task| task.state() != TaskState::Running) {
        thread::yield_now();
    }
    // ANCHOR: stop
    service.cancel_because("the service moves to another machine");
    println!("the page:  {}", page.join()?.unwrap_err());
    println!("the image: {}", image.join()?.unwrap_err());
    println!("the image that was in the queue: {}", waits.join().unwrap_err());
    println!("a new one: {}", images.submit(work).unwrap_err());
    println!("ended: {}, {}", pages.await_termination(LONG), images.await_termination(LONG));
    // ANCHOR_END: stop
    Ok(())
}
