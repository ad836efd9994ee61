//! Step 1: a queue, and a thread that writes what comes out of it. Clients do not wait for the disk.
//!
//! **Its fault:** there is no way to end it but to kill the writer. The lines in the queue are lost. The
//! clients are not told: one that finds room goes on putting lines which nothing will write, and one that
//! finds the queue full waits for ever.
//!
//! The next step gives it a flag.

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

    /// Kills the writer. There is nothing better to do.
    fn stop(&self) {
        self.writer.interrupt();
        self.writer.join();
    }
}
// ANCHOR_END: writer
