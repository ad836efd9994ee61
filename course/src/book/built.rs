//! Checks whether the last built book is still up to date and need not be built again.

use super::includes::includes;
use super::pages::{Page, files_below};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The list of the files from which a book was built, and the path where this list is kept.
pub(super) struct Note {
    file: PathBuf,
    made_of: String,
}

impl Note {
    /// Lists the files from which the book below `source` would be built: the book's own files, the files
    /// that its pages include, and the program that builds the book. A file counts as unchanged if its size
    /// and its modification time are the same as before.
    ///
    /// # Errors
    /// Returns an error if the book cannot be read.
    pub(super) fn of(source: &Path, built: &Path) -> anyhow::Result<Self> {
        let mut files = files_below(source, &|_| true)?;
        for page in Page::all(source)? {
            let folder = page.path.parent().unwrap_or(source);
            files.extend(includes(&page.text).map(|include| folder.join(include.file)));
        }
        files.extend(std::env::current_exe());
        files.sort();
        files.dedup();
        let mut made_of = String::new();
        for file in &files {
            let known = fs::metadata(file)?;
            let time = known.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            writeln!(made_of, "{} {} {time}", file.display(), known.len())?;
        }
        Ok(Self { file: built.with_extension("made-of"), made_of })
    }

    pub(super) fn is_as_noted(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|noted| noted == self.made_of)
    }

    /// Marks the book as out of date; the mark stays until [`write`](Self::write) is called. The caller must
    /// call this method before it changes the book.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.file);
    }

    /// Writes the list. If this fails, the book is built again the next time.
    pub(super) fn write(&self) {
        let _ = fs::write(&self.file, &self.made_of);
    }
}
