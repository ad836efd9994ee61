//! A log that is not a file on a disk: a named pipe, a terminal, `/dev/stdout`, `/dev/full`.
//!
//! The sink opens the device without waiting for a reader, and never creates, locks or rotates it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::identity::Identity;
use crate::sink::room::{PATIENCE, wait_for_room};
use crate::sink::torn::{Torn, taken, write_all};

#[derive(Debug)]
pub(super) struct Device {
    path: PathBuf,
    /// The field is `None` if the pipe has no reader.
    open: Option<(File, Identity)>,
    torn: Torn,
}

impl Device {
    /// Opens the device, unless it is a pipe that has no reader yet. A pipe without a reader is opened
    /// later.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let mut device = Self { path, open: None, torn: Torn::default() };
        match device.opened() {
            Err(error) if error.kind() != ErrorKind::NotConnected => Err(error),
            _ => Ok(device),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.look();
        self.opened()?;
        let Some((file, _)) = &mut self.open else { unreachable!("it was opened") };
        let until = Instant::now() + PATIENCE;
        let (whole, error) = self.torn.write(lines, |bytes| {
            write_all(bytes, |bytes| match file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_for_room(&*file, until).and_then(|()| Err(ErrorKind::Interrupted.into()))
                }
                result => result,
            })
        });
        taken((whole, error.map(|error| self.failed(error))))
    }

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.open = None;
        self.opened()
    }

    /// Handles an error of a write. Returns the error that the sink reports.
    fn failed(&mut self, error: io::Error) -> io::Error {
        match error.kind() {
            ErrorKind::WouldBlock => error,
            // Bytes that the reader has not read stay in the pipe for the next reader, as long as a process
            // has the pipe open. The sink cannot know how much of a torn line the reader has read, so the sink
            // ends the written part with a line feed, and writes the whole line again.
            ErrorKind::BrokenPipe => {
                self.torn.begins_again();
                nobody_reads_it()
            }
            _ => {
                self.open = None;
                error
            }
        }
    }

    /// Closes the pipe if its name now refers to another pipe.
    fn look(&mut self) {
        let named = fs::metadata(&self.path).map(|metadata| Identity::of(&metadata));
        if self.open.as_ref().is_some_and(|(_, identity)| named.is_ok_and(|named| named != *identity)) {
            self.open = None;
        }
    }

    fn opened(&mut self) -> io::Result<()> {
        if self.open.is_none() {
            let file = open(&self.path)?;
            let identity = Identity::of(&file.metadata()?);
            self.open = Some((file, identity));
            self.torn.starts_anew(false); // this pipe's reader has not seen the beginning of the line
        }
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    // If the name now refers to a file, the sink does not overwrite the file's content.
    options.append(true).custom_flags(flags).open(path).map_err(|error| {
        // A socket can never be opened like a file.
        let is_pipe = fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
        let is_lonely = is_pipe && error.raw_os_error() == Some(Errno::NXIO.raw_os_error());
        if is_lonely { nobody_reads_it() } else { error }
    })
}

fn nobody_reads_it() -> io::Error {
    io::Error::new(ErrorKind::NotConnected, "no process reads it")
}
