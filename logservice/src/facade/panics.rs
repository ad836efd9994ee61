//! A panic hook that writes panics to the log.

use std::fmt::Arguments;
use std::panic::{self, PanicHookInfo};
use std::time::Instant;

use super::tracing::with_current_spans;
use crate::record::thread_name;
use crate::service::{PANICKING_AT_MOST, is_formatting};
use crate::{Durability, Level, LogHandle, Record};

/// Logs every panic from now on, at level error and with the target `panic`: the thread, the source
/// location and the message. After logging, the hook calls the previous panic hook.
///
/// The panicking thread waits until the line has been passed to the system, because the process may end after
/// a panic. The thread waits at most a second, even if the error level's policy is to wait longer: a full
/// disk must not delay the previous hook and the message on standard error. A panic on the writer's own
/// thread is not logged, because no thread is left to write the line. This hook also does not log a panic
/// that occurs while a record is formatted, because the record's own line reports this panic.
///
/// The record contains the source location of the panic. If the process's facades were
/// [installed](super::install) by this package, the record also contains the current spans of the thread.
///
/// # Aborts
/// The standard library aborts the process if a panic hook panics. So a custom [format](crate::Format) must
/// not panic for a record without fields.
pub fn log_panics(handle: LogHandle) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // Otherwise a format that has panicked would be called again, for a line about its own panic, and a
        // second panic would abort the process.
        if !is_formatting() {
            log(&handle, panic);
        }
        before(panic);
    }));
}

fn log(handle: &LogHandle, panic: &PanicHookInfo<'_>) {
    let began = Instant::now();
    let message = panic.payload_as_str().unwrap_or("a payload that is no text");
    let (file, line) = panic.location().map(|place| (place.file(), place.line())).unzip();
    let say = |message: Arguments<'_>| {
        with_current_spans(handle, |spans| {
            handle.log(&Record { spans, file, line, ..Record::new(Level::Error, "panic", message) })
        })
    };
    let said = thread_name(|thread| match panic.location() {
        Some(place) => say(format_args!("thread '{thread}' panicked at {place}: {message}")),
        None => say(format_args!("thread '{thread}' panicked: {message}")),
    });
    if said.is_ok() {
        let _ = handle.flush(Durability::System, PANICKING_AT_MOST.saturating_sub(began.elapsed()));
    }
}
