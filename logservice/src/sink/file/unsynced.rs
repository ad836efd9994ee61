//! The data that must be put on the disk when a caller asks for it.
//!
//! A rotation does not wait for the disk, because most programs do not need durable lines. But if a caller
//! waits for the disk, it waits for all lines, including lines in rotated files. A rotated file is closed,
//! because an open file occupies disk space even after its removal. So a rotated file is
//! opened again, by its name, when it must be put on the disk. If another program has moved a file away, the
//! sink does not know the file's new name. So if any caller has waited for the disk before, the sink puts the
//! moved file on the disk when the sink leaves the file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files that have been written since the last sync, except for the open file.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    /// The number of rotated files.
    rotated: usize,
    /// True if a caller has ever waited for the disk.
    is_asked: bool,
    /// The error if a file that was moved away could not be put on the disk.
    failed: Option<io::Error>,
    /// True if the folder must also be synced: after a power failure, a file can be found only if its name is
    /// on the disk.
    folder: bool,
}

impl Unsynced {
    pub(super) fn has_rotated(&mut self) {
        self.rotated += 1;
    }

    pub(super) fn is_moved_away(&mut self, file: &File) {
        if self.is_asked {
            self.failed = file.sync_data().err().or(self.failed.take());
        }
    }

    pub(super) fn folder_has_changed(&mut self) {
        self.folder = true;
    }

    /// Puts all unsynced files on the disk, and the log itself. `rotated` returns the newest rotated files; the
    /// argument of `rotated` is the number of these files. A failed sync is not tried again, because the system
    /// may have discarded data that it could not write.
    pub(super) fn sync(
        &mut self,
        current: Option<&File>,
        log: &Path,
        rotated: impl FnOnce(usize) -> io::Result<Vec<PathBuf>>,
    ) -> io::Result<()> {
        self.is_asked = true;
        let earlier = self.failed.take().map_or(Ok(()), Err);
        let rotated = rotated(std::mem::take(&mut self.rotated));
        let rotated = rotated.and_then(|paths| paths.iter().map(|path| sync(path)).fold(Ok(()), Result::and));
        let current = current.map_or(Ok(()), File::sync_data);
        earlier.and(rotated).and(current)?;
        if self.folder {
            sync_folder(log)?;
            self.folder = false;
        }
        Ok(())
    }
}

/// Puts a file on the disk. A missing file counts as success, because its lines were removed with the file.
fn sync(path: &Path) -> io::Result<()> {
    // Windows can sync only a file that is open for writing.
    match File::options().append(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        file => file?.sync_data(),
    }
}

#[cfg(unix)]
pub(super) fn sync_folder(log: &Path) -> io::Result<()> {
    File::open(log.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Does nothing, because Windows has no sync for folders.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
