//! A service that gets requests: one kind of request begins a new round, and each other kind of request ends
//! the service.
//!
//! ```sh
//! cargo run --example restarting_service -- restart
//! cargo run --example restarting_service -- one_token
//! ```
//!
//! The book explains this example in the chapter "Cancellation policies".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod greeter;
mod one_token;
mod request;

use executor::{CancelToken, Cancelled, ThreadPoolExecutor, prelude::*};
use greeter::Greeter;
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("restart") => restart(),
        Some("one_token") => one_token::restart(),
        _ => {
            eprintln!("say which: restart or one_token");
            std::process::exit(2);
        }
    }
}

fn restart() -> Result<(), Box<dyn Error>> {
    let greeter = Arc::new(Greeter::new("hello"));
    let (tell, told) = mpsc::channel();
    let pool = ThreadPoolExecutor::single();
    let runs = Arc::clone(&greeter);
    pool.execute(move || println!("it has ended: {}", runs.run(&tell)))?;
    println!("it greets with {:?}", told.recv()?);
    greeter.restart_with("good morning");
    println!("it greets with {:?}", told.recv()?);
    drop(pool.shutdown_now());
    pool.close(); // waits for its thread
    Ok(())
}

/// Runs one round of the service: it greets once an hour.
fn greet(greeting: &'static str, tell: &Sender<&'static str>) -> Cancelled {
    loop {
        let _ = tell.send(greeting);
        if let Err(cancelled) = CancelToken::current().sleep(Duration::from_secs(3600)) {
            return cancelled;
        }
    }
}
