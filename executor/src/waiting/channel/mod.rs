//! Channels with cancellable waits: a task that waits for an item or for room can be cancelled.
//!
//! A producer that is blocked on a full channel cannot look at a flag. The producer stops only if the request
//! to stop also ends the wait. The calls [`put`](SenderExt::put) and [`take`](ReceiverExt::take) end when the
//! task is asked to stop: they are cancellation points of the [current token](crate::CancelToken::current),
//! like every blocking call of this crate.
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
//! This module adds a few calls to all kinds of channels of `crossbeam-channel`. Crossbeam's calls ignore a
//! cancellation; the calls of this module are cancellation points:
//!
//! | crossbeam's call | the call of this module, a cancellation point |
//! |---|---|
//! | `send`, `send_timeout` | `put`, `put_timeout` |
//! | `recv`, `recv_timeout` | `take`, `take_timeout` |
//! | `iter`, `for item in receiver` | `take_iter` |
//!
//! The names come from Java's `BlockingQueue`, where an interrupt ends `put` and `take`. For calls that do
//! not wait, use crossbeam's own calls. A `select!` can also wait for a token, through the channel
//! [`CancelToken::channel`](crate::CancelToken::channel): this channel becomes ready when the token is
//! cancelled.
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
//! wait for a crossbeam channel. But the current token can still wake the thread. The thread registers a
//! waker with the token. The waker disconnects a channel, and the second operation of the `select` waits for
//! that channel. Without a current token the `select` has only the first operation.
//!
//! No thread polls. Before a thread sleeps, it yields to the other threads a few times, because another thread
//! is often about to put or take an item.
//!
//! # Invariants
//!
//! 1. `select` carries out one operation or none. So an item is in one place at any time: with its sender, in
//!    the channel, or with its receiver. A `put` that fails gives its item back, and a `take` that fails has
//!    taken no item.
//! 2. A ready operation has priority over a cancellation, and a cancellation has priority over a timeout: the
//!    operation is tried once more before a wait fails. But if a task was cancelled before it calls `put` or
//!    `take`, the call fails, even if the operation need not wait. A wait for a [`Latch`](crate::Latch) fails
//!    in a cancelled task, too.
//! 3. The waker that disconnects the channel is called together with the library's other wakers. So the
//!    waiting thread is released before any callback runs, and a callback can wait for that thread.

mod error;
pub use error::{PutError, TakeError};

mod stop;
pub use stop::CancelChannel;

mod ends;
pub use crate::sync::channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
pub use ends::{ReceiverExt, SenderExt};
