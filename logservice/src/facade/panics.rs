//! Panics in the log.

use std::fmt::Arguments;
use std::panic::{self, PanicHookInfo};
use std::time::Instant;

use super::tracing::with_current_spans;
use crate::record::thread_name;
use crate::service::{PANICKING_AT_MOST, is_formatting};
use crate::{Durability, Level, LogHandle, Record};

/// Logs every panic from now on, at level error with the target `panic`: the thread, the place and the
/// message. Then the hook that was set before is called.
///
/// The thread that panics waits until the line is handed to the system: a panic may be the end of the
/// process. It waits for a second at most, whatever the policy of the level error: a full disk must not keep
/// the hook that was there before, and the message on standard error, waiting. On the writer's own thread
/// nothing is logged, since no thread is left to write it. While a record is being formatted nothing is
/// logged here either: that record's own line says that the record, or one of its values, panicked.
///
/// The record has the place of the panic. If the process's facades were [installed](super::install) by this
/// package, the record also has the spans that the thread is in.
///
/// # Aborts
/// std ends the process if a panic hook panics. A [format](crate::Format) of your own must not panic for a
/// record without fields.
pub fn log_panics(handle: LogHandle) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // Otherwise a format that has panicked would be asked for a line about its own panic, and end the
        // process.
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
