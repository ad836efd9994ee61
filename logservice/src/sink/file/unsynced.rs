//! What has to be put on the disk when somebody asks for it.
//!
//! A rotation does not wait for the disk, since most programs never ask for that. But who asks means all lines, those in rotated
//! files, too. So files stay open after they were rotated, some of them: a log that is rotated often may not use up the
//! process's descriptors. Of those that are too many only the first is kept. Linux can put all of its file system on the disk,
//! and tells of errors since that file was opened; elsewhere a file is put on the disk when it is let go.

use std::fs::File;
use std::io;
use std::path::Path;

/// More files than these, and the first of those let go, are not kept open.
const MOST: usize = 4;

/// The files that were written to, and are not the log any more; and whether names of files have changed.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    files: Vec<File>,
    let_go: LetGo,
    /// A file is found after a failure of the power only if its name is on the disk, too.
    folder: bool,
}

impl Unsynced {
    pub(super) fn add(&mut self, file: File) {
        if self.files.len() == MOST {
            self.let_go.add(self.files.remove(0));
        }
        self.files.push(file);
    }

    pub(super) fn folder_has_changed(&mut self) {
        self.folder = true;
    }

    /// Puts all of them on the disk, and the log itself. What fails is not tried again: the system may have forgotten what it
    /// could not write.
    pub(super) fn sync(&mut self, current: Option<&File>, log: &Path) -> io::Result<()> {
        let let_go = self.let_go.sync();
        let kept: Vec<_> = self.files.drain(..).map(|file| file.sync_data()).collect();
        let current = current.map_or(Ok(()), File::sync_data);
        kept.into_iter().fold(let_go.and(current), Result::and)?;
        if self.folder {
            sync_folder(log)?;
            self.folder = false;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
struct LetGo {
    first: Option<File>,
}

#[cfg(target_os = "linux")]
impl LetGo {
    fn add(&mut self, file: File) {
        self.first.get_or_insert(file);
    }

    fn sync(&mut self) -> io::Result<()> {
        self.first.take().map_or(Ok(()), |file| Ok(rustix::fs::syncfs(file)?))
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
struct LetGo {
    failed: Option<io::Error>,
}

#[cfg(not(target_os = "linux"))]
impl LetGo {
    fn add(&mut self, file: File) {
        self.failed = file.sync_data().err().or(self.failed.take());
    }

    fn sync(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
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
