//! Channels with cancellable waits: a task that waits for an item or for room can be cancelled.
//!
//! A producer that is blocked on a full channel cannot look at a flag. It stops only if the request ends the
//! wait itself. Here the request does: [`put`](SenderExt::put) and [`take`](ReceiverExt::take) are
//! cancellation points of the [current token](crate::CancelToken::current), like every blocking call of this
//! crate.
//!
//! ```
//! use executor::{ThreadPoolExecutor, channel::{SenderExt, bounded}, prelude::*};
//!
//! let (numbers, _receiver) = bounded(10);
//! let pool = ThreadPoolExecutor::single();
//! pool.execute(move || {
//!     let mut number = 0;
//!     while numbers.put(number).is_ok() {
//!         number += 1; // until the channel is full, and then `put` blocks
//!     }
//! })?;
//! drop(pool.shutdown_now()); // the blocked `put` comes back
//! pool.close(); // so the task ends
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Beside crossbeam-channel
//!
//! The channels are those of `crossbeam-channel`, of any kind, with a few more calls. Crossbeam's words and
//! ours differ in one thing:
//!
//! | crossbeam's, deaf to a cancellation | here, a cancellation point |
//! |---|---|
//! | `send`, `send_timeout` | `put`, `put_timeout` |
//! | `recv`, `recv_timeout` | `take`, `take_timeout` |
//! | `iter`, `for item in receiver` | `take_iter` |
//!
//! The verbs are those of Java's `BlockingQueue`, where an interrupt ends `put` and `take`. A call that does
//! not wait needs no second name. In a `select!` a token takes part as a channel:
//! [`CancelToken::channel`](crate::CancelToken::channel) becomes ready when the token is cancelled.
//!
//! # Waiting
//!
//! ```text
//!   check token ─▶ try ──would block──▶ select ─┬─ the operation ───▶ done
//!                                               ├─ the token ───┐
//!                                               └─ the deadline ┴─▶ try once more ─▶ done, disconnected,
//!                                                                         interrupted or timed out
//! ```
//!
//! A thread that blocks here does not sleep in [`wait`](super::wait), because only crossbeam's `select` can
//! wait for a channel of crossbeam's. Its token wakes it all the same. The thread leaves a waker with the
//! token, and the waker disconnects a channel that is the second operation of the `select`. Without a current
//! token the `select` has one operation.
//!
//! No thread polls. But before a thread sleeps, it yields to the other end a few times, because the other end
//! is often about to put or take.
//!
//! # Invariants
//!
//! 1. `select` carries out one operation or none. So an item is in one place at any time: with its sender, in
//!    the channel, or with its receiver. A `put` that fails gives its item back, and a `take` that fails has
//!    taken none.
//! 2. Ready beats cancelled beats timed out: the operation is tried once more before a wait fails. But a task
//!    that *begins* a wait after it was cancelled is refused, as by a [`Latch`](crate::Latch), even if the
//!    operation need not wait.
//! 3. The waker that disconnects belongs to the library's own wake-ups. So the waiting thread is released
//!    before any callback runs, and a callback can wait for that thread.

mod error;
pub use error::{PutError, TakeError};

mod stop;
pub use stop::CancelChannel;

mod ends;
pub use crate::sync::channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
pub use ends::{ReceiverExt, SenderExt};
