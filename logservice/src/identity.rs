//! Finds the file that a name refers to at present.
//!
//! A log file can be renamed, removed and created again while it is open. If the name of a file has changed,
//! the file's number in the file system still identifies the file. While any process has the file open, no
//! other file gets the same number.
//!
//! Rust's standard library reports the file's number only on Unix. On other systems, this module cannot
//! distinguish files. On such a system, a log notices that its name is gone, but not that its name refers to
//! another file.

use std::fs::Metadata;

/// Identifies a file among all files that exist.
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

/// Returns true if the file has no name left: the system then deletes the file as soon as the last process
/// closes it.
#[cfg(unix)]
pub(crate) fn is_removed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() == 0
}

#[cfg(not(unix))]
pub(crate) fn is_removed(_: &Metadata) -> bool {
    false
}
