//! Step 4: reservations that are counted under one lock (`reservations.rs`).
//!
//! **The fault:** if a client's task is cancelled while the client waits for room, the client gets its line
//! back, but its reservation stays in the count. Because of this reservation, the writer waits for a line
//! that does not come, and the log never ends.
//!
//! The next step gives the reservation back.

use super::queue::Queue;
use super::reservations::Reservations;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::Arc;

/// A log service that keeps the reservation of an interrupted client.
pub struct KeepingLog {
    shared: Arc<Shared>,
    writer: WriterThread,
}

struct Shared {
    queue: Queue<String>,
    reservations: Reservations,
}

impl Shared {
    fn write(&self, paper: &Paper, take: impl Fn(&Queue<String>) -> Option<String>) {
        while !self.reservations.are_over() {
            if let Some(line) = take(&self.queue) {
                paper.write(&line);
                self.reservations.end_one();
            }
        }
    }
}

impl Log for KeepingLog {
    fn start(capacity: usize, paper: &Paper, _: &Gaps) -> Self {
        let shared = Shared { queue: Queue::new(capacity), reservations: Reservations::default() };
        let shared = Arc::new(shared);
        let (own, paper) = (Arc::clone(&shared), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| own.write(&paper, |queue| interrupt.take(queue)));
        Self { shared, writer }
    }

    // ANCHOR: log
    fn log(&self, line: String) -> Result<(), Refused> {
        if !self.shared.reservations.reserve() {
            return Err(Refused::stopped(line));
        }
        self.shared.queue.put_line(line)
    }
    // ANCHOR_END: log

    fn stop(&self) {
        self.shared.reservations.stop();
        self.writer.interrupt();
        self.writer.join();
    }
}
