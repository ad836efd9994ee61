//! Runs three tasks under three execution policies: the three runs differ only in the executor that is passed
//! in.
//!
//! ```sh
//! cargo run --example same_tasks_three_policies
//! ```
//!
//! The book explains this example in the chapter "Tasks and executors".

use executor::{DirectExecutor, Executor, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*};
use std::collections::HashSet;
use std::sync::mpsc;
use std::thread::{self, ThreadId};

// ANCHOR: submitter
/// Runs three tasks, and returns the threads that ran them.
fn run_three(executor: &dyn Executor) -> HashSet<ThreadId> {
    let (tell, told) = mpsc::channel();
    for _ in 0..3 {
        let tell = tell.clone();
        let task = move || tell.send(thread::current().id()).expect("the receiver is there");
        executor.execute(task).expect("these executors accept what they can run");
    }
    drop(tell); // the tasks have the only senders now, so the next line ends with the tasks
    told.iter().collect()
}
// ANCHOR_END: submitter

fn main() {
    // ANCHOR: policies
    show("direct", &DirectExecutor);
    show("a thread per task", &ThreadPerTaskExecutor::new());
    show("a pool of one thread", &ThreadPoolExecutor::single());
    // ANCHOR_END: policies
}

fn show(policy: &str, executor: &dyn Executor) {
    let threads = run_three(executor);
    let callers_own = threads.contains(&thread::current().id());
    println!("{policy:<22}threads: {}, one is the caller's: {callers_own}", threads.len());
}
