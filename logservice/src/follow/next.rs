//! Finds the next file of a log after a given file, although files may be renamed at the same time.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::identity::Identity;
use crate::sink::file::{beside, dated, numbered};

#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: File,
    pub(super) identity: Identity,
    pub(super) position: u64,
}

impl Source {
    /// Returns `None` if the file does not exist.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        if there(fs::metadata(path))?.is_some_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::other("it is no file")); // a pipe would block here
        }
        let Some(file) = there(File::open(path))? else { return Ok(None) };
        let identity = Identity::of(&file.metadata()?);
        Ok(Some(Self { file, identity, position: 0 }))
    }
}

fn there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn is_at(path: &Path, identity: Identity) -> io::Result<bool> {
    Ok(there(fs::metadata(path))?.is_some_and(|metadata| Identity::of(&metadata) == identity))
}

// ANCHOR: next
/// Returns the file that follows this file, if the following file is not empty. `between` is for tests: it runs
/// between two checks, and changes files as other programs might.
pub(super) fn next_file(log: &Path, old: Identity, mut between: impl FnMut()) -> io::Result<Option<Source>> {
    let name = |number| if number == 0 { log.to_owned() } else { numbered(log, number) };
    loop {
        if is_at(log, old)? {
            return Ok(None);
        }
        let Some(now) = number_of(log, old)? else { return next_dated(log, old, between) };
        let Some(number) = (0..now).rev().find(|&number| name(number).exists()) else { return Ok(None) };
        between();
        let next = Source::open(&name(number))?;
        let is_between = (number + 1..now).any(|number| name(number).exists());
        if !is_between && is_at(&name(now), old)? {
            return with_bytes(next);
        }
    }
}
// ANCHOR_END: next

/// Returns the next file of a log, if rotated files have dates in their names; files with dates do not move. A
/// compressed file cannot be read and is skipped.
fn next_dated(log: &Path, old: Identity, mut between: impl FnMut()) -> io::Result<Option<Source>> {
    let after_old = || -> io::Result<Option<PathBuf>> {
        let files: Vec<_> = there(dated(log))?.unwrap_or_default();
        let paths = files.iter().filter(|file| !file.is_compressed).map(|file| file.path(log));
        let mut paths = paths.skip_while(|path| !is_at(path, old).unwrap_or(false));
        Ok(paths.next().and_then(|_| paths.next()))
    };
    loop {
        let name = after_old()?;
        between();
        // If there is no later file, the log itself comes next, even if the old file is gone.
        let next = Source::open(name.as_deref().unwrap_or(log))?;
        if after_old()? == name {
            return with_bytes(next);
        }
    }
}

fn with_bytes(next: Option<Source>) -> io::Result<Option<Source>> {
    let Some(next) = next else { return Ok(None) };
    Ok((next.file.metadata()?.len() > 0).then_some(next))
}

/// Returns the present number of a rotated file. Files move from low to high numbers. The search goes in the
/// same direction, so that it misses no file.
fn number_of(log: &Path, old: Identity) -> io::Result<Option<usize>> {
    for _ in 0..2 {
        // A file may get a new highest number while the first list is read; the second list contains this file.
        for number in numbers(log)? {
            if is_at(&numbered(log, number), old)? {
                return Ok(Some(number));
            }
        }
    }
    Ok(None)
}

/// Returns the numbers of rotated files, in ascending order.
fn numbers(log: &Path) -> io::Result<Vec<usize>> {
    let number = |end: &str| end.parse().ok().filter(|&number| number > 0);
    let mut numbers = there(beside(log, number))?.unwrap_or_default();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::{Read, Write};

    pub(in crate::follow) fn append(path: &Path, text: &str) {
        File::options().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Rotates the log like a sink, and creates a new log.
    pub(in crate::follow) fn rotate(log: &Path, text: &str) {
        for number in (1..9).rev().filter(|&number| numbered(log, number).exists()) {
            fs::rename(numbered(log, number), numbered(log, number + 1)).unwrap();
        }
        fs::rename(log, numbered(log, 1)).unwrap();
        append(log, text);
    }

    fn text_of_next(log: &Path, old: &Path, between: impl FnMut()) -> String {
        let old = Source::open(old).unwrap().unwrap().identity;
        let mut text = String::new();
        next_file(log, old, between).unwrap().unwrap().file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_rotation_while_it_looks_leads_to_no_file_that_comes_later() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app.log");
        append(&log, "a");
        rotate(&log, "b");
        let mut more = ["c", "d"].into_iter();
        let next = text_of_next(&log, &numbered(&log, 1), || {
            if let Some(text) = more.next() {
                rotate(&log, text);
            }
        });
        assert_eq!(next, "b");
    }

    /// Checks a race: when the search checks number 2, number 2 is free; when it then checks number 1, number 1
    /// is already another file.
    #[test]
    fn a_file_that_moves_between_two_looks_is_not_passed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app.log");
        append(&numbered(&log, 3), "a");
        append(&numbered(&log, 1), "b"); // this file will become number 2
        append(&log, "c"); // this file will become number 1
        let mut is_moved = false;
        let next = text_of_next(&log, &numbered(&log, 3), || {
            if !std::mem::replace(&mut is_moved, true) {
                fs::rename(numbered(&log, 1), numbered(&log, 2)).unwrap();
                fs::rename(&log, numbered(&log, 1)).unwrap();
                append(&log, "d");
            }
        });
        assert_eq!(next, "b");
    }
}
