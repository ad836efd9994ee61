//! The files that were opened last, so that a popular file is not opened anew for each request.
//!
//! To open a file costs more than to read it, if the file is small. So an opened file is *trusted* for a
//! second: within this time, a request for the same path gets the same file, and the path is not followed
//! again.
//!
//! For each request, the server asks the file for its length and its time. So an answer always describes the
//! bytes that follow, even if a program changes the file. And if the file has no name any more, because it
//! was removed or another file took its name, the path is followed at once. What can be late, by a second at
//! most, is only this: the path now leads to another file or to none, and the old file still has a name
//! elsewhere. The old file was below the directory when it was opened, so nothing outside is served.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a file is trusted.
const TRUSTED: Duration = Duration::from_secs(1);

/// The largest number of files that are kept open.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Kept {
    files: Mutex<HashMap<PathBuf, (Arc<File>, Instant)>>,
}

impl Kept {
    /// Returns the file at this path and its present state, if the file is still trusted.
    pub(super) fn find(&self, path: &Path) -> Option<(Arc<File>, Metadata)> {
        let file = {
            let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, before) = files.get(path)?;
            (before.elapsed() < TRUSTED).then(|| Arc::clone(file))?
        };
        let metadata = file.metadata().ok()?;
        has_a_name(&metadata).then_some((file, metadata))
    }

    /// Keeps a file that was opened at this path after the time `before`. If there are too many files, those
    /// that are no longer trusted are closed; if all are still trusted, the new file is not kept.
    pub(super) fn keep(&self, path: &Path, file: &Arc<File>, before: Instant) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST && !files.contains_key(path) {
            files.retain(|_, (_, before)| before.elapsed() < TRUSTED);
        }
        if files.len() < MOST || files.contains_key(path) {
            files.insert(path.to_owned(), (Arc::clone(file), before));
        }
    }
}

#[cfg(unix)]
fn has_a_name(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 0
}

/// Returns false, because the number of names is not known here. So each request opens its file.
#[cfg(not(unix))]
fn has_a_name(_: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    fn opened(path: &Path) -> Arc<File> {
        Arc::new(File::open(path).unwrap())
    }

    #[test]
    fn a_file_is_kept_until_its_name_is_another_files() {
        let folder = tempfile::tempdir().unwrap();
        let [path, beside] = ["a.css", "b.css"].map(|name| folder.path().join(name));
        let kept = Kept::default();
        let replace = |text: &str| {
            fs::write(&beside, text).unwrap();
            fs::rename(&beside, &path).unwrap();
        };
        replace("old");
        assert!(kept.find(&path).is_none());
        kept.keep(&path, &opened(&path), Instant::now());
        fs::write(&path, "longer").unwrap();
        assert_eq!(kept.find(&path).unwrap().1.len(), 6, "the state is the present one");
        replace("new");
        assert!(kept.find(&path).is_none(), "another file has the name");
        kept.keep(&path, &opened(&path), Instant::now());
        assert!(kept.find(&path).is_some());
        fs::remove_file(&path).unwrap();
        assert!(kept.find(&path).is_none(), "no file has the name");
    }

    #[test]
    fn a_file_is_trusted_for_a_second() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let kept = Kept::default();
        kept.keep(file.path(), &opened(file.path()), Instant::now());
        assert!(kept.find(file.path()).is_some());
        kept.files.lock().unwrap().get_mut(file.path()).unwrap().1 -= TRUSTED;
        assert!(kept.find(file.path()).is_none());
        kept.keep(file.path(), &opened(file.path()), Instant::now());
        assert!(kept.find(file.path()).is_some());
    }

    #[test]
    fn only_so_many_files_are_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (kept, opened) = (Kept::default(), opened(file.path()));
        let path = |number: usize| PathBuf::from(number.to_string());
        (0..=MOST).for_each(|number| kept.keep(&path(number), &opened, Instant::now()));
        assert!(kept.find(&path(MOST - 1)).is_some());
        assert!(kept.find(&path(MOST)).is_none(), "all others are still trusted");
        kept.files.lock().unwrap().get_mut(&path(0)).unwrap().1 -= TRUSTED;
        kept.keep(&path(MOST), &opened, Instant::now());
        assert!(kept.find(&path(MOST)).is_some() && kept.find(&path(1)).is_some());
        assert_eq!(kept.files.lock().unwrap().len(), MOST);
    }
}
