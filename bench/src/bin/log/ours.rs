//! Our log service with its default settings, used as its documentation shows.

use std::path::Path;
use std::time::Duration;

use logservice::format::Human;
use logservice::sink::FileSink;
use logservice::{Levels, LogService, facade};

use crate::load::{Load, Measured};

pub(crate) fn by_log(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let service = logging_to(path, "info")?;
    Ok(load.run(|message| log::info!("{message}"), || stop(&service)))
}

pub(crate) fn by_tracing(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let service = logging_to(path, "info")?;
    Ok(load.run(|message| tracing::info!("{message}"), || stop(&service)))
}

/// Makes a service that both logging facades use.
pub(crate) fn logging_to(path: &Path, levels: &str) -> anyhow::Result<LogService> {
    let sink = FileSink::builder(path).open()?;
    let service = LogService::builder().format(Human::utc()).start(sink)?;
    facade::install(&service, &Levels::parse(levels)?)?;
    Ok(service)
}

fn stop(service: &LogService) {
    let counts = service.stop(Duration::from_secs(10));
    assert_eq!((counts.waiting(), counts.dropped, counts.refused), (0, 0, 0), "{counts:?}");
}
