//! Ranked quotes by a deadline: one entry for each company, the cheapest first, and no request left running.
//!
//! This is the only file to edit. `cargo test -p ex26-travel-portal` checks it.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinTimeoutError, TaskHandle};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// Tells the time, and waits on it. The tests bring their own clock: its time goes on only while a thread
/// waits on it.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Millis;

    /// `TaskHandle::join_timeout` on this clock: waits for the task, for `at_most` at most. A result that is
    /// there already is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// A price, in cents.
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
    /// The company's price.
    Price(Cents),
    /// The company said why it has no price, or its request panicked, or the executor refused the request. In
    /// the last two cases the words are yours.
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

/// The caller was told to give up while it waited.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Asks all companies at once, and returns one entry for each at `deadline` at the latest, which is a moment
/// on the clock: some of the time until then has been spent already, and maybe all of it.
///
/// Prices come first, from the lowest to the highest, then failures, then late companies. Equal entries stay
/// in the order of the companies. Late requests are cancelled, and a company that was not asked by the
/// deadline never is. If the caller is told to give up while it waits (`JoinTimeoutError::Interrupted`), all
/// requests are cancelled.
pub fn ranked_quotes(
    executor: &impl Executor,
    clock: &impl Clock,
    companies: Vec<Company>,
    deadline: Millis,
) -> Result<Vec<Entry>, Interrupted> {
    todo!("ask them all, wait until the deadline and no longer, and give each its entry")
}
