//! Turns a file into text: determines its kind and its encoding, and checks whether the file changed while
//! it was read.

use crate::html;
use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8};
use hypertext::charset;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many bytes at the beginning of a file are examined to decide whether the file is text.
const LOOK: u64 = 8 << 10;

/// How many times a file is read at most, if it changes during each reading.
const ATTEMPTS: usize = 3;

/// The minimum age at which a file's last change identifies its version: a file that has changed more
/// recently may change again and keep the same time. File systems store times in steps of up to two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// Data that differ from one version of a file to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The time at which the file was changed, in nanoseconds since 1970. The value is `i64::MIN` if a
    /// later version of the file could have the same time; then the next run reads the file again.
    pub modified: i64,
    /// The file's size in bytes.
    pub size: u64,
}

/// The content of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// The text of the version that the stamp identifies.
    Text(String, Stamp),
    /// The file has no text to search; the value gives the reason.
    Skipped(Skipped),
}

/// The reason why a file is not indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// The file is not text.
    Binary,
    /// The file is larger than the limit.
    Huge,
    /// The file is a pipe, a socket or a device.
    Special,
}

impl Stamp {
    /// Returns the stamp of a file from the file system's metadata.
    pub fn of(metadata: &Metadata) -> Stamp {
        let modified = metadata.modified().ok().and_then(nanoseconds);
        Stamp { modified: modified.unwrap_or(i64::MIN), size: metadata.len() }
    }

    fn unsettled(self) -> Stamp {
        Stamp { modified: i64::MIN, ..self }
    }

    /// Returns the stamp, but without its time if a later version of the file could have the same time.
    fn settled_at(self, now: SystemTime) -> Stamp {
        let last = nanoseconds(now - SETTLED).unwrap_or(i64::MIN);
        if self.modified < last { self } else { self.unsettled() }
    }
}

fn nanoseconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|nanoseconds| -nanoseconds),
    }
}

/// Reads a file of at most `limit` bytes.
///
/// If a file changes while it is read, this function reads the file again; after some attempts, the function
/// accepts the last content that it has read. The stamp of a file that changed during each reading makes the
/// next run read the file again. Blocks for as long as the file system takes, but never waits for the other
/// end of a pipe.
///
/// # Errors
/// Fails if the file cannot be opened or read; the error gives the system's reason.
pub fn read(path: &Path, limit: u64) -> io::Result<Content> {
    read_while(path, limit, || ())
}

/// Reads a file as [`read`] does, and calls `meanwhile` after reading the file and before checking whether
/// the file has changed.
fn read_while(path: &Path, limit: u64, mut meanwhile: impl FnMut()) -> io::Result<Content> {
    let now = SystemTime::now();
    let mut file = open(path)?;
    let mut stamp = match stamp_of(&file, limit)? {
        Ok(stamp) => stamp,
        Err(skipped) => return Ok(Content::Skipped(skipped)),
    };
    for attempt in 1.. {
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
        (&file).take(LOOK).read_to_end(&mut bytes)?;
        if !is_text(&bytes) {
            return Ok(Content::Skipped(Skipped::Binary));
        }
        (&file).take((limit + 1).saturating_sub(LOOK)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Ok(Content::Skipped(Skipped::Huge));
        }
        meanwhile();
        let after = Stamp::of(&file.metadata()?);
        if after == stamp || attempt == ATTEMPTS {
            let stamp = if after == stamp { stamp.settled_at(now) } else { stamp.unsettled() };
            return Ok(Content::Text(text(bytes, path), stamp));
        }
        (file, stamp) = (open(path)?, after);
    }
    unreachable!("the last attempt returns")
}

fn stamp_of(file: &File, limit: u64) -> io::Result<Result<Stamp, Skipped>> {
    let metadata = file.metadata()?;
    Ok(match metadata.len() {
        _ if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        _ if !metadata.is_file() => Err(Skipped::Special),
        size if size > limit => Err(Skipped::Huge),
        _ => Ok(Stamp::of(&metadata)),
    })
}

/// Opens a file without waiting. The file may have become a pipe since its directory was read, and opening
/// a pipe waits until another process opens the other end.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// Returns true if the bytes are text: they have no zero byte, or begin with a byte order mark of UTF-16.
fn is_text(begin: &[u8]) -> bool {
    Encoding::for_bom(begin).is_some() || !begin.contains(&0)
}

/// Returns the text of a file.
fn text(bytes: Vec<u8>, path: &Path) -> String {
    let is = |known: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(known));
    if is("html") || is("htm") || is("xhtml") {
        return html::text(&charset::decode(&bytes, None, assumed).0, is("xhtml"));
    }
    match Encoding::for_bom(&bytes) {
        Some((encoding, length)) => encoding.decode_without_bom_handling(&bytes[length..]).0.into_owned(),
        None => String::from_utf8(bytes).unwrap_or_else(|error| {
            let bytes = error.as_bytes();
            assumed(bytes).decode_without_bom_handling(bytes).0.into_owned()
        }),
    }
}

/// Returns the encoding of a text without a declared encoding: UTF-8 if the bytes are valid UTF-8, and
/// otherwise a detector's guess.
fn assumed(bytes: &[u8]) -> &'static Encoding {
    if str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new();
    detector.feed(bytes, true);
    detector.guess(None, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// Creates a file whose last change is so long ago that the time of this change identifies the file's
    /// version.
    fn file(name: &str, bytes: &[u8]) -> (TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        age(&path, 1);
        (folder, path)
    }

    fn age(path: &Path, seconds: u64) {
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    fn text_of(content: Content) -> (String, Stamp) {
        match content {
            Content::Text(text, stamp) => (text, stamp),
            Content::Skipped(why) => panic!("{why:?}"),
        }
    }

    #[test]
    fn a_file_is_read_as_of_one_version() {
        let (_folder, path) = file("a.txt", b"first");
        let (text, stamp) = text_of(read(&path, 100).unwrap());
        assert_eq!((text.as_str(), stamp), ("first", Stamp { modified: 1_000_000_000, size: 5 }));
    }

    #[test]
    fn a_file_that_changes_meanwhile_is_read_again() {
        let (_folder, path) = file("a.txt", b"first");
        let mut changes = 0;
        let content = read_while(&path, 100, || {
            changes += 1;
            if changes == 1 {
                fs::write(&path, "second version").unwrap();
                age(&path, 2);
            }
        });
        let (text, stamp) = text_of(content.unwrap());
        assert_eq!((text.as_str(), stamp), ("second version", Stamp { modified: 2_000_000_000, size: 14 }));
    }

    #[test]
    fn a_file_that_does_not_stop_to_change_is_to_be_read_next_time() {
        let (_folder, path) = file("a.txt", b"x");
        let mut changes = 1;
        let content = read_while(&path, 100, || {
            changes += 1;
            fs::write(&path, "x".repeat(changes)).unwrap();
            age(&path, changes as u64);
        });
        let (text, stamp) = text_of(content.unwrap());
        assert_eq!((text.as_str(), stamp.modified, changes), ("xxx", i64::MIN, 4));
    }

    #[test]
    fn a_file_that_shrinks_or_goes_is_no_trouble() {
        let (_folder, path) = file("a.txt", b"a long text");
        let mut first = true;
        let content = read_while(&path, 100, || {
            if std::mem::take(&mut first) {
                fs::write(&path, "a").unwrap();
                age(&path, 3);
            }
        });
        assert_eq!(text_of(content.unwrap()).0, "a");
        let gone = read_while(&path, 100, || {
            age(&path, 4);
            let _ = fs::remove_file(&path);
        });
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_no_text_or_too_much_is_skipped() {
        let (folder, path) = file("a.txt", b"12345");
        assert_eq!(text_of(read(&path, 5).unwrap()).0, "12345");
        assert_eq!(read(&path, 4).unwrap(), Content::Skipped(Skipped::Huge));
        let (_binary, binary) = file("b.txt", b"text\0");
        assert_eq!(read(&binary, 100).unwrap(), Content::Skipped(Skipped::Binary));
        let (_unmarked, unmarked) =
            file("d.txt", &"UTF-16".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
        assert_eq!(read(&unmarked, 100).unwrap(), Content::Skipped(Skipped::Binary));
        let (_empty, empty) = file("c.txt", b"");
        assert_eq!(text_of(read(&empty, 100).unwrap()).0, "");
        assert_eq!(read(folder.path(), 100).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
