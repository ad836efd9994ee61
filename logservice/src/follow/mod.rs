//! The lines of a log as they are written, over rotations and removals: what `tail -F` does.
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
//! It polls the file ten times a second and needs no notification by the system, so it works on every file
//! system.
//!
//! # From one file to the next
//! The open file may lose the log's name to another file. Then there is a next file, and the old one is read
//! to its end first. But where is its end? After a program has moved the log away, the writer may write to
//! the moved file for a while. So the old file is left only when the next one has bytes: then the writer has
//! left the old one, too.
//!
//! ```text
//!                      the name means another        what was written
//!                      file, which has bytes         before is read
//!   Follows one file ──────────────────────▶ Ends it ──────────────▶ Follows the next one
//! ```
//!
//! Between two looks the log may be rotated several times. So the next file is the one with the next lower
//! number after the name that the old file has now (`app.log.3` is followed by `app.log.2`), and the log
//! itself after number 1. While names are looked at, they may change; files only move to higher numbers,
//! though. What was seen holds if afterwards the old file still has its name and there is no file between the
//! two. Files whose names have dates do not move: the next one is the file with the next later date, if the
//! names are still the same when it is open.
//!
//! # What is missed
//! Files that were rotated and removed, or compressed, between two looks. A log that is truncated, and has
//! grown again to more than was read, before the next look. On Windows a rotation is noticed only if the new
//! file is shorter than what was read of the old one.

mod next;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use executor::CancelToken;

use self::next::{Source, next_file};

const LOOK: Duration = Duration::from_millis(100);

/// How much is read at once.
const BLOCK: usize = 64 << 10;

/// A line that is longer is given in pieces, so that a file without line feeds does not fill the memory.
const LONGEST: usize = 1 << 20;

/// Iterates over the lines of a log, without their line feeds, and waits for more. The iteration ends when
/// its token is cancelled.
///
/// If the file does not exist, the iterator waits for it. The last line of a file that is followed by another
/// file is given even without a line feed. An error is one item, after which the iterator tries again.
#[derive(Debug)]
#[must_use = "iterators are lazy"]
pub struct Follow {
    path: PathBuf,
    token: CancelToken,
    /// How many lines of the first file are given. A file that is made later is given whole.
    last: Option<usize>,
    open: Option<Source>,
    /// The file to read after `open` has been read to its end.
    next: Option<Source>,
    /// The bytes read. The bytes from `given` on are not given yet; they have no line feed before `searched`.
    buffer: Vec<u8>,
    given: usize,
    searched: usize,
    goes_on: bool,
    has_failed: bool,
}

impl Follow {
    /// Begins at the start of the file.
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

    /// Begins with the last `lines` lines of the file; with 0, at its end.
    pub fn last(mut self, lines: usize) -> Self {
        self.last = Some(lines);
        self
    }

    /// Whether the last item was only a piece of a line, which the next item continues: a line of more than a
    /// MiB is given in pieces.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Takes a whole line out of the buffer, if there is one.
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

    /// Reads on, or goes to the next file. False if there is nothing yet.
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
        Ok(self.next.is_some()) // the old one may have got more meanwhile
    }

    /// Ends the line that is in the buffer: the rest of it will not come.
    fn end_line(&mut self) {
        if self.given < self.buffer.len() {
            self.buffer.push(b'\n');
        }
    }

    fn begin(&mut self) -> io::Result<bool> {
        let last = self.last.take(); // without a file, too: all lines of a later one are new
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

/// Where the last `lines` lines of a file begin. A line without its line feed does not count.
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
