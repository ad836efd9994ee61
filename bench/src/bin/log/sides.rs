//! The loggers, and the rows in which each logger is measured.

use std::path::Path;

use crate::load::{Load, Measured};
use crate::off;
use crate::rows::Row::{self, Lines, Memory, Off, OffElsewhere, OffTracing, Tracing};
use crate::{ours, peers};

/// A logger that the rows compare.
pub(crate) struct Side {
    pub(crate) name: &'static str,
    rows: &'static [Row],
    run: Run,
}

enum Run {
    /// Logs all lines of the load to the file.
    Load(fn(Load, &Path) -> anyhow::Result<Measured>),
    /// Makes calls whose level is off. Returns the number of nanoseconds that all calls took together.
    Off(fn(&Path) -> anyhow::Result<u64>),
}

pub(crate) const SPDLOG: &str = "spdlog-rs, async";
pub(crate) const DOUBLE_BUFFER: &str = "a bare double buffer";

/// All loggers. Our service is the first logger of each row.
const SIDES: [Side; 22] = [
    load("ours", &[Lines, Memory], ours::by_log),
    load("ours, through tracing", &[Tracing], ours::by_tracing),
    off("ours", &[Off], off::ours),
    off("ours", &[OffElsewhere], off::ours_elsewhere),
    off("ours, through tracing", &[OffTracing], off::ours_by_tracing),
    load("ours, through log", &[Tracing], ours::by_log),
    load(SPDLOG, &[Lines, Memory], peers::spdlog),
    load("slog, slog-async, slog-json", &[Lines, Memory], peers::slog_json),
    load("tracing-appender, blocking", &[Lines, Tracing, Memory], peers::tracing_blocking),
    load("tracing-appender, by default", &[Lines, Tracing, Memory], peers::tracing_default),
    load("fast_log", &[Lines, Memory], peers::fast_log),
    load("flexi_logger, async", &[Lines, Memory], peers::flexi_async),
    load("flexi_logger, buffered", &[Lines, Memory], peers::flexi_buffered),
    load("ftlog, blocking", &[Lines, Memory], peers::ftlog),
    load(DOUBLE_BUFFER, &[Lines, Memory], peers::double_buffer),
    load("no logger at all", &[Memory], peers::nothing),
    off("no logger", &[Off], off::no_logger),
    off("spdlog-rs", &[Off], off::spdlog),
    off("flexi_logger", &[Off], off::flexi),
    off("flexi_logger", &[OffElsewhere], off::flexi_elsewhere),
    off("no subscriber", &[OffTracing], off::no_subscriber),
    off("tracing-subscriber", &[OffTracing], off::tracing_subscriber),
];

const fn load(
    name: &'static str,
    rows: &'static [Row],
    run: fn(Load, &Path) -> anyhow::Result<Measured>,
) -> Side {
    Side { name, rows, run: Run::Load(run) }
}

const fn off(name: &'static str, rows: &'static [Row], run: fn(&Path) -> anyhow::Result<u64>) -> Side {
    Side { name, rows, run: Run::Off(run) }
}

pub(crate) fn of(row: Row) -> impl Iterator<Item = &'static Side> {
    SIDES.iter().filter(move |side| side.rows.contains(&row))
}

impl Side {
    /// Measures the logger, and returns the numbers.
    pub(crate) fn measured(&self, load: Load, path: &Path) -> anyhow::Result<Vec<u64>> {
        match self.run {
            Run::Load(run) => Ok(run(load, path)?.to_numbers()),
            Run::Off(run) => Ok(vec![run(path)?]),
        }
    }
}
