//! Right: the desk knows who is in a step: a map from each worker to its steps, under the lock of the request.
#![allow(unused)]

use std::collections::{BTreeMap, VecDeque};

use crate::sync::{Arc, Condvar, Mutex};

/// The worker was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

// ----- Given, and right as it is: where tasks lie, and where the request to stop is made. -----

/// Where tasks wait for the workers, who may all be asked to stop. The request is never taken back.
pub struct Desk<T> {
    state: Mutex<State<T>>,
    /// A task has come, or the request.
    changed: Condvar,
}

struct State<T> {
    tasks: VecDeque<T>,
    cancelled: bool,
    workers: usize,
    /// By worker: how many it is in the middle of.
    steps: BTreeMap<usize, usize>,
}

impl<T> Desk<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        let state = State { tasks: VecDeque::new(), cancelled: false, workers: 0, steps: BTreeMap::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Leaves a task for the workers.
    pub fn put(&self, task: T) {
        self.state.lock().unwrap().tasks.push_back(task);
        self.changed.notify_one();
    }

    /// Asks the workers to stop.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
        self.changed.notify_all();
    }

    /// Whether they were asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.state.lock().unwrap().cancelled
    }

    /// How many tasks lie here.
    pub fn left(&self) -> usize {
        self.state.lock().unwrap().tasks.len()
    }
}

// ----- Yours. -----

/// One who works at a desk. It is used by one thread.
pub struct Worker<T> {
    desk: Arc<Desk<T>>,
    me: usize,
}

impl<T> Worker<T> {
    /// Makes a worker that is in no step.
    pub fn new(desk: Arc<Desk<T>>) -> Self {
        let mut state = desk.state.lock().unwrap();
        state.workers += 1;
        let me = state.workers;
        drop(state);
        Self { desk, me }
    }

    /// Takes the oldest task. Sleeps while there is none.
    ///
    /// Once the worker was asked to stop, this fails and takes none, whether it waits already or is only called. Inside
    /// `masked` it goes on all the same.
    pub fn take(&self) -> Result<T, Cancelled> {
        let mut state = self.desk.state.lock().unwrap();
        loop {
            if state.cancelled && !state.steps.contains_key(&self.me) {
                return Err(Cancelled);
            }
            if let Some(task) = state.tasks.pop_front() {
                return Ok(task);
            }
            state = self.desk.changed.wait(state).unwrap();
        }
    }

    /// Runs `step` as a whole: until its end, no request cuts this worker's `take()` off. Steps may be nested; then it
    /// counts when the outermost ends. A panic ends a step, too, and comes out.
    pub fn masked<R>(&self, step: impl FnOnce() -> R) -> R {
        *self.desk.state.lock().unwrap().steps.entry(self.me).or_default() += 1;
        let _end = End(self);
        step()
    }

    /// Takes the next task, however long it takes to come: a request does not end the wait. The request is there afterwards
    /// as it was before.
    pub fn next_task(&self) -> T {
        match self.masked(|| self.take()) {
            Ok(task) => task,
            Err(Cancelled) => unreachable!("no request cuts this off"),
        }
    }

    /// Takes two tasks that belong together, the older one first. Takes that as soon as it is there. Before, it can be cut off,
    /// and takes none; from then on it comes back with both.
    pub fn take_pair(&self) -> Result<(T, T), Cancelled> {
        let first = self.take()?;
        Ok((first, self.next_task()))
    }
}

/// Ends a step when it is dropped: after a panic, too.
struct End<'a, T>(&'a Worker<T>);

impl<T> Drop for End<'_, T> {
    fn drop(&mut self) {
        let Worker { desk, me } = self.0;
        let mut state = desk.state.lock().unwrap();
        let steps = state.steps[me] - 1;
        if steps == 0 {
            state.steps.remove(me);
        } else {
            state.steps.insert(*me, steps);
        }
    }
}
