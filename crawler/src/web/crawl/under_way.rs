//! A file next to the state file; it lists the jobs in progress for as long as the process lives.
//!
//! If the process dies, the file remains, and the next run reads the names of the interrupted jobs from the
//! file. Data that a process has written to a file survives the death of the process, even if the process did
//! not wait for the disk. So a write to this file takes only some microseconds, and no page waits for the
//! write. After a power failure, the file may be lost: then the next run cannot know the interrupted jobs,
//! and counts no deaths.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// The file that lists the jobs; it is removed when this value is dropped, because the process then ends
/// normally.
pub struct UnderWay {
    path: PathBuf,
    file: Option<File>,
    names: Vec<u8>,
}

impl UnderWay {
    /// Returns the file that lists the jobs of a state. The file is created when the first job begins.
    pub fn beside(state: &Path) -> UnderWay {
        UnderWay { path: path(state), file: None, names: Vec::new() }
    }

    /// Records that exactly the given jobs are in progress from now on.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn note<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> io::Result<()> {
        self.names.clear();
        for name in names {
            self.names.extend_from_slice(name.as_bytes());
            self.names.push(b'\n');
        }
        self.names.push(b'\n'); // the text after an empty line is old
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::create(&self.path)?),
        };
        file.rewind()?;
        file.write_all(&self.names)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the jobs that were in progress when the previous process with this state died. Returns no jobs
/// if the previous process ended normally.
pub fn at_death(state: &Path) -> Vec<String> {
    let noted = fs::read(path(state)).unwrap_or_default();
    let noted = String::from_utf8_lossy(&noted);
    noted.lines().take_while(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Removes the file after its jobs have been recorded.
pub fn forget(state: &Path) {
    let _ = fs::remove_file(path(state));
}

fn path(state: &Path) -> PathBuf {
    let mut path = state.as_os_str().to_owned();
    path.push(".under-way");
    path.into()
}
