//! Shows what an operator should watch: refused, cancelled and late tasks, and the time that tasks wait.
//!
//! ```sh
//! cargo run --example alarms
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::{FifoQueue, FutureTask, Latch, PrometheusText, TaskMetrics, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: pool
    let metrics = Arc::new(TaskMetrics::new());
    let pool = ThreadPoolExecutor::builder()
        .threads(1)
        .queue(FifoQueue::bounded(2))
        .hooks(Arc::clone(&metrics)) // measures how long tasks wait and run
        .build()?;
    // ANCHOR_END: pool
    let (busy, free) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let (begun, until) = (Arc::clone(&busy), Arc::clone(&free));
    pool.execute(move || {
        begun.count_down();
        let _ = until.wait();
    })?;
    busy.wait()?; // until then a task might find the thread free

    // ANCHOR: tasks
    let patient = pool.submit(|| thread::sleep(MILLISECOND))?;
    let not_wanted = pool.submit(|| ())?;
    if let Err(refused) = pool.submit(|| ()) {
        println!("{refused}"); // two wait already
    }
    not_wanted.cancel();
    let in_a_hurry = pool.submit(FutureTask::new(|| ()).timeout(20 * MILLISECOND))?;
    if let Err(late) = in_a_hurry.join() {
        println!("{late}"); // it never began
    }
    free.count_down();
    patient.join()?;
    // ANCHOR_END: tasks

    // ANCHOR: text
    let mut text = PrometheusText::new(); // the answer to GET /metrics
    text.add_pool("orders", &pool.stats());
    text.add_times("orders", &metrics);
    // ANCHOR_END: text
    pool.close();
    let text = text.to_string();
    text.lines()
        .filter(|line| line.contains("_total{") || line.contains("_count{"))
        .for_each(|line| println!("{line}"));
    Ok(())
}
