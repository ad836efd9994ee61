//! What panicking tasks do to the pool that everybody writes first, and to one that was written for them.
//!
//! ```sh
//! cargo run -p executor --example minimal_pool_dies
//! ```
//!
//! The book's chapter: Tasks and executors.

use executor::{MinimalPool, ThreadPoolExecutor, prelude::*};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

fn main() {
    let minimal = MinimalPool::new(2);
    minimal.execute(|| panic!("the first"));
    minimal.execute(|| panic!("the second"));
    let (third, ran) = third_task();
    minimal.execute(third);
    report("minimal pool", &ran);

    let pool = ThreadPoolExecutor::fixed(2);
    pool.execute(|| panic!("the first")).expect("a running pool accepts tasks");
    pool.execute(|| panic!("the second")).expect("a running pool accepts tasks");
    let (third, ran) = third_task();
    pool.execute(third).expect("a running pool accepts tasks");
    report("ThreadPoolExecutor", &ran);
}

fn third_task() -> (impl FnOnce() + Send + 'static, Receiver<()>) {
    let (tell, told) = mpsc::channel();
    (move || tell.send(()).expect("main listens"), told)
}

fn report(pool: &str, ran: &Receiver<()>) {
    match ran.recv_timeout(Duration::from_secs(1)) {
        Ok(()) => println!("{pool}: two tasks panicked, the third was run"),
        Err(_) => println!("{pool}: two tasks panicked, the third was accepted and not run"),
    }
}
