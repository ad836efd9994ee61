//! A stripe with many tasks and a stripe with few tasks share one thread. The example shows which stripe ends
//! earlier if the turns of the stripes are short.
//!
//! ```sh
//! cargo run --example taking_turns
//! ```
//!
//! The book explains this example in the chapter "Order without a lock".

use executor::{ManualExecutor, RejectedExecution, StripedExecutor};
use std::sync::{Arc, Mutex};

// ANCHOR: turns
fn main() -> Result<(), RejectedExecution> {
    for turn in [64, 3, 1] {
        let order = Arc::new(Mutex::new(String::new()));
        let task = |letter| {
            let order = Arc::clone(&order);
            move || order.lock().unwrap().push(letter)
        };
        let thread = Arc::new(ManualExecutor::new());
        let striped = StripedExecutor::over(Arc::clone(&thread)).turns_of(turn);
        for _ in 0..8 {
            striped.execute_in("a long one", task('L'))?;
        }
        striped.execute_in("a short one", task('s'))?;
        striped.execute_in("a short one", task('s'))?;
        let tasks_below = thread.run_all();
        println!("turns of {turn:2}: {} in {tasks_below} turns", order.lock().unwrap());
    }
    Ok(())
}
// ANCHOR_END: turns
