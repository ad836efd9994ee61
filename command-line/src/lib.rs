#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod arguments;
pub use arguments::{count, duration, threads, time};

mod output;
pub use output::{print, say};

mod progress;
pub use progress::ProgressLine;

mod status;
pub use status::{FAILED, GAPS, INTERRUPTED, TROUBLE, WRONG_USAGE, ended};

mod signals;
pub use signals::{run, stop_on_signals, stop_on_signals_and, stopped_by_signals};
