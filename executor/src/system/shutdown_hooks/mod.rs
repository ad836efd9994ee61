//! Code that runs before the process ends, whatever ends it.
//!
//! A process ends when `main` returns, when a signal asks it to (Ctrl-C sends SIGINT, a service manager
//! SIGTERM), or when a part of the program calls [`std::process::exit`]. The last two run no destructor, and
//! `main` waits for no other thread. So what has to be done in any case, such as to end the pools and to
//! close the log, is registered as a *hook*:
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
//! A hook can choose another status ([`Shutdown::set_status`]), and the builder the one at the deadline. A
//! second signal ends the process in its handler, with 128 + n, also while it hangs.
//!
//! # Order
//!
//! Hooks run one after the other, the last registered first, as destructors do. What a program sets up later
//! uses what it has set up earlier: the pool uses the log. So the pool ends first, and its tasks can log
//! until their end. (Java runs all hooks at the same time, and those that depend on each other have to be
//! made one.) The set is fixed when the shutdown begins: a hook that is registered later is refused, and so
//! is taking one out, or the end might never come.
//!
//! # On the signal path
//!
//! A signal interrupts a thread anywhere, perhaps in the middle of an allocation. Its handler may do next to
//! nothing. It looks at a flag (is this the second signal?), raises the flag, stores the number of the
//! signal, and writes a byte to a socket. Two threads sleep meanwhile: the *timekeeper* reads from that
//! socket, and the *runner* waits until it has to run the hooks. [`install`](ShutdownBuilder::install) starts
//! both, because at the end the system may have no thread left to give. When the shutdown has begun, the
//! timekeeper waits for the deadline and for nothing else. So the deadline holds, whatever a hook, the
//! allocator or the output is blocked in. This module prints nothing.
//!
//! # Which signals
//!
//! SIGINT and SIGTERM are caught, whatever the process has inherited: also a SIGINT that its parent had
//! ignored, as a shell does for what a script starts in the background. A signal that is blocked in all
//! threads never comes. Other signals keep what they do. SIGHUP, which says that the terminal is gone, ends
//! the process, and no hook runs; under `nohup` it is ignored. SIGQUIT ends the process without hooks, too.
//! SIGKILL cannot be caught. Ctrl-C goes to all processes of the terminal's foreground group, and a parent
//! that passes it on makes it the second one.
//!
//! # Invariants
//!
//! 1. One thread takes a hook out of the list: the runner, which then runs it, or the one that removes it. So
//!    a hook runs once at most.
//! 2. The phase moves under the lock, and only forward. The step to `Running` sets the cause and the
//!    deadline, too, and raises the flag by which the next signal is the second.
//! 3. No hook runs, and none is dropped, under the lock.
//! 4. Once `ends` is set, the process ends with `status`, and no call that waits for the end of the hooks
//!    returns.

mod bell;

mod state;
pub use state::{Shutdown, ShutdownCause};

mod hooks;
pub use hooks::{ShutdownBegun, ShutdownBuilder, ShutdownGuard, ShutdownHook, ShutdownHooks};
