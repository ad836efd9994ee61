#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod arguments;
pub use arguments::{count, duration, threads, time};

mod hangup;
pub use hangup::hears_hangup;

mod output;
pub use output::{print, say};

#[cfg(feature = "progress")]
mod progress;
#[cfg(feature = "progress")]
pub use progress::ProgressLine;

mod status;
pub use status::{FAILED, GAPS, INTERRUPTED, TROUBLE, WRONG_USAGE, ended};

#[cfg(feature = "signals")]
mod signals;
#[cfg(feature = "signals")]
pub use signals::{on_signals, run, stop_on_signals, stop_on_signals_and, stopped_by_signals};
