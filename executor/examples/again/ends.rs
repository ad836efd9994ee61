//! A task is planned for two seconds from now. The example shows what happens to the task if its executor
//! ends before the task is due.

use executor::{ScheduledThreadPoolExecutor, TaskHandle, prelude::*};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_secs(2);

// ANCHOR: ends
pub(crate) fn show() {
    let end = |what, delayed, end: fn(ScheduledThreadPoolExecutor)| {
        let pool = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(delayed).build().unwrap();
        let begin = Instant::now(); // before the delay begins
        let task = pool.schedule(DELAY, || "the report").unwrap();
        end(pool);
        report(what, begin, task);
    };
    end("close", true, |pool| pool.close());
    end("close, delayed_after_shutdown(false)", false, |pool| pool.close());
    end("drop", true, drop);
    end("shutdown_now", true, |pool| println!("shutdown_now hands out {} task", pool.shutdown_now().len()));
}
// ANCHOR_END: ends

fn report(what: &str, begin: Instant, task: TaskHandle<&'static str>) {
    let waited = if begin.elapsed() < DELAY { "at once" } else { "after its time" };
    let outcome = match task.join() {
        Ok(result) => format!("result: {result}"),
        Err(error) => error.to_string(),
    };
    println!("{what:38} {waited:15} {outcome}");
}
