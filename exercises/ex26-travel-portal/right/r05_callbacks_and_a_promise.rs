//! Right: the requests put their answers on a board, and the last one keeps a promise that is waited for.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinError, JoinTimeoutError, Promise, TaskError, TaskHandle};

use crate::sync::{Arc, Mutex};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What time it is, and waiting until it is later. The tests bring their own clock: its time goes on only while a thread
/// waits on it.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Millis;

    /// `TaskHandle::join_timeout` on this clock: waits for the task, for `at_most` at most. A result that is there
    /// already is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// A price.
pub type Cents = u32;

/// Asks a company, which takes its time: a price, or why there is none.
pub type Ask = Box<dyn FnOnce() -> Result<Cents, String> + Send>;

/// A company that sells journeys.
pub struct Company {
    pub name: &'static str,
    pub ask: Ask,
}

/// What became of asking a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Its price.
    Price(Cents),
    /// It said why it has none, or asking it panicked, or the executor refused to ask it. In the last two cases the words
    /// are yours.
    Failed(String),
    /// It had not answered by the deadline.
    TimedOut,
}

/// A line of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub company: &'static str,
    pub answer: Answer,
}

/// The caller was told to give up while it waited.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Asks all companies at once, and returns one entry for each at `deadline` at the latest, which is a moment on the clock:
/// some of the time until then has been spent already, and maybe all of it.
///
/// Prices come first, the lowest before the others, then failures, then those who were late. What is equal stays in the order
/// of the companies. A late company is called off, and one not asked by the deadline never is. If the caller is told to give
/// up while it waits (`JoinTimeoutError::Interrupted`), all are called off.
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
        canceller.cancel(); // of one that has ended it is nothing
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

/// Where the answers come together.
struct Board {
    answers: Vec<Option<Answer>>,
    /// Callbacks that are still to come, and one for the caller, who is still asking.
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
