//! A home-made completion service on a channel does not learn that one of its tasks has panicked.
//!
//! ```sh
//! cargo run --example results_by_channel
//! ```
//!
//! The book explains this example in the chapter "Results as they come".

use executor::{ExecutorCompletionService, JoinError, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

const PORTS: [&str; 3] = ["80", "http", "8080"];

fn number(text: &str) -> u16 {
    text.parse().expect("a number")
}

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(2);

    // ANCHOR: channel
    let (tell, told) = mpsc::channel();
    for text in PORTS {
        let tell = tell.clone();
        pool.execute(move || tell.send(number(text)).expect("the receiver is there"))?;
    }
    let mut by_channel = Vec::new();
    for _ in PORTS {
        match told.recv_timeout(Duration::from_secs(1)) {
            Ok(port) => by_channel.push(port),
            Err(error) => println!("by channel:   {error}, and would for ever without a limit"),
        }
    }
    by_channel.sort_unstable();
    println!("by channel:   {by_channel:?}");
    // ANCHOR_END: channel

    // ANCHOR: service
    let ports = ExecutorCompletionService::new(&pool);
    for text in PORTS {
        ports.submit(move || number(text))?;
    }
    let mut by_service = Vec::new();
    while let Some(handle) = ports.take()? {
        match handle.join() {
            Ok(port) => by_service.push(port),
            Err(JoinError::Panicked(panic)) => println!("by service:   {}", panic.message()),
            Err(other) => return Err(other.into()),
        }
    }
    by_service.sort_unstable();
    println!("by service:   {by_service:?}");
    // ANCHOR_END: service
    Ok(())
}
