//! A page with a time budget: its advertisement is there in time, or is replaced and called off.
#![allow(unused)]

use executor::prelude::*;
use executor::{Canceller, Executor, JoinTimeoutError, TaskHandle};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What time it is, and waiting until it is later. The tests bring their own clock: its time goes on only while somebody
/// waits on it, or draws.
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

/// Fetches the advertisement, which takes its time: what it says, or why there is none.
pub type Fetch = Box<dyn FnOnce() -> Result<String, String> + Send>;

/// What is shown in the place of the advertisement.
#[derive(Debug, PartialEq, Eq)]
pub enum Slot {
    /// The advertisement.
    Advertisement(String),
    /// Something else, since it was not there in time.
    Late,
    /// Something else, since it has failed: in its own words, or in yours if it panicked or the executor refused it.
    Failed(String),
}

/// A page that is out.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub body: String,
    pub slot: Slot,
}

/// The caller was told to give up while it waited.
#[derive(Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Draws a page whose advertisement has to be there within `budget`, counted from the call on.
///
/// The advertisement is fetched on the executor while the caller draws the body; then the caller waits for what is left of the
/// budget, which may be nothing. An advertisement that is there by then is shown. One that is late is called off. Whatever
/// becomes of it, the page comes out. But if the caller is told to give up while it waits (`JoinTimeoutError::Interrupted`), or
/// drawing the body panics, there is no page, and the advertisement is called off.
pub fn render_page(
    executor: &impl Executor,
    clock: &impl Clock,
    fetch: Fetch,
    draw_body: impl FnOnce() -> String,
    budget: Millis,
) -> Result<Page, Interrupted> {
    let end = clock.now().saturating_add(budget);
    let asked = executor.submit(fetch);
    let _guard = CallOff(asked.as_ref().ok().map(TaskHandle::canceller));
    let body = draw_body();
    let slot = match asked {
        Err(refused) => Slot::Failed(refused.to_string()),
        Ok(handle) => match clock.join(handle, end.saturating_sub(clock.now())) {
            Ok(Ok(advertisement)) => Slot::Advertisement(advertisement),
            Ok(Err(why)) => Slot::Failed(why),
            Err(JoinTimeoutError::TimedOut(_)) => Slot::Late,
            Err(JoinTimeoutError::Interrupted(_)) => return Err(Interrupted),
            Err(error) => Slot::Failed(error.to_string()),
        },
    };
    Ok(Page { body, slot })
}

/// Calls a task off, whatever way the function is left. If the task has ended, that does nothing.
struct CallOff(Option<Canceller>);

impl Drop for CallOff {
    fn drop(&mut self) {
        if let Some(canceller) = &self.0 {
            canceller.cancel();
        }
    }
}
