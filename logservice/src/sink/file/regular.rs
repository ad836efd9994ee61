//! A log that is a file on a disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(feature = "gzip")]
use super::compressor::Compressor;
use super::lock::Lock;
use super::rotation::Rotation;
use super::unsynced::Unsynced;
use crate::identity::{Identity, is_removed};
use crate::sink::torn::{Torn, taken, write_all};

/// If the file is removed during a write, the write begins again at most this number of times. After these
/// attempts, the write fails.
const TRIES: usize = 10;

const TRUNCATED: &str = "was truncated by another program: lines that came after its copy are lost, and counted as written \
    (for logrotate, give `create` instead of `copytruncate`)";

/// Writes to the log's file, and notices that the file was renamed, removed or truncated.
#[derive(Debug)]
pub(super) struct Regular {
    path: PathBuf,
    options: OpenOptions,
    rotation: Rotation,
    /// The field is `None` if the last attempt to open the file failed, or if the open file is no longer
    /// the log.
    open: Option<Open>,
    torn: Torn,
    unsynced: Unsynced,
    /// True if the last attempt to rotate failed and this was reported to the operator.
    is_stuck: bool,
    /// True if another program has truncated the file and this was reported to the operator.
    is_truncated: bool,
    warning: Option<String>,
    clock: fn() -> SystemTime,
    #[cfg(feature = "gzip")]
    compressor: Option<Compressor>,
    _lock: Option<Lock>,
}

#[derive(Debug)]
struct Open {
    file: File,
    identity: Identity,
    size: u64,
    period: Option<Range<SystemTime>>,
}

/// What has happened to the open file.
enum Fate {
    /// The log's name still refers to the open file. The value is the size of the file.
    Named(u64),
    /// The file has another name, and contains all lines that were written.
    Moved,
    /// The file has no name, and the written lines are lost.
    Removed,
}

impl Regular {
    /// Opens the file, and takes its lock unless it is `unlocked`. Opening the file writes nothing to it.
    pub(super) fn open(
        path: PathBuf,
        options: OpenOptions,
        rotation: Rotation,
        lock: Option<&mut OpenOptions>,
        clock: fn() -> SystemTime,
    ) -> io::Result<Self> {
        let cannot = |error: io::Error| io::Error::new(error.kind(), format!("cannot open it: {error}"));
        options.open(&path).map_err(cannot)?; // first, so that a missing folder is not reported as a missing lock
        let lock = lock.map(|options| Lock::take(&path, options)).transpose()?;
        let (torn, unsynced) = (Torn::default(), Unsynced::default());
        let (open, is_stuck, is_truncated, warning) = (None, false, false, None);
        let mut file = Self {
            path,
            options,
            rotation,
            open,
            torn,
            unsynced,
            is_stuck,
            is_truncated,
            warning,
            clock,
            #[cfg(feature = "gzip")]
            compressor: None,
            _lock: lock,
        };
        file.opened().map_err(cannot)?;
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn warning(&mut self) -> Option<String> {
        let warning = self.warning.take();
        #[cfg(feature = "gzip")]
        let warning = warning.or_else(|| self.compressor.as_ref()?.failure());
        warning
    }

    /// Starts a compressor for all present and future rotated files.
    #[cfg(feature = "gzip")]
    pub(super) fn compressed_by(self, compressor: Option<Compressor>) -> Self {
        compressor.iter().for_each(Compressor::begin);
        Self { compressor, ..self }
    }

    // ANCHOR: write
    /// Writes as many lines as this file has room for, but at least one line. Returns the number of bytes
    /// that are written permanently.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        for _ in 0..TRIES {
            self.look_now();
            self.rotate_if_due(lines);
            let piece = self.piece(lines);
            self.opened()?;
            let (Some(open), torn) = (&mut self.open, &mut self.torn) else { unreachable!("it was opened") };
            let written = torn.write(piece, |bytes| write_all(bytes, |bytes| open.file.write(bytes)));
            if !self.settle(self.look()) {
                return taken(written);
            }
            // The file was removed, and the lines that were just written are lost with it.
        }
        Err(io::Error::new(ErrorKind::NotFound, "it is removed again and again"))
    }
    // ANCHOR_END: write

    /// Returns the first lines, as many as fit into the file, but at least one line.
    fn piece<'a>(&self, lines: &'a [u8]) -> &'a [u8] {
        let size = self.open.as_ref().map_or(0, |open| open.size);
        let room = match self.rotation.at_bytes {
            Some(limit) if !self.is_stuck => {
                usize::try_from(limit.saturating_sub(size)).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        if room >= lines.len() {
            return lines;
        }
        match memchr::memrchr(b'\n', &lines[..room]) {
            Some(line_feed) => &lines[..=line_feed],
            None => &lines[..first_line(lines)],
        }
    }

    // ----- what happens to the file -----

    /// Checks the file before lines are written: if another program has moved the file away, that program may
    /// already be processing it.
    fn look_now(&mut self) {
        let Some(expected) = self.open.as_ref().map(|open| open.size) else { return };
        match self.look() {
            // Another process has truncated the file or appended to it, so the rest of a torn line cannot
            // be written after its part.
            Fate::Named(size) if size != expected && !self.torn.is_none() => self.open = None,
            fate => {
                self.settle(fate);
            }
        }
    }

    /// Returns the present state of the open file. If the file still has a name after a write, the write has
    /// succeeded, even if the file is removed later.
    fn look(&self) -> Fate {
        let Some(open) = &self.open else { return Fate::Moved };
        let named = fs::metadata(&self.path);
        let is_named = named.as_ref().is_ok_and(|named| Identity::of(named) == open.identity);
        if let (true, Ok(named)) = (cfg!(unix) && is_named, &named) {
            return Fate::Named(named.len()); // on other systems, the name may refer to another file
        }
        let Ok(own) = open.file.metadata() else { return Fate::Moved };
        match named {
            _ if is_named => Fate::Named(own.len()),
            _ if is_removed(&own) => Fate::Removed,
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Fate::Named(own.len()) // it is unknown which file the name refers to
            }
            _ => Fate::Moved,
        }
    }

    /// Keeps the file open if it is still the log. Returns true if the file was removed, so that all its lines
    /// are lost.
    fn settle(&mut self, fate: Fate) -> bool {
        let is_gone = matches!(fate, Fate::Removed);
        match (fate, &mut self.open) {
            (Fate::Named(size), Some(open)) => {
                if size < open.size && !std::mem::replace(&mut self.is_truncated, true) {
                    self.warning = Some(TRUNCATED.to_owned());
                }
                open.size = size;
            }
            (Fate::Removed, open) => *open = None,
            (_, open) => {
                if let Some(open) = open.take() {
                    self.unsynced.is_moved_away(&open.file);
                }
            }
        }
        is_gone
    }

    fn opened(&mut self) -> io::Result<()> {
        if self.open.is_none() {
            let (open, needs_line_feed) = Open::new(&self.path, &self.options, &self.rotation, self.clock)?;
            self.torn.starts_anew(needs_line_feed); // a torn line stays torn in the old file
            self.unsynced.folder_has_changed();
            self.open = Some(open);
        }
        Ok(())
    }

    // ----- rotation -----

    /// Rotates if the next line does not belong in this file, unless the file already contains a part of the
    /// line. After a failure to rotate, lines are written to the same file.
    fn rotate_if_due(&mut self, lines: &[u8]) {
        if !self.rotation.is_on() || !self.torn.is_none() || self.opened().is_err() {
            return;
        }
        let (now, Some(open)) = ((self.clock)(), &mut self.open) else { return };
        let next_size = open.size + first_line(lines) as u64;
        let is_full = open.size > 0 && self.rotation.at_bytes.is_some_and(|limit| next_size > limit);
        let is_over = open.period.as_ref().is_some_and(|period| now >= period.end);
        if open.size == 0 || open.period.as_ref().is_some_and(|period| now < period.start) {
            open.period = self.rotation.period(now); // the file is new, or the clock was set back
        } else if is_full || is_over {
            self.rotate();
        }
    }

    fn rotate(&mut self) {
        self.look_now();
        if self.open.is_none() {
            return; // another process has moved the file
        }
        match self.rotation.shift(&self.path) {
            Ok(()) => {
                self.open = None;
                self.unsynced.has_rotated();
                #[cfg(feature = "gzip")]
                self.compressor.iter().for_each(Compressor::begin);
                self.is_stuck = false;
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_stuck, true) {
                    self.warning = Some(format!("is not rotated: {error}"));
                }
            }
        }
    }

    // ----- for the operator -----

    pub(super) fn sync(&mut self) -> io::Result<()> {
        let current = self.open.as_ref().map(|open| &open.file);
        self.unsynced.sync(current, &self.path, |files| self.rotation.newest(&self.path, files))
    }

    /// Opens the file again, unless the log's name still refers to the open file.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.look_now();
        self.opened()
    }
}

impl Open {
    /// Opens the file for appending. Also returns true if the last line of the file lacks its line feed,
    /// because a process was killed while it wrote the line.
    fn new(
        path: &Path,
        options: &OpenOptions,
        rotation: &Rotation,
        clock: fn() -> SystemTime,
    ) -> io::Result<(Self, bool)> {
        let mut file = options.open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a file any more"));
        }
        let size = metadata.len();
        let begun = if size == 0 { clock() } else { metadata.modified().unwrap_or_else(|_| clock()) };
        let (identity, period) = (Identity::of(&metadata), rotation.period(begun));
        let needs_line_feed = size > 0 && last_byte(&mut file)? != b'\n';
        Ok((Self { file, identity, size, period }, needs_line_feed))
    }
}

fn first_line(lines: &[u8]) -> usize {
    memchr::memchr(b'\n', lines).map_or(lines.len(), |line_feed| line_feed + 1)
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut last = [b'\n']; // keeps this value if another process truncates the file now
    file.seek(SeekFrom::End(-1))?;
    let _ = file.read(&mut last)?;
    Ok(last[0])
}
