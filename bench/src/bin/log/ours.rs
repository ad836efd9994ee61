//! Ours.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use logservice::sink::Sink;
use logservice::{Level, LogService, Record};

use crate::load::{Load, Measured};

struct Plain(File);

impl Sink for Plain {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.write_all(lines).map(|()| lines.len())
    }

    fn name(&self) -> String {
        "a file".into()
    }
}

fn with_time_of_day(record: &Record<'_>, _: usize, out: &mut String) {
    let time = record.time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = time.as_secs() % 86_400;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let micros = time.subsec_micros();
    let Record { target, message, .. } = record;
    write!(out, "{hours:02}:{minutes:02}:{seconds:02}.{micros:06} INFO {target}: {message}")
        .expect("a text takes all");
}

pub(crate) fn by_handle(load: Load, path: &Path) -> anyhow::Result<Measured> {
    let service = LogService::builder().format(with_time_of_day).start(Plain(File::create(path)?))?;
    let handle = service.handle();
    let call = move |message| _ = handle.say(Level::Info, "load", format_args!("{message}"));
    Ok(load.run(call, || _ = service.stop(Duration::from_secs(10))))
}
