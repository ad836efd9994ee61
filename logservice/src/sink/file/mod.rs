//! A sink that appends lines to a file; this page also describes how other programs can change the file.
//!
//! ```
//! use jiff::tz::TimeZone;
//! use logservice::sink::{Every, FileSink};
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("app.log");
//! let sink = FileSink::builder(&path)
//!     .rotate_at_bytes(100_000_000)
//!     .rotate_every(Every::Day, TimeZone::system())
//!     .keep(14)
//!     .open()?;
//! # Ok(())
//! # }
//! ```
//!
//! If the sink has taken a line, the line is in one of the log's files, complete and exactly once. No line may be
//! lost, torn or duplicated, although other processes work on the same files. So after each write, the sink
//! checks the open file, and checks which file the log's name refers to.
//!
//! ```text
//!              the name means this file ─────▶ go on
//!   written ─▶ it has another name ──────────▶ the lines are in it; the next ones go into a new file
//!              it has no name ───────────────▶ the lines are gone; write them again, into a new file
//! ```
//!
//! | event | reaction of the sink |
//! |---|---|
//! | the disk is full, or a limit is reached, in the middle of a line | fails, remembers how much of the line is written, and writes the rest when the line comes again |
//! | the process is killed in the middle of a line | the next process ends that line with a line feed |
//! | the file is moved away (`logrotate`) | creates a new file for the next line, or when [`reopen`](crate::Sink::reopen) is called; a torn line is written again, as a whole, to the new file |
//! | the file is removed | creates a new file, and writes the lines of this call again |
//! | the file is truncated (`copytruncate`) | appends to the rest of the file, and warns [once](crate::Sink::warning) that the lines between the copy and the truncation are lost, which cannot be counted |
//! | the folder is missing | fails until the folder exists again |
//! | the file cannot be renamed at a rotation | continues in the same file, warns [once](crate::Sink::warning), and tries again with the next lines |
//! | another process writes the file | [`open`](FileBuilder::open) refuses: see `lock.rs` |
//!
//! # Rotation
//! A file is rotated between two lines: when the next line comes, and either the file is full or the file's
//! hour or day has ended. So a file without new lines is not rotated; if a process starts on the next day,
//! its first line rotates the file of the previous day. A line that is longer than the limit of a file gets a
//! file of its own. The rotated files are `app.log.1` to `app.log.n`; `app.log.1` is the newest file. Rotated
//! files can also have [dates](FileBuilder::dated) in their names, and then be compressed
//! (`FileBuilder::compressed`, with the feature `gzip`). Only one program may rotate the files: either the
//! sink or `logrotate`.
//!
//! The sink does not keep a rotated file open. When a caller waits for the [disk](crate::Durability::Disk),
//! the sink finds a rotated file by its name. If another program moves a file away, the sink puts this file
//! on the disk when the sink leaves the file, but only if a caller has waited for the disk before. If a
//! program logs nothing, the sink keeps a moved or removed file open until the next line, or until the sink
//! is told to reopen the log.
//!
//! # With `logrotate`
//! This configuration is for a file that is written by one process, or by several processes with
//! [`unlocked`](FileBuilder::unlocked) sinks. The package contains this configuration,
//! `logservice/logrotate.conf`; in a test, the real `logrotate` uses it while four services write to the
//! file. A process that opens the file in the middle of another process's write sees a line without a line
//! feed, and adds a line feed. As a result, the file may contain an empty line.
//!
//! ```text
#![doc = include_str!("../../../logrotate.conf")]
//! ```
//!
//! # What is not a file
//! A named pipe, a terminal or `/dev/stdout` has no lock and is not rotated. Without a reader, lines for a pipe
//! wait. If the reader goes away, the next reader gets the unread contents of the pipe: the last line may be
//! torn, and ends with a line feed. The torn line then comes again as a whole. (Linux behaves in this way. Lines
//! that the old reader has read do not come again. If the writing process ends, too, the contents of the pipe are
//! lost.)
//!
//! # Signals
//! A process that exceeds its limit for the size of a file (`ulimit -f`) is killed by SIGXFSZ, unless the
//! signal is caught. So [`open`](FileBuilder::open) catches the signal; then the write only fails, as on a full disk.
//!
//! # Windows
//! On Windows, the sink notices that the log's name is gone, but not that the name refers to another file.
//! If a file is removed while lines are written to it, these lines are lost. Rust opens files so that they can
//! be renamed while they are open. The sink has been tested only on Linux.

mod lock;

mod names;
pub(crate) use names::{beside, dated, numbered};

mod rotation;
pub use rotation::Every;

mod unsynced;

#[cfg(feature = "gzip")]
mod compressor;

mod regular;

#[cfg(unix)]
mod device;

mod builder;
pub use builder::FileBuilder;

use std::io;
use std::path::Path;

use self::regular::Regular;
use super::Sink;

/// Appends lines to a file, and rotates it. The [page of the module](self) describes what happens to lines
/// when the disk is full or the file is gone.
#[derive(Debug)]
pub struct FileSink(Target);

#[derive(Debug)]
enum Target {
    Regular(Box<Regular>),
    #[cfg(unix)]
    Device(device::Device),
}

impl FileSink {
    /// Returns the settings of a file at this path, without rotation.
    pub fn builder(path: impl AsRef<Path>) -> FileBuilder {
        FileBuilder::new(path.as_ref())
    }
}

impl Sink for FileSink {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < lines.len() {
            let rest = &lines[taken..];
            let more = match &mut self.0 {
                Target::Regular(file) => file.write(rest),
                #[cfg(unix)]
                Target::Device(device) => return device.write(rest),
            };
            match more {
                Ok(more) => taken += more,
                Err(error) if taken == 0 => return Err(error),
                Err(_) => break, // the error occurs again with the next line
            }
        }
        Ok(taken)
    }

    fn sync(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Regular(file) => file.sync(),
            #[cfg(unix)]
            Target::Device(_) => Ok(()),
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Regular(file) => file.reopen(),
            #[cfg(unix)]
            Target::Device(device) => device.reopen(),
        }
    }

    fn warning(&mut self) -> Option<String> {
        match &mut self.0 {
            Target::Regular(file) => file.warning(),
            #[cfg(unix)]
            Target::Device(_) => None,
        }
    }

    fn name(&self) -> String {
        let path = match &self.0 {
            Target::Regular(file) => file.path(),
            #[cfg(unix)]
            Target::Device(device) => device.path(),
        };
        path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, SystemTime};

    const HOUR: u64 = 3600;
    const NOON: u64 = 1_795_608_000;

    static NOW: AtomicU64 = AtomicU64::new(0);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(NOW.load(Ordering::Relaxed))
    }

    fn write_at(sink: &mut FileSink, time: u64, line: &str) {
        NOW.store(time, Ordering::Relaxed);
        assert_eq!(sink.write(line.as_bytes()).unwrap(), line.len());
    }

    fn contents(path: &Path, numbers: usize) -> Vec<String> {
        let rotated = (1..=numbers).map(|number| numbered(path, number));
        let paths: Vec<PathBuf> = rotated.chain([path.to_owned()]).collect();
        paths.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
    }

    #[test]
    fn each_hour_that_has_lines_has_a_file_also_if_the_clock_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        let open =
            || FileSink::builder(&path).rotate_every(Every::Hour, TimeZone::UTC).clock(now).open().unwrap();
        NOW.store(NOON, Ordering::Relaxed);
        let mut sink = open();
        write_at(&mut sink, NOON + 5, "a\n");
        write_at(&mut sink, NOON + HOUR - 1, "b\n");
        assert_eq!(contents(&path, 1), ["", "a\nb\n"]);
        write_at(&mut sink, NOON + HOUR, "c\n");
        assert_eq!(contents(&path, 1), ["a\nb\n", "c\n"]);
        write_at(&mut sink, NOON + 9 * HOUR, "d\n"); // no lines for eight hours
        write_at(&mut sink, NOON - 9 * HOUR, "e\n"); // set back: no new file
        assert_eq!(contents(&path, 2), ["c\n", "a\nb\n", "d\ne\n"]);
        write_at(&mut sink, NOON - 8 * HOUR, "f\n");
        assert_eq!(contents(&path, 3), ["d\ne\n", "c\n", "a\nb\n", "f\n"]);

        // Another process opens a file; its last line was written in an earlier hour.
        drop(sink);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(now() + Duration::from_secs(HOUR - 1)).unwrap();
        write_at(&mut open(), NOON - 7 * HOUR - 1, "g\n");
        assert_eq!(contents(&path, 1), ["d\ne\n", "f\ng\n"]);
        file.set_modified(now()).unwrap();
        write_at(&mut open(), NOON - 7 * HOUR, "h\n");
        assert_eq!(contents(&path, 1), ["f\ng\n", "h\n"]);
    }

    #[test]
    fn a_file_with_a_date_is_called_after_the_day_of_its_last_line() {
        fn tomorrow() -> SystemTime {
            SystemTime::now() + Duration::from_secs(24 * HOUR)
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.log");
        let daily = || FileSink::builder(&path).rotate_every(Every::Day, TimeZone::UTC).dated(TimeZone::UTC);
        assert_eq!(daily().open().unwrap().write(b"a\n").unwrap(), 2);
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON);
        fs::File::options().write(true).open(&path).unwrap().set_modified(noon).unwrap();
        assert_eq!(daily().clock(tomorrow).open().unwrap().write(b"b\n").unwrap(), 2);
        let day = jiff::Timestamp::try_from(noon).unwrap().strftime("%Y-%m-%d").to_string();
        assert_eq!(fs::read_to_string(folder.path().join(format!("app.log.{day}"))).unwrap(), "a\n");
        assert_eq!(contents(&path, 0), ["b\n"]);
    }
}
