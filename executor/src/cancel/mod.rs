//! Co-operative cancellation: how a task is asked to stop, and how it notices the request.
//!
//! A Rust thread cannot be interrupted from outside. Instead, there is a signal, the [`CancelToken`]. A task
//! looks at the token between two steps of work, and every blocking call of this crate ends when the token is
//! cancelled.
//!
//! ```
//! use executor::{CancelToken, Cancelled};
//!
//! fn count_to(limit: u64, token: &CancelToken) -> Result<u64, Cancelled> {
//!     let mut n = 0;
//!     while n < limit {
//!         token.check()?; // once per unit of work
//!         n += 1;
//!     }
//!     Ok(n)
//! }
//!
//! let token = CancelToken::new();
//! assert_eq!(count_to(1_000, &token), Ok(1_000));
//! token.cancel();
//! assert_eq!(count_to(1_000, &token), Err(Cancelled));
//! ```
//!
//! # One tree
//!
//! Tokens form a tree. A call that cancels a token also cancels all descendants of the token, but not its
//! ancestors. So the same operation stops one task or a whole pool, depending on which token is cancelled.
//!
//! ```text
//!   pool's root ──┬── task's token ──── token of a task it runs inline
//!    (shutdown_now)├── task's token          (handle.cancel)
//!                  └── …
//! ```
//!
//! A token can have several parents ([`CancelToken::linked`]): it is cancelled as soon as one of its parents
//! is cancelled. A token can also have a deadline ([`CancelToken::with_timeout`]), at which the crate's timer
//! cancels the token.
//!
//! A token changes from *live* to *cancelled* once, and never changes back. The first call of
//! [`cancel`](CancelToken::cancel) makes this change, and stores the [reason](crate::CancelReason), which the
//! token's descendants inherit. The request to stop is never cleared. The next task on the same thread does
//! not see the request, because a token belongs to a task and not to a thread.
//!
//! # The current token
//!
//! Each thread has a stack of frames. There is one frame for each task that the thread is running (several
//! only if a task runs another task inline), and one frame for each [`attach`](CancelToken::attach). The
//! token of the top frame is the *current* token; every blocking call of this crate obeys the current token.
//! Most tasks never ask for their token. So a frame starts without a token. When code first asks for the
//! token, the token is made as a child of the token of the frame below. A callback or a hook is not part of
//! the task that its thread is running. So callbacks and hooks run on their own level, where no token is
//! current.
//!
//! # The order of a cancel
//!
//! 1. The token and all its descendants are *marked*: from then on
//!    [`is_cancelled`](CancelToken::is_cancelled) returns true.
//! 2. The threads whose waits in this crate obey a marked token are woken.
//! 3. Users' callbacks run, outside all locks.
//!
//! Callbacks run last, because a callback may take long, or may wait for a thread that step 2 wakes. Several
//! threads can cancel tokens of one tree at the same time. Each of these threads marks the tokens that are
//! not marked yet. So when `cancel` has returned, the token and all its descendants are marked, even if the
//! call returned false. The callbacks of a token run on one thread: the thread that *claims* the token. A
//! thread that cancels a token claims this token if the thread is the first to mark it. Then the thread
//! claims each child of a claimed token, unless another thread has claimed that child.
//!
//! # Invariants
//!
//! 1. `cancelled` is set under the lock of `state`. So if a thread adds a child, a waiter or a callback under
//!    that lock, either this thread sees the flag, or the canceller finds the new child, waiter or callback.
//! 2. The callbacks of a token run only on the thread that has set `claimed`: one at a time, in the order of
//!    their registration, outside the lock.
//! 3. `settled` is set when the token and all its descendants are marked. A call of `cancel` that does not
//!    claim a settled token can skip the descendants of this token.
//! 4. No thread holds the locks of two tokens at once, or the lock of a token together with the lock of the
//!    timer.
//! 5. A marked token has a reason: the reason of the request that marked the token first. The reason never
//!    changes.
//! 6. After the drop of a [`Registration`], its callback is not running and will never run. There is one
//!    exception: a callback that is registered with a cancelled token is due at once, and the token does not
//!    store this callback. If this callback is deferred, it may run after the drop of its registration.

pub(crate) mod callbacks;

pub(crate) mod reason;
pub use reason::{CancelKind, CancelReason};

pub(crate) mod cancelled;
pub use cancelled::Cancelled;

mod outside;
pub(crate) use outside::{call_outside, outside_any_task};

mod tree;
pub(crate) use tree::Callbacks;
pub use tree::CancelToken;

mod registration;
pub use registration::Registration;

mod deadline;

mod current;
pub use current::{Attached, masked};
pub(crate) use current::{
    Context, FrameGuard, Role, RunningTask, check_current, count_roles, current_for_wait, enter_role,
    enter_task, interrupted, is_cancelled_here, is_shielded_from, runs_a_task, tasks_of_this_thread,
    why_interrupted,
};
