//! Ours.

use std::path::Path;
use std::time::Duration;

use logservice::format::Human;
use logservice::sink::FileSink;
use logservice::{Level, LogService};

use crate::load::{Load, Measured};

pub(crate) fn by_handle(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let sink = FileSink::builder(path).open()?;
    let service = LogService::builder().format(Human::utc()).start(sink)?;
    let handle = service.handle();
    let call = move |message| _ = handle.say(Level::Info, module_path!(), format_args!("{message}"));
    Ok(load.run(call, || _ = service.stop(Duration::from_secs(10))))
}
