//! Collects the settings of a log file, and checks them before the file is opened.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::time::SystemTime;

use jiff::tz::TimeZone;

#[cfg(feature = "gzip")]
use super::compressor::Compressor;
use super::regular::Regular;
use super::rotation::{Every, Rotation};
use super::{FileSink, Target};

/// The settings of a [`FileSink`].
#[derive(Debug, Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct FileBuilder {
    path: PathBuf,
    mode: u32,
    rotation: Rotation,
    is_locked: bool,
    #[cfg(feature = "gzip")]
    is_compressed: bool,
    clock: fn() -> SystemTime,
}

impl FileBuilder {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o640,
            rotation: Rotation { at_bytes: None, every: None, dates: None, keep: 10 },
            is_locked: true,
            #[cfg(feature = "gzip")]
            is_compressed: false,
            clock: SystemTime::now,
        }
    }

    /// Sets the permissions of new files, on Unix. The default is 640: the group may read
    /// the file. The process's umask removes bits from these permissions.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Begins a new file before a line that would make the current file longer than `bytes`.
    pub fn rotate_at_bytes(mut self, bytes: u64) -> Self {
        self.rotation.at_bytes = Some(bytes);
        self
    }

    /// Begins a new file for each hour or day of this time zone.
    pub fn rotate_every(mut self, every: Every, zone: TimeZone) -> Self {
        self.rotation.every = Some((every, zone));
        self
    }

    /// Gives each rotated file a name with a date of this time zone, instead of a number: the date is the
    /// time of the file's last line. The name is `app.log.2026-11-25` if the file is rotated by day,
    /// `app.log.2026-11-25T07` by hour, and `app.log.2026-11-25T07-33-07` by size. The second file of one
    /// date gets a number, `app.log.2026-11-25.2`. If the clock was set back, a file gets the date of its
    /// predecessor and a number, so that dates never decrease.
    pub fn dated(mut self, zone: TimeZone) -> Self {
        self.rotation.dates = Some(zone);
        self
    }

    /// Compresses rotated files in the format of `gzip`, to `app.log.2026-11-25.gz`. Compression requires
    /// names with [dates](Self::dated). A separate thread compresses the files, so the log and the end of the
    /// process are not delayed. If the process ends before a file is compressed, the next process that opens
    /// the log compresses the file. A failure is reported on standard error, and the file stays unchanged.
    /// (With the feature `gzip`.)
    #[cfg(feature = "gzip")]
    pub fn compressed(mut self) -> Self {
        self.is_compressed = true;
        self
    }

    /// Sets the number of rotated files that are kept; the default is ten. If there are more rotated files,
    /// the oldest file is removed. Files with higher numbers are ignored, even if they were kept under an
    /// earlier, larger setting. Files with dates are all counted.
    pub fn keep(mut self, files: usize) -> Self {
        self.rotation.keep = files;
        self
    }

    /// Makes the sink take no lock against a second writer. Such a sink is for three cases: several processes
    /// append to one file, the file system has no locks, or the process must not create another file in the
    /// folder. A sink without a lock cannot rotate the file, because another process might rotate it at the
    /// same time; `logrotate` can rotate the file.
    pub fn unlocked(mut self) -> Self {
        self.is_locked = false;
        self
    }

    /// Replaces the clock, for tests.
    #[cfg(test)]
    pub(super) fn clock(mut self, clock: fn() -> SystemTime) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the file, and creates it if it does not exist. The folder of the file must exist.
    ///
    /// # Errors
    /// Each error names the path.
    /// * [`ResourceBusy`](io::ErrorKind::ResourceBusy): another sink writes the file, in this process or in
    ///   another process. This error comes after half a second, which gives the other sink time to end.
    /// * [`InvalidInput`](io::ErrorKind::InvalidInput): the settings contradict each other, or are not possible
    ///   for the file at this path.
    /// * The system's error if the file or its lock cannot be opened.
    pub fn open(self) -> io::Result<FileSink> {
        // The path is made absolute, because a process may change its directory before it opens the file
        // again.
        let path = absolute(&self.path)?;
        let shown = path.display().to_string();
        self.open_at(path).map_err(|error| io::Error::new(error.kind(), format!("log file {shown}: {error}")))
    }

    fn open_at(self, path: PathBuf) -> io::Result<FileSink> {
        let contradicts = |what| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if self.rotation.dates.is_some() && !self.rotation.is_on() {
            return contradicts("dated() without rotation: nothing would get a name with a date");
        }
        #[cfg(feature = "gzip")]
        if self.is_compressed && self.rotation.dates.is_none() {
            return contradicts(
                "compressed() without dated(): files with numbers move while they are compressed",
            );
        }
        if self.rotation.is_on() {
            match (self.rotation.keep, self.rotation.at_bytes) {
                (0, _) => return contradicts("keep(0) would remove lines at each rotation"),
                _ if !self.is_locked => {
                    return contradicts(
                        "unlocked() and rotation: two sinks would rename the file under each other; leave that to logrotate",
                    );
                }
                (_, Some(0)) => return contradicts("rotate_at_bytes(0) leaves no room for a line"),
                _ => {}
            }
            if path.is_symlink() {
                return contradicts("a link cannot be rotated: give the path of the file itself");
            }
        }
        #[cfg(unix)]
        if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            if self.rotation.is_on() {
                return contradicts("it is no file, and cannot be rotated");
            }
            return Ok(FileSink(Target::Device(super::device::Device::open(path)?)));
        }
        survive_the_size_limit()?;
        let (options, mut beside) = (self.options(), self.lock_options());
        let lock = self.is_locked.then_some(&mut beside);
        #[cfg(feature = "gzip")]
        let compressor = self.is_compressed.then(|| Compressor::new(path.clone(), options.clone()));
        let file = Regular::open(path, options, self.rotation, lock, self.clock)?;
        #[cfg(feature = "gzip")]
        let file = file.compressed_by(compressor);
        Ok(FileSink(Target::Regular(Box::new(file))))
    }

    fn options(&self) -> OpenOptions {
        let mut options = self.lock_options();
        // The file is also opened for reading, to check whether its last line ends with a line feed.
        options.read(true).append(true).create(true);
        options
    }

    #[cfg(unix)]
    fn lock_options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.mode);
        options
    }

    #[cfg(not(unix))]
    fn lock_options(&self) -> OpenOptions {
        let _ = self.mode;
        OpenOptions::new()
    }
}

/// Sets an empty handler for SIGXFSZ, so that this signal does not end the process. Child processes do not
/// inherit a handler, but would inherit the setting `Ignore`.
#[cfg(unix)]
fn survive_the_size_limit() -> io::Result<()> {
    use signal_hook::{consts::SIGXFSZ, flag};
    use std::sync::Mutex;
    static CAUGHT: Mutex<bool> = Mutex::new(false);
    let mut is_caught = CAUGHT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !*is_caught {
        flag::register(SIGXFSZ, std::sync::Arc::default())?;
        *is_caught = true;
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
fn survive_the_size_limit() -> io::Result<()> {
    Ok(())
}
