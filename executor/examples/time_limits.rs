//! Three ways to get results in time: the result of one task, the results of all tasks, and the first result
//! of many tasks.
//!
//! ```sh
//! cargo run --example time_limits
//! ```
//!
//! The book explains this example in the chapter "Time limits".

use executor::{FutureTask, JoinError, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(300);
const QUICK: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_secs(3600);

/// Asks the server of another company; the answer comes after the time `after`.
fn ask<T: Send + 'static>(answer: T, after: Duration) -> FutureTask<T> {
    FutureTask::cancellable(move |token| token.sleep(after).map(|()| answer))
}

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(4);
    for delay in [QUICK, SLOW] {
        println!("advertisement: {}", advertisement(&pool, delay)?);
    }
    quotes(&pool)?;
    println!("first mirror: {}", mirror(&pool)?);
    pool.close(); // waits for the threads, so this ends only because the late tasks were cancelled
    println!("closed");
    Ok(())
}

// ANCHOR: one
fn advertisement(pool: &ThreadPoolExecutor, delay: Duration) -> Result<&'static str, Box<dyn Error>> {
    let end = Instant::now() + BUDGET;
    let advertisement = pool.submit(ask("buy this", delay))?;
    // Here a real program would draw the page itself, and drawing would use up a part of the time budget.
    match advertisement.join_timeout(end.saturating_duration_since(Instant::now())) {
        Ok(text) => Ok(text),
        Err(JoinError::TimedOut(late)) => {
            late.cancel(); // otherwise the task would go on and block its thread
            Ok("our own")
        }
        Err(other) => Err(other.into()),
    }
}
// ANCHOR_END: one

// ANCHOR: all
fn quotes(pool: &ThreadPoolExecutor) -> Result<(), Box<dyn Error>> {
    let companies = [("Albatross", 310, QUICK), ("Bee", 120, SLOW), ("Condor", 290, QUICK)];
    let requests = companies.map(|(_, price, delay)| ask(price, delay));
    let quotes = pool.invoke_all_timeout(requests, BUDGET)?;
    for ((company, ..), quote) in companies.iter().zip(quotes) {
        match quote.join() {
            Ok(price) => println!("{company}: {price}"),
            Err(JoinError::Cancelled(_)) => println!("{company}: no quote in time"),
            Err(other) => println!("{company}: {other}"),
        }
    }
    Ok(())
}
// ANCHOR_END: all

// ANCHOR: any
fn mirror(pool: &ThreadPoolExecutor) -> Result<&'static str, Box<dyn Error>> {
    let mirrors = [
        ask(Err("not found"), QUICK),
        ask(Ok("the one in Lima"), SLOW),
        ask(Ok("the one in Oslo"), Duration::from_millis(20)),
    ];
    Ok(pool.invoke_any_timeout(mirrors, 10 * BUDGET)?)
}
// ANCHOR_END: any
