//! Shows five ways in which the wait for a task can end, and a `match` that distinguishes them.
//!
//! ```sh
//! cargo run --example how_a_join_ends
//! ```
//!
//! The book explains this example in the chapter "The handle".

use executor::{CancelToken, JoinError, TaskHandle, ThreadPoolExecutor, prelude::*};
use std::time::Duration;

const AN_HOUR: Duration = Duration::from_secs(3600);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ThreadPoolExecutor::fixed(2);

    println!("sum:         {}", tell(pool.submit(|| (1..=100).sum())?));
    println!("panic:       {}", tell(pool.submit(|| panic!("no such file"))?));

    // ANCHOR: cancelled
    let nap = pool.submit_cancellable(|token| token.sleep(AN_HOUR).map(|()| 0))?;
    nap.cancel();
    println!("called off:  {}", tell(nap));
    // ANCHOR_END: cancelled

    // ANCHOR: timed_out
    let nap = pool.submit_cancellable(|token| token.sleep(AN_HOUR))?;
    match nap.join_timeout(Duration::from_millis(10)) {
        Err(JoinError::TimedOut(nap)) => {
            println!("too slow:    given up, cancelled: {}", nap.cancel());
        }
        other => println!("too slow:    {other:?}"),
    }
    // ANCHOR_END: timed_out

    // ANCHOR: interrupted
    let nap = pool.submit_cancellable(|token| token.sleep(AN_HOUR).map(|()| 0))?;
    let canceller = nap.canceller();
    let asked_to_stop = CancelToken::new();
    asked_to_stop.cancel();
    println!("interrupted: {}", asked_to_stop.attach(|| tell(nap)));
    println!("the nap:     cancelled only now: {}", canceller.cancel());
    // ANCHOR_END: interrupted
    Ok(())
}

// ANCHOR: match
fn tell(handle: TaskHandle<u64>) -> String {
    match handle.join() {
        Ok(value) => format!("the value {value}"),
        Err(JoinError::Panicked(panic)) => format!("the task panicked: {}", panic.message()),
        Err(JoinError::Cancelled(_)) => "the task was cancelled".into(),
        Err(JoinError::Interrupted(_handle)) => "this wait was called off; the task goes on".into(),
        Err(other) => format!("{other}"),
    }
}
// ANCHOR_END: match
