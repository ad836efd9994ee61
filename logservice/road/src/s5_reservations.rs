//! Step 5: reservations that are counted under one lock, and given back by a client that is interrupted.
//!
//! The log of step 5 keeps all five promises. The writer ends when the log is stopped and no reservation is
//! left. A client in the gap between its reservation and its `put` is counted, so the writer waits for its
//! line. A client that is interrupted between its reservation and its `put` gives the reservation back. If
//! this was the last reservation, the client wakes the writer, which may be waiting for the client's line.
//!
//! In the next step, an executor service does all of this work.

use super::queue::Queue;
use super::reservations::Reservations;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::Arc;

// ANCHOR: service
/// A log service that counts reservations.
pub struct LogService {
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
// ANCHOR_END: service

impl Log for LogService {
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
        self.shared.queue.put_line(line).inspect_err(|_| {
            if self.shared.reservations.end_one() {
                self.writer.interrupt(); // the writer may be waiting for this line
            }
        })
    }

    fn stop(&self) {
        self.shared.reservations.stop();
        self.writer.interrupt();
        self.writer.join();
    }
    // ANCHOR_END: log
}
