//! What has to be put on the disk when somebody asks for it.
//!
//! A rotation does not wait for the disk, since most programs never ask for that. But who asks means all lines, those in rotated
//! files, too. Such a file is closed when it is rotated: a file that is open has its blocks on the disk also when its name is
//! gone. So it is opened anew, by its name, when it has to be put on the disk. One that another program has moved away has a
//! name that nobody here knows. It is put on the disk when it is left, once somebody has asked at all.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What was written since the last time, beside the file that is open.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    /// How many files were rotated.
    rotated: usize,
    /// Somebody has asked for the disk.
    is_asked: bool,
    /// A file that was moved away could not be put on the disk.
    failed: Option<io::Error>,
    /// A file is found after a failure of the power only if its name is on the disk, too.
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

    /// Puts all of it on the disk, and the log itself. `rotated` finds so many of the newest rotated files. What fails is not
    /// tried again: the system may have forgotten what it could not write.
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

/// A file that is not there was removed, with its lines.
fn sync(path: &Path) -> io::Result<()> {
    // Windows wants a file open for writing here.
    match File::options().append(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        file => file?.sync_data(),
    }
}

#[cfg(unix)]
pub(super) fn sync_folder(log: &Path) -> io::Result<()> {
    File::open(log.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Windows opens no folder as a file, and has no such call.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
