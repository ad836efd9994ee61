//! A page asks for the weather on its own thread, with a time limit. Afterwards the page is saved.

use crate::on_the_callers_thread::{late_cancel, taken_back, timed_run};
use crate::{A_MINUTE, LIMIT};
use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::Duration;

/// Waits until the caller asks this task to stop, and then ignores the request. Therefore each run of the
/// example prints the same text.
fn stubborn_weather() -> &'static str {
    let token = CancelToken::current();
    while !token.is_cancelled() {
        thread::yield_now();
    }
    "rain, after the time was up"
}

fn obedient_weather() -> &'static str {
    CancelToken::current().sleep(A_MINUTE).map_or("not known in time", |()| "sun")
}

fn save(takes: Duration) {
    match CancelToken::current().sleep(takes) {
        Ok(()) => println!("  the page is saved"),
        Err(error) => println!("  the page is not saved: {error}"),
    }
}

pub fn show() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let first_page = || {
        println!("the caller is cancelled when the time is up:");
        println!("  the weather: {}", late_cancel(LIMIT, || "sun"));
        save(A_MINUTE);
    };
    pool.submit(first_page)?.join()?;
    pool.submit(|| println!("  the next page on this thread: {:?}", CancelToken::current().check()))?
        .join()?;
    let second_page = || {
        println!("the same, and the cancel is taken back when the weather is known:");
        println!("  the weather: {}", taken_back(LIMIT, stubborn_weather));
        save(5 * LIMIT);
    };
    pool.submit(second_page)?.join()?;
    let third_page = || {
        println!("only the weather is cancelled:");
        for weather in [stubborn_weather, obedient_weather] {
            println!("  the weather: {}", timed_run(LIMIT, weather));
            save(5 * LIMIT);
        }
    };
    Ok(pool.submit(third_page)?.join()?)
}
