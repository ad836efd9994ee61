//! What has to be put on the disk when somebody asks for it.

use std::fs::File;
use std::io;
use std::path::Path;

/// More files than these are not kept open.
const MOST: usize = 4;

/// The files that were written to, and are not the log any more; and whether names of files have changed.
///
/// A rotation does not wait for the disk, since most programs never ask for that. But who asks means all lines, those in
/// rotated files, too.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    files: Vec<File>,
    /// A file is found after a failure of the power only if its name is on the disk, too.
    folder: bool,
    /// Why one that is not kept any more could not be put on the disk.
    failed: Option<io::Error>,
}

impl Unsynced {
    pub(super) fn add(&mut self, file: File) {
        if self.files.len() == MOST
            && let Err(error) = self.files.remove(0).sync_data()
        {
            self.failed = Some(error);
        }
        self.files.push(file);
    }

    pub(super) fn folder_has_changed(&mut self) {
        self.folder = true;
    }

    /// Puts all of them on the disk, and the log itself.
    pub(super) fn sync(&mut self, current: Option<&File>, log: &Path) -> io::Result<()> {
        let failed = self.failed.take().map_or(Ok(()), Err);
        let rotated: Vec<_> = self.files.drain(..).map(|file| file.sync_data()).collect();
        let current = current.map_or(Ok(()), File::sync_data);
        rotated.into_iter().fold(failed, Result::and)?;
        current?;
        if self.folder {
            sync_folder(log)?;
            self.folder = false;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn sync_folder(log: &Path) -> io::Result<()> {
    File::open(log.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Windows opens no folder as a file, and has no such call.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
