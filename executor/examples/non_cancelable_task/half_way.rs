//! A step with two halves. If the task is cancelled, the step can end after its first half and before its
//! second half.

use super::Task;
use executor::CancelToken;
use executor::channel::{Receiver, ReceiverExt, Sender, SenderExt, bounded};
use std::error::Error;

// ANCHOR: half_way
/// Takes a task from one desk, stamps the task and puts it on the other desk.
pub fn move_one(from: &Receiver<Task>, to: &Sender<Task>, stamp: Stamp<'_>) -> Result<(), Box<dyn Error>> {
    let task = from.take()?;
    stamp(task);
    to.put(task)?;
    Ok(())
}
// ANCHOR_END: half_way

pub type Stamp<'a> = &'a dyn Fn(Task);
type MoveOne = fn(&Receiver<Task>, &Sender<Task>, Stamp<'_>) -> Result<(), Box<dyn Error>>;

/// In each trial, the request to stop arrives while the code stamps the task.
pub fn cancelled_between(move_one: MoveOne) -> Result<(), Box<dyn Error>> {
    let (first_desk, from) = bounded(1);
    let (to, second_desk) = bounded(1);
    first_desk.put("paint the door")?;
    let token = CancelToken::new();
    let moved = token.attach(|| move_one(&from, &to, &|_| _ = token.cancel()));
    println!("move_one() said {}", moved.map_or_else(|error| format!("\"{error}\""), |()| "yes".into()));
    println!("tasks on the first desk: {}, on the second: {}", first_desk.len(), second_desk.len());
    Ok(())
}
