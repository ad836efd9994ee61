//! A pool for computations that split themselves; a worker that waits for a part of a computation helps with
//! that part.
#![allow(unused)]

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread, thread_local};

// ----- Given: a pool that works for jobs that do not wait. Add to the queue and the workers what `join`
// needs. -----

/// A closure that a worker calls once.
type Work = Box<dyn FnOnce() + Send>;

/// A job or an offered half.
struct Task {
    /// The task that offered this half and waits for it; `None` if this task is a submitted job.
    parent: Option<Arc<Task>>,
}

/// An entry of the queue. The thread that takes an entry out of the queue must run the work of that entry.
type Entry = (Arc<Task>, Work);

thread_local! {
    /// The task that this thread runs; if several tasks are on the thread's stack, the topmost one.
    static RUNS: RefCell<Option<Arc<Task>>> = const { RefCell::new(None) };
}

/// Runs jobs on a fixed number of threads of its own. A clone is a handle to the same pool; each job that
/// calls `join` has a clone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when there is work in the queue, a half has ended, or the pool is shutting down.
    changed: Condvar,
}

struct State {
    queue: VecDeque<Entry>,
    /// The halves that have ended; a half stays in this list until the join() that waits for the half has
    /// found it here.
    ended: Vec<Arc<Task>>,
    shutting_down: bool,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    /// Starts `threads` threads, which wait for work.
    pub fn new(threads: usize) -> Self {
        let state =
            State { queue: VecDeque::new(), ended: Vec::new(), shutting_down: false, threads: Vec::new() };
        let pool = Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) };
        let start = |_| {
            let pool = pool.clone();
            thread::spawn(move || pool.work())
        };
        let threads = (0..threads).map(start).collect();
        pool.shared.state.lock().unwrap().threads = threads;
        pool
    }

    /// Submits a job; a worker runs it some time later. A panic of a job ends only that job.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.push(Task::under(None), Box::new(job));
    }

    /// Ends the pool: the workers run every submitted job to its end, and then every worker thread ends.
    /// Returns when all threads have ended. `shutdown` must be called only once, and a job must not call it.
    pub fn shutdown(&self) {
        let threads = {
            let mut state = self.shared.state.lock().unwrap();
            state.shutting_down = true;
            mem::take(&mut state.threads)
        };
        self.shared.changed.notify_all();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    fn push(&self, task: Arc<Task>, work: Work) {
        self.shared.state.lock().unwrap().queue.push_back((task, work));
        self.shared.changed.notify_all(); // not `notify_one`: perhaps only one of the sleeping workers may run this task
    }

    /// The loop of a worker: runs work until the pool has ended.
    fn work(&self) {
        while let Some(entry) = self.next() {
            self.run(entry);
        }
    }

    /// Waits for the oldest work in the queue. Returns `None` if the queue is empty and the pool is shutting
    /// down.
    fn next(&self) -> Option<Entry> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(entry) = state.queue.pop_front() {
                return Some(entry);
            }
            if state.shutting_down {
                return None;
            }
            state = self.shared.changed.wait(state).unwrap();
        }
    }
}

// ----- Yours. -----

impl Pool {
    /// Runs both halves, at the same time if another worker is free, and returns both results. Only jobs of
    /// this pool, and halves that run in these jobs, call `join`. If a half panics, `join` waits until
    /// neither half can run any more, and panics with the payload of that half.
    pub fn join<A: Send + 'static, B: Send + 'static>(
        &self,
        a: impl FnOnce() -> A + Send + 'static,
        b: impl FnOnce() -> B + Send + 'static,
    ) -> (A, B) {
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let work = move || {
            let outcome = catch_unwind(AssertUnwindSafe(b));
            *place.lock().unwrap() = Some(outcome);
        };
        let half = Task::under(RUNS.with(|runs| runs.borrow().clone()));
        self.push(Arc::clone(&half), Box::new(work));
        let first = catch_unwind(AssertUnwindSafe(a));
        while let Some(entry) = self.next_towards(&half) {
            self.run(entry);
        }
        let second = result.lock().unwrap().take().expect("the half has ended");
        match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(panic), _) | (_, Err(panic)) => resume_unwind(panic),
        }
    }

    /// Waits until the half or a part of the half is in the queue, and takes this entry out of the queue.
    /// Returns `None` if the half has ended.
    fn next_towards(&self, half: &Arc<Task>) -> Option<Entry> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(place) = state.ended.iter().position(|ended| Arc::ptr_eq(ended, half)) {
                state.ended.swap_remove(place);
                return None;
            }
            if let Some(place) = state.queue.iter().position(|(task, _)| task.is_part_of(half)) {
                return state.queue.remove(place);
            }
            state = self.shared.changed.wait(state).unwrap();
        }
    }

    /// Runs the work from the queue on the calling worker, on top of the tasks that the worker already runs.
    fn run(&self, (task, work): Entry) {
        let before = RUNS.with(|runs| runs.replace(Some(Arc::clone(&task))));
        drop(catch_unwind(AssertUnwindSafe(work))); // no lock is held
        RUNS.with(|runs| *runs.borrow_mut() = before);
        if task.parent.is_some() {
            self.shared.state.lock().unwrap().ended.push(task);
            self.shared.changed.notify_all();
        }
    }
}

impl Task {
    fn under(parent: Option<Arc<Task>>) -> Arc<Self> {
        Arc::new(Self { parent })
    }

    /// Returns true if this task is the half, or a part of the half.
    fn is_part_of(self: &Arc<Self>, half: &Arc<Task>) -> bool {
        let mut task = Some(self);
        while let Some(part) = task {
            if Arc::ptr_eq(part, half) {
                return true;
            }
            task = part.parent.as_ref();
        }
        false
    }
}
