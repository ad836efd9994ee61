//! Step 2: a flag that clients check before they put a line. The writer ends when the flag is set and the
//! queue is empty.
//!
//! **The fault:** checking the flag and putting the line are two separate steps. In the gap between the two
//! steps, the log can be stopped and the writer can end. After the writer has ended, a client in the gap
//! puts its line into a queue that no thread reads: the line was accepted, but is never written. The next
//! client in the gap finds the queue full, and waits forever.
//!
//! The next step counts the clients that are in the gap.

use super::queue::Queue;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::Arc;
use crate::door::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A log service with a flag.
pub struct FlaggedLog {
    shared: Arc<Shared>,
    writer: WriterThread,
    gaps: Gaps,
}

struct Shared {
    queue: Queue<String>,
    is_stopped: AtomicBool,
}

impl Shared {
    fn write(&self, paper: &Paper, take: impl Fn(&Queue<String>) -> Option<String>) {
        while !(self.is_stopped.load(SeqCst) && self.queue.is_empty()) {
            if let Some(line) = take(&self.queue) {
                paper.write(&line);
            }
        }
    }
}

impl Log for FlaggedLog {
    fn start(capacity: usize, paper: &Paper, gaps: &Gaps) -> Self {
        let shared = Shared { queue: Queue::new(capacity), is_stopped: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let (own, paper) = (Arc::clone(&shared), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| own.write(&paper, |queue| interrupt.take(queue)));
        Self { shared, writer, gaps: gaps.clone() }
    }

    // ANCHOR: flag
    fn log(&self, line: String) -> Result<(), Refused> {
        if self.shared.is_stopped.load(SeqCst) {
            return Err(Refused::stopped(line));
        }
        self.gaps.after("has seen that the log is open");
        self.shared.queue.put_line(line)
    }

    fn stop(&self) {
        self.shared.is_stopped.store(true, SeqCst);
        self.writer.interrupt();
        self.writer.join();
    }
    // ANCHOR_END: flag
}
