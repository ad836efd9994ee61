use std::fmt::Display;
use std::io::{self, Write};

/// Tells the operator, on stderr, what went wrong without stopping the server.
///
/// Unlike `eprintln!` it survives a closed stderr.
pub fn report(what: impl Display) {
    let _ = io::stderr().write_all(format!("{what}\n").as_bytes());
}
