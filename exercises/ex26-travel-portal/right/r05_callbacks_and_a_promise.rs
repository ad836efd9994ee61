//! Right: the requests put their answers on a board, and the last request completes a promise, for which the
//! caller waits.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinError, JoinTimeoutError, Promise, TaskError, TaskHandle};

use crate::sync::{Arc, Mutex};

/// Milliseconds: a moment on the clock, or a length of time.
pub type Millis = u64;

/// Tells the time, and waits for tasks with a time limit. The tests have their own clock, whose time advances
/// only while a thread waits on the clock.
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits for the task for at most `at_most` milliseconds, like `TaskHandle::join_timeout`, but on this
    /// clock. If the task has already ended, returns its result even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// A price, in cents.
pub type Cents = u32;

/// The closure that asks a company, and returns the price, or the reason why there is no price.
pub type Ask = Box<dyn FnOnce() -> Result<Cents, String> + Send>;

/// A company that sells journeys.
pub struct Company {
    pub name: &'static str,
    pub ask: Ask,
}

/// The outcome of a request to a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The company's price.
    Price(Cents),
    /// The company said why it has no price, or its request panicked, or the executor refused the request.
    /// You choose the text for a panic and for a refusal.
    Failed(String),
    /// The company had not answered by the deadline.
    TimedOut,
}

/// A line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub company: &'static str,
    pub answer: Answer,
}

/// The error of a caller that was told to give up while it waited.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Asks all companies at the same time, and returns one entry for each company, no later than at `deadline`.
/// The deadline is a moment on the clock, which may already be near or over when this function is called.
///
/// Prices come first, from the lowest to the highest, then failures, then late companies. Equal entries stay
/// in the order of the companies. Late requests are cancelled, and a company that was not asked by the
/// deadline is not asked later. If the caller is told to give up while it waits
/// (`JoinTimeoutError::Interrupted`), all requests are cancelled.
pub fn ranked_quotes(
    executor: &impl Executor,
    clock: &impl Clock,
    companies: Vec<Company>,
    deadline: Millis,
) -> Result<Vec<Entry>, Interrupted> {
    let (promise, complete) = Promise::new();
    let board: Vec<Option<Answer>> = companies.iter().map(|_| Some(Answer::TimedOut)).collect();
    let board = Arc::new(Mutex::new(Board { answers: board, open: 1, complete: Some(promise) }));
    let mut names = Vec::new();
    let mut cancellers = Vec::new();
    for (at, Company { name, ask }) in companies.into_iter().enumerate() {
        names.push(name);
        if clock.now() >= deadline {
            continue;
        }
        let handle = match executor.submit(ask) {
            Ok(handle) => handle,
            Err(refused) => {
                board.lock().unwrap().answers[at] = Some(Answer::Failed(refused.reason.to_string()));
                continue;
            }
        };
        cancellers.push(handle.canceller());
        board.lock().unwrap().open += 1;
        let board = Arc::clone(&board);
        handle.on_done(move |ended| {
            let answer = match ended {
                Ok(Ok(price)) => Answer::Price(price),
                Ok(Err(why)) => Answer::Failed(why),
                Err(TaskError::Panicked(panic)) => Answer::Failed(panic.to_string()),
                Err(_) => Answer::TimedOut,
            };
            let promise = {
                let mut board = board.lock().unwrap();
                board.answers[at] = Some(answer);
                board.close_one()
            };
            drop(board);
            keep(promise);
        });
    }
    let promise = board.lock().unwrap().close_one();
    keep(promise);
    let ended = clock.join(complete, deadline.saturating_sub(clock.now()));
    for canceller in &cancellers {
        canceller.cancel(); // does nothing if the request has ended
    }
    let mut is_interrupted = false;
    if let Err(JoinTimeoutError::TimedOut(complete) | JoinTimeoutError::Interrupted(complete)) = ended.inspect_err(|error| {
        is_interrupted = matches!(error, JoinTimeoutError::Interrupted(_));
    }) {
        let mut complete = complete;
        while let Err(JoinError::Interrupted(again)) = executor::masked(|| complete.join()) {
            complete = again;
        }
    }
    if is_interrupted {
        return Err(Interrupted);
    }
    let answers = std::mem::take(&mut board.lock().unwrap().answers);
    let mut entries: Vec<_> = names
        .into_iter()
        .zip(answers)
        .map(|(company, answer)| Entry { company, answer: answer.expect("each has one") })
        .collect();
    entries.sort_by_key(|entry| match entry.answer {
        Answer::Price(price) => (0, price),
        Answer::Failed(_) => (1, 0),
        Answer::TimedOut => (2, 0),
    });
    Ok(entries)
}

/// The board on which the requests put their answers.
struct Board {
    answers: Vec<Option<Answer>>,
    /// The number of callbacks that have not been called, plus one while the caller still submits requests.
    open: usize,
    complete: Option<Promise<()>>,
}

impl Board {
    fn close_one(&mut self) -> Option<Promise<()>> {
        self.open -= 1;
        if self.open == 0 { self.complete.take() } else { None }
    }
}

fn keep(promise: Option<Promise<()>>) {
    if let Some(promise) = promise {
        let _ = promise.complete(());
    }
}
