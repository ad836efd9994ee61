//! Blocking calls of the system, made cancellable: connections, listeners, child processes.
//!
//! A thread that is blocked in a `read`, an `accept` or a `wait` is blocked in the system, and looks at no
//! token. The thread that cancels the token must make the blocked call return. That thread runs the callbacks
//! that were registered with [`on_cancel`](crate::CancelToken::on_cancel). For the calls in which programs
//! block most often, this module registers callbacks that make the call return.
//!
//! | blocked in | what a cancel does | what the call returns |
//! |---|---|---|
//! | [`CancellableStream`]: `read`, `write` | shuts the connection down, both ways | an error that is [`Cancelled`](struct@crate::Cancelled) inside |
//! | [`CancellableStream::connect`] | wakes the thread, and the socket is closed | the same |
//! | [`CancellableListener`]: `accept` | wakes the thread; the listener stays as it is | the same |
//! | [`CancellableChild`]: `wait` | kills the process; `wait` then collects it | the same |
//!
//! No call polls the token: a blocked thread sleeps until the call can return. Dropping a value of this
//! module removes the callback that the value has registered.
//!
//! # A clear error
//!
//! A connection that was shut down looks like a connection that the peer has closed: `read` returns `Ok(0)`.
//! So a call that gets no data checks the token. If the token is cancelled, the call returns an
//! [`io::Error`](std::io::Error) whose inner error is [`Cancelled`](struct@crate::Cancelled).
//! [`from_io`](crate::Cancelled::from_io) takes the inner error out again. The kind of the outer error is not
//! `Interrupted`, because `read_exact`, `write_all` and similar functions repeat an interrupted call. A call
//! that has read data before the cancellation returns the data.
//!
//! # What differs between systems
//!
//! | | Linux | macOS, BSD | Windows |
//! |---|---|---|---|
//! | stream | a blocked `read` or `write` returns at once | the same | a `read` that is blocked already stays blocked until the peer sends something or `set_read_timeout` ends it; later calls return at once |
//! | `connect` | with the feature `sockets` | the same | returns when its time is over: the standard library has no means to wake it |
//! | listener | with the feature `sockets` | the same | not available: the standard library has no means to wake `accept` |
//! | child | with the feature `processes` | the same | not available: while one thread waits for a `Child`, no other thread can kill it |

mod stream;
pub use stream::CancellableStream;

#[cfg(all(unix, feature = "sockets"))]
mod cancel_signal;
#[cfg(all(unix, feature = "sockets"))]
mod connect;

#[cfg(all(unix, feature = "sockets"))]
mod listener;
#[cfg(all(unix, feature = "sockets"))]
pub use listener::CancellableListener;

#[cfg(all(unix, feature = "processes"))]
mod child;
#[cfg(all(unix, feature = "processes"))]
pub use child::CancellableChild;

#[cfg(all(unix, feature = "signals"))]
mod sigquit;
#[cfg(all(unix, feature = "signals"))]
pub use sigquit::dump_at_sigquit;

// The builds for the model checkers leave this module out, because the module's hooks and signals belong to
// the real process.
#[cfg(all(feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub mod shutdown_hooks;
