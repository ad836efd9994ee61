//! A program that keeps a log: a rotated file, the warnings on standard error, both facades, levels that
//! change at run time, and hooks. The program flushes the log before it promises something to a customer.
//!
//! ```sh
//! cargo run --example shop
//! ```
//!
//! This example belongs to the book's chapter "A logger to keep".

use executor::shutdown_hooks::ShutdownHooks;
use logservice::sink::{FileSink, StderrSink};
use logservice::{Durability, Level, Levels, LogService, Overflow, facade};
use std::error::Error;
use std::time::Duration;
use std::{fs, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.log");

    // ANCHOR: start
    let shutdown = ShutdownHooks::builder().install()?;
    let service = LogService::builder()
        .overflow(Level::Debug, Overflow::DropOldest) // callers do not wait for such lines
        .overflow(Level::Trace, Overflow::DropOldest)
        .start(FileSink::builder(&path).rotate_at_bytes(100_000_000).keep(14).open()?)?;
    let console = LogService::builder()
        .overflow_of_all(Overflow::DropNewest) // a terminal that hangs delays no thread
        .start(StderrSink::new())?;
    service.stop_at_shutdown(&shutdown)?; // added first, so that this hook runs last
    console.stop_at_shutdown(&shutdown)?;
    #[cfg(unix)]
    service.reopen_on_hangup()?; // for `logrotate`
    let levels = Levels::from_env("info")?;
    facade::install_all((&service, &levels), &[(&console, &Levels::parse("warn")?)])?;
    facade::log_panics(service.handle());
    // ANCHOR_END: start

    // ANCHOR: use
    log::info!(books = 3; "catalogue read");
    let order = tracing::info_span!("order", id = 7).entered();
    tracing::debug!("not logged: the level is off");
    levels.set("info,shop=debug")?; // as if an operator wanted to see more
    tracing::debug!(shelf = "B4", "picked");
    let _ = thread::spawn(|| panic!("the printer is on fire")).join();
    tracing::info!("accepted");
    service.flush(Durability::Disk, Duration::from_secs(10))?; // the customer gets the answer only after the flush
    drop(order);
    // ANCHOR_END: use

    print!("{}", fs::read_to_string(&path)?);
    Ok(())
}
