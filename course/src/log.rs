//! The log of `cargo course`: a file below the target directory, written by the project's own log service.
//!
//! | command | file | what it contains |
//! |---|---|---|
//! | `load --stages` | `course/log/stages.log` | what each stage said on standard error |
//! | `serve` | `course/log/course.log` | a line for each answer, and errors |
//!
//! Errors, and the events that `RUST_LOG` asks for, are also written to standard error.
//!
//! If there is no file or no thread for the log, the program reports this and runs without a log. If several
//! programs run at the same time, each has its own log file (`stages-2.log`). If there is no room for a log
//! line in memory, the line is dropped and counted, so a thread that logs never waits for the disk.

use crate::workspace::Workspace;
use logservice::facade::LogLayer;
use logservice::format::Human;
use logservice::sink::FileSink;
use logservice::{Builder, LogService, Overflow};
use servers::AccessLog;
use servers::diagnostics::{on_stderr, tell_of_panics};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::prelude::*;

/// The size at which a file is rotated, and the number of rotated files that are kept.
const LARGEST: u64 = 1 << 20;
const KEPT: usize = 3;

/// The largest number of programs that can have a log at the same time.
const AT_ONCE: usize = 4;

/// The time limit for writing the last lines when the program ends.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The most detailed level of the events in the file.
const MOST: LevelFilter = LevelFilter::INFO;

/// The log of this process. Dropping this value writes the lines that are still waiting in memory.
#[must_use = "dropping it ends the log"]
pub(crate) struct Log(
    #[cfg_attr(not(feature = "book"), expect(dead_code, reason = "it is there to be dropped"))]
    Option<LogService>,
);

impl Log {
    /// Opens the log with this name. From now on, events go to this log.
    pub(crate) fn begin(workspace: &Workspace, name: &str) -> Log {
        tell_of_panics();
        match start(&workspace.target().join("course/log"), name) {
            Ok(service) => {
                let in_file = LogLayer::new(service.handle()).with_filter(MOST);
                let both = tracing_subscriber::registry().with(in_file).with(on_stderr(AccessLog::Quiet));
                let _ = both.try_init();
                Log(Some(service))
            }
            Err(error) => {
                servers::show_diagnostics();
                servers::report(format_args!("no log is written this time: {error}"));
                Log(None)
            }
        }
    }

    /// Returns the log of the answers that the server sends.
    #[cfg(feature = "book")]
    pub(crate) fn of_answers(&self) -> AccessLog {
        if self.0.is_some() { AccessLog::Events } else { AccessLog::Quiet }
    }
}

fn start(folder: &Path, name: &str) -> io::Result<LogService> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(named)?;
    settings().start(open(folder, name)?)
}

fn settings() -> Builder {
    LogService::builder().format(Human::local()).overflow_of_all(Overflow::DropNewest).stop_within(LAST_LINES)
}

/// Returns the first of the files `name.log`, `name-2.log` and so on that no other process is writing.
fn open(folder: &Path, name: &str) -> io::Result<FileSink> {
    let open = |file: String| FileSink::builder(folder.join(file)).rotate_at_bytes(LARGEST).keep(KEPT).open();
    let mut opened = open(format!("{name}.log"));
    for number in 2..=AT_ONCE {
        match opened {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {}
            opened => return opened,
        }
        opened = open(format!("{name}-{number}.log"));
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::*;
    use logservice::Sink;
    use std::sync::mpsc;

    /// A sink for log lines that blocks until the test ends.
    struct Stuck(mpsc::Receiver<()>);

    impl Sink for Stuck {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(lines.len())
        }

        fn name(&self) -> String {
            "stuck".into()
        }
    }

    #[test]
    fn a_flood_does_not_wait_for_a_disk_that_is_stuck_and_what_is_dropped_is_counted() {
        const FLOOD: u32 = 100_000;
        let (open, gate) = mpsc::channel();
        let service = settings().start(Stuck(gate)).unwrap();
        let registry = tracing_subscriber::registry().with(LogLayer::new(service.handle()));
        let said = "what a stage says when it has much to say\n".repeat(FLOOD.try_into().unwrap());
        // The gate opens only when the call of `said_by` has returned.
        tracing::subscriber::with_default(registry, || crate::load::said_by("flood", said.as_bytes()));
        let counts = service.counts();
        assert!(counts.dropped > 0 && counts.accepted + counts.dropped == u64::from(FLOOD), "{counts:?}");
        drop(open);
    }

    #[test]
    fn programs_that_run_at_once_have_files_of_their_own_up_to_some_number() {
        let folder = tempfile::tempdir().unwrap();
        let held: Vec<_> = (0..AT_ONCE).map(|_| open(folder.path(), "one").unwrap()).collect();
        assert_eq!(open(folder.path(), "one").unwrap_err().kind(), ErrorKind::ResourceBusy);
        for file in ["one.log", "one-2.log", "one-3.log", "one-4.log"] {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
        drop(held);
        assert!(open(folder.path(), "one").is_ok());
    }
}
