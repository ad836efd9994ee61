//! Step 8: a poison pill ends the log. `stop` puts a special item, the pill, into the queue, and the writer
//! ends when it takes the pill. The lines before the pill are written, and no count is needed.
//!
//! **The fault:** a client that has checked the flag can put its line *behind* the pill, because of the gap
//! in step 2. A line behind the pill was accepted, but is never written. With a bounded queue, the next
//! client between the check and the `put` waits forever.
//!
//! A pill is the right tool if the producers are known. Each producer puts its own pill as its last item,
//! and the consumer ends after it has taken all of these pills. A log does not know its clients,
//! so it cannot wait for a pill from each client.
//!
//! The next step combines the check of the flag and the `put` into one atomic step.

use super::queue::Queue;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Reason, Refused};
use crate::door::sync::Arc;
use crate::door::sync::atomic::{AtomicBool, Ordering::SeqCst};
use executor::masked;

/// A log service that is stopped by a pill.
pub struct PillLog {
    queue: Arc<Queue<Item>>,
    is_stopped: AtomicBool,
    writer: WriterThread,
    gaps: Gaps,
}

// ANCHOR: pill
pub(super) enum Item {
    Line(String),
    Pill,
}

/// Writes lines until the pill comes.
pub(super) fn write(paper: &Paper, take: impl Fn() -> Option<Item>) {
    while let Some(Item::Line(line)) = take() {
        paper.write(&line);
    }
}
// ANCHOR_END: pill

impl Log for PillLog {
    fn start(capacity: usize, paper: &Paper, gaps: &Gaps) -> Self {
        let queue = Arc::new(Queue::new(capacity));
        let (items, paper) = (Arc::clone(&queue), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| write(&paper, || interrupt.take(&items)));
        Self { queue, is_stopped: AtomicBool::new(false), writer, gaps: gaps.clone() }
    }

    // ANCHOR: flag
    fn log(&self, line: String) -> Result<(), Refused> {
        if self.is_stopped.load(SeqCst) {
            return Err(Refused::stopped(line));
        }
        self.gaps.after("has seen that the log is open");
        self.queue.put(Item::Line(line)).map_err(refused)
    }

    fn stop(&self) {
        if !self.is_stopped.swap(true, SeqCst) {
            let put = masked(|| self.queue.put(Item::Pill));
            assert!(put.is_ok(), "no token can end a masked wait");
        }
        self.writer.join();
    }
    // ANCHOR_END: flag
}

/// Gives an interrupted client its line back.
pub(super) fn refused(item: Item) -> Refused {
    match item {
        Item::Line(line) => Refused { line, reason: Reason::Interrupted },
        Item::Pill => unreachable!("clients put lines"),
    }
}
