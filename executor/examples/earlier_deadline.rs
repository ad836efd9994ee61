//! A token's deadline is the earliest of its own deadline and the deadlines of the tokens above it.
//!
//! ```sh
//! cargo run --example earlier_deadline
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelReason, CancelToken, Latch};
use std::time::Duration;

fn main() {
    // ANCHOR: deadlines
    let page = CancelToken::new().with_timeout(Duration::from_secs(1));
    let stock = page.with_timeout(Duration::from_millis(50)); // a part of the page's time
    let reviews = page.with_timeout(Duration::from_secs(3600)); // more than the page has

    for (what, token) in [("the stock", &stock), ("the reviews", &reviews)] {
        let answer = Latch::new(1); // never comes
        let gave_up = token.attach(|| answer.wait()).expect_err("the latch stays closed");
        let above = gave_up.reason().is_some_and(CancelReason::is_inherited);
        println!("{what}: {gave_up}");
        println!("    the deadline was that of a token above: {above}");
        println!("    the page is cancelled: {}", page.is_cancelled());
    }
    // ANCHOR_END: deadlines
}
