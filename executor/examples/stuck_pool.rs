//! Two pools whose tasks wait for each other: the watchdog reports the stuck task, and a dump shows the cause.
//!
//! ```sh
//! cargo run --example stuck_pool
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::{FutureTask, LongTask, Task, ThreadPoolExecutor, dump, prelude::*};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (tell, told) = mpsc::channel();
    // ANCHOR: watchdog
    let limit = Duration::from_millis(50); // a server would rather say 30 s
    let orders = ThreadPoolExecutor::builder().name("orders").watchdog(limit, move |task: &LongTask<'_>| {
        let _ = tell.send(format!("{} is stuck on {}", task.name.unwrap_or("?"), task.thread.unwrap_or("?")));
    });
    // ANCHOR_END: watchdog
    let (orders, bills) = (orders.build()?, ThreadPoolExecutor::builder().name("bills").build()?);
    let (accounts, bills) = (Arc::new(Mutex::new(0)), Arc::new(bills));

    // ANCHOR: stuck
    let (locked, other) = (Arc::clone(&accounts), Arc::clone(&bills));
    let order = orders.submit(
        FutureTask::new(move || {
            let mut account = locked.lock().unwrap(); // and the bill wants the same lock
            let wanted = Arc::clone(&locked);
            let bill = FutureTask::new(move || *wanted.lock().unwrap() += 30).named("bill 7");
            let paid = other.submit(bill).expect("the pool accepts tasks").join();
            *account += i32::from(paid.is_ok());
        })
        .named("order 7"),
    )?;
    // ANCHOR_END: stuck
    orders.execute(Task::new(|| ()).named("order 8"))?;
    println!("{}", told.recv()?);
    println!("{}", without_ages(&dump().to_string()));

    order.cancel(); // the join ends, and with it the lock
    bills.close();
    println!("the account after the bill: {}", accounts.lock().unwrap());
    Ok(())
}

/// Leaves out the ages of the tasks, because each run prints other ages.
fn without_ages(dump: &str) -> String {
    dump.lines().filter_map(|line| line.split(", for at least").next()).collect::<Vec<_>>().join("\n")
}
