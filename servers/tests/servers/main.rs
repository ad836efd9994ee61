//! Tests the stages over real sockets. If every stage must pass a test, the test is written once
//! and run against each stage.

mod support;

mod acceptance;
#[cfg(unix)]
mod bounded;
mod bounds;
mod closing;
mod command_line;
mod connections;
#[cfg(unix)]
mod event_loops;
#[cfg(unix)]
mod events;
mod files;
#[cfg(target_os = "linux")]
mod floods;
mod fuzz;
mod hosts;
mod library;
#[cfg(unix)]
mod lifecycle;
#[cfg(unix)]
mod log;
mod listeners;
mod memory;
mod pages;
mod policy;
mod refusals;
mod requests;
mod shared_accept;
#[cfg(unix)]
mod signals;
#[cfg(target_os = "linux")]
mod survival;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
mod thread_limit;
mod timeouts;
#[cfg(unix)]
mod watch;
