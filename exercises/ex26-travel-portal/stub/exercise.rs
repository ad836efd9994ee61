//! Ranked quotes by a deadline: there is one entry for each company, the cheapest price comes first, and no
//! request is left running.
//!
//! This is the only file to edit. `cargo test -p ex26-travel-portal` checks the answer.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinTimeoutError, TaskHandle};

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
    todo!("ask them all, wait until the deadline and no longer, and give each its entry")
}
