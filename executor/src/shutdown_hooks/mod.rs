//! What a process does before it ends, whoever ends it.
//!
//! A process ends when `main` returns, when it is asked to by a signal (Ctrl-C sends SIGINT, a service manager SIGTERM), or
//! when a part of it decides so. A signal runs no destructor, [`std::process::exit`] neither, and `main` does not wait for
//! other threads. So what has to be done in any case, such as to end the pools and to close the log, is registered as a *hook*:
//!
//! ```no_run
//! use executor::ThreadPoolExecutor;
//! use executor::shutdown_hooks::ShutdownHooks;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! # fn flush() {}
//! # fn serve(_: &Arc<ThreadPoolExecutor>) {}
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let shutdown = ShutdownHooks::builder().deadline(Duration::from_secs(10)).install()?; // kept until main ends
//!     shutdown.add("log", |_| flush())?;
//!     let pool = Arc::new(ThreadPoolExecutor::fixed(4));
//!     shutdown.add_pool("pool", &pool, Duration::from_secs(5))?; // runs before the log's
//!     serve(&pool);
//!     Ok(()) // runs the hooks, as SIGINT and SIGTERM do
//! }
//! ```
//!
//! # The life of a process
//!
//! ```text
//!         first signal, exit(), begin(),
//!         the guard is dropped             the last hook has returned
//!   Open ───────────────────────▶ Running ────────────────────────────▶ Done ──▶ the process ends
//!                                    │                                             ▲
//!                                    ├── the deadline: whatever blocks ────────────┤
//!                                    └── another signal: at once ──────────────────┘
//! ```
//!
//! | who begins it | after the hooks | status | at the deadline |
//! |---|---|---|---|
//! | SIGINT or SIGTERM, number n | the process ends | 128 + n | 128 + n |
//! | [`exit(code)`](ShutdownHooks::exit) | the process ends | `code` | 1 |
//! | the [guard](ShutdownGuard) is dropped | the drop returns | that of `main` | 1 |
//! | [`begin`](ShutdownHooks::begin) | `main` goes on | that of `main` | 1 |
//!
//! A hook can choose another status ([`Shutdown::set_status`]), and the builder the one at the deadline. A second signal ends
//! the process in its handler, with 128 + n, also while it hangs.
//!
//! # Order
//!
//! Hooks run one after the other, the last registered first, as destructors do. What a program sets up later uses what it has
//! set up earlier: the pool uses the log. So the pool ends first, and its tasks can log until their end. (Java runs all hooks at
//! the same time, and those that depend on each other have to be made one.) The set is fixed when the shutdown begins: a hook
//! that is registered later is refused, and so is taking one out, or the end might never come.
//!
//! # On the signal path
//!
//! A signal interrupts a thread anywhere, perhaps in the middle of an allocation. Its handler may do next to nothing, and does
//! three things: it looks at a flag (is this the second?), raises it, and writes a byte to a socket. Two threads wait, and use
//! no time while they do: the *timekeeper* for that byte, and the *runner* for the word to run the hooks. Both are started by
//! [`install`](ShutdownBuilder::install), when there is a thread to be had. The timekeeper then waits for nothing but the
//! deadline, which therefore holds whatever a hook, the allocator or the output is blocked in. Nothing is printed here.
//!
//! # Invariants
//!
//! 1. A hook is in the list or taken out by one thread: the runner, or who removes it. So it runs once at most.
//! 2. The phase moves on under the lock, and only forward. Who moves it to `Running` sets the cause and the deadline with it.
//! 3. No hook runs, and none is dropped, under the lock.
//! 4. Once `ends` is set, the process ends with `status`, and no call that waits for the end of the hooks returns.

mod bell;

mod state;
pub use state::{Shutdown, ShutdownCause};

mod hooks;
pub use hooks::{ShutdownBegun, ShutdownBuilder, ShutdownGuard, ShutdownHook, ShutdownHooks};
