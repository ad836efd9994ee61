//! Reads the lines of a log as they are written, across rotations and removals, like `tail -F`.
//!
//! ```no_run
//! use executor::CancelToken;
//! use logservice::Follow;
//! use std::io::{self, Write};
//!
//! # fn main() -> io::Result<()> {
//! let token = CancelToken::new(); // cancelled by another thread
//! for line in Follow::new("/var/log/app.log", token).last(10) {
//!     io::stdout().write_all(&line?)?;
//!     println!();
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The reader polls the file ten times a second, without notifications from the system, so it works on every
//! file system.
//!
//! # From one file to the next
//! Another program may give the log's name to another file while the reader still has the old file open. In
//! this case, the reader first reads the old file to its end, and then goes to the next file. The reader must
//! also find out where the old file ends. After another program has moved the log away, the log's writer may
//! still write to the moved file for a while. So the reader leaves the old file only when the next file is
//! not empty, because by then the writer has left the old file, too.
//!
//! ```text
//!                      the name means another        what was written
//!                      file, which has bytes         before is read
//!   Follows one file ──────────────────────▶ Ends it ──────────────▶ Follows the next one
//! ```
//!
//! Between two polls, the log may be rotated several times. So the next file is the file whose number is one
//! less than the old file's present number (after `app.log.3` comes `app.log.2`); after number 1 comes the
//! log itself. File names may change while the reader checks them, but files only move to higher numbers. So
//! a check was right if, after the check, the old file still has its name and no file is between the old and
//! the next file. Files with dates in their names do not move. The next file is the file with the next later
//! date; the reader opens this file and then checks that the names have not changed.
//!
//! # What is missed
//! The iterator does not find files that were rotated and removed, or compressed, between two polls. The
//! iterator also does not notice a truncation if the log has grown beyond the read position again before the
//! next poll. On Windows, a rotation is noticed only if the new file is shorter than the part of the
//! old file that was read.

mod next;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use executor::CancelToken;

use self::next::{Source, next_file};

const LOOK: Duration = Duration::from_millis(100);

/// The number of bytes in one read.
const BLOCK: usize = 64 << 10;

/// A line above this length is returned in pieces, so that a file without line feeds does not fill the
/// memory.
const LONGEST: usize = 1 << 20;

/// Iterates over the lines of a log, without their line feeds, and waits for more. The iteration ends when
/// its token is cancelled.
///
/// If the file does not exist, the iterator waits until the file exists. If another file follows, the last line
/// of a file is returned even without a line feed. Each error is one item, after which the iterator tries again.
#[derive(Debug)]
#[must_use = "iterators are lazy"]
pub struct Follow {
    path: PathBuf,
    token: CancelToken,
    /// How many lines of the first file are returned. A file that is created later is returned completely.
    last: Option<usize>,
    open: Option<Source>,
    /// The next file, which is read after `open` has been read to its end.
    next: Option<Source>,
    /// The bytes that were read. The bytes from `given` on have not been returned yet. There is no line feed
    /// between `given` and `searched`.
    buffer: Vec<u8>,
    given: usize,
    searched: usize,
    goes_on: bool,
    has_failed: bool,
}

impl Follow {
    /// Creates an iterator that begins at the start of the file.
    pub fn new(path: impl Into<PathBuf>, token: CancelToken) -> Self {
        Self {
            path: path.into(),
            token,
            last: None,
            open: None,
            next: None,
            buffer: Vec::new(),
            given: 0,
            searched: 0,
            goes_on: false,
            has_failed: false,
        }
    }

    /// Makes the iterator begin with the last `lines` lines of the file, or at its end if `lines` is 0.
    pub fn last(mut self, lines: usize) -> Self {
        self.last = Some(lines);
        self
    }

    /// Returns true if the last item was only a piece of a line and the next item continues the line: a line of
    /// more than a MiB is returned in pieces.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Takes a whole line out of the buffer, if the buffer contains one.
    fn buffered(&mut self) -> Option<Vec<u8>> {
        let unsearched = &self.buffer[self.searched..];
        let (end, skip) = match memchr::memchr(b'\n', unsearched) {
            Some(line_feed) => (self.searched + line_feed, 1),
            None if self.buffer.len() - self.given >= LONGEST => (self.buffer.len(), 0),
            None => {
                self.searched = self.buffer.len();
                return None;
            }
        };
        self.goes_on = skip == 0;
        let line = self.buffer[self.given..end].to_vec();
        self.given = end + skip;
        self.searched = self.given;
        Some(line)
    }

    /// Reads more bytes, or goes to the next file. Returns false if there are no new bytes yet.
    fn read_on(&mut self) -> io::Result<bool> {
        let Some(open) = &mut self.open else { return self.begin() };
        self.buffer.drain(..self.given);
        self.searched -= self.given;
        self.given = 0;
        let read = (&open.file).take(BLOCK as u64).read_to_end(&mut self.buffer)?;
        if read > 0 {
            open.position += read as u64;
            return Ok(true);
        }
        if open.file.metadata()?.len() < open.position {
            open.file.seek(SeekFrom::Start(0))?;
            open.position = 0;
            self.end_line();
            return Ok(true);
        }
        if let Some(next) = self.next.take() {
            self.open = Some(next);
            self.end_line();
            return Ok(true);
        }
        self.next = next_file(&self.path, open.identity, || {})?;
        Ok(self.next.is_some()) // the old file may have grown meanwhile
    }

    /// Ends the line in the buffer, because the rest of the line will not come.
    fn end_line(&mut self) {
        if self.given < self.buffer.len() {
            self.buffer.push(b'\n');
        }
    }

    fn begin(&mut self) -> io::Result<bool> {
        let last = self.last.take(); // even if no file exists: all lines of a later file are new
        let Some(mut source) = Source::open(&self.path).inspect_err(|_| self.last = last)? else {
            return Ok(false);
        };
        if let Some(lines) = last {
            source.position = start_of_last(&mut source.file, lines)?;
            source.file.seek(SeekFrom::Start(source.position))?;
        }
        self.open = Some(source);
        Ok(true)
    }
}

impl Iterator for Follow {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.token.is_cancelled() {
                return None;
            }
            if let Some(line) = self.buffered() {
                return Some(Ok(line));
            }
            let is_pause = std::mem::take(&mut self.has_failed);
            match if is_pause { Ok(false) } else { self.read_on() } {
                Ok(true) => {}
                Ok(false) => self.token.sleep(LOOK).ok()?,
                Err(error) => {
                    self.has_failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Returns the start position of the last `lines` lines of a file. A line without its line feed is
/// not counted.
fn start_of_last(file: &mut File, lines: usize) -> io::Result<u64> {
    let mut position = file.metadata()?.len();
    let mut line_feeds = 0;
    let mut block = vec![0; BLOCK];
    while position > 0 {
        let size = position.min(BLOCK as u64);
        position -= size;
        let block = &mut block[..usize::try_from(size).expect("a block has a size of the memory")];
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(block)?;
        for place in memchr::memrchr_iter(b'\n', block) {
            line_feeds += 1;
            if line_feeds > lines {
                return Ok(position + place as u64 + 1);
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::next::tests::{append, rotate};
    use super::*;
    use crate::sink::file::numbered;

    #[test]
    fn what_is_written_to_the_old_file_while_the_next_one_is_found_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app.log");
        append(&log, "one\n");
        let mut follow = Follow::new(&log, CancelToken::new());
        while follow.read_on().unwrap() {}
        rotate(&log, "three\n");
        assert!(follow.read_on().unwrap() && follow.next.is_some());
        append(&numbered(&log, 1), "two\n");
        let lines: Vec<_> = follow.take(3).map(|line| String::from_utf8(line.unwrap()).unwrap()).collect();
        assert_eq!(lines, ["one", "two", "three"]);
    }
}
