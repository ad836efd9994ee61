//! Compresses rotated files, on a separate thread; no other thread waits for this thread.
//!
//! ```text
//!   app.log.DATE ──read──▶ app.log.gz.part ──on the disk──▶ app.log.DATE.gz, and app.log.DATE is removed
//! ```
//!
//! If a process ends during a compression, the file stays unchanged, and an incomplete compressed file is
//! beside it. The next process that opens the log begins the compression again. Therefore a stop or a drop of
//! the service does not wait for this thread. Only files with dates are compressed, because their names
//! do not change: a file that is renamed during the compression could not be removed safely.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::names::{Dated, dated};

#[derive(Debug, Clone)]
pub(super) struct Compressor {
    log: PathBuf,
    /// The options for creating files.
    options: OpenOptions,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    is_running: bool,
    /// True if a file was rotated after the thread's last check.
    again: bool,
    failure: Option<String>,
}

impl Compressor {
    /// Creates a compressor. `options` must create files with the log's permissions.
    pub(super) fn new(log: PathBuf, mut options: OpenOptions) -> Self {
        options.read(false).append(false).write(true).create(true).truncate(true);
        Self { log, options, state: Arc::default() }
    }

    /// Makes the thread compress all rotated files that are not compressed yet. The call
    /// does not wait for the compression.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        state.again = true;
        if !state.is_running {
            let own = self.clone();
            let thread = thread::Builder::new().name("log compressor".into()).spawn(move || own.run());
            state.is_running = thread.is_ok();
            state.failure = thread.err().map(|error| format!("cannot compress rotated files: {error}"));
        }
    }

    /// Returns and clears the failures since the last call.
    pub(super) fn failure(&self) -> Option<String> {
        self.state().failure.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while self.has_more() {
            if let Err(error) = self.compress_all() {
                self.state().failure = Some(error.to_string());
            }
        }
    }

    fn has_more(&self) -> bool {
        let mut state = self.state();
        state.is_running = std::mem::take(&mut state.again);
        state.is_running
    }

    /// Compresses all rotated files. A failed compression is tried again after the next rotation.
    fn compress_all(&self) -> io::Result<()> {
        let rotated = dated(&self.log)?;
        rotated
            .iter()
            .filter(|file| !file.is_compressed)
            .map(|file| self.compress(file))
            .fold(Ok(()), Result::and)
    }

    fn compress(&self, file: &Dated) -> io::Result<()> {
        let path = file.path(&self.log);
        let mut compressed = file.clone();
        compressed.is_compressed = true;
        let compressed = compressed.path(&self.log);
        let part = self.log.with_added_extension("gz.part"); // one at a time, so that no file is forgotten
        let result = self.compress_to(&path, &part).and_then(|()| fs::rename(&part, &compressed));
        match result
            .and_then(|()| super::unsynced::sync_folder(&self.log))
            .and_then(|()| fs::remove_file(&path))
        {
            // A rotation has removed the file in the meantime, because it was the oldest file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                let _ = fs::remove_file(&part);
                let what = format!("cannot compress {}, and leaves it as it is: {error}", path.display());
                Err(io::Error::new(error.kind(), what))
            }
            Ok(()) => Ok(()),
        }
    }

    fn compress_to(&self, path: &Path, part: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut encoder = GzEncoder::new(self.options.open(part)?, Compression::default());
        io::copy(&mut file, &mut encoder)?;
        let compressed = encoder.finish()?;
        compressed.set_modified(file.metadata()?.modified()?)?; // administrators find old files by this time
        compressed.sync_all()
    }
}
