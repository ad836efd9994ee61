//! Stops a crawler in the middle of its work, and continues the crawl on the next day.
//!
//! ```sh
//! cargo run --example crawl_on_tomorrow
//! ```
//!
//! The book explains this example in the chapter "What was running".

use executor::{CancelToken, Cancelled, Latch, ThreadPoolExecutor, TrackingExecutor, prelude::*};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

// ANCHOR: day
/// Fetches the given pages, and stops while `/news` is being fetched. Returns the pages that have not been
/// fetched.
fn day(pages: &[&'static str]) -> Result<Vec<&'static str>, Box<dyn Error>> {
    let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1)).with_tags();
    let evening = Arc::new(Latch::new(1));
    for &page in pages {
        let evening = Arc::clone(&evening);
        let _handle = crawler.tagged(page).submit_cancellable(move |token| fetch(page, &evening, token))?;
    }
    evening.wait()?;
    let mut left: Vec<_> = crawler.stop().into_iter().filter_map(|(_task, page)| page).collect();
    crawler.await_termination(Duration::from_secs(60));
    left.extend(crawler.cut_off()?.into_iter().filter_map(|page| page.tag));
    Ok(left)
}
// ANCHOR_END: day

// ANCHOR: fetch
fn fetch(page: &str, evening: &Latch, token: &CancelToken) -> Result<(), Cancelled> {
    if page == "/news" {
        evening.count_down();
        token.sleep(Duration::from_secs(3600))?; // a slow page
    }
    println!("  {page}");
    Ok(())
}
// ANCHOR_END: fetch

fn main() -> Result<(), Box<dyn Error>> {
    println!("today:");
    let left = day(&["/", "/about", "/news", "/shop"])?;
    println!("left: {}", left.join(", "));
    Ok(())
}
