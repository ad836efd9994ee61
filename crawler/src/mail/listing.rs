//! The mail check of a well-known listing in Java, with the two faults of that listing.
//!
//! The listing asks each host in a task, waits for a while, and returns whether one of the tasks has found
//! new mail. But:
//!
//! 1. The listing ignores the result of `await_termination`, and a task that fails sets no flag. So the
//!    listing's "no new mail" can also mean that hosts have failed or have not answered yet.
//! 2. When the time limit is reached, the listing cancels no task. The tasks that wait for a silent host
//!    continue to wait, and their threads and connections outlive the call.

use super::{Account, Answer, Progress, Threads, ask, report};
use executor::{CancelToken, DropPolicy, HandOffQueue, ThreadPoolExecutor, prelude::*};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Returns true if an account is known to have new mail after `timeout`; false can also mean that hosts
/// have failed or have not answered. `threads` starts the threads.
///
/// # Panics
/// Fails if the system cannot start a thread.
///
/// # Blocking
/// Waits until all hosts have answered, for at most `timeout`. No token ends this wait, so the caller
/// cannot cancel it.
// ANCHOR: listing
pub fn check_mail(accounts: &[Arc<Account>], timeout: Duration, threads: &Arc<Threads>) -> bool {
    let pool = ThreadPoolExecutor::builder()
        .core_threads(0)
        .maximum_threads(usize::MAX)
        .queue(HandOffQueue::new())
        .thread_factory(Arc::clone(threads))
        .on_drop(DropPolicy::Detach) // the default policy waits, which would hide the second fault
        .build()
        .expect("a hand-off lets the pool grow");
    let has_new_mail = Arc::new(AtomicBool::new(false));
    for account in accounts {
        let (account, has_new_mail) = (Arc::clone(account), Arc::clone(&has_new_mail));
        let check = move || {
            if let Ok(Answer::New(_)) = ask(&account, &Progress::default(), &CancelToken::new()) {
                has_new_mail.store(true, Ordering::Relaxed);
            }
        };
        pool.execute(check).expect("a thread");
    }
    pool.shutdown();
    pool.await_termination(timeout);
    has_new_mail.load(Ordering::Relaxed)
}
// ANCHOR_END: listing

/// Runs the check, and prints two things: the answer of the check, and the number of its threads that are
/// still alive. Returns the exit status.
///
/// # Errors
/// Fails if the output cannot be written.
pub fn run(accounts: &[Arc<Account>], timeout: Duration) -> anyhow::Result<ExitCode> {
    let threads = Arc::new(Threads::default());
    let has_new_mail = check_mail(accounts, timeout, &threads);
    let said = if has_new_mail { "new mail" } else { "no new mail" };
    command_line::print(format_args!("{said}\n{}", report::left(threads.alive())))?;
    Ok(ExitCode::from(u8::from(!has_new_mail)))
}
