//! Which file is meant by a name just now.
//!
//! A log file is renamed, removed and made anew while it is open. The name says nothing then; the number that the file system
//! gives each file does. It is not given to another file while the file is open somewhere.
//!
//! Rust's std tells that number on Unix only. Elsewhere all files look the same here, so it is noticed when a name is gone, but
//! not when it has come to mean another file.

use std::fs::Metadata;

/// What distinguishes a file from all others that exist.
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

/// Whether the file has no name any more, so that it is gone as soon as the last process closes it.
#[cfg(unix)]
pub(crate) fn is_removed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() == 0
}

#[cfg(not(unix))]
pub(crate) fn is_removed(_: &Metadata) -> bool {
    false
}
