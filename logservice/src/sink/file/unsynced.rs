//! What must be put on the disk when a caller asks for it.
//!
//! A rotation does not wait for the disk, since most programs never ask for that. But a caller that asks
//! means all lines, including those in rotated files. A rotated file is closed, because an open file would
//! keep its blocks on the disk even after its removal. So it is opened again, by its name, when it must be
//! put on the disk. If another program has moved a file away, its new name is unknown here. Such a file is
//! put on the disk when the sink leaves it, if any caller has asked for the disk before.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files beside the open one that were written since the last sync.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    /// How many files were rotated.
    rotated: usize,
    /// A caller has asked for the disk.
    is_asked: bool,
    /// A file that was moved away could not be put on the disk.
    failed: Option<io::Error>,
    /// The folder must be synced, too: after a power failure a file is found only if its name is on the disk.
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

    /// Puts all these files on the disk, and the log itself. `rotated` finds that many of the newest rotated
    /// files. A failed sync is not tried again: the system may have forgotten what it could not write.
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

/// Puts a file on the disk. A missing file was removed, with its lines.
fn sync(path: &Path) -> io::Result<()> {
    // Windows needs a file that is open for writing.
    match File::options().append(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        file => file?.sync_data(),
    }
}

#[cfg(unix)]
pub(super) fn sync_folder(log: &Path) -> io::Result<()> {
    File::open(log.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Does nothing: Windows has no sync for folders.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
