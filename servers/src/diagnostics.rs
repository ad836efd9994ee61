use crate::stderr::{Lines, write_line};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::env;
use std::fmt::Display;
use std::panic::{self, PanicHookInfo};
use std::thread;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Tells the operator, on stderr, what went wrong without stopping the server.
///
/// Unlike `eprintln!` it survives a closed stderr, and does not wait when nothing reads what is written there: the line
/// is dropped then, and counted.
pub fn report(what: impl Display) {
    write_line(&format!("{what}\n"));
}

/// Shows on stderr the diagnostic events that the variable `RUST_LOG` asks for, and none if it is not set. With
/// `RUST_LOG=executor=debug` they tell of every thread that a pool starts. From now on, panics are told of by
/// [`report`], too.
///
/// A value that makes no sense is reported and shows nothing. What was once begun cannot be changed.
pub fn show_diagnostics() {
    panic::set_hook(Box::new(tell_of_panic));
    let wanted = env::var("RUST_LOG").unwrap_or_default();
    if wanted.is_empty() {
        return;
    }
    match wanted.parse::<Targets>() {
        Ok(wanted) => {
            // Without a word about errors of its own, because it would panic when stderr is closed.
            let lines = fmt::layer().with_writer(|| Lines).with_ansi(false).log_internal_errors(false);
            let _ = tracing_subscriber::registry().with(lines.with_filter(wanted)).try_init();
        }
        Err(error) => {
            report(format_args!("RUST_LOG={wanted} is ignored ({error}); try for instance executor=debug"));
        }
    }
}

/// Says what the standard library's own hook says. That one waits for room on stderr, with the thread that panicked.
fn tell_of_panic(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("something that is no text");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        report(format_args!("thread '{name}' panicked{place}:\n{message}\n{backtrace}"));
    } else {
        report(format_args!("thread '{name}' panicked{place}:\n{message}"));
    }
}
