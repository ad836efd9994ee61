//! Shows a time limit without a cancellation: the waiter stops waiting, but the task continues.
//!
//! ```sh
//! cargo run --example forgotten_cancel
//! ```
//!
//! The book explains this example in the chapter "Time limits".

use executor::{CancelToken, JoinError, TaskState, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(200);

/// Draws `pages` pages with two threads. Each page asks for an advertisement that never arrives.
fn draw(pages: usize, cancel: bool) -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(2);
    let mut begun = 0;
    for _ in 0..pages {
        // ANCHOR: request
        let advertisement = pool.submit(|| CancelToken::current().sleep(Duration::from_secs(3600)))?;
        match advertisement.join_timeout(PATIENCE) {
            Err(JoinError::TimedOut(late)) => {
                if late.state() == TaskState::Running {
                    begun += 1;
                }
                if cancel {
                    late.cancel();
                }
            }
            other => println!("an advertisement: {other:?}"),
        }
        // ANCHOR_END: request
    }
    let stats = pool.stats();
    let word = if cancel { "with" } else { "without" };
    println!("{word:>7} cancel: {begun} of {pages} were asked for, {} are waiting", stats.queued);
    drop(pool.shutdown_now());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    draw(5, false)?;
    draw(5, true)
}
