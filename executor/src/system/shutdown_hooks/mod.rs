//! Shutdown hooks: code that runs before the process ends, whatever the reason for the end is.
//!
//! A process ends when `main` returns, when it gets a signal (SIGINT by Ctrl-C, SIGTERM from a service
//! manager), or when a part of the program calls [`std::process::exit`]. A signal and a call of `exit` run no
//! destructors, and a return from `main` waits for no other thread. So a program registers *hooks*: code that
//! must run before the process ends in any of these ways, for instance to end the program's pools and to
//! close its log.
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
//!     // The guard must live until `main` ends.
//!     let shutdown = ShutdownHooks::builder().deadline(Duration::from_secs(10)).install()?;
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
//! A hook can choose another status ([`Shutdown::set_status`]), and the builder can choose the status at the
//! deadline. The handler of a second signal ends the process with 128 + n, even while the process hangs.
//!
//! # Order
//!
//! Hooks run one after the other, the last registered hook first, as destructors do. A part of a program uses
//! the parts that were set up before it: for example, the pool uses the log. So the pool ends first, and its
//! tasks can log until their end. (Java runs all hooks at the same time, so hooks that depend on each other
//! must be combined into one hook.) No hook can be added or removed after the shutdown has begun. A shutdown
//! that accepted new hooks might never end.
//!
//! # On the signal path
//!
//! A signal can interrupt a thread anywhere, even in the middle of an allocation. So the handler of the
//! signal must do very little. The handler stores the number of the signal, checks a flag (is this the second
//! signal?), sets the flag, and writes a byte to a socket. Two threads sleep until a shutdown begins: the
//! *timekeeper* reads from that socket, and the *runner* waits until it must run the hooks.
//! [`install`](ShutdownBuilder::install) starts both threads, because the system may be unable to start a
//! thread later. When the shutdown has begun, the timekeeper only waits for the deadline or for the end of
//! the hooks. So the process ends at the deadline even if a hook, the allocator or the output is blocked.
//! This module prints nothing.
//!
//! # Which signals
//!
//! SIGINT and SIGTERM are caught, even if the parent of the process ignores them. For example, a shell
//! ignores SIGINT for the programs that a script starts in the background. A signal that is blocked in all
//! threads is not delivered. Other signals keep their effects. SIGHUP, which says that the terminal is gone,
//! ends the process without hooks; under `nohup` SIGHUP is ignored. SIGQUIT ends the process without hooks,
//! too, unless the program has called `dump_at_sigquit`.
//! SIGKILL cannot be caught. Ctrl-C goes to all processes of the terminal's foreground group. If the parent
//! also passes its signal on, the process gets a second signal.
//!
//! # Invariants
//!
//! 1. Exactly one thread takes a hook out of the list: the runner, which then runs the hook, or the thread
//!    that removes the hook. So a hook runs at most once.
//! 2. The phase changes only under the lock, and only to a later phase. The change to `Running` also sets the
//!    cause and the deadline, and sets the flag by which the handler recognises the second signal.
//! 3. No hook runs and no hook is dropped under the lock.
//! 4. As soon as `ends` is set, the process ends with `status`, and no call that waits for the hooks returns.

mod signals;

mod state;
pub use state::{Shutdown, ShutdownCause};

mod hooks;
pub use hooks::{ShutdownBegun, ShutdownBuilder, ShutdownGuard, ShutdownHook, ShutdownHooks};
