//! Shows which tasks were running when a pool was shut down abruptly: first the classic listing reports these
//! tasks, and then the library reports them.
//!
//! ```sh
//! cargo run --example what_was_running -- classic   # reports a finished task as cut off
//! cargo run --example what_was_running -- ours
//! ```
//!
//! The book explains this example in the chapter "What was running".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod classic; // a task that has ended checks for the request to stop
mod pages; // three pages; one of them is done just in time

use executor::{CutOffHow, ThreadPoolExecutor, TrackingExecutor, prelude::*};
use pages::Pages;
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("classic") => classic::show(),
        Some("ours") => ours(),
        _ => {
            eprintln!("say which: classic, ours");
            std::process::exit(2);
        }
    }
}

// ANCHOR: ours
fn ours() -> Result<(), Box<dyn Error>> {
    let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(2)).with_tags();
    let pages = Pages::default();
    let _done = crawler.tagged("/done").submit_cancellable(pages.done())?;
    let _half = crawler.tagged("/half").submit_cancellable(pages.half())?;
    let _later = crawler.tagged("/later").submit_cancellable(Pages::later)?;
    pages.wait_until_two_run();
    for (_task, page) in crawler.stop() {
        println!("{}: not begun", page.expect("each has a tag"));
    }
    pages.go_on();
    crawler.await_termination(Duration::from_secs(60));
    let mut cut_off = crawler.cut_off()?;
    cut_off.sort_by_key(|page| page.tag);
    for page in cut_off {
        let how = match page.how {
            CutOffHow::GaveUp => "cut off: it gave up",
            _ => "presumed to be cut off: it returned",
        };
        println!("{}: {how}", page.tag.expect("each has a tag"));
    }
    Ok(())
}
// ANCHOR_END: ours
