//! A program that keeps a log: a file that is rotated, policies, hooks, and a flush before something is promised to a customer.
//!
//! ```sh
//! cargo run -p logservice --example shop
//! ```
//!
//! The book's chapter: A logger to keep.

use executor::shutdown_hooks::ShutdownHooks;
use logservice::sink::FileSink;
use logservice::{Durability, Level, LogService, Overflow};
use std::error::Error;
use std::fs;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shop.log");

    // ANCHOR: start
    let shutdown = ShutdownHooks::builder().install()?;
    let log = LogService::builder()
        .overflow(Level::Debug, Overflow::DropOldest) // nobody waits for these
        .overflow(Level::Trace, Overflow::DropOldest)
        .start(FileSink::builder(&path).rotate_at_bytes(100_000_000).keep(14).open()?)?;
    log.stop_at_shutdown(&shutdown)?; // registered first, so it runs last
    #[cfg(unix)]
    log.reopen_on_hangup()?; // for `logrotate`
    // ANCHOR_END: start

    // ANCHOR: use
    let customer = "Ada\nERROR shop: all is lost"; // what a customer has typed
    log.say(Level::Debug, "shop", format_args!("looks for a book"))?;
    log.say(Level::Info, "shop", format_args!("{customer} orders 3 books"))?;
    log.flush(Durability::Disk, Duration::from_secs(10))?; // only now the customer is told
    // ANCHOR_END: use

    print!("{}", fs::read_to_string(&path)?);
    Ok(())
}
