//! Right: each task has its phase in an atomic, and whoever changes it from waiting to something else has the task.
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// What a job returns that gives up because it was asked to stop. It has not done what it had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// How a job learns that it should stop. Clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<AtomicBool>);

impl Token {
    /// Asks the tasks that have this token to stop. This cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The same, for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// What a task does. `Ok`: all of it. `Err`: it was asked to stop, and gave up. It may panic.
pub type Job = Box<dyn FnOnce(&Token) -> Result<(), Cancelled> + Send>;

/// What the pool below calls.
pub type Entry = Box<dyn FnOnce() + Send>;

/// A thread pool with a queue.
pub trait Pool: Send + Sync {
    /// Puts an entry into the queue, and returns. Later a thread of the pool takes it out and calls it; the thread that calls
    /// `execute` never does. A panic of the entry ends there. `Err` with the entry: the pool refuses it.
    fn execute(&self, entry: Entry) -> Result<(), Entry>;

    /// Takes all entries out of the queue and returns them, the oldest first. From now on the pool refuses every entry.
    ///
    /// It waits for no thread of the pool. A thread that has taken an entry out of the queue before calls it, now or a little
    /// later.
    fn stop(&self) -> Vec<Entry>;
}

// ----- Yours. -----

/// An executor that knows, after a stop, which tasks have to be done again. Each task has a tag.
pub struct TrackingExecutor<T> {
    pool: Arc<dyn Pool>,
    book: Arc<Book<T>>,
}

struct Book<T> {
    tasks: Mutex<Tasks<T>>,
    changed: Condvar,
    token: Token,
}

struct Tasks<T> {
    all: Vec<Arc<Task<T>>>,
    is_stopped: bool,
}

struct Task<T> {
    tag: T,
    phase: AtomicU8,
}

const WAITS: u8 = 0;
const RUNS: u8 = 1;
const OVER: u8 = 2;
const CUT_OFF: u8 = 3;

impl<T> Task<T> {
    /// Whether it waited until now.
    fn leaves_the_queue_for(&self, phase: u8) -> bool {
        self.phase.compare_exchange(WAITS, phase, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn is(&self, phase: u8) -> bool {
        self.phase.load(Ordering::SeqCst) == phase
    }
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes one over a pool that nobody else uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let tasks = Mutex::new(Tasks { all: Vec::new(), is_stopped: false });
        Self { pool, book: Arc::new(Book { tasks, changed: Condvar::new(), token: Token::default() }) }
    }

    /// Has the pool run a task. The job is called with a token that `stop` cancels.
    ///
    /// `Err` with the tag: the task is not accepted, because the executor was stopped, or because the pool refuses.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let task = Arc::new(Task { tag, phase: AtomicU8::new(WAITS) });
        {
            let mut tasks = self.book.tasks.lock().unwrap();
            if tasks.is_stopped {
                return Err(task.tag.clone());
            }
            tasks.all.push(Arc::clone(&task));
        }
        let (book, same) = (Arc::clone(&self.book), Arc::clone(&task));
        let refused = self.pool.execute(Box::new(move || book.run(&same, job)));
        if refused.is_err() && task.leaves_the_queue_for(OVER) { Err(task.tag.clone()) } else { Ok(()) }
    }

    /// Stops at once: no task begins any more, those that run are asked to stop, and the pool is stopped. Waits for no task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns none of them again.
    pub fn stop(&self) -> Vec<T> {
        let mut tasks = self.book.tasks.lock().unwrap();
        tasks.is_stopped = true;
        let not_begun =
            tasks.all.iter().filter(|task| task.leaves_the_queue_for(OVER)).map(|task| task.tag.clone()).collect();
        self.book.token.cancel();
        self.book.changed.notify_all();
        drop(tasks);
        self.pool.stop();
        not_begun
    }

    /// The tags of the tasks that were cut off, in any order. Says the same whenever it is asked.
    ///
    /// `None`: the executor was not stopped, or a task still runs. It may be done yet, or be cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        let tasks = self.book.tasks.lock().unwrap();
        tasks.is_over().then(|| {
            tasks.all.iter().filter(|task| task.is(CUT_OFF)).map(|task| task.tag.clone()).collect()
        })
    }

    /// Waits until the executor is stopped and no task runs any more: `cut_off` gives the tags then.
    pub fn wait(&self) {
        let tasks = self.book.tasks.lock().unwrap();
        drop(self.book.changed.wait_while(tasks, |tasks| !tasks.is_over()).unwrap());
    }
}

impl<T> Tasks<T> {
    fn is_over(&self) -> bool {
        self.is_stopped && !self.all.iter().any(|task| task.is(RUNS))
    }
}

impl<T> Book<T> {
    fn run(&self, task: &Task<T>, job: Job) {
        if !task.leaves_the_queue_for(RUNS) {
            return;
        }
        let is_done = match catch_unwind(AssertUnwindSafe(|| job(&self.token))) {
            Ok(result) => result.is_ok(),
            Err(_panic) => !self.token.is_cancelled(),
        };
        task.phase.store(if is_done { OVER } else { CUT_OFF }, Ordering::SeqCst);
        // Who looked before has gone to sleep when this lock is free.
        drop(self.tasks.lock().unwrap());
        self.changed.notify_all();
    }
}
