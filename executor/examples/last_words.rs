//! While a process is working, it gets a signal to end. The hooks of the process first end the pool, and then
//! end the log.
//!
//! ```sh
//! cargo run --example last_words; echo "status $?"
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use executor::shutdown_hooks::ShutdownHooks;
use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use signal_hook::{consts::SIGTERM, low_level::raise};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: hooks
    let shutdown = ShutdownHooks::builder().deadline(Duration::from_secs(10)).install()?;
    shutdown.add("log", |shutdown| println!("log: closed, because of {:?}", shutdown.cause()))?;
    let pool = Arc::new(ThreadPoolExecutor::single());
    shutdown.add_pool("pool", &pool, Duration::from_millis(100))?;
    // ANCHOR_END: hooks

    let (tell, told) = mpsc::channel();
    pool.execute(move || {
        println!("task: begins");
        let _ = tell.send(());
        match CancelToken::current().sleep(Duration::from_secs(3600)) {
            Ok(()) => println!("task: has finished"),
            Err(_) => println!("task: was cancelled, and has put everything in order"),
        }
    })?;
    told.recv()?;
    println!("main: SIGTERM is sent");
    raise(SIGTERM)?;
    thread::sleep(Duration::from_secs(3600)); // the signal cuts `main` short
    Ok(())
}
