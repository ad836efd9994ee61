//! Where lines go.

mod contract;
pub use contract::Sink;

/// Says something to an operator that cannot go through the log.
pub(crate) fn say_on_stderr(what: &str) {
    eprintln!("{what}");
}
