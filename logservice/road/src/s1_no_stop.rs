//! Step 1: a queue, and a thread that writes the lines from this queue. Clients of this log do not wait for
//! the disk.
//!
//! **The fault:** the log can be ended only by killing the writer. When the writer is killed, the lines in
//! the queue are lost. The clients do not learn that the writer is dead. A client that finds room continues
//! to put lines that nobody will write, and a client that finds the queue full waits forever.
//!
//! The next step adds a flag.

use super::queue::Queue;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::Arc;

// ANCHOR: writer
/// A log writer that cannot be stopped.
pub struct LogWriter {
    queue: Arc<Queue<String>>,
    writer: WriterThread,
}

impl Log for LogWriter {
    fn start(capacity: usize, paper: &Paper, _: &Gaps) -> Self {
        let queue = Arc::new(Queue::<String>::new(capacity));
        let (lines, paper) = (Arc::clone(&queue), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| {
            while let Some(line) = interrupt.take(&lines) {
                paper.write(&line);
            }
        });
        Self { queue, writer }
    }

    fn log(&self, line: String) -> Result<(), Refused> {
        self.queue.put_line(line)
    }

    /// Kills the writer, because this step has no better way to stop it.
    fn stop(&self) {
        self.writer.interrupt();
        self.writer.join();
    }
}
// ANCHOR_END: writer
