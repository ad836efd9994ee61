//! An uncaught panic ends its thread. The thread that joins the panicked thread gets the panic, and the
//! process continues; only a panic of the main thread ends the process.
//!
//! ```sh
//! cargo run --example uncaught_panics; echo "status $?"
//! ```
//!
//! The book explains this example in the chapter "How a process ends".

use executor::panics::{self, PanicReport};
use executor::{ThreadPoolExecutor, prelude::*};
use std::sync::{Arc, mpsc};
use std::{panic, thread};

fn main() {
    // Replaces the message that Rust prints on standard error.
    panic::set_hook(Box::new(|_| {
        println!("  hook: a panic on the thread {}", thread::current().name().unwrap_or("without a name"));
    }));

    // ANCHOR: panics
    println!("a thread that is joined");
    let worker = thread::Builder::new().name("worker".into()).spawn(|| panic!("disk full")).unwrap();
    let payload = worker.join().expect_err("it panics");
    println!("  main: it said {:?}", payload.downcast_ref::<&str>());

    println!("a task of a pool");
    let (tell, told) = mpsc::channel();
    let report = move |report: &PanicReport<'_>| drop(tell.send(report.message.to_owned()));
    panics::set_handler(Arc::new(report)); // the handler of the process; a pool can have its own
    let pool = ThreadPoolExecutor::builder().threads(1).name("pool").build().unwrap();
    pool.execute(|| panic!("disk full")).unwrap();
    println!("  handler: it said {:?}", told.recv());
    println!("  the pool's thread lives: {:?}", pool.submit(|| 6 * 7).unwrap().join());

    println!("main");
    let _dropped = pool; // unwinding drops what `main` owns
    panic!("out of patience");
    // ANCHOR_END: panics
}
