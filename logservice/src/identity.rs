//! Finds the file to which a name refers at present.
//!
//! A log file can be renamed, removed and created again while it is open. A file whose name has changed is
//! identified by the number that the file system gives each file. No other file gets the
//! same number while the file is open in any process.
//!
//! Rust's standard library reports the file's number only on Unix. On other systems, all files look the
//! same to this module. So on other systems than Unix, the log notices when a name is gone, but not when
//! the name refers to another file.

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

/// Returns true if the file has no name left, so that it is deleted as soon as the last process closes it.
#[cfg(unix)]
pub(crate) fn is_removed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() == 0
}

#[cfg(not(unix))]
pub(crate) fn is_removed(_: &Metadata) -> bool {
    false
}
