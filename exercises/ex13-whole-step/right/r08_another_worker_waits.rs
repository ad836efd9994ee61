//! Right: next_task() makes a second worker for this call. The second worker is always in a step, and takes
//! the task.
#![allow(unused)]

use std::cell::Cell;
use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

/// The error of a call that failed because the worker was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

// ----- Given, and right as it is: the desk, where tasks wait and where the request to stop is made. -----

/// A desk on which tasks wait for the workers. A request asks all workers to stop. The request is never taken
/// back.
pub struct Desk<T> {
    state: Mutex<State<T>>,
    /// Notified when a task is put on the desk, or when the request is made.
    changed: Condvar,
}

struct State<T> {
    tasks: VecDeque<T>,
    cancelled: bool,
}

impl<T> Desk<T> {
    /// Makes an empty desk.
    pub fn new() -> Self {
        Self {
            state: Mutex::new(State { tasks: VecDeque::new(), cancelled: false }),
            changed: Condvar::new(),
        }
    }

    /// Puts a task on the desk for the workers.
    pub fn put(&self, task: T) {
        self.state.lock().unwrap().tasks.push_back(task);
        self.changed.notify_one();
    }

    /// Asks the workers to stop.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
        self.changed.notify_all();
    }

    /// Returns true if the workers were asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.state.lock().unwrap().cancelled
    }

    /// Returns the number of tasks on the desk.
    pub fn left(&self) -> usize {
        self.state.lock().unwrap().tasks.len()
    }
}

// ----- Yours. -----

/// A worker that takes tasks from a desk. One thread uses the worker.
pub struct Worker<T> {
    desk: Arc<Desk<T>>,
    /// The number of nested steps that the worker is in.
    steps: Cell<usize>,
}

impl<T> Worker<T> {
    /// Makes a worker that is in no step.
    pub fn new(desk: Arc<Desk<T>>) -> Self {
        Self { desk, steps: Cell::new(0) }
    }

    /// Takes the oldest task. The call sleeps while there is no task.
    ///
    /// After the worker was asked to stop, this call fails and takes no task; a call that is already waiting
    /// fails, too. Inside `masked` the request has no effect on `take`.
    pub fn take(&self) -> Result<T, Cancelled> {
        let mut state = self.desk.state.lock().unwrap();
        loop {
            if state.cancelled && self.steps.get() == 0 {
                return Err(Cancelled);
            }
            if let Some(task) = state.tasks.pop_front() {
                return Ok(task);
            }
            state = self.desk.changed.wait(state).unwrap();
        }
    }

    /// Runs `step` as a whole: until the step ends, no request cuts off this worker's `take()`. Steps may be
    /// nested; then a request has an effect on `take()` only after the outermost step has ended. A panic also
    /// ends the step, and this call passes the panic on.
    pub fn masked<R>(&self, step: impl FnOnce() -> R) -> R {
        self.steps.set(self.steps.get() + 1);
        let _end = End(&self.steps);
        step()
    }

    /// Takes the next task, however late it comes: a request does not end the wait, and the wait does not
    /// clear the request.
    pub fn next_task(&self) -> T {
        let patient = Self::new(Arc::clone(&self.desk));
        patient.steps.set(1);
        match patient.take() {
            Ok(task) => task,
            Err(Cancelled) => unreachable!("no request cuts this off"),
        }
    }

    /// Takes two tasks that belong together, the older one first. The call takes the first task as soon as
    /// there is one. Before the call has taken the first task, a request ends the call; after that, the call
    /// returns both tasks.
    pub fn take_pair(&self) -> Result<(T, T), Cancelled> {
        let first = self.take()?;
        Ok((first, self.next_task()))
    }
}

/// A guard that ends a step when it is dropped, even after a panic.
struct End<'a>(&'a Cell<usize>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
