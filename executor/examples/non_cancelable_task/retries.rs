//! Java's way, step by step: after each request to stop, the code tries again to take a task; at the end, it
//! passes the request on.

use super::Task;
use executor::CancelToken;
use executor::channel::{Receiver, ReceiverExt, SenderExt, TakeError, bounded};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{process, thread};

/// The number of times that the worker has tried to take a task so far.
static ATTEMPTS: AtomicU64 = AtomicU64::new(0);

// ANCHOR: retries
/// Waits for the next task, even if the caller was asked to stop. Returns `None` if no more tasks will come.
pub fn next_task(tasks: &Receiver<Task>) -> Option<Task> {
    let mut interrupted = false;
    let task = loop {
        ATTEMPTS.fetch_add(1, Ordering::Relaxed);
        match tasks.take() {
            Ok(task) => break Some(task),
            Err(TakeError::Interrupted) => interrupted = true, // tries again
            Err(_) => break None,
        }
    };
    if interrupted {
        CancelToken::current().cancel(); // so the caller sees it
    }
    task
}
// ANCHOR_END: retries

/// A worker receives a request to stop. The worker then calls a function that waits for a task, although a
/// task is already there.
pub fn cancelled_before(next_task: fn(&Receiver<Task>) -> Option<Task>) -> Result<(), Box<dyn Error>> {
    let (desk, tasks) = bounded(1);
    desk.put("paint the door")?;
    let token = CancelToken::new();
    token.cancel_because("the shop closes");
    let worker = thread::spawn(move || {
        let _attached = token.attached();
        println!("next_task() gave {:?}", next_task(&tasks));
        println!("then its caller looked at its token: {:?}", CancelToken::current().check());
    });
    while !worker.is_finished() {
        if ATTEMPTS.load(Ordering::Relaxed) > 100_000 {
            println!("a task is there, and 100000 attempts to take it have failed");
            process::exit(1); // otherwise the worker would never stop trying
        }
        thread::yield_now();
    }
    worker.join().expect("the worker does not panic");
    Ok(())
}
