//! A folder for a log, and functions that write lines to sinks.

use logservice::Sink;
use logservice::sink::FileSink;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A time limit; only a test that hangs reaches this limit.
pub(crate) const LONG: Duration = Duration::from_mins(1);

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) log: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app.log");
        Self { folder, log }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn open(&self) -> FileSink {
        FileSink::builder(&self.log).open().unwrap()
    }

    /// Returns the text of a file, or an empty text if the file does not exist.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Writes lines; the sink must take all of them.
pub(crate) fn write(sink: &mut impl Sink, lines: &str) {
    assert_eq!(sink.write(lines.as_bytes()).unwrap(), lines.len());
}

/// Writes all lines in the same way as the service: lines that were not taken are written again. Errors are
/// passed to `failed`.
pub(crate) fn write_all(sink: &mut impl Sink, lines: &[u8], mut failed: impl FnMut(io::Error)) {
    let mut taken = 0;
    while taken < lines.len() {
        match sink.write(&lines[taken..]) {
            Ok(more) => {
                taken += more;
                assert!(more > 0 && lines[..taken].ends_with(b"\n"), "not whole lines");
            }
            Err(error) => failed(error),
        }
    }
}

pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns numbered lines of different lengths.
pub(crate) fn numbered(range: std::ops::Range<usize>) -> String {
    range.map(line).collect()
}

pub(crate) fn line(number: usize) -> String {
    format!("<{number}{}>\n", ".".repeat(number * 7919 % 97))
}

/// Returns the number of a whole line.
pub(crate) fn number(text: &str) -> Option<usize> {
    let number = text.strip_prefix('<')?.strip_suffix('>')?.trim_end_matches('.').parse().ok()?;
    (line(number).trim_end() == text).then_some(number)
}

/// Returns all names that exist in a folder and below it.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
