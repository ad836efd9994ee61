//! Step 7: the executor service is a cached pool, and the wait for its end has a time limit, as in the Java
//! listing. The listing calls `shutdown`, then `awaitTermination(TIMEOUT)`, and then, in a `finally`, the
//! `close` of the writer.
//!
//! **The faults:** each line may get its own thread. So the lines of one client may be written in any order.
//! After the time limit, the paper is closed although some tasks have not written their lines yet; such lines
//! were accepted, but are lost. `await_termination` reports the expired limit by returning `false`, but the
//! listing ignores this result.
//!
//! The next step ends the log with a special item.

use executor::{ThreadPoolExecutor, prelude::*};

use super::{Gaps, Log, Paper, Refused};
use crate::door::time::Duration;

const TIMEOUT: Duration = Duration::from_millis(20);

// ANCHOR: cached
/// A log service on a cached pool.
pub struct CachedPoolLog {
    pool: ThreadPoolExecutor,
    paper: Paper,
}

impl Log for CachedPoolLog {
    fn start(_: usize, paper: &Paper, _: &Gaps) -> Self {
        Self { pool: ThreadPoolExecutor::cached(), paper: paper.clone() }
    }

    fn log(&self, line: String) -> Result<(), Refused> {
        let (paper, text) = (self.paper.clone(), line.clone());
        self.pool.execute(move || paper.write(&text)).map_err(|_| Refused::stopped(line))
    }

    fn stop(&self) {
        self.pool.shutdown();
        self.pool.await_termination(TIMEOUT); // the fault: `false` is ignored
        self.paper.close();
    }
}
// ANCHOR_END: cached
