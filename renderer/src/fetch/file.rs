//! Files of this machine.

use super::{Fetched, Step, read_at_most};
use crate::gap::Gap;
use executor::CancelToken;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use url::Url;

/// Reads a file. Only a regular one: a device or a pipe may never come to an end.
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

fn open(path: &Path) -> Result<File, Gap> {
    // Asked before it is opened, because opening a pipe waits for its other end.
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
