//! The handle of a task: it waits for the task's result, checks whether the result is available, and
//! cancels the task.
//!
//! [`FutureTask::new`] makes a task and its [`TaskHandle`] together, in one allocation. An executor's
//! `submit` makes task and handle, and keeps the task. The handle is unique, so the result can be moved out
//! of it. [`TaskHandle::shared`] makes a handle for several readers. [`TaskHandle::canceller`] makes a handle
//! for a client that can cancel the task but must not see its result. A [`Promise`] has a handle, too, whose
//! outcome does not come from a task.
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
//! | `error` | how a task can end without a result |
//! | `listener` | which party is told of an outcome, and in which order |
//! | `queue_membership` | the queue that a task is in, and when its owner must be told |
//! | `cell` | the state that a task and its handle share, and every way in which it changes |
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
//! A promise starts as `Running`: the library does not know whether, and on which thread, its result is being
//! computed.
//!
//! # Invariants
//!
//! 1. The outcome is decided once, by the thread that first moves the state to `Finished`. A `cancel` while
//!    the body runs decides the outcome at once. The value that the body returns later is dropped.
//! 2. The body is a part of the state `Pending`. The thread that ends the state `Pending` takes the body out.
//!    `run` then runs the body. `cancel` drops the body, after it has woken the waiters. So the data that a
//!    cancelled task has captured does not stay in a queue.
//! 3. Every handle reaches `Finished`: the drop of a task that has not run cancels the task.
//! 4. A cell has at most one listener: a waker (of a thread or an asynchronous task), a callback, a relay or
//!    a collector. The relay of a shared handle tells many others. A collector is given the whole cell.
//! 5. No user code runs while the state is locked: no body, no callback, no waker, and no `Drop` of any of
//!    them.
//! 6. The library's own work comes first; users' code runs after it. First the outcome is decided, and the
//!    waiters for the outcome are woken. Then the task's token and all tokens below it are marked, and the
//!    threads that wait under them are woken. Last, callbacks run and captured values are dropped: a callback
//!    can take long, or can wait for one of the threads that were woken.
//!
//! # A lock, not an atomic state word
//!
//! State, body, result and listener change together, so they are behind one lock. The lock is held for a few
//! instructions and is hardly ever contended: only the worker and the client of one task take it. A
//! compare-exchange on a state word would save a part of that time, but it would need a proof.
//!
//! The record of the queue in which the task waits is independent of the outcome, and is not behind the lock
//! (`queue_membership`). The last owner of a cell needs no lock at all. A task that has ended drops its
//! reference to the cell before it wakes the joiner. So the joiner, or the drop of the handle, finds that the
//! handle is the only owner.
//!
//! The locks that are taken for one submitted task, in a busy pool with a [`FifoQueue`](crate::FifoQueue); a
//! test counts them:
//!
//! | lock of | taken by | to |
//! |---|---|---|
//! | the pool's inbox | the submitter | leave the task there |
//! | the cell | the worker | begin, and take the body |
//! | the cell | the worker | decide the outcome, and take the listener |
//! | the cell | a joiner that comes before the end | leave its waker |
//!
//! A joiner that stops spinning and sleeps also takes the lock of its parker, and so does the thread that
//! wakes it. If a [`Canceller`] is kept, the joiner is not the only owner of the cell, and takes the lock of
//! the cell once more.
//!
//! # What is visible to whom
//!
//! What a thread did before it submitted a task is visible to the task. What the task did is visible to the
//! thread that gets its result. The lock around the state guarantees this visibility.

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

    /// A task keeps the worker busy while a round of tasks is submitted. The last task of a round keeps the
    /// worker busy for the next round. So the worker takes few locks to find a whole round, and nearly all
    /// locks are taken for the tasks.
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
