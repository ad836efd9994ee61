//! If a task leaves a value in a thread-local, the next task on the same worker finds the value. If each task
//! has a thread of its own, no task can find another task's value. In a pool, the best case is that the
//! memory is lost; the worst case is that a user gets the data of another user.
//!
//! ```sh
//! cargo run --example thread_local_leak
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::{Hooks, Outcome, TaskInfo, ThreadPoolExecutor, prelude::*};
use std::cell::RefCell;

// ANCHOR: leak
thread_local! {
    static USER: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn handle_request(login: Option<&'static str>) -> String {
    if let Some(name) = login {
        USER.set(Some(name.to_owned())); // no code removes the value again
    }
    USER.with_borrow(|user| format!("hello, {}", user.as_deref().unwrap_or("stranger")))
}
// ANCHOR_END: leak

// ANCHOR: clean_up
/// Hooks that clean up after each task, whether the task returned or panicked.
struct ForgetUser;

impl Hooks for ForgetUser {
    fn after_execute(&self, _task: &TaskInfo<'_>, _outcome: &Outcome) {
        USER.set(None);
    }
}
// ANCHOR_END: clean_up

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let leaking = ThreadPoolExecutor::builder().build()?;
    println!("Ada logs in:      {}", leaking.submit(|| handle_request(Some("Ada")))?.join()?);
    println!("the next user:    {}", leaking.submit(|| handle_request(None))?.join()?);

    let cleaning = ThreadPoolExecutor::builder().hooks(ForgetUser).build()?;
    println!("Grace logs in:    {}", cleaning.submit(|| handle_request(Some("Grace")))?.join()?);
    println!("the next user:    {}", cleaning.submit(|| handle_request(None))?.join()?);
    Ok(())
}
