//! A loop that throws the request to stop away, together with the error that brings it; and one that does not.
//!
//! ```sh
//! cargo run -p executor --example ignored_request -- ignore
//! cargo run -p executor --example ignored_request -- pass_on
//! ```
//!
//! The book's chapter: Cancellation policies.

use executor::{CancelToken, Cancelled, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{process, thread, time::Duration};

const HOUR: Duration = Duration::from_hours(1);
static LOOKS: AtomicU64 = AtomicU64::new(0);

// ANCHOR: ignore
/// Looks for mail once an hour.
fn look_for_mail() -> ! {
    loop {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        let _ = CancelToken::current().sleep(HOUR);
    }
}
// ANCHOR_END: ignore

// ANCHOR: pass_on
/// Looks for mail once an hour, until its task is cancelled.
fn look_until_cancelled() -> Result<(), Cancelled> {
    loop {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        CancelToken::current().sleep(HOUR)?;
    }
}
// ANCHOR_END: pass_on

fn main() -> Result<(), Box<dyn Error>> {
    let way = std::env::args().nth(1).unwrap_or_default();
    let pool = ThreadPoolExecutor::single();
    let mailbox = match way.as_str() {
        "ignore" => pool.submit(|| -> Result<(), Cancelled> { look_for_mail() })?,
        "pass_on" => pool.submit(look_until_cancelled)?,
        _ => return Err("say which: ignore or pass_on".into()),
    };
    wait_for_looks(1);
    println!("it has looked once, and sleeps for an hour; now it is cancelled");
    mailbox.cancel();
    if way == "ignore" {
        wait_for_looks(1_000);
        println!("it has looked 1000 times, and goes on: each sleep fails at once");
        process::exit(1); // without this the process would wait for it for ever
    }
    pool.close(); // waits for the thread
    println!("it has ended; times it has looked: {}", LOOKS.load(Ordering::Relaxed));
    Ok(())
}

fn wait_for_looks(looks: u64) {
    while LOOKS.load(Ordering::Relaxed) < looks {
        thread::yield_now();
    }
}
