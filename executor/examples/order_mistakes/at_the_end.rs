//! Two wrong shutdowns: one waits while it holds the lock, and one returns wrappers instead of tasks.

use crate::line::Line;
use executor::{Latch, SerialExecutor, Task, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

// ANCHOR: locked_wait
pub fn locked_wait() -> Result<(), Box<dyn Error>> {
    let line = Line::over(ThreadPoolExecutor::fixed(2));
    let (own, begin) = (Arc::clone(&line), Arc::new(Latch::new(1)));
    let until = Arc::clone(&begin);
    line.execute(move || {
        until.wait().expect("it is not cancelled");
        while own.state.try_lock().is_ok() {} // until the other thread waits for the end
    });
    begin.count_down();
    println!("with the lock: ended within 1 s: {}", line.await_end(Duration::from_secs(1)));
    line.is_empty.wait()?;
    println!("without: ended");
    Ok(())
}
// ANCHOR_END: locked_wait

// ANCHOR: wrappers
pub fn wrappers() -> Result<(), Box<dyn Error>> {
    let gate = Arc::new(Latch::new(1));
    let line = Line::over(busy(&gate)?);
    for name in ["a", "b", "c"] {
        line.execute(move || println!("{name}"));
    }
    println!("a line of wrappers hands out: {}", names(line.pool.shutdown_now()));

    let line = SerialExecutor::owning(busy(&gate)?);
    for name in ["a", "b", "c"] {
        line.execute(Task::new(move || println!("{name}")).named(name))?;
    }
    println!("ours: {}", names(line.shutdown_now()));
    gate.count_down();
    Ok(())
}
// ANCHOR_END: wrappers

/// A pool whose only thread waits for the gate, so that all later tasks stay in the queue.
fn busy(gate: &Arc<Latch>) -> Result<ThreadPoolExecutor, Box<dyn Error>> {
    let (pool, begun) = (ThreadPoolExecutor::fixed(1), Arc::new(Latch::new(1)));
    let (gate, begins) = (Arc::clone(gate), Arc::clone(&begun));
    pool.execute(move || {
        begins.count_down();
        executor::masked(|| gate.wait()).expect("it is masked");
    })?;
    begun.wait()?;
    Ok(pool)
}

fn names(tasks: Vec<Task>) -> String {
    tasks.iter().map(|task| task.name().unwrap_or("a task without a name")).collect::<Vec<_>>().join(", ")
}
