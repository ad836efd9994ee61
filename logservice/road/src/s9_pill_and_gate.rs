//! Step 9: a poison pill, and a lock that ensures that the pill is the last item. Clients check the flag
//! and put their lines under the lock; `stop` sets the flag and puts the pill under the same lock. So no
//! item can come behind the pill.
//!
//! The log of step 9 keeps all five promises. The disadvantage: while the queue is full, one client waits in
//! `put`, and all other clients wait for the lock. A client that waits for the lock cannot be interrupted
//! until it has the lock. With reservations (step 5), clients hardly wait for the lock, because the lock is
//! held for a few instructions, and never during a wait.

use executor::masked;

use super::queue::Queue;
use super::s8_poison_pill::{Item, refused, write};
use super::writer_thread::WriterThread;
use super::{Gaps, Log, Paper, Refused};
use crate::door::sync::{Arc, Mutex};

/// A log service that is stopped by a pill; no item can follow the pill.
pub struct GatedPillLog {
    queue: Arc<Queue<Item>>,
    is_open: Mutex<bool>,
    writer: WriterThread,
}

impl Log for GatedPillLog {
    fn start(capacity: usize, paper: &Paper, _: &Gaps) -> Self {
        let queue = Arc::new(Queue::new(capacity));
        let (items, paper) = (Arc::clone(&queue), paper.clone());
        let writer = WriterThread::spawn(move |interrupt| write(&paper, || interrupt.take(&items)));
        Self { queue, is_open: Mutex::new(true), writer }
    }

    // ANCHOR: gate
    fn log(&self, line: String) -> Result<(), Refused> {
        let is_open = self.is_open.lock().unwrap();
        if *is_open {
            self.queue.put(Item::Line(line)).map_err(refused) // under the lock, so no pill can come first
        } else {
            Err(Refused::stopped(line))
        }
    }

    fn stop(&self) {
        let mut is_open = self.is_open.lock().unwrap();
        if *is_open {
            *is_open = false;
            let put = masked(|| self.queue.put(Item::Pill));
            assert!(put.is_ok(), "no token can end a masked wait");
        }
        drop(is_open);
        self.writer.join();
    }
    // ANCHOR_END: gate
}
