//! The other end of a task: wait for its result, look whether it is there, call it off.
//!
//! [`FutureTask::new`] makes a task and its [`TaskHandle`] together, as one allocation; an executor's `submit` does that
//! and keeps the task. The handle is unique, so the result can be moved out of it. For more than one reader there is
//! [`TaskHandle::shared`]; for one who may call the task off but not see its result, [`TaskHandle::canceller`]. A handle
//! whose outcome comes from elsewhere than a task belongs to a [`Promise`].
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
//! | `listener` | who hears of an outcome, and in which order |
//! | `queue_membership` | the queue that a task is in, and what to tell it |
//! | `cell` | the state that a task and its handle share, and every way in which it changes |
//! | `canceller`, `task_handle`, `future_task` | what can only call the task off; the handle; the task with its handle |
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
//! A promise starts as `Running`: whether and where somebody works on it is not known here.
//!
//! # Invariants
//!
//! 1. The outcome is decided once, by whoever first moves the state to `Finished`. A `cancel` that wins while the body
//!    runs decides at once; what the body returns later is dropped.
//! 2. The body is a part of the state `Pending`. Whoever moves the state on takes it out: `run` to run it, `cancel` to drop
//!    it when it has let go who waits, so a cancelled task's captured data does not linger in a queue.
//! 3. Every handle reaches `Finished`: a task dropped unrun is cancelled by its drop.
//! 4. There is one listener at most: a waker (of a thread or an asynchronous task), a callback, the relay of a shared
//!    handle, which passes the news on to many, or a collector, which is given the whole.
//! 5. No user code runs while the state is locked: not the body, a callback or a waker, and not the `Drop` of any.
//! 6. The library's own business comes first, the users' code after it. A decision is made, those who wait for the outcome
//!    are let go, the task's token and all below it are marked, and what waits under them is woken. Only then do callbacks
//!    run and captured values drop: a callback may take long, or wait for a thread that was to be let go.
//!
//! # A lock, not an atomic state word
//!
//! State, body, result and listener change together, so they are behind one lock, which is held for a few instructions and
//! hardly ever contended: only the two ends of one task meet there. A compare-exchange on a state word would save a
//! part of that and cost a proof.
//!
//! Apart from it is what has nothing to do with the outcome: in which queue the task is (`queue_membership`). And the
//! last owner of a cell needs no lock at all. A task that has ended lets go of the cell before it wakes the joiner, so
//! the joiner finds its handle to be the only owner, and so does the drop of the handle.
//!
//! The locks of a submitted task in its life, in a busy pool with a [`FifoQueue`](crate::FifoQueue); a test counts them:
//!
//! | lock of | taken by | to |
//! |---|---|---|
//! | the pool's inbox | the submitter | leave the task there |
//! | the cell | the worker | begin, and take the body |
//! | the cell | the worker | decide the outcome, and take the listener |
//! | the cell | a joiner that comes before the end | leave its waker |
//!
//! A joiner that has lost its patience and sleeps takes one more, and so does the thread that wakes it: that of its parker.
//! A [`Canceller`] that is kept makes the joiner one of two owners, who takes the lock once more.
//!
//! # What is visible to whom
//!
//! What a thread did before it submitted a task is visible to the task; what the task did is visible to whoever gets its
//! result. Both follow from the lock around the state.

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

mod future_task;
pub use future_task::FutureTask;

mod shared;
pub use shared::SharedHandle;

mod promise;
pub use promise::Promise;

mod completion_queue;
pub(crate) use completion_queue::{CompletionQueue, PendingCompletion};

use std::fmt;

use crate::task::HandleCell;

/// Says which task it is and how it stands, and of a failed one why.
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

    /// The worker is held while a round of tasks comes in, and the round ends with the task that holds it for the next one.
    /// So the locks that it takes to find a round are few, and the rest are those of the tasks.
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
                barrier.wait(); // and has done all of them
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
        assert_eq!(per_task(&dropped_at_once), 4, "and one to say that nobody listens");
        barrier.wait();
    }
}
