//! Right: only the scheduler's thread has the schedule, so the schedule needs no lock; other threads send
//! messages to this thread.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex, Weak, thread};

// ----- Given. -----

/// A time in milliseconds: either the time since the clock was started, or a length of time.
pub type Millis = u64;

/// The time that never comes. A thread that waits until `NEVER` waits only for `wake`.
pub const NEVER: Millis = Millis::MAX;

/// Tells the time, and wakes the one thread that waits for a given time. In the tests, only the test itself
/// advances the time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits until the time is `until`, or until `wake` is called. The wait also ends at once if `wake` was
    /// called since the last wait, and the wait may end without a reason. Only one thread at a time may wait.
    fn wait_until(&self, until: Millis);

    /// Ends the wait of the thread that waits now; if no thread waits, ends the next wait.
    fn wake(&self);
}

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job and calls the job once, either later or before `execute` returns, on a thread of the
    /// executor or on the thread that calls `execute`. The executor catches a panic of the job.
    fn execute(&self, job: Job);
}

/// A closure that the scheduler runs at a given time. Its argument is the entry of this closure. The closure
/// may panic, and may be called again after a panic.
pub type Work = Box<dyn FnMut(&TaskHandle) + Send>;

// ----- Yours. -----

/// Runs closures at their times, no matter on which thread the inner executor calls them.
pub struct Scheduler {
    post: Arc<Post>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// The state that the scheduler's thread shares with other threads.
struct Post {
    clock: Arc<dyn Clock>,
    /// The messages that the thread must handle; `None` after the end of the scheduler.
    inbox: Mutex<Option<Vec<Message>>>,
    numbers: AtomicU64,
}

/// Tells the thread when the next run of an entry is due.
struct Message {
    due: Millis,
    number: u64,
    cell: Arc<Cell>,
}

/// The state of an entry. At any time, this state has one owner: a message, the thread or a run. The owner
/// drops the state when the entry ends.
struct Cell {
    period: Option<Millis>,
    inside: Mutex<Inside>,
}

enum Inside {
    Work(Work),
    Runs,
    Cancelled,
}

/// The entry of a closure that was scheduled. Dropping the entry does not cancel the closure.
pub struct TaskHandle {
    cell: Weak<Cell>,
}

impl Scheduler {
    /// Makes a scheduler without entries, and starts its thread.
    pub fn new(clock: Arc<dyn Clock>, below: Arc<dyn Executor>) -> Self {
        let post = Post { clock, inbox: Mutex::new(Some(Vec::new())), numbers: AtomicU64::new(0) };
        let post = Arc::new(post);
        let own = Arc::clone(&post);
        let thread = thread::spawn(move || watch_the_time(&own, &*below));
        Self { post, thread: Mutex::new(Some(thread)) }
    }

    /// Runs the closure after `delay`, counted from now. With a period the closure runs periodically: it is
    /// due at its first time and after each further period. After the scheduler was shut down, `schedule`
    /// only drops the closure.
    pub fn schedule(&self, delay: Millis, period: Option<Millis>, work: Work) -> TaskHandle {
        let due = self.post.clock.now().saturating_add(delay);
        let number = self.post.numbers.fetch_add(1, Ordering::Relaxed); // any number that no other entry has
        let cell = Arc::new(Cell { period, inside: Mutex::new(Inside::Work(work)) });
        let entry = TaskHandle { cell: Arc::downgrade(&cell) };
        self.post.send(Message { due, number, cell });
        entry
    }

    /// Ends the thread and drops every closure that waits for its time. The call waits for the end of the
    /// thread, but not for the end of any run.
    pub fn shutdown(&self) {
        let unread = self.post.inbox.lock().unwrap().take();
        drop(unread);
        self.post.clock.wake();
        let thread = self.thread.lock().unwrap().take();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
    }
}

impl TaskHandle {
    /// Cancels the entry: from now on, no run of the entry begins. The closure is dropped at once, or at the
    /// end of its run if it is running.
    pub fn cancel(&self) {
        if let Some(cell) = self.cell.upgrade() {
            let before = cell.put(Inside::Cancelled);
            drop(before); // with no lock held
        }
    }
}

impl Cell {
    fn put(&self, inside: Inside) -> Inside {
        mem::replace(&mut *self.inside.lock().unwrap(), inside)
    }

    fn take(&self) -> Option<Work> {
        let mut inside = self.inside.lock().unwrap();
        match mem::replace(&mut *inside, Inside::Runs) {
            Inside::Work(work) => Some(work),
            other => {
                *inside = other;
                None
            }
        }
    }

    /// Puts the closure back after a run. If the entry was cancelled, drops the closure and returns false.
    fn put_back(&self, work: Work) -> bool {
        let mut inside = self.inside.lock().unwrap();
        if matches!(*inside, Inside::Cancelled) {
            drop(inside);
            return false;
        }
        *inside = Inside::Work(work);
        true
    }
}

impl Post {
    fn send(&self, message: Message) {
        let mut inbox = self.inbox.lock().unwrap();
        match &mut *inbox {
            Some(messages) => messages.push(message),
            None => {
                drop(inbox);
                return; // the message is dropped, with no lock held
            }
        }
        drop(inbox);
        self.clock.wake();
    }

    fn run(&self, due: Millis, number: u64, cell: Arc<Cell>) {
        let Some(mut work) = cell.take() else { return };
        let entry = TaskHandle { cell: Arc::downgrade(&cell) };
        drop(catch_unwind(AssertUnwindSafe(|| work(&entry))));
        if let Some(period) = cell.period
            && cell.put_back(work)
        {
            self.send(Message { due: due.saturating_add(period), number, cell });
        }
    }
}

fn watch_the_time(post: &Arc<Post>, below: &dyn Executor) {
    let mut plan = BTreeMap::new();
    loop {
        let now = post.clock.now(); // read before the messages, so that every entry scheduled before this time is among them
        match post.inbox.lock().unwrap().as_mut() {
            Some(messages) => {
                plan.extend(messages.drain(..).map(|message| ((message.due, message.number), message.cell)));
            }
            None => break,
        }
        match plan.first_entry() {
            Some(first) if first.key().0 != NEVER && first.key().0 <= now => {
                let ((due, number), cell) = first.remove_entry();
                let own = Arc::clone(post);
                below.execute(Box::new(move || own.run(due, number, cell)));
            }
            Some(first) => post.clock.wait_until(first.key().0),
            None => post.clock.wait_until(NEVER),
        }
    }
}
