//! Finds out which file a name means at present.
//!
//! A log file is renamed, removed and made anew while it is open. Then the name does not identify the file;
//! the number that the file system gives each file does. No other file gets that number while the file is
//! open somewhere.
//!
//! Rust's std tells that number on Unix only. Elsewhere all files look the same here. So the log notices when
//! a name is gone, but not when the name means another file.

use std::fs::Metadata;

/// Identifies a file among all that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: metadata.dev(), number: metadata.ino() }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Self {
        Self {}
    }
}

/// Whether the file has no name left, so that it is deleted as soon as the last process closes it.
#[cfg(unix)]
pub(crate) fn is_removed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() == 0
}

#[cfg(not(unix))]
pub(crate) fn is_removed(_: &Metadata) -> bool {
    false
}
