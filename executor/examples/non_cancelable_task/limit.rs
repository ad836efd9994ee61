//! Shows the effect of two time limits on a masked step: a time limit that the caller sets, and a time limit
//! that the step sets.

use super::Task;
use executor::channel::{Receiver, ReceiverExt, SenderExt, bounded};
use executor::{CancelToken, masked};
use std::error::Error;
use std::time::Duration;

// ANCHOR: limits
pub fn limits() -> Result<(), Box<dyn Error>> {
    let (desk, tasks) = bounded::<Task>(1);
    desk.put("paint the door")?;
    let no_time = CancelToken::new().with_timeout(Duration::ZERO);
    no_time.attach(|| {
        println!("under a deadline that has passed: {:?}", tasks.take());
        println!("the same, masked: {:?}", masked(|| tasks.take()));
        println!("what the caller sees then: {:?}", CancelToken::current().check());
        println!("masked, with a limit of its own: {:?}", masked(|| with_a_limit(&tasks)));
    });
    Ok(())
}

/// Takes the next task, if a task comes within 20 ms.
fn with_a_limit(tasks: &Receiver<Task>) -> Result<Task, Box<dyn Error>> {
    let limit = CancelToken::new().with_timeout(Duration::from_millis(20)); // not a child of the caller's
    limit.attach(|| Ok(tasks.take()?))
}
// ANCHOR_END: limits
