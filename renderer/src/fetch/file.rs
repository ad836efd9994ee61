//! Reads files of this machine.

use super::{Fetched, Step};
use crate::gap::Gap;
use executor::{CancelToken, Cancelled};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use url::Url;

/// How many bytes are read between two checks of the token.
const PIECE: usize = 64 << 10;

/// Reads a file; it must be a regular file, because reading a device or a pipe may never end.
pub(super) fn read(url: &Url, limit: u64, token: &CancelToken) -> Step<Fetched> {
    let Ok(path) = url.to_file_path() else {
        return Ok(Err(Gap::Unusable("the address is not that of a file of this machine".to_owned())));
    };
    let file = match open(&path) {
        Ok(file) => file,
        Err(gap) => return Ok(Err(gap)),
    };
    Ok(match read_at_most(file, limit, token)? {
        Ok(Ok(bytes)) => Ok(Fetched { bytes, content_type: None, url: url.clone() }),
        Ok(Err(gap)) => Err(gap),
        Err(error) => Err(unreadable(&error)),
    })
}

/// Returns the first bytes of a file, if the program may read the file and it is not empty.
pub(crate) fn beginning(url: &Url, length: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open(&url.to_file_path().ok()?).ok()?;
    file.take(length).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn open(path: &Path) -> Result<File, Gap> {
    // The kind of the file is checked before the file is opened, because opening a pipe waits until
    // another process opens its other end.
    let what = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !what.is_file() {
        return Err(Gap::Unreachable("it is no regular file".to_owned()));
    }
    File::open(path).map_err(|error| unreadable(&error))
}

fn unreadable(error: &io::Error) -> Gap {
    Gap::Unreachable(match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "the file may not be read".to_owned(),
        _ => format!("the file cannot be read ({error})"),
    })
}

/// Returns all bytes of a reader, or a gap if there are more than `limit` bytes.
fn read_at_most(
    reader: impl Read,
    limit: u64,
    token: &CancelToken,
) -> Result<io::Result<Result<Vec<u8>, Gap>>, Cancelled> {
    let (mut bytes, mut reader) = (Vec::new(), reader.take(limit.saturating_add(1)));
    loop {
        token.check()?;
        match (&mut reader).take(PIECE as u64).read_to_end(&mut bytes) {
            Ok(0) => return Ok(Ok(Ok(bytes))),
            Ok(_) if bytes.len() as u64 > limit => return Ok(Ok(Err(Gap::TooManyBytes { limit }))),
            Ok(_) => (),
            Err(error) => return Ok(Err(error)),
        }
    }
}
