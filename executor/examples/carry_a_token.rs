//! A thread that the user starts has no token, unless the program gives it a token.
//!
//! ```sh
//! cargo run --example carry_a_token
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelToken, Latch, TaskState, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;

// ANCHOR: threads
/// Starts a task with two helper threads. Each of the two threads asks for its current token.
fn with_helpers() -> [String; 2] {
    let token = CancelToken::current();
    let check = || {
        CancelToken::current().check().map_or_else(|cancelled| cancelled.to_string(), |()| "goes on".into())
    };
    thread::scope(|scope| {
        let forgotten = scope.spawn(check);
        let carried = scope.spawn(|| {
            let _attached = token.attached(); // until the end of this block
            check()
        });
        [forgotten, carried].map(|helper| helper.join().expect("a helper does not panic"))
    })
}
// ANCHOR_END: threads

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let task = pool.submit(|| {
        let stopped = Latch::new(1).wait(); // returns when the pool is stopped
        stopped.map_or_else(|_| with_helpers(), |()| unreachable!("the latch stays closed"))
    })?;
    while task.state() != TaskState::Running {
        thread::yield_now();
    }
    drop(pool.shutdown_now());
    let [forgotten, carried] = task.join()?;
    println!("a thread of its own:        {forgotten}");
    println!("one that carries the token: {carried}");
    Ok(())
}
