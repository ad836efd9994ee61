//! When a token is cancelled, the whole tree of tokens is marked and all waiters are released before the
//! first callback runs.
//!
//! ```sh
//! cargo run --example order_of_a_cancel
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelToken, Latch};
use std::sync::Arc;
use std::thread;

fn main() {
    // ANCHOR: tree
    let request = CancelToken::new();
    let page = request.child();
    let image = request.child();
    let pixels = image.child();

    let never = Arc::new(Latch::new(1));
    let own = pixels.clone();
    let latch = Arc::clone(&never);
    let waits = thread::spawn(move || own.attach(|| latch.wait()));
    while never.waiting() == 0 {
        thread::yield_now();
    }

    let below = pixels.clone();
    let first = page.on_cancel(move || {
        println!("callback of `page`: `pixels` is cancelled: {}", below.is_cancelled());
        let ended = waits.join().expect("it does not panic");
        println!("callback of `page`: who waits for `pixels` has come back: {}", ended.is_err());
    });
    let second = pixels.on_cancel(|| println!("callback of `pixels`"));
    let third = request.on_cancel(|| println!("callback of `request`"));
    request.cancel();
    println!("cancel() has returned");
    // ANCHOR_END: tree
    drop((first, second, third));
}
