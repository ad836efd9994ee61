//! A cancellation cannot reach a thread that waits for a lock. The program can only continue without the
//! blocked thread, which stays blocked.
//!
//! ```sh
//! cargo run --example out_of_reach
//! ```
//!
//! The book explains this example in the chapter "Blocking that nobody can interrupt".

use executor::{DropPolicy, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Arc::new(Mutex::new(vec![300, -20]));
    let held = ledger.lock().unwrap_or_else(PoisonError::into_inner); // never given back
    let (begun, begins) = channel();
    let own = Arc::clone(&ledger);

    // ANCHOR: abandon
    let pool = ThreadPoolExecutor::builder().threads(1).on_drop(DropPolicy::Detach).build()?;
    let sum = pool.submit(move || {
        let _ = begun.send(());
        own.lock().unwrap_or_else(PoisonError::into_inner).iter().sum::<i32>() // this wait checks no token
    })?;
    begins.recv()?;
    println!("cancelled: {}", sum.cancel());
    println!("joined: {}", sum.join().unwrap_err());
    drop(pool.shutdown_now());
    println!("the pool's thread has ended: {}", pool.await_termination(Duration::from_millis(500)));
    drop(pool); // does not wait, because of the drop policy
    println!("main goes on without the thread");
    // ANCHOR_END: abandon

    drop(held);
    Ok(())
}
