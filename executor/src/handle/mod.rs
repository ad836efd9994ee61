//! The handle of a task: a client uses it to wait for the result, to check whether the result is available,
//! and to cancel the task.
//!
//! [`FutureTask::new`] makes a task and its [`TaskHandle`] together, in one allocation. An executor's
//! `submit` makes a task and its handle, and the executor keeps the task. The handle is unique, so the result
//! can be moved out of it. [`TaskHandle::shared`] makes a handle for several readers.
//! [`TaskHandle::canceller`] makes a handle that can only cancel the task. A [`Promise`] has a handle, too,
//! but no task.
//!
//! ```
//! use executor::{FutureTask, Outcome};
//!
//! let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
//! let worker = std::thread::spawn(move || task.run());
//! assert_eq!(handle.join().unwrap(), 42);
//! assert!(matches!(worker.join().unwrap(), Outcome::Completed));
//! ```
//!
//! # In this folder
//!
//! | file | what is in it |
//! |---|---|
//! | `error` | the errors of a task that has no result |
//! | `listener` | who is told of an outcome, and in which order |
//! | `queue_membership` | the queue that a task is in, and how its cancelled tasks are counted |
//! | `cell` | the state that a task and its handle share, and all its changes |
//! | `canceller`, `task_handle`, `future_task` | a handle that only cancels; the handle; task and handle |
//! | `shared`, `promise` | a handle for many readers; a handle without a task |
//! | `completion_queue` | handles in the order in which their tasks end |
//!
//! # States
//!
//! ```text
//!              run()                  body ends
//!   Pending ──────────▶ Running ────────────────────▶ Finished ──join, poll, on_done──▶ Taken
//!      │                   │                             ▲
//!      │  cancel()         │  cancel()                   │
//!      └── task dropped ───┴──▶ Finished as cancelled ───┘
//! ```
//!
//! A promise starts as `Running`, because the library does not know which thread computes its result, and
//! when.
//!
//! # Invariants
//!
//! 1. The outcome is decided once: by the first thread that moves the state to `Finished`. If `cancel` is
//!    called while the body runs, the call decides the outcome at once. The value that the body returns later
//!    is dropped.
//! 2. The body is a part of the state `Pending`. The thread that changes this state removes the body from the
//!    cell. If this thread called `run`, the thread runs the body. If this thread called `cancel`, the thread
//!    drops the body after it has woken the waiters. So the data that a cancelled task has captured does not
//!    stay in a queue.
//! 3. Every handle reaches `Finished`: the drop of a task that has not run cancels the task.
//! 4. A cell has at most one listener: a waker (of a thread or an asynchronous task), a callback, a relay or
//!    a collector. The relay of a shared handle tells many waiters. A collector gets the whole cell instead
//!    of the result.
//! 5. No user code runs while the state is locked: no body, no callback, no waker, and no `Drop` of these
//!    values.
//! 6. The library does its own work first, because users' code can take long, or can wait for one of the
//!    woken threads. First the outcome is decided, and the waiters for the outcome are woken. Then the task's
//!    token and all its descendants are marked, and the threads whose waits obey these tokens are woken.
//!    Last, callbacks run and captured values are dropped.
//!
//! # A lock, not an atomic state word
//!
//! The state, the body, the result and the listener change together, so one lock protects them. The lock is
//! held for a few instructions and is seldom contended: only the worker and the client of one task take it. A
//! compare-exchange on a state word would save a part of this time, but its correctness would need a proof.
//!
//! The record of the task's queue is independent of the outcome, and this lock does not protect it
//! (`queue_membership`). The last owner of a cell needs no lock at all. A task that has ended drops its
//! reference to the cell before it wakes the joiner. So the handle is then the only owner of the cell, and
//! its `join` or its drop needs no lock.
//!
//! In a busy pool with a [`FifoQueue`](crate::FifoQueue), these locks are taken for one submitted task (a
//! test counts them):
//!
//! | lock of | taken by | in order to |
//! |---|---|---|
//! | the pool's inbox | the submitter | leave the task there |
//! | the cell | the worker | begin, and take the body |
//! | the cell | the worker | decide the outcome, and take the listener |
//! | the cell | a joiner that comes before the task has ended | leave its waker |
//!
//! If a joiner stops spinning and sleeps, it also takes the lock of its parker; the thread that wakes the
//! joiner takes this lock, too. If the client keeps a [`Canceller`], the joiner is not the only owner of the
//! cell, and takes the lock of the cell once more.
//!
//! # What is visible to whom
//!
//! A task sees everything that the submitting thread did before the submission. The thread that gets the
//! task's result sees everything that the task did. The lock around the state guarantees this visibility.

mod error;
pub use error::{SharedJoinError, TaskError};

mod listener;
pub(crate) use listener::CancelBegun;

mod queue_membership;

mod cell;

mod canceller;
pub use canceller::Canceller;

mod task_handle;
pub use task_handle::{JoinError, TaskHandle, TryJoinError};

mod cancel_on_drop;
pub use cancel_on_drop::CancelOnDrop;

mod future_task;
pub use future_task::{FutureTask, IntoFutureTask};

mod limits;

mod shared;
pub use shared::SharedHandle;

mod promise;
pub use promise::Promise;

mod completion_queue;
pub(crate) use completion_queue::{CompletionQueue, PendingCompletion};

use std::fmt;

use crate::task::HandleCell;

/// Writes a handle's id, name and state, and the message of the panic if the task has panicked.
fn debug_handle<C: HandleCell + ?Sized>(
    f: &mut fmt::Formatter<'_>,
    of: &str,
    cell: &C,
    name: Option<&str>,
    panic: Option<String>,
) -> fmt::Result {
    let mut debug = f.debug_struct(of);
    debug.field("id", &format_args!("{}", cell.id()));
    if let Some(name) = name {
        debug.field("name", &name);
    }
    debug.field("state", &cell.state());
    if let Some(message) = panic {
        debug.field("panic", &message);
    }
    debug.finish()
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::sync::{Arc, Barrier};

    use crate::sync::locks_taken;
    use crate::{ExecutorExt, ThreadPoolExecutor};

    const TASKS: usize = 1_000;

    /// While the test submits a round of tasks, another task keeps the worker busy. So the worker finds a
    /// whole round with few locks, and nearly all locks are taken for the tasks themselves.
    #[test]
    fn a_submitted_task_takes_three_locks_in_its_life() {
        let pool = ThreadPoolExecutor::single();
        let barrier = Arc::new(Barrier::new(2));
        let hold = || {
            let (begun, end) = (Arc::clone(&barrier), Arc::clone(&barrier));
            pool.execute(move || {
                begun.wait();
                end.wait();
            })
            .unwrap();
        };
        locks_taken::take_part();
        pool.execute(locks_taken::take_part).unwrap();
        hold();
        barrier.wait();
        let per_task = |round: &dyn Fn(&dyn Fn())| {
            let run_them = || {
                hold();
                barrier.wait(); // the worker goes on
                barrier.wait(); // the worker has done all tasks of the round
            };
            let taken = locks_taken::by(|| round(&run_them));
            assert!(
                taken % TASKS < TASKS / 2,
                "{taken} locks: the pool's own are too many to tell them from the tasks'"
            );
            taken / TASKS
        };
        let submit = |n: usize| pool.submit(move || n).unwrap();
        let joined = |run_them: &dyn Fn()| {
            let handles: Vec<_> = (0..TASKS).map(submit).collect();
            run_them();
            let sum: usize = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
            assert_eq!(sum, TASKS * (TASKS - 1) / 2);
        };
        assert_eq!(per_task(&joined), 3);
        let dropped_at_the_end = |run_them: &dyn Fn()| {
            let handles: Vec<_> = (0..TASKS).map(submit).collect();
            run_them();
            drop(handles);
        };
        assert_eq!(per_task(&dropped_at_the_end), 3);
        let dropped_at_once = |run_them: &dyn Fn()| {
            (0..TASKS).for_each(|n| drop(submit(n)));
            run_them();
        };
        assert_eq!(per_task(&dropped_at_once), 4, "and one to say that no handle listens");
        barrier.wait();
    }
}
