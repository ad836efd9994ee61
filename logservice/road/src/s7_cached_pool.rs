//! Step 7: the executor service is a cached pool, and the end has a time limit, as in the Java listing:
//! `shutdown`, `awaitTermination(TIMEOUT)`, and in a `finally` the `close` of the writer.
//!
//! **Its faults:** each line may get a thread of its own. Lines of one client are written in any order. And
//! when the time is up, the paper is closed under tasks that have not written yet: their lines were accepted,
//! and are lost. `await_termination` reports this by returning `false`, which the listing ignores.
//!
//! The next step ends the log by a special line.

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
        self.pool.await_termination(TIMEOUT); // and if it says false?
        self.paper.close();
    }
}
// ANCHOR_END: cached
