//! Counts of files that all threads of a run increase, and that are shown during the run.

use crate::content::Skipped;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest number of files that a report names; other files are only counted.
const MOST_NAMED: usize = 1000;

/// Counts of files. Each file is in at most one of the counts.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files that were read and put into the index.
    pub indexed: AtomicU64,
    /// Files that the index already has in this version.
    pub unchanged: AtomicU64,
    /// Files that no longer exist or are now left out.
    pub removed: AtomicU64,
    binary: AtomicU64,
    huge: AtomicU64,
    special: AtomicU64,
    /// Bytes of text that were put into the index.
    pub bytes: AtomicU64,
    unreadable: Mutex<Unreadable>,
}

#[derive(Debug, Default)]
struct Unreadable {
    count: u64,
    named: Vec<(PathBuf, String)>,
}

impl Tally {
    /// Adds one to the given counter.
    pub fn count(&self, counter: impl FnOnce(&Tally) -> &AtomicU64) {
        counter(self).fetch_add(1, Relaxed);
    }

    /// Counts a file that is left out.
    pub fn skipped(&self, why: Skipped) {
        self.count(|tally| match why {
            Skipped::Binary => &tally.binary,
            Skipped::Huge => &tally.huge,
            Skipped::Special => &tally.special,
        });
    }

    /// Counts a file or directory that could not be read, and remembers the name of it.
    pub fn unreadable(&self, path: Option<&Path>, why: &dyn fmt::Display) {
        let mut unreadable = self.unreadable_so_far();
        unreadable.count += 1;
        if unreadable.named.len() < MOST_NAMED {
            let path = path.unwrap_or(Path::new("?")).to_owned();
            unreadable.named.push((path, why.to_string()));
        }
    }

    /// Returns the number of files and directories that could not be read.
    pub fn gaps(&self) -> u64 {
        self.unreadable_so_far().count
    }

    /// Returns the number of files that were counted so far.
    pub fn files(&self) -> u64 {
        let skipped = [&self.binary, &self.huge, &self.special].map(|counter| counter.load(Relaxed));
        self.indexed.load(Relaxed) + self.unchanged.load(Relaxed) + skipped.iter().sum::<u64>()
    }

    /// Returns the counts in a short form, for the progress line.
    pub(super) fn in_short(&self) -> String {
        let (indexed, megabytes) = (self.indexed.load(Relaxed), self.bytes.load(Relaxed) / 1_000_000);
        format!("{indexed} indexed, {megabytes} MB of text")
    }

    /// Returns the counts as JSON.
    pub fn json(&self) -> Value {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        let unreadable = self.unreadable_so_far();
        let named = unreadable.named.iter();
        let named: Vec<_> =
            named.map(|(path, why)| json!({ "path": path.to_string_lossy(), "why": why })).collect();
        json!({
            "indexed": get(&self.indexed),
            "unchanged": get(&self.unchanged),
            "removed": get(&self.removed),
            "skipped": { "binary": get(&self.binary), "huge": get(&self.huge), "special": get(&self.special) },
            "bytes": get(&self.bytes),
            "unreadable": unreadable.count,
            "named": named,
        })
    }

    fn unreadable_so_far(&self) -> MutexGuard<'_, Unreadable> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        write!(
            f,
            "{} files: {} indexed ({:.1} MB), {} unchanged; skipped: {} binary, {} too large, {} pipes and the like; {} removed",
            self.files(),
            get(&self.indexed),
            get(&self.bytes) as f64 / 1e6,
            get(&self.unchanged),
            get(&self.binary),
            get(&self.huge),
            get(&self.special),
            get(&self.removed),
        )?;
        let unreadable = self.unreadable_so_far();
        if unreadable.count > 0 {
            write!(f, "\n{} could not be read:", unreadable.count)?;
        }
        for (path, why) in &unreadable.named {
            write!(f, "\n  {}: {why}", crate::printable(&path.to_string_lossy()))?;
        }
        match unreadable.count - unreadable.named.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}
