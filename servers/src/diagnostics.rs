use std::env;
use std::fmt::Display;
use std::io::{self, Write};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Tells the operator, on stderr, what went wrong without stopping the server.
///
/// Unlike `eprintln!` it survives a closed stderr.
pub fn report(what: impl Display) {
    let _ = io::stderr().write_all(format!("{what}\n").as_bytes());
}

/// Shows on stderr the diagnostic events that the variable `RUST_LOG` asks for, and none if it is not set. With
/// `RUST_LOG=executor=debug` they tell of every thread that a pool starts.
///
/// A value that makes no sense is reported and shows nothing. What was once begun cannot be changed.
pub fn show_diagnostics() {
    let wanted = env::var("RUST_LOG").unwrap_or_default();
    if wanted.is_empty() {
        return;
    }
    match wanted.parse::<Targets>() {
        Ok(wanted) => {
            // Without a word about errors of its own, because it would panic when stderr is closed.
            let lines = fmt::layer().with_writer(io::stderr).with_ansi(false).log_internal_errors(false);
            let _ = tracing_subscriber::registry().with(lines.with_filter(wanted)).try_init();
        }
        Err(error) => {
            report(format_args!("RUST_LOG={wanted} is ignored ({error}); try for instance executor=debug"));
        }
    }
}
