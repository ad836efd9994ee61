//! Saves pages as files: each page has a file of its own.

use crate::web::sites::urls::{Octet, octets};
use anyhow::Context;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use url::Url;

/// The length of a file name, in bytes, that most file systems allow, minus some room for suffixes.
const LONGEST_NAME: usize = 200;

/// The largest total length, in bytes, of the names of a page. Systems allow 4096 bytes, of which the
/// directory uses a part.
const LONGEST_PATH: usize = 2000;

/// A directory into which all threads of a run write pages.
pub struct Saver {
    directory: PathBuf,
    /// Hashes of the directories that are known to be durable, together with all directories above them.
    durable: Mutex<HashSet<u64>>,
    sum: RandomState,
}

impl Saver {
    /// Creates a saver that writes pages below the given directory. The directory is created for the first
    /// page.
    pub fn new(directory: &Path) -> Saver {
        Saver { directory: directory.to_owned(), durable: Mutex::default(), sum: RandomState::new() }
    }

    /// Returns true if the page has a file.
    pub fn has(&self, url: &Url) -> bool {
        path(&self.directory, url).is_file()
    }

    /// Writes a page into its file before the state records the page as fetched, and waits until the file
    /// and its name are on the disk. So every page that is recorded as fetched has a complete file, and a
    /// file that a crash or a power failure has cut off is written again.
    pub(super) fn write(&self, url: &Url, body: &[u8]) -> anyhow::Result<()> {
        self.try_to_write(url, body).with_context(|| self.directory.display().to_string())
    }

    fn try_to_write(&self, url: &Url, body: &[u8]) -> io::Result<()> {
        let path = path(&self.directory, url);
        let above = path.parent().expect("the directory of its site");
        let mut file = match File::create(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(above)?; // most directories exist, so this is the second try
                File::create(&path)?
            }
            file => file?,
        };
        file.write_all(body)?;
        file.sync_all()?;
        sync(above)?; // the name of a file is in its directory
        self.sync_names_of(above)
    }

    /// Waits until the names of a directory, and of the directories above it, are on the disk. Another
    /// thread may have created one of the directories just now.
    fn sync_names_of(&self, directory: &Path) -> io::Result<()> {
        let durable = || self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        let made = directory.ancestors().take_while(|above| above.starts_with(&self.directory));
        let sums = made.map(|made| (made, self.sum.hash_one(made)));
        let new: Vec<_> = sums.take_while(|(_, sum)| !durable().contains(sum)).collect();
        for (made, _) in &new {
            let above = made.parent().filter(|above| !above.as_os_str().is_empty());
            sync(above.unwrap_or(Path::new(".")))?;
        }
        durable().extend(new.into_iter().map(|(_, sum)| sum));
        Ok(())
    }
}

/// Waits until the names in a directory are on the disk.
#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Does nothing: on this system, a directory cannot be opened as a file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as where it can fail")]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the path of a page's file: scheme, host and port, and then the path, with the query in the last
/// name. For all addresses, no two pages have the same file, no file is in the place of a directory, and no
/// file is outside of `directory`. (On a file system that ignores case, two names that differ only in case
/// are the same.)
pub fn path(directory: &Path, url: &Url) -> PathBuf {
    let port = url.port().map(|port| format!("+{port}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).replace(':', "+");
    let site = directory.join(format!("{}+{host}{port}", url.scheme()));
    let mut names: Vec<_> = url.path_segments().into_iter().flatten().map(name).collect();
    let last = names.pop().filter(|last| !last.is_empty()).unwrap_or_else(|| "%index".to_owned());
    let query = url.query().map(|query| format!("%q{}", name(query))).unwrap_or_default();
    for name in &mut names {
        *name = shortened(&format!("{name}%"));
    }
    names.push(shortened(&format!("{last}{query}")));
    if names.iter().map(String::len).sum::<usize>() > LONGEST_PATH {
        return site.join(format!("%long{:016x}", sum(&names.join("/"))));
    }
    site.join(names.iter().collect::<PathBuf>())
}

/// Turns a piece of an address into a file name in which each `%` is followed by two digits, or by a `p`
/// and two digits. So a suffix that begins with `%` and another character cannot occur in an escaped name.
fn name(piece: &str) -> String {
    let mut name = String::with_capacity(piece.len());
    for octet in octets(piece.as_bytes()) {
        match octet {
            Octet::Plain(byte) if byte.is_ascii_alphanumeric() || b"-_.~=&+,".contains(&byte) => {
                name.push(char::from(byte));
            }
            Octet::Plain(byte) => name.extend(["%p".to_owned(), format!("{byte:02X}")]),
            Octet::Encoded(byte) => name.extend(["%".to_owned(), format!("{byte:02X}")]),
        }
    }
    name
}

/// Shortens a name if it is too long: keeps the beginning of the name, and adds a hash of the whole name.
fn shortened(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let kept = &name[..LONGEST_NAME - 20];
    let end = if name.ends_with('%') { "%" } else { "" }; // the short name of a directory also ends in `%`
    format!("{kept}%s{:016x}{end}", sum(name))
}

/// Returns the FNV-1a hash of a text.
fn sum(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_page_is_in_the_way_of_another() {
        let long = "x".repeat(3000);
        let addresses = [
            "http://a/",
            "http://a/%index",
            "http://a/%25index",
            "http://a//",
            "http://a/b",
            "http://a/b/",
            "http://a/b/c",
            "http://a/b%",
            "http://a/b%25",
            "http://a/b%/",
            "http://a/b?c",
            "http://a/b%3Fc",
            "http://a/b%qc",
            "http://a/?b",
            "http://a/b%new",
            "http://a/b%new",
            "http://a/b?",
            "http://a:8080/b",
            "https://a/b",
            "http://b/b",
            "http://[::1]/b",
            "http://a/%2e%2e%2fb",
            "http://a/..%2fb",
            "http://a/.%00",
            "http://a/c?d/../../e",
            "http://a/é",
            "http://a/'",
            "http://a/%27",
            "http://a/%p27",
            "http://a/e\\f",
            &format!("http://a/{long}"),
            &format!("http://a/{long}y"),
            &format!("http://a/{long}/"),
            &format!("http://a/{long}/y"),
            &format!("http://a/{}", "d/".repeat(3000)),
            &format!("http://a/{}e", "d/".repeat(3000)),
        ];
        let folder = tempfile::tempdir().unwrap();
        let urls: BTreeSet<_> = addresses.iter().map(|address| Url::parse(address).unwrap()).collect();
        let saver = Saver::new(folder.path());
        for url in &urls {
            assert!(!saver.has(url), "{url}");
            saver.write(url, url.as_str().as_bytes()).unwrap_or_else(|error| panic!("{url}: {error}"));
        }
        for url in &urls {
            let path = path(folder.path(), url);
            assert_eq!(fs::read_to_string(&path).unwrap(), url.as_str(), "{}", path.display());
            assert!(fs::canonicalize(&path).unwrap().starts_with(fs::canonicalize(folder.path()).unwrap()));
        }
    }
}
