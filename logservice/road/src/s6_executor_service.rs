//! Step 6: an executor service with one thread; each line is a task of this service. The service has a queue, a
//! thread, a state and a count of accepted tasks, and it can be shut down: it contains all parts of the
//! earlier steps.
//!
//! The log of step 6 keeps all five promises. The queue is bounded, and a client waits for room, as in the
//! earlier steps. The paper is closed only after the last task has ended.
//!
//! The next step shows a fault that a small change causes.

use executor::{Block, FifoQueue, RejectReason, ThreadPoolExecutor, masked, prelude::*};

use super::{Gaps, Log, Paper, Reason, Refused};

// ANCHOR: service
/// A log service on an executor service.
pub struct ExecutorLog {
    pool: ThreadPoolExecutor,
    paper: Paper,
}

impl Log for ExecutorLog {
    fn start(capacity: usize, paper: &Paper, _: &Gaps) -> Self {
        let pool = ThreadPoolExecutor::builder()
            .threads(1)
            .queue(FifoQueue::bounded(capacity))
            .rejection_handler(Block::new())
            .name("log")
            .build()
            .expect("one thread, a queue with a bound");
        Self { pool, paper: paper.clone() }
    }

    fn log(&self, line: String) -> Result<(), Refused> {
        let (paper, text) = (self.paper.clone(), line.clone()); // a refused task drops its closure
        self.pool.execute(move || paper.write(&text)).map_err(|refused| Refused {
            line,
            reason: match refused.reason {
                RejectReason::Shutdown => Reason::Stopped,
                _ => Reason::Interrupted,
            },
        })
    }

    fn stop(&self) {
        masked(|| self.pool.close()); // refuses new tasks, and waits for the accepted tasks
        self.paper.close();
    }
}
// ANCHOR_END: service
