//! Two loops get a request to stop as an error: one loop discards the error, the other loop passes it on.
//!
//! ```sh
//! cargo run --example ignored_request -- ignore
//! cargo run --example ignored_request -- pass_on
//! ```
//! The book explains this example in the chapter "Cancellation policies".

use executor::{CancelToken, Cancelled, ThreadPoolExecutor, prelude::*};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error::Error, process, thread, time::Duration};

static LOOKS: AtomicU64 = AtomicU64::new(0);

// ANCHOR: ignore
/// Looks for mail once an hour.
fn look_for_mail() {
    loop {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        let _ = CancelToken::current().sleep(Duration::from_secs(3600));
    }
}
// ANCHOR_END: ignore

// ANCHOR: pass_on
/// Looks for mail once an hour, until the current task is cancelled.
fn look_until_cancelled() -> Result<(), Cancelled> {
    loop {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        CancelToken::current().sleep(Duration::from_secs(3600))?;
    }
}
// ANCHOR_END: pass_on

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let mailbox = match std::env::args().nth(1).as_deref() {
        Some("ignore") => pool.submit(look_for_mail)?.canceller(),
        Some("pass_on") => pool.submit(look_until_cancelled)?.canceller(),
        _ => {
            eprintln!("say which: ignore or pass_on");
            process::exit(2);
        }
    };
    while LOOKS.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
    println!("it has looked once, and sleeps for an hour; now it is cancelled");
    mailbox.cancel();
    pool.shutdown();
    while !pool.await_termination(Duration::from_millis(1)) {
        if LOOKS.load(Ordering::Relaxed) > 1_000 {
            println!("it has looked 1000 times, and goes on: each sleep fails at once");
            process::exit(1); // a return from main would close the pool, which waits for the task
        }
    }
    println!("it has ended; times it has looked: {}", LOOKS.load(Ordering::Relaxed));
    Ok(())
}
