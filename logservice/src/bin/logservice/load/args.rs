use anyhow::{Context, ensure};
use clap::{Args, ValueEnum, value_parser};
use logservice::format::{Human, Json};
use logservice::sink::FileSink;
use logservice::{Builder, LogService, Overflow};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

const AFTER_HELP: &str = "Examples:
  logservice load --threads 8 --messages 100000 --file app.log
  logservice load --policy drop-oldest --capacity 65536 --json
  logservice load --file /dev/full --policy block-for:20ms --messages 10

Ctrl-C and SIGTERM end the threads; what they have logged is written, and the report says so. SIGHUP opens the file anew,
for a program that has moved it.

The exit code is 0 if every line that was accepted is written, or was dropped because --policy says so and is counted;
1 if accepted lines are lost or something else failed; 2 for wrong usage; 128 and the signal's number after a second signal.";

/// Log from many threads at full speed, and report what happened to the lines and how long the calls took
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoadArgs {
    /// The number of threads that log
    #[arg(long, short, value_name = "COUNT", default_value = "4", value_parser = value_parser!(u16).range(1..=1_000))]
    pub(super) threads: u16,

    /// The number of messages that each thread logs
    #[arg(long, short, value_name = "COUNT", default_value = "250000")]
    pub(super) messages: u64,

    /// The policy for a line when the buffer is full: block, block-for:TIME, drop-newest or drop-oldest
    #[arg(long, short, value_name = "POLICY", default_value = "block")]
    pub(super) policy: Policy,

    /// The file to which the lines are appended
    #[arg(long, short, value_name = "PATH", default_value = "load.log")]
    pub(super) file: PathBuf,

    /// The format of a line
    #[arg(long, value_enum, default_value = "human")]
    format: Format,

    /// The number of bytes of lines that may wait while other lines are being written
    #[arg(long, value_name = "BYTES", default_value = "1048576")]
    capacity: usize,

    /// Begin a new file when the current file has this many bytes
    #[arg(long, value_name = "BYTES")]
    rotate_at: Option<u64>,

    /// The number of rotated files to keep
    #[arg(long, value_name = "COUNT", default_value = "5", requires = "rotate_at")]
    keep: usize,

    /// The time limit for writing the accepted lines at the end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(super) stop_within: Duration,

    /// Report in JSON, on one line
    #[arg(long)]
    pub(super) json: bool,

    /// Draw the durations of the calls into this file
    #[arg(long, value_name = "PATH")]
    pub(super) svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Human,
    Json,
}

/// An [`Overflow`] policy in the notation of the command line.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    pub(super) name: String,
    overflow: Overflow,
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Policy, String> {
        let overflow = match text {
            "block" => Overflow::Block,
            "drop-newest" => Overflow::DropNewest,
            "drop-oldest" => Overflow::DropOldest,
            _ => {
                let time = text.strip_prefix("block-for:");
                let time = time.ok_or("there are block, block-for:TIME, drop-newest and drop-oldest")?;
                Overflow::BlockFor(duration(time)?)
            }
        };
        Ok(Policy { name: text.to_owned(), overflow })
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    // The limit is a day: no user needs more, and no deadline overflows.
    let sensible = command_line::time(text).filter(|time| *time <= Duration::from_hours(24));
    sensible.ok_or_else(|| "expected a time of 24 hours at most, such as 500ms, 10s or 2m".to_owned())
}

impl LoadArgs {
    pub(super) fn start(&self) -> anyhow::Result<LogService> {
        let mut file = FileSink::builder(&self.file);
        if let Some(bytes) = self.rotate_at {
            ensure!(bytes > 0, "--rotate-at 0 would begin a new file for each line");
            file = file.rotate_at_bytes(bytes).keep(self.keep);
        }
        let sink = file.open().context("the log cannot be opened")?;
        let service =
            self.formatted().capacity(self.capacity).overflow_of_all(self.policy.overflow).start(sink);
        let service = service.context("the log service cannot be started")?;
        #[cfg(unix)]
        service.reopen_on_hangup().context("SIGHUP cannot be caught")?;
        Ok(service)
    }

    fn formatted(&self) -> Builder {
        match self.format {
            Format::Human => LogService::builder().format(Human::utc()),
            Format::Json => LogService::builder().format(Json::utc()),
        }
    }
}
