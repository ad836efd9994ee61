//! The record of a measurement: which tasks ran, and on which threads.
//!
//! A pool that loses tasks looks fast. So each task adds its number to the account of the thread that runs
//! it. Afterwards the accounts must show as many tasks as were submitted, and the sum of their numbers.
//! Every pool in the comparison keeps these accounts, which cost each pool the same one or two nanoseconds.
//! Only the account's own thread writes to it, without an atomic addition.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The account of one thread: the tasks that it has run.
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

/// Begins a new record. No task must run during this call.
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
        // Release: pairs with the Acquire in `ran`, for a thread that polls.
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

/// Waits until `tasks` tasks have run, for pools that have no method for such a wait. The loop polls about
/// ten thousand times a second, so it adds up to a tenth of a millisecond to the whole measurement. If no
/// more tasks run, the loop gives up, and [`check`] then reports the failure.
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

    /// These checks are one test, because a process has only one record.
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
