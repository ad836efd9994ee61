//! Ranked quotes by a deadline: one entry for each company, the cheapest first, and no company asked any longer.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinTimeoutError, TaskHandle};

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
    let mut asked: Vec<(&'static str, Result<TaskHandle<Result<Cents, String>>, Answer>)> = Vec::new();
    for Company { name, ask } in companies {
        let asking = match left() {
            0 => Err(Answer::TimedOut), // too late to begin with it
            _ => executor.submit(ask).map_err(|refused| Answer::Failed(refused.to_string())),
        };
        asked.push((name, asking));
    }
    let mut entries = Vec::new();
    let mut asked = asked.into_iter();
    while let Some((company, asking)) = asked.next() {
        let answer = match asking.map(|handle| clock.join(handle, left())) {
            Err(answer) => answer,
            Ok(Ok(Ok(price))) => Answer::Price(price),
            Ok(Ok(Err(why))) => Answer::Failed(why),
            Ok(Err(JoinTimeoutError::TimedOut(handle))) => {
                handle.cancel();
                Answer::TimedOut
            }
            Ok(Err(JoinTimeoutError::Interrupted(handle))) => {
                handle.cancel();
                for handle in asked.filter_map(|(_, asking)| asking.ok()) {
                    handle.cancel();
                }
                return Err(Interrupted);
            }
            Ok(Err(error)) => Answer::Failed(error.to_string()),
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
