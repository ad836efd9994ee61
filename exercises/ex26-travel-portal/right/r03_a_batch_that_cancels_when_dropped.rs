//! Right: whatever way the function is left, what was asked is called off.
#![allow(unused)]

use executor::prelude::*;
use executor::{Canceller, Executor, JoinTimeoutError, TaskHandle};

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
    let left = || deadline.saturating_sub(clock.now());
    let mut batch = Batch(Vec::new());
    let mut asked = Vec::new();
    for Company { name, ask } in companies {
        if left() == 0 {
            asked.push((name, Err(Answer::TimedOut)));
            continue;
        }
        match executor.submit(ask) {
            Ok(handle) => {
                batch.0.push(handle.canceller());
                asked.push((name, Ok(handle)));
            }
            Err(refused) => asked.push((name, Err(Answer::Failed(refused.reason.to_string())))),
        }
    }
    let mut entries = Vec::new();
    for (company, asking) in asked {
        let answer = match asking {
            Err(answer) => answer,
            Ok(handle) => match clock.join(handle, left()) {
                Ok(Ok(price)) => Answer::Price(price),
                Ok(Err(why)) => Answer::Failed(why),
                Err(JoinTimeoutError::TimedOut(_)) => Answer::TimedOut,
                Err(JoinTimeoutError::Interrupted(_)) => return Err(Interrupted),
                Err(_) => Answer::Failed("it fell over".to_owned()),
            },
        };
        entries.push(Entry { company, answer });
    }
    entries.sort_by_key(|entry| match entry.answer {
        Answer::Price(price) => (0, price),
        Answer::Failed(_) => (1, 0),
        Answer::TimedOut => (2, 0),
    });
    Ok(entries)
}

/// Calls its requests off when it goes. For one that has ended, that does nothing.
struct Batch(Vec<Canceller>);

impl Drop for Batch {
    fn drop(&mut self) {
        for canceller in &self.0 {
            canceller.cancel();
        }
    }
}
