//! Ensures that a file has only one writer, by a lock on another file in the same folder.
//!
//! If two sinks wrote to one file, each sink would rename the file while the other sink writes, and would count
//! only its own bytes. So a second sink is refused, even in the same process.
//!
//! The lock is not on the log file itself. A log file is renamed when it is rotated, and a lock on it would stay
//! with the renamed file. Before the process locks the new file, another process could lock it, and then the
//! first process could not continue. The lock file, `app.log.lock`, is created once and
//! kept. If the lock file is removed or its folder is replaced while a process holds the lock, a second process
//! can take the lock.
//!
//! The system releases the lock when the process ends, even if `kill -9` ends it. On Linux, the lock belongs
//! to the open file (`flock`), so a child process shares the lock until the child executes its program. So a
//! child may hold the lock for a moment after its parent has released it. When one process replaces another,
//! the old process may also need a moment to end. Because a lock can stay held for a moment, a sink tries to
//! take the lock for [`PATIENCE`].

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(500);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock for the log at this path.
    pub(super) fn take(log: &Path, options: &mut OpenOptions) -> io::Result<Self> {
        let path = beside(log)?;
        let hint = "(a log that cannot have a lock is opened with `unlocked`)";
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot open the lock {}: {error} {hint}", path.display()),
                )
            })?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(PATIENCE / 50),
                Err(TryLockError::WouldBlock) => return Err(refused(&mut file, &path)),
                Err(TryLockError::Error(error)) => {
                    let what = format!("cannot lock {}: {error} {hint}", path.display());
                    return Err(io::Error::new(error.kind(), what));
                }
            }
        }
        // The lock file contains the process ID; a process that is refused shows this ID in its error
        // message. If the disk is full, only the process ID is missing.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Returns the path of the lock file. Links are followed, so that all paths to a log share one lock. The
/// log itself may be missing while the process with the lock rotates it.
fn beside(log: &Path) -> io::Result<PathBuf> {
    let name = log.file_name().unwrap_or_default();
    let log = match (log.is_symlink(), log.parent()) {
        (false, Some(folder)) => folder.canonicalize()?.join(name),
        _ => log.canonicalize()?,
    };
    let mut path = log.into_os_string();
    path.push(".lock");
    Ok(path.into())
}

fn refused(file: &mut File, path: &Path) -> io::Error {
    let mut holder = String::new();
    let _ = file.take(20).read_to_string(&mut holder); // on Windows a locked file cannot be read
    let who = match holder.trim().parse::<u32>() {
        Ok(process) if process == std::process::id() => "this process writes it already".to_owned(),
        Ok(process) => format!("process {process} writes it"),
        Err(_) => "another process writes it".to_owned(),
    };
    io::Error::new(io::ErrorKind::ResourceBusy, format!("{who}: it holds the lock {}", path.display()))
}
