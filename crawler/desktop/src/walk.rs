//! Finds the files: reads the directories one after the other, on one thread.
//!
//! Like `ripgrep`, the walk leaves out hidden files, and files that `.gitignore` and `.ignore` list. A
//! directory is read piece by piece, so the memory of a walk grows with the depth of the tree and not with
//! the number of its files.

use crate::content::Stamp;
use ignore::{DirEntry, Error, WalkBuilder};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The rules that select the files to index.
#[derive(clap::Args, Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Rules {
    /// Include hidden files, which have names that begin with a dot
    #[arg(long, help_heading = "Which files")]
    pub hidden: bool,

    /// Include files that .gitignore and .ignore exclude
    #[arg(long, help_heading = "Which files")]
    pub no_ignore: bool,

    /// Follow symbolic links that lead out of the named directories; each directory is walked once
    #[arg(long, help_heading = "Which files")]
    pub follow: bool,

    /// Stay in the file systems of the named directories
    #[arg(long, help_heading = "Which files")]
    pub one_file_system: bool,
}

/// A file or an error that a walk finds.
#[derive(Debug)]
pub enum Found {
    /// A file, with its stamp from the metadata.
    File(PathBuf, Stamp),
    /// A path that is neither a file nor a directory nor a link.
    Special,
    /// A path that could not be read, with the reason. The files below an unreadable path are unknown.
    Unreadable(Option<PathBuf>, String),
}

/// Returns the real paths of the named directories and files, each path once.
///
/// # Errors
/// If a name does not exist, returns an error with the first such name and the system's reason.
pub fn roots(named: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut roots = Vec::new();
    for path in named {
        let root = fs::canonicalize(path).map_err(|error| (path.clone(), error))?;
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}

/// Walks everything below `roots`, which are real paths, but not the directory `except`, which contains the
/// index.
pub fn walk(roots: &[PathBuf], rules: &Rules, except: &Path) -> impl Iterator<Item = Found> + use<> {
    let mut builder = WalkBuilder::empty();
    for root in roots {
        builder.add(root);
    }
    // A root that lies within another root is walked separately, even if the rules exclude it from the walk
    // of the outer root.
    let own: HashSet<PathBuf> = roots.iter().cloned().collect();
    let except = except.to_owned();
    let once = rules.follow.then(|| Once::new([roots, std::slice::from_ref(&except)].concat()));
    builder
        .standard_filters(!rules.no_ignore)
        .hidden(!rules.hidden)
        .follow_links(rules.follow)
        .same_file_system(rules.one_file_system)
        .filter_entry(move |entry| {
            entry.path() != except
                && (entry.depth() == 0 || !own.contains(entry.path()))
                && once.as_ref().is_none_or(|once| once.is_first(entry))
        });
    builder.build().filter_map(|entry| match entry {
        Ok(entry) => found(entry),
        Err(error) if is_loop(&error) => None, // the walk is already in this directory
        Err(error) => Some(unreadable(&error)),
    })
}

/// Ensures that a walk that follows links enters each directory only once. Directories that link to each
/// other have too many paths: seven directories, each with a link to every one of the seven, have 13,699
/// paths.
struct Once {
    /// Directories that the walk does not enter through links: the roots, which it enters by their real
    /// names, and the index.
    not_by_links: Vec<PathBuf>,
    /// The real paths of directories that are outside all roots and that the walk has reached through links.
    outside: Mutex<HashSet<PathBuf>>,
}

impl Once {
    fn new(not_by_links: Vec<PathBuf>) -> Once {
        Once { not_by_links, outside: Mutex::default() }
    }

    /// Returns true if the walk enters a file or a directory by this path. Outside of the roots, the walk
    /// uses only the first path that it has found to a directory.
    fn is_first(&self, entry: &DirEntry) -> bool {
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.depth() == 0 || !(is_directory || entry.path_is_symlink()) {
            return true;
        }
        let Ok(real) = fs::canonicalize(entry.path()) else { return true }; // the walk will report the reason
        if real == entry.path() {
            return true;
        }
        if self.not_by_links.iter().any(|directory| real.starts_with(directory)) {
            return false;
        }
        !is_directory || self.outside.lock().unwrap_or_else(PoisonError::into_inner).insert(real)
    }
}

fn is_loop(error: &Error) -> bool {
    match error {
        Error::Loop { .. } => true,
        Error::WithPath { err, .. } | Error::WithDepth { err, .. } => is_loop(err),
        _ => false,
    }
}

fn found(entry: DirEntry) -> Option<Found> {
    let kind = entry.file_type()?;
    if kind.is_dir() || kind.is_symlink() {
        return None; // a link that is not followed
    }
    if !kind.is_file() {
        return Some(Found::Special);
    }
    Some(match entry.metadata() {
        Ok(metadata) => {
            let stamp = Stamp::of(&metadata);
            Found::File(entry.into_path(), stamp)
        }
        Err(error) => unreadable(&error),
    })
}

fn unreadable(error: &Error) -> Found {
    let (path, why) = reason(error);
    Found::Unreadable(path.map(Path::to_owned), why)
}

/// Returns the path to which an error applies, and the reason of the error.
fn reason(error: &Error) -> (Option<&Path>, String) {
    match error {
        Error::WithPath { path, err } => {
            let (inner, why) = reason(err);
            (inner.or(Some(path)), why)
        }
        Error::WithDepth { err, .. } | Error::WithLineNumber { err, .. } => reason(err),
        Error::Io(error) => (None, error.to_string()),
        other => (None, other.to_string()),
    }
}
