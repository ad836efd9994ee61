//! The short way in: where submitters leave tasks while nobody has to be woken.
//!
//! If each submission took the lock of the state, submitters and workers would fight for it task by task. Most of the time
//! there is nothing to decide: the pool runs, it has its threads, none of them has to be woken, and the queue has room.
//! Then a task is left in the inbox, behind a lock of its own. Workers come for what is there when the queue is empty, and
//! move all of it into the queue at once. Only a [`FifoQueue`] has an inbox, since only there the order stays the same.
//!
//! ```text
//!   submitter ──▶ inbox ──all at once, when the queue is empty──▶ queue ──one by one──▶ workers
//!       └───────────────(closed: by admission.rs)───────────────────▲
//! ```
//!
//! The inbox is open while it has `room`. A submitter that came the long way opens it if it finds that there would have
//! been nothing to decide. Whoever makes that untrue closes it, under the lock of the state: a submitter that has to
//! decide, a worker that is about to sleep or leaves, a thread that does not come, a setter, a shutdown.
//!
//! # Invariants
//!
//! 1. The lock of the state comes before that of the inbox.
//! 2. While it is open, the pool is running, has all the threads that it starts before it queues, and either none of them
//!    sleeps or one is searching. A worker looks here, and closes it, before it sleeps.
//! 3. What is in it is younger than what is in the queue: nothing is put into the queue before it has been emptied.
//! 4. It never has more room than the queue. So a bound is a bound.
//! 5. Closing and emptying it is one step.

use std::collections::VecDeque;

use crate::queue::{FifoQueue, shrink};
use crate::sync::{Mutex, Weak};
use crate::task::{QueueWatcher, Task};

pub(super) struct Inbox(Mutex<Tray>);

struct Tray {
    tasks: VecDeque<Task>,
    /// How many tasks may still be put in; none while it is closed.
    room: usize,
    /// Tasks that were cancelled before they were put in.
    tombstones: isize,
}

impl Inbox {
    /// Makes one that is closed.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Tray { tasks: VecDeque::new(), room: 0, tombstones: 0 }))
    }

    /// Leaves a task here, or gives it back if the inbox is closed.
    #[inline]
    pub(super) fn offer<W: QueueWatcher + 'static>(&self, task: Task, watcher: &Weak<W>) -> Result<(), Task> {
        let mut tray = self.0.lock();
        if tray.room == 0 {
            return Err(task);
        }
        tray.room -= 1;
        if let Some(cell) = task.cell()
            && !cell.enter_queue(Weak::clone(watcher) as Weak<dyn QueueWatcher>)
        {
            tray.tombstones += 1; // it was cancelled before it could tell us
        }
        tray.tasks.push_back(task);
        Ok(())
    }

    /// Moves what is here to the end of the queue. Returns how many of them were cancelled before they came here.
    pub(super) fn empty_into(&self, queue: &mut FifoQueue) -> isize {
        self.0.lock().empty_into(queue)
    }

    /// The same, and lets nothing more in.
    pub(super) fn close_into(&self, queue: &mut FifoQueue) -> isize {
        let mut tray = self.0.lock();
        tray.room = 0;
        tray.empty_into(queue)
    }

    /// Gives back the memory that a burst needed. It is empty and closed.
    pub(super) fn shrink(&self) {
        shrink(&mut self.0.lock().tasks);
    }

    /// Lets tasks in, as many as the queue has room for. The caller has closed it before and has held the lock of the
    /// state since.
    pub(super) fn open(&self, queue: &FifoQueue) {
        self.0.lock().room = queue.room();
    }
}

impl Tray {
    fn empty_into(&mut self, queue: &mut FifoQueue) -> isize {
        queue.append(&mut self.tasks);
        std::mem::take(&mut self.tombstones)
    }
}
