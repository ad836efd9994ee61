//! What a request to stop can mean to a service: stand still, or begin again.
//!
//! ```sh
//! cargo run -p executor --features crossbeam-channel --example interruption_policies -- pause
//! cargo run -p executor --features crossbeam-channel --example interruption_policies -- restart
//! cargo run -p executor --features crossbeam-channel --example interruption_policies -- same_token
//! ```
//!
//! The book's chapter: Cancellation policies.

#![allow(unreachable_pub)] // the modules read like those of a library

mod pausing;
mod restarting;

use executor::channel::{self, bounded};
use executor::{Cancelled, Executor, ThreadPoolExecutor, prelude::*};
use pausing::Printer;
use restarting::Greeter;
use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::{process, thread};

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("pause") => pause(),
        Some("restart") => restart(),
        Some("same_token") => same_token(),
        _ => Err("say which: pause, restart or same_token".into()),
    }
}

fn pause() -> Result<(), Box<dyn Error>> {
    let printer = Arc::new(Printer::new());
    let (desk, orders) = bounded(10);
    let works = Arc::clone(&printer);
    let worker = thread::spawn(move || works.work(&orders));
    for order in 1..=2 {
        desk.put(order)?;
    }
    wait_until_taken(&desk);
    printer.pause()?;
    desk.put(3)?;
    println!("it stands still; orders on the desk: {}", desk.len());
    printer.resume();
    wait_until_taken(&desk);
    printer.stop();
    worker.join().expect("it does not panic");
    println!("it has ended");
    Ok(())
}

fn wait_until_taken(desk: &channel::Sender<u32>) {
    while !desk.is_empty() {
        thread::yield_now();
    }
}

fn restart() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (greeter, told) = begin(&pool, Greeter::run)?;
    println!("it {}", told.recv()?);
    greeter.restart_with("good morning");
    println!("it {}", told.recv()?);
    drop(pool.shutdown_now());
    println!("it {}", told.recv()?);
    Ok(())
}

fn same_token() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (greeter, told) = begin(&pool, Greeter::run_with_one_token)?;
    println!("it {}", told.recv()?);
    greeter.restart_with("good morning");
    println!("it has begun {} rounds since, and each has ended at once", told.iter().take(1_000).count());
    process::exit(1); // without this it would go on so
}

type Run = fn(&Greeter, &Sender<String>) -> Cancelled;

/// A greeter that is a task of the pool.
fn begin(pool: &dyn Executor, run: Run) -> Result<(Arc<Greeter>, Receiver<String>), Box<dyn Error>> {
    let greeter = Arc::new(Greeter::new("hello"));
    let (tell, told) = mpsc::channel();
    let runs = Arc::clone(&greeter);
    pool.execute(move || {
        let cancelled = run(&runs, &tell);
        let _ = tell.send(format!("has ended: {cancelled}"));
    })?;
    Ok((greeter, told))
}
