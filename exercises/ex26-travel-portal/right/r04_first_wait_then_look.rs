//! Right: one pass waits, and the next one takes what is there.
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
    let mut asked = Vec::new();
    for Company { name, ask } in companies {
        let in_time = clock.now() < deadline;
        asked.push((name, in_time.then(|| executor.submit(ask))));
    }
    let mut settled = Vec::new();
    let mut interrupted = false;
    for (name, asking) in asked {
        let ended = match asking {
            None => Err(Answer::TimedOut),
            Some(Err(refused)) => Err(Answer::Failed(refused.reason.to_string())),
            Some(Ok(handle)) if interrupted => {
                handle.cancel();
                Err(Answer::TimedOut)
            }
            Some(Ok(handle)) => Ok(clock.join(handle, deadline.saturating_sub(clock.now()))),
        };
        let ended = ended.map(|ended| match ended {
            Err(JoinTimeoutError::Interrupted(handle)) => {
                interrupted = true;
                handle.cancel();
                Err(JoinTimeoutError::TimedOut(handle))
            }
            other => other,
        });
        settled.push((name, ended));
    }
    if interrupted {
        return Err(Interrupted);
    }
    let mut entries: Vec<Entry> = settled
        .into_iter()
        .map(|(company, ended)| Entry {
            company,
            answer: match ended {
                Err(answer) => answer,
                Ok(Ok(Ok(price))) => Answer::Price(price),
                Ok(Ok(Err(why))) => Answer::Failed(why),
                Ok(Err(JoinTimeoutError::TimedOut(handle))) if handle.cancel() => Answer::TimedOut,
                Ok(Err(JoinTimeoutError::TimedOut(handle))) => match handle.join() {
                    Ok(Ok(price)) => Answer::Price(price), // at the last moment
                    _ => Answer::TimedOut,
                },
                Ok(Err(_)) => Answer::Failed("it fell over".to_owned()),
            },
        })
        .collect();
    entries.sort_by(|one, other| match (&one.answer, &other.answer) {
        (Answer::Price(one), Answer::Price(other)) => one.cmp(other),
        (one, other) => kind(one).cmp(&kind(other)),
    });
    Ok(entries)
}

fn kind(answer: &Answer) -> u8 {
    match answer {
        Answer::Price(_) => 0,
        Answer::Failed(_) => 1,
        Answer::TimedOut => 2,
    }
}
