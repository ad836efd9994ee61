//! The record of a measurement: it shows which tasks ran, and on which threads.
//!
//! A pool that loses tasks looks fast. So each task adds its number to the account of the thread that runs
//! it. After the run, the accounts must contain the number of submitted tasks and the sum of the tasks'
//! numbers. Every pool in the comparison has these accounts, which cost each pool the same one or two
//! nanoseconds. Only the thread to which an account belongs writes to it, so the addition need not be atomic.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The account of one thread, which records the tasks that the thread has run.
#[repr(align(128))] // so that no two threads write to the same pair of cache lines
#[derive(Default)]
struct Account {
    ran: AtomicU64,
    sum: AtomicU64,
}

/// The list of all accounts that were opened since the last [`open`].
static ACCOUNTS: Mutex<Vec<Arc<Account>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: Arc<Account> = {
        let account = Arc::<Account>::default();
        accounts(|accounts| accounts.push(Arc::clone(&account)));
        account
    };
}

fn accounts<T>(look: impl FnOnce(&mut Vec<Arc<Account>>) -> T) -> T {
    look(&mut ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Begins a new record. While this function runs, no task may run.
pub(crate) fn open() {
    accounts(|accounts| {
        accounts.retain(|account| Arc::strong_count(account) > 1); // accounts of threads that still exist
        for account in accounts {
            account.ran.store(0, Ordering::Relaxed);
            account.sum.store(0, Ordering::Relaxed);
        }
    });
}

/// Records that task `number` ran on this thread.
#[inline]
pub(crate) fn note(number: u64) {
    OWN.with(|own| {
        own.sum.store(own.sum.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
        // This `Release` store pairs with the `Acquire` load in `ran`, which is for a thread that polls.
        own.ran.store(own.ran.load(Ordering::Relaxed) + 1, Ordering::Release);
    });
}

/// Returns how many tasks ran on this thread.
pub(crate) fn ran_here() -> u64 {
    OWN.with(|own| own.ran.load(Ordering::Relaxed))
}

/// Returns how many tasks ran on all threads.
pub(crate) fn ran() -> u64 {
    accounts(|accounts| accounts.iter().map(|account| account.ran.load(Ordering::Acquire)).sum())
}

/// Waits until `tasks` tasks have run; this function is for pools that have no method for such a wait. The
/// loop polls about ten thousand times a second, so it makes the whole measurement at most a tenth of a
/// millisecond longer. If no more tasks run, the loop ends, and after that [`check`] reports the failure.
pub(crate) fn wait_for(tasks: u64) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        let now = ran();
        if now > seen {
            (seen, since) = (now, Instant::now());
        }
        if seen >= tasks || since.elapsed() > PATIENCE {
            return;
        }
        thread::sleep(Duration::from_micros(20));
    }
}

/// Ends the measurement unless every task ran exactly once.
pub(crate) fn check(tasks: u64) {
    let sum = accounts(|accounts| {
        accounts.iter().fold(0_u64, |sum, account| sum.wrapping_add(account.sum.load(Ordering::Relaxed)))
    });
    assert_eq!((ran(), sum), (tasks, sum_below(tasks)), "tasks that ran, and the sum of their numbers");
}

/// Returns the sum of all numbers below `tasks`.
pub(crate) fn sum_below(tasks: u64) -> u64 {
    (0..tasks).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All these checks are in one test, because a process has only one record.
    #[test]
    fn books_add_up_over_threads_and_show_a_lost_task() {
        open();
        thread::scope(|scope| {
            for part in [0..5, 5..7] {
                scope.spawn(|| part.for_each(note));
            }
        });
        note(7);
        assert_eq!(ran_here(), 1);
        wait_for(8);
        check(8);
        std::panic::catch_unwind(|| check(9)).expect_err("one is missing");
        open();
        assert_eq!(ran_here(), 0);
        check(0);
        note(1); // the right number of tasks, but the wrong task
        std::panic::catch_unwind(|| check(1)).expect_err("task 0 did not run");
    }
}
