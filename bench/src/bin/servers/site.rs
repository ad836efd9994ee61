//! The folder that contains the only file that the servers serve; other pages are part of the servers'
//! programs.

use std::fs;
use std::path::Path;

use anyhow::Context;
use tempfile::TempDir;

pub(crate) const FILE_PATH: &str = "/16k.bin";

/// Returns the contents of the file: 16 KiB in which no two places near each other are alike.
pub(crate) fn file() -> Vec<u8> {
    (0_u32..4096).flat_map(|number| number.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect()
}

/// A folder; when this value is dropped, the folder is removed.
pub(crate) struct Site {
    folder: TempDir,
}

impl Site {
    pub(crate) fn new() -> anyhow::Result<Site> {
        let folder =
            tempfile::Builder::new().prefix("bench-site-").tempdir().context("no temporary folder")?;
        fs::write(folder.path().join(&FILE_PATH[1..]), file())?;
        Ok(Site { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}
