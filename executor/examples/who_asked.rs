//! Three parties ask tasks of the same kind to stop, and each task can tell which party has asked.
//!
//! ```sh
//! cargo run --example who_asked
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelKind, CancelReason, CancelToken, Cancelled, TaskState, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::Duration;

// ANCHOR: work
/// Code of a lower layer: it does not know which parties can ask it to stop.
fn look_up() -> Result<&'static str, Cancelled> {
    CancelToken::current().sleep(Duration::from_secs(3600))?;
    Ok("found")
}

/// Code of the top layer, which must send the answer.
fn answer(token: &CancelToken) -> String {
    match token.attach(look_up) {
        Ok(text) => format!("200 {text}"),
        Err(cancelled) => format!("{} {cancelled}", status(cancelled.reason())),
    }
}

fn status(reason: Option<&CancelReason>) -> u16 {
    match reason.map(CancelReason::kind) {
        Some(CancelKind::Deadline) => 504,
        Some(CancelKind::Shutdown) => 503,
        _ => reason.and_then(|reason| reason.payload()).copied().unwrap_or(500),
    }
}
// ANCHOR_END: work

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(3);
    let client = CancelToken::new();
    let of_client = client.clone();
    let late = pool.submit(|| answer(&CancelToken::current().with_timeout(Duration::from_millis(100))))?;
    let left = pool.submit(move || answer(&of_client))?;
    let stopped = pool.submit(|| answer(&CancelToken::current()))?;
    println!("{}", late.join()?);
    // ANCHOR: ask
    let hung_up = CancelReason::new("the client hung up").with_payload(499_u16);
    println!("the first request: {}", client.cancel_because(hung_up));
    println!("the second: {}", client.cancel_because("its answer would be too large"));
    println!("{}", left.join()?);
    // ANCHOR_END: ask
    while stopped.state() != TaskState::Running {
        thread::yield_now();
    }
    drop(pool.shutdown_now());
    println!("{}", stopped.join()?);
    Ok(())
}
