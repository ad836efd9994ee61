//! Right: every take() that must wait has its own seat, with its own condition variable. When a task ends,
//! its result goes to the seat that has waited longest, or into the queue if no thread has a seat.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

/// The place at which one waiting take() finds its answer.
struct Seat<T> {
    answer: Mutex<Option<Option<Result<T, TaskError>>>>,
    served: Condvar,
}

impl<T> Seat<T> {
    fn serve(&self, answer: Option<Result<T, TaskError>>) {
        *self.answer.lock().unwrap() = Some(answer);
        self.served.notify_one();
    }

    fn wait(&self) -> Option<Result<T, TaskError>> {
        let mut slot = self.answer.lock().unwrap();
        loop {
            match slot.take() {
                Some(answer) => return answer,
                None => slot = self.served.wait(slot).unwrap(),
            }
        }
    }
}

/// At any time, `results` or `seats` is empty.
struct State<T> {
    results: VecDeque<Result<T, TaskError>>,
    seats: VecDeque<Arc<Seat<T>>>,
    /// The number of tasks that were submitted, and have neither been refused nor ended.
    pending: usize,
}

impl<T> State<T> {
    /// Removes and returns the seats for which no result will come.
    fn in_vain(&mut self) -> VecDeque<Arc<Seat<T>>> {
        if self.pending == 0 { std::mem::take(&mut self.seats) } else { VecDeque::new() }
    }
}

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    state: Arc<Mutex<State<T>>>,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        let state = State { results: VecDeque::new(), seats: VecDeque::new(), pending: 0 };
        Self { executor, state: Arc::new(Mutex::new(state)) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.state.lock().unwrap().pending += 1;
        match self.executor.submit(task) {
            Ok(handle) => {
                let canceller = handle.canceller();
                let state = Arc::clone(&self.state);
                handle.on_done(move |result| {
                    let mut state = state.lock().unwrap();
                    state.pending -= 1;
                    let first = state.seats.pop_front();
                    let in_vain = state.in_vain();
                    match first {
                        Some(seat) => {
                            drop(state);
                            seat.serve(Some(result));
                        }
                        None => state.results.push_back(result),
                    }
                    in_vain.iter().for_each(|seat| seat.serve(None));
                });
                Ok(canceller)
            }
            Err(refused) => {
                let mut state = self.state.lock().unwrap();
                state.pending -= 1;
                let in_vain = state.in_vain();
                drop(state);
                in_vain.iter().for_each(|seat| seat.serve(None));
                Err(refused)
            }
        }
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.state.lock().unwrap();
        if let Some(result) = state.results.pop_front() {
            return Some(result);
        }
        // Each pending task serves one seat. If there are more seats than pending tasks, the other seats
        // wait while any task is pending, because more tasks may be submitted meanwhile.
        if state.pending == 0 {
            return None;
        }
        let seat = Arc::new(Seat { answer: Mutex::new(None), served: Condvar::new() });
        state.seats.push_back(Arc::clone(&seat));
        drop(state);
        seat.wait()
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        self.state.lock().unwrap().results.pop_front()
    }
}
