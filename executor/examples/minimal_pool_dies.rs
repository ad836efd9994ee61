//! Shows the effect of panicking tasks on two pools: the pool that most people write first, and a pool that
//! catches the panics.
//!
//! ```sh
//! cargo run --example minimal_pool_dies
//! ```
//!
//! The book explains this example in the chapter "A first pool".

use executor::{MinimalPool, RejectedExecution, ThreadPoolExecutor, prelude::*};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

fn main() -> Result<(), RejectedExecution> {
    // ANCHOR: minimal
    let minimal = MinimalPool::new(2);
    minimal.execute(|| panic!("the first"));
    minimal.execute(|| panic!("the second"));
    let (third, ran) = third_task();
    minimal.execute(third);
    report("minimal pool", ran.recv_timeout(Duration::from_secs(1)).is_ok());
    // ANCHOR_END: minimal

    let pool = ThreadPoolExecutor::fixed(2);
    pool.execute(|| panic!("the first"))?;
    pool.execute(|| panic!("the second"))?;
    let (third, ran) = third_task();
    pool.execute(third)?;
    report("ThreadPoolExecutor", ran.recv_timeout(Duration::from_secs(60)).is_ok());
    Ok(())
}

fn third_task() -> (impl FnOnce() + Send + 'static, Receiver<()>) {
    let (tell, told) = mpsc::channel();
    (move || tell.send(()).expect("main listens"), told)
}

fn report(pool: &str, ran: bool) {
    let third = if ran { "run" } else { "accepted and not run" };
    println!("{pool}: two tasks panicked, the third was {third}");
}
