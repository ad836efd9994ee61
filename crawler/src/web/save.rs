//! Pages as files: where each goes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// Bytes that a name may have on most file systems, and room for what is added.
const LONGEST_NAME: usize = 200;

/// Writes a page beside its file, and then puts it in the file's place: the file is whole or not there.
pub(super) fn write(directory: &Path, url: &Url, body: &[u8]) -> io::Result<()> {
    let path = path(directory, url);
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    let mut beside = path.clone().into_os_string();
    beside.push(".part");
    let mut file = File::create(&beside)?;
    file.write_all(body)?;
    fs::rename(beside, path)
}

/// Host, port and path, with the query in the name. No two addresses have the same file, and none is outside of the directory.
fn path(directory: &Path, url: &Url) -> PathBuf {
    let port = url.port().map(|port| format!("+{port}")).unwrap_or_default();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).replace(':', "+");
    let mut path = directory.join(format!("{}+{host}{port}", url.scheme()));
    let mut pieces: Vec<_> = url.path_segments().into_iter().flatten().map(name).collect();
    // What ends with a slash is a directory, and `index.html` is what `%index` is for all others.
    let last = pieces.pop().filter(|last| !last.is_empty()).unwrap_or_else(|| "%index".to_owned());
    path.extend(pieces.iter().map(|piece| format!("{piece}%")));
    path.join(url.query().map_or(last.clone(), |query| name(&format!("{last}%3F{query}"))))
}

/// A piece of a path as a name. Addresses have percent signs only before two digits, so what is added with one is unlike all of them.
fn name(piece: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.~%=&+,".contains(c) {
            c.to_string()
        } else {
            format!("%{:02X}", u32::from(c))
        }
    };
    let name: String = piece.chars().map(safe).collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let sum = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{}%{sum:016x}", &name[..LONGEST_NAME - 20])
}
