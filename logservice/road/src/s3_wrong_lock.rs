//! Step 3: reservations. Before a client puts its line, the client increases a count, under a lock. After the
//! writer has written a line, the writer decreases the count. The writer ends only when the log is stopped
//! and the count is zero.
//!
//! **The fault:** the writer does not use the same lock as the clients. In the Java listing, clients and
//! writer use `synchronized (this)`. But the writer is an inner class, so its `this` is the thread and not
//! the service. Two different locks do not exclude each other. A client and the writer change the count at
//! the same time, and one of the two changes is lost. If the count becomes too low, the writer ends although
//! an accepted line is not written. If the count becomes too high, the writer never ends.
//!
//! In Rust, a `Mutex` contains its data, so the fault of two locks cannot be written by mistake. To show the
//! fault, the count is atomic and outside of its lock: a plain field would not compile.
//!
//! The next step uses one lock for the clients and the writer.

use super::queue::Queue;
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use crate::door::sync::{Arc, Mutex};

/// A log service that counts reservations under two locks.
pub struct TwoLockLog {
    service: Arc<Service>,
    writer: WriterThread,
}

struct Service {
    queue: Queue<String>,
    lock: Mutex<()>,
    is_stopped: AtomicBool,
    reserved: AtomicUsize,
    gaps: Gaps,
}

// ANCHOR: writer
struct LogThread {
    lock: Mutex<()>, // the fault: this is not the service's lock
    service: Arc<Service>,
}

impl LogThread {
    fn write(&self, paper: &Paper, take: impl Fn(&Queue<String>) -> Option<String>) {
        while !self.are_over() {
            if let Some(line) = take(&self.service.queue) {
                paper.write(&line);
                let _locked = self.lock.lock().unwrap();
                self.service.change_by(|reserved| reserved.wrapping_sub(1), "the writer has read the count");
            }
        }
    }

    fn are_over(&self) -> bool {
        let _locked = self.lock.lock().unwrap();
        self.service.is_stopped.load(SeqCst) && self.service.reserved.load(SeqCst) == 0
    }
}
// ANCHOR_END: writer

impl Service {
    /// Reads the count, and writes the changed count as a separate step, like `++reservations` in Java.
    fn change_by(&self, change: impl FnOnce(usize) -> usize, halfway: &'static str) {
        let reserved = self.reserved.load(SeqCst);
        self.gaps.after(halfway);
        self.reserved.store(change(reserved), SeqCst);
    }
}

impl Log for TwoLockLog {
    fn start(capacity: usize, paper: &Paper, gaps: &Gaps) -> Self {
        let service = Arc::new(Service {
            queue: Queue::new(capacity),
            lock: Mutex::new(()),
            is_stopped: AtomicBool::new(false),
            reserved: AtomicUsize::new(0),
            gaps: gaps.clone(),
        });
        let (own, paper) = (Arc::clone(&service), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| {
            let thread = LogThread { lock: Mutex::new(()), service: own };
            thread.write(&paper, |queue| interrupt.take(queue));
        });
        Self { service, writer }
    }

    // ANCHOR: client
    fn log(&self, line: String) -> Result<(), Refused> {
        {
            let _locked = self.service.lock.lock().unwrap();
            if self.service.is_stopped.load(SeqCst) {
                return Err(Refused::stopped(line));
            }
            self.service.change_by(|reserved| reserved.wrapping_add(1), "a client has read the count");
        }
        self.service.queue.put_line(line)
    }
    // ANCHOR_END: client

    fn stop(&self) {
        let locked = self.service.lock.lock().unwrap();
        self.service.is_stopped.store(true, SeqCst);
        drop(locked);
        self.service.gaps.after("the log is stopped");
        self.writer.interrupt();
        self.writer.join();
    }
}
