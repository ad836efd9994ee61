//! Three tasks, each on a separate thread: a task that returns, a task that panics, and a task that does not
//! end by itself.

use crate::on_its_own_thread::{silent_join, timed_run};
use crate::{A_MINUTE, LIMIT};
use executor::CancelToken;
use std::panic::catch_unwind;
use std::time::Duration;

pub fn show() {
    type Task = (&'static str, Duration, fn());
    let tasks: [Task; 3] = [
        ("returns", A_MINUTE, || {}),
        ("panics", A_MINUTE, || panic!("no such station")),
        ("runs on", LIMIT, || drop(CancelToken::current().sleep(A_MINUTE))),
    ];
    println!("a join that does not say why it came back:");
    for (what, limit, task) in tasks {
        println!("  the task that {what}: {:?}", silent_join(limit, task));
    }
    println!("a wait for what the task says:");
    for (what, limit, task) in tasks {
        match catch_unwind(|| timed_run(limit, task)) {
            Ok(ended) => println!("  the task that {what}: {ended:?}"),
            Err(panic) => println!("  the task that {what}: a panic, {:?}", panic.downcast_ref::<&str>()),
        }
    }
}
