//! Work for a request runs on a thread of a pool, and both the request and the pool must be able to cancel
//! the work.
//!
//! ```sh
//! cargo run --example linked_tokens -- request
//! cargo run --example linked_tokens -- both
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelToken, Cancelled, TaskHandle, TaskState, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::time::Duration;

type Handle = TaskHandle<Result<(), Cancelled>>;

// ANCHOR: tokens
/// Waits under the request's token.
fn for_the_request(pool: &ThreadPoolExecutor, request: CancelToken) -> Result<Handle, Box<dyn Error>> {
    Ok(pool.submit(move || request.attach(wait_for_an_answer))?)
}

/// Waits with a token that is a child of two tokens: the request's token and the task's own token.
fn for_both(pool: &ThreadPoolExecutor, request: CancelToken) -> Result<Handle, Box<dyn Error>> {
    let both = move || CancelToken::linked([&request, &CancelToken::current()]);
    Ok(pool.submit(move || both().attach(wait_for_an_answer))?)
}
// ANCHOR_END: tokens

fn wait_for_an_answer() -> Result<(), Cancelled> {
    CancelToken::current().sleep(Duration::from_secs(3600))
}

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(1);
    let request = CancelToken::new();
    let task = match std::env::args().nth(1).as_deref() {
        Some("request") => for_the_request(&pool, request.clone())?,
        Some("both") => for_both(&pool, request.clone())?,
        _ => {
            eprintln!("say which: request or both");
            std::process::exit(2);
        }
    };
    // ANCHOR: stop
    while task.state() != TaskState::Running {
        std::thread::yield_now();
    }
    drop(pool.shutdown_now());
    println!("the pool is stopped; it has ended: {}", pool.await_termination(Duration::from_secs(2)));
    println!("the request is cancelled: {}", request.cancel_because("the client hung up"));
    println!("the task: {}", task.join()?.unwrap_err());
    // ANCHOR_END: stop
    Ok(())
}
