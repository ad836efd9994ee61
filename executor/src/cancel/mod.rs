//! Co-operative cancellation: how a task is asked to stop, and how it notices the request.
//!
//! A Rust thread cannot be interrupted from outside. Instead, all parties agree on a signal: a task looks at
//! it between two steps of work, and every blocking call listens for it. The signal is a [`CancelToken`].
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
//! Tokens form a tree. Cancelling one cancels everything below it and nothing above, so stopping one task and
//! stopping a whole pool are the same operation at two heights.
//!
//! ```text
//!   pool's root ──┬── task's token ──── token of a task it runs inline
//!    (shutdown_now)├── task's token          (handle.cancel)
//!                  └── …
//! ```
//!
//! A token can hang below several others ([`CancelToken::linked`]): it is cancelled as soon as one of them
//! is. A token can also have a deadline ([`CancelToken::with_timeout`]), at which the crate's timer cancels
//! it, as any other caller would.
//!
//! A token goes from *live* to *cancelled* once and never back. The first caller of
//! [`cancel`](CancelToken::cancel) moves it, and leaves the [reason](crate::CancelReason), which the tokens
//! below inherit. The request is never cleared. It cannot leak into the next task on the same thread either,
//! because it belongs to the task and not to the thread.
//!
//! # The current token
//!
//! Each thread has a stack of frames: one for each task that it is in the middle of (more than one only when
//! a task runs another inline), and one for each [`attach`](CancelToken::attach). The top frame's token is
//! the *current* one; every blocking call of this crate obeys it. Most tasks never ask for their token. So a
//! frame starts without one, and makes it on demand as a child of the frame below. A callback or a hook runs
//! on a level of its own, where no token is current: it is no part of the task whose thread it borrows.
//!
//! # The order of a cancel
//!
//! 1. The token and all tokens below it are *marked*: from then on
//!    [`is_cancelled`](CancelToken::is_cancelled) returns true.
//! 2. Threads that wait in this crate under one of these tokens are woken.
//! 3. Users' callbacks run, outside all locks.
//!
//! Callbacks come last, because a callback may take long, or wait for a thread that one of the tokens
//! releases. Any number of threads can cancel tokens of one tree at the same time. Each of them marks the
//! tokens that it finds unmarked. So when a `cancel` has returned, the whole tree below its token is marked,
//! whether the call returned true or false. One of these threads runs the callbacks of a token: the thread
//! that *claims* the token. A thread claims a token if it was the first to mark it, or if it has claimed the
//! token above.
//!
//! # Invariants
//!
//! 1. `cancelled` is set under the lock of `state`. So a thread that adds a child, a waiter or a callback
//!    under that lock either sees the flag set or is found by the canceller.
//! 2. Only the thread that set `claimed` runs callbacks: in the order in which they were registered, one at a
//!    time, outside the lock.
//! 3. `settled` is set when the token and all tokens below it are marked. It spares a cancel that claims
//!    nothing the way down.
//! 4. No thread holds two of these locks at once, or one of them together with the timer's.
//! 5. A token has a reason as soon as it is marked, and keeps it: that of the first cancel that marked it.
//! 6. When [`Registration`]'s drop has returned, its callback is not running and never will be. (A callback
//!    that was registered at a cancelled token is due at once and is not kept there; deep inside other
//!    callbacks it may run later.)

pub(crate) mod reason;
pub use reason::{CancelKind, CancelReason};

pub(crate) mod callbacks;

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
};
