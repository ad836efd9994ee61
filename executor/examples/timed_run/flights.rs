//! A travel site asks airlines for prices, on an executor and with a time limit.

use crate::on_an_executor::{NoResult, hides_the_time_out, timed_run};
use crate::{A_MINUTE, LIMIT};
use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn price(takes: Duration) -> u32 {
    CancelToken::current().sleep(takes).map_or(0, |()| 210)
}

pub fn show() {
    let pool = ThreadPoolExecutor::single();
    let airlines = [("Albatross", Duration::ZERO, A_MINUTE), ("Bee", A_MINUTE, LIMIT)];
    println!("a time-out that is not told:");
    for (airline, takes, limit) in airlines {
        let total = Arc::new(AtomicU32::new(0));
        let adds = Arc::clone(&total);
        hides_the_time_out(&pool, limit, move || adds.store(price(takes), Ordering::SeqCst));
        println!("  {airline}: {}", total.load(Ordering::SeqCst));
    }
    println!("a price, or why there is none:");
    for (airline, takes, limit) in airlines {
        println!("  {airline}: {}", told(timed_run(&pool, limit, move || price(takes))));
    }
    pool.close(); // waits for its thread: the late task was told to stop
    println!("  Condor: {}", told(timed_run(&pool, LIMIT, || 320)));
}

fn told(price: Result<u32, NoResult>) -> String {
    match price {
        Ok(price) => price.to_string(),
        Err(NoResult::TimedOut) => "no answer in time".into(),
        Err(NoResult::Refused(reason)) => format!("not asked, because {reason}"),
        Err(NoResult::Interrupted | NoResult::Cancelled) => "called off".into(),
    }
}
