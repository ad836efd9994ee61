//! Blocking that nobody can interrupt, made cancellable: connections, listeners, child processes.
//!
//! A thread that is blocked in a `read`, an `accept` or a `wait` is blocked in the system, and looks at no
//! token. Somebody else has to do something that makes the call return.
//! [`on_cancel`](crate::CancelToken::on_cancel) is where that is said, and here it is said for the calls that
//! programs are most often blocked in.
//!
//! | blocked in | what a cancel does | what the call returns |
//! |---|---|---|
//! | [`CancellableStream`]: `read`, `write` | shuts the connection down, both ways | an error that is [`Cancelled`](struct@crate::Cancelled) inside |
//! | [`CancellableStream::connect`] | wakes the thread, and the socket is closed | the same |
//! | [`CancellableListener`]: `accept` | wakes the thread; the listener stays as it is | the same |
//! | [`CancellableChild`]: `wait` | kills the process, whose end `wait` then collects | the same |
//!
//! None of them looks at the token now and then: a blocked thread sleeps until there is something to do.
//! Whatever is registered goes with the value.
//!
//! # A clear error
//!
//! A connection that was shut down looks like one that the peer has closed: `read` returns `Ok(0)`. So when a
//! call comes back empty-handed, the token is looked at, and if it is cancelled the call returns an
//! [`io::Error`](std::io::Error) whose inner error is [`Cancelled`](struct@crate::Cancelled).
//! [`from_io`](crate::Cancelled::from_io) takes it out again. Its kind is not `Interrupted`: `read_exact`,
//! `write_all` and the like take that for a reason to try again. Data that was there before counts: a call
//! that has read something returns it.
//!
//! # What differs between systems
//!
//! | | Linux | macOS, BSD | Windows |
//! |---|---|---|---|
//! | stream | a blocked `read` or `write` returns at once | the same | a `read` that is blocked already stays so until the peer sends something or `set_read_timeout` ends it; later ones return at once |
//! | `connect` | with the feature `sockets` | the same | comes back when its time is over: the standard library has nothing that wakes it |
//! | listener | with the feature `sockets` | the same | not there: `accept` cannot be woken by what the standard library has |
//! | child | with the feature `processes` | the same | not there: a process cannot be waited for and killed through one `Child` |

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

// A process has one set of hooks, and real signals.
#[cfg(all(feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub mod shutdown_hooks;
