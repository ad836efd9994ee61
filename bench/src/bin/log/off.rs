//! Measures the cost of a call whose level is off.

use std::path::Path;
use std::sync::Arc;

use tracing::subscriber::NoSubscriber;

use crate::load::{Message, nanos};
use crate::ours::logging_to;

/// The number of calls that one measurement makes.
pub(crate) const CALLS: u32 = 20_000_000;

fn timed(call: impl Fn(Message)) -> u64 {
    let begin = std::time::Instant::now();
    for line in 0..CALLS {
        call(Message { thread: 0, line });
    }
    nanos(begin.elapsed())
}

fn by_log() -> u64 {
    timed(|message| log::debug!("{message}"))
}

fn by_tracing() -> u64 {
    timed(|message| tracing::debug!("{message}"))
}

struct Deaf;

impl log::Log for Deaf {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        false
    }

    fn log(&self, _: &log::Record<'_>) {}

    fn flush(&self) {}
}

pub(crate) fn no_logger(_: &Path) -> anyhow::Result<u64> {
    log::set_logger(&Deaf)?;
    log::set_max_level(log::LevelFilter::Info);
    Ok(by_log())
}

pub(crate) fn ours(file: &Path) -> anyhow::Result<u64> {
    let _service = logging_to(file, "info")?;
    Ok(by_log())
}

pub(crate) fn ours_elsewhere(file: &Path) -> anyhow::Result<u64> {
    let _service = logging_to(file, "info,elsewhere=debug")?;
    Ok(by_log())
}

pub(crate) fn ours_by_tracing(file: &Path) -> anyhow::Result<u64> {
    let _service = logging_to(file, "info")?;
    Ok(by_tracing())
}

pub(crate) fn spdlog(_: &Path) -> anyhow::Result<u64> {
    let logger = Arc::new(spdlog::Logger::builder().build()?);
    logger.set_level_filter(spdlog::LevelFilter::MoreSevereEqual(spdlog::Level::Info));
    Ok(timed(|message| spdlog::debug!(logger: logger, "{message}")))
}

fn flexi_with(levels: &str) -> anyhow::Result<u64> {
    let logger = flexi_logger::Logger::try_with_str(levels)?.do_not_log();
    let _logger = logger.start()?;
    Ok(by_log())
}

pub(crate) fn flexi(_: &Path) -> anyhow::Result<u64> {
    flexi_with("info")
}

pub(crate) fn flexi_elsewhere(_: &Path) -> anyhow::Result<u64> {
    flexi_with("info, elsewhere = debug")
}

pub(crate) fn no_subscriber(_: &Path) -> anyhow::Result<u64> {
    tracing::subscriber::set_global_default(NoSubscriber::new())?;
    Ok(by_tracing())
}

pub(crate) fn tracing_subscriber(_: &Path) -> anyhow::Result<u64> {
    tracing::subscriber::set_global_default(tracing_subscriber::fmt().finish())?;
    Ok(by_tracing())
}
