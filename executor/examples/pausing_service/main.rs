//! A service that receives two kinds of requests: one kind pauses the service, and the other kind ends it.
//!
//! ```sh
//! cargo run --example pausing_service
//! ```
//!
//! The book explains this example in the chapter "Cancellation policies".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod printer;

use executor::channel::{Sender, SenderExt, bounded};
use executor::{ThreadPoolExecutor, prelude::*};
use printer::Printer;
use std::error::Error;
use std::thread;

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (desk, orders) = bounded(10);
    // ANCHOR: pause
    let printer = Printer::start(&pool, orders)?;
    desk.put(1)?;
    desk.put(2)?;
    wait_until_taken(&desk);
    let orders = printer.pause()?;
    desk.put(3)?;
    println!("it stands still; orders on the desk: {}", orders.len());
    let _printer = Printer::start(&pool, orders)?;
    wait_until_taken(&desk);
    drop(pool.shutdown_now());
    // ANCHOR_END: pause
    pool.close(); // waits for its thread, which finishes the page
    println!("it has ended");
    Ok(())
}

fn wait_until_taken(desk: &Sender<u32>) {
    while !desk.is_empty() {
        thread::yield_now();
    }
}
