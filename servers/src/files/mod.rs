//! Serves the files below one directory.
//!
//! # No way out
//!
//! A path is first split at its slashes and then decoded; each part must be a plain name. So `..`, a
//! backslash, an encoded slash, a drive letter and NUL never reach the file system. Two dangers remain:
//! symbolic links that lead out of the directory, and named pipes, because opening a pipe can wait forever.
//! The documentation of the module `root` says how that module opens a file without these dangers. The module
//! `kept` keeps an opened file for a second.
//!
//! # Hidden
//!
//! A name that begins with a dot is not found. Directories such as `.git` and files such as `.env` often lie
//! beside the pages, but readers of the pages must not see them. [`Files::with_dot_files`] also serves files
//! and directories with such names. `/.well-known` is always served, because RFC 8615 defines it for
//! clients; a hidden file in that directory is not served.

mod kept;
mod root;

use crate::http::{Body, Part, Precondition, Request, Response, Status, Validators, has_valid_escapes};
use kept::Kept;
use percent_encoding::percent_decode_str;
use root::{Found, Root};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The files below a directory, by path.
#[derive(Debug)]
pub struct Files {
    root: Root,
    kept: Kept,
    serves_hidden: bool,
}

impl Files {
    /// Serves the files below `root`, except names that begin with a dot.
    ///
    /// # Errors
    ///
    /// Returns an error if `root` is not a directory that can be read.
    pub fn below(root: &Path) -> io::Result<Files> {
        Ok(Files { root: Root::open(root)?, kept: Kept::default(), serves_hidden: false })
    }

    /// Sets whether names that begin with a dot are also served.
    #[must_use]
    pub fn with_dot_files(mut self, yes: bool) -> Files {
        self.serves_hidden = yes;
        self
    }

    /// Answers with the file that the request asks for, or with an error page.
    ///
    /// For a directory, the server answers with its `index.html`. If the path of a directory lacks its
    /// final slash, the server redirects the client, because otherwise the relative links of that
    /// directory's page would lead elsewhere.
    pub fn respond(&self, request: &Request<'_>) -> Response {
        self.find(request).unwrap_or_else(|status| self.error(status))
    }

    fn find(&self, request: &Request<'_>) -> Result<Response, Status> {
        let mut relative = decode(request.path)?;
        if !self.serves_hidden && is_hidden(&relative) {
            return Err(Status::NotFound);
        }
        let wants_directory = request.path.ends_with('/');
        if wants_directory {
            relative.push("index.html");
        }
        match self.open(&relative).map_err(|error| status_of(&error))? {
            Found::File(file, metadata) => respond_with(request, file, &metadata, &relative),
            Found::Directory if wants_directory => Err(Status::NotFound),
            Found::Directory => {
                let query = request.query.map_or_else(String::new, |query| format!("?{query}"));
                Ok(Response::redirect(format!("{}/{query}", request.path)))
            }
        }
    }

    fn open(&self, relative: &Path) -> io::Result<Found> {
        if let Some((file, metadata)) = self.kept.find(relative) {
            return Ok(Found::File(file, metadata));
        }
        let before = Instant::now();
        let found = self.root.find(relative)?;
        if let Found::File(file, _) = &found {
            self.kept.keep(relative, file, before);
        }
        Ok(found)
    }

    fn error(&self, status: Status) -> Response {
        let page = Path::new("404.html");
        if status == Status::NotFound
            && let Ok(Found::File(file, metadata)) = self.open(page)
        {
            return Response::new(
                status,
                content_type(page),
                Body::File { file, start: 0, length: metadata.len() },
            );
        }
        Response::error(
            status,
            match status {
                Status::NotFound => "there is no such page",
                Status::Forbidden => "this file may not be read",
                Status::BadRequest => "the path is not percent-encoded text",
                Status::ServiceUnavailable => "the file cannot be opened just now; try again later",
                _ => "the file cannot be read",
            },
        )
    }
}

fn respond_with(
    request: &Request<'_>,
    file: Arc<File>,
    metadata: &Metadata,
    path: &Path,
) -> Result<Response, Status> {
    let length = metadata.len();
    let modified = metadata.modified().map_err(|error| status_of(&error))?;
    let validators = Validators::new(modified, length);
    let response = match validators.precondition(request) {
        Precondition::Failed => Response::error(
            Status::PreconditionFailed,
            "the file is in another state than the request is for",
        ),
        Precondition::NotModified => Response::not_modified(),
        Precondition::Holds => {
            let part = Part::requested_by(request, length, &validators);
            send_part(part, file, length, content_type(path))
        }
    };
    // Tells clients to ask the server before they use a copy again, because a book may be built anew at any
    // time.
    let response = response.header("Cache-Control", "no-cache").header("ETag", validators.etag);
    let response = response.header("Accept-Ranges", "bytes");
    Ok(match validators.last_modified {
        Some(date) => response.header("Last-Modified", date),
        None => response,
    })
}

fn send_part(part: Part, file: Arc<File>, whole: u64, content_type: String) -> Response {
    match part {
        Part::Whole => Response::new(Status::Ok, content_type, Body::File { file, start: 0, length: whole }),
        Part::Range { start, length } => {
            let range = format!("bytes {start}-{}/{whole}", start + length - 1);
            let body = Body::File { file, start, length };
            Response::new(Status::PartialContent, content_type, body).header("Content-Range", range)
        }
        Part::Missing => {
            let what = format!("the file has {whole} bytes");
            Response::error(Status::RangeNotSatisfiable, &what)
                .header("Content-Range", format!("bytes */{whole}"))
        }
    }
}

/// Returns the relative path that belongs to the path of a request.
fn decode(path: &str) -> Result<PathBuf, Status> {
    let mut relative = PathBuf::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(relative);
    }
    for part in path.split('/') {
        if !has_valid_escapes(part.as_bytes()) {
            return Err(Status::BadRequest);
        }
        let name = percent_decode_str(part).decode_utf8().map_err(|_| Status::BadRequest)?;
        if !is_plain_name(&name) {
            return Err(Status::NotFound);
        }
        relative.push(&*name);
    }
    Ok(relative)
}

fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let is_one_name = matches!((components.next(), components.next()), (Some(Component::Normal(_)), None));
    // `a/` and `a/.` would also parse as a single component. On Windows a backslash separates names, a colon
    // names a stream or a drive, and `GIT~1` may be another name of `.git`.
    is_one_name && !name.contains(['/', '\\', '\0']) && !(cfg!(windows) && name.contains([':', '~']))
}

fn is_hidden(relative: &Path) -> bool {
    let begins_with_dot = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    relative.strip_prefix(".well-known").unwrap_or(relative).iter().any(begins_with_dot)
}

fn status_of(error: &io::Error) -> Status {
    match error.kind() {
        ErrorKind::PermissionDenied => Status::Forbidden,
        // The system also returns this error if a name in the path is too long, or if the path leads through
        // a file or out of the directory.
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput
        | ErrorKind::CrossesDevices => Status::NotFound,
        // The system returns this error if the file is being renamed, or another program has a
        // lease on it.
        ErrorKind::WouldBlock => Status::ServiceUnavailable,
        _ => status_of_unnamed(error),
    }
}

/// Maps the errors that have no stable `ErrorKind`.
#[cfg(unix)]
fn status_of_unnamed(error: &io::Error) -> Status {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        // The system returns this error for a loop of links, for a link that it must not follow, and for a
        // socket.
        Some(Errno::LOOP | Errno::NXIO) => Status::NotFound,
        Some(Errno::MFILE | Errno::NFILE) => Status::ServiceUnavailable,
        _ => Status::InternalServerError,
    }
}

#[cfg(not(unix))]
fn status_of_unnamed(_: &io::Error) -> Status {
    Status::InternalServerError
}

fn content_type(path: &Path) -> String {
    let mime = mime_guess::from_path(path).first_or_octet_stream();
    let is_text = mime.type_() == mime_guess::mime::TEXT || mime.subtype() == mime_guess::mime::JAVASCRIPT;
    if is_text { format!("{mime}; charset=utf-8") } else { mime.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_by_part() {
        assert_eq!(decode("/"), Ok(PathBuf::new()));
        assert_eq!(decode("/a%20b/%C3%A4.html"), Ok(["a b", "ä.html"].iter().collect()));
        assert_eq!(decode("/a/"), Ok(PathBuf::from("a")));
        assert_eq!(decode("/..a/b.."), Ok(["..a", "b.."].iter().collect()));
    }

    #[test]
    fn no_part_of_a_path_leads_anywhere_but_down() {
        let paths = r"/.. /../ /a/../b /%2e%2e/b /.%2E/b /./b /a/. //etc/passwd /a//b /a%2Fb /%2fetc /a%2F /..%5Cb /a\b /a%00b /%00";
        for path in paths.split(' ') {
            assert_eq!(decode(path), Err(Status::NotFound), "{path}");
        }
        for path in ["/%", "/%4", "/%zz", "/a%+1", "/%ff", "/%c3"] {
            assert_eq!(decode(path), Err(Status::BadRequest), "{path}");
        }
    }

    #[test]
    fn names_that_begin_with_a_dot_are_hidden_but_for_the_well_known() {
        let hidden = "/.git/config /.env /a/.b /.well-known/.a /a/.well-known/b /..a /.well-known-too";
        for path in hidden.split(' ') {
            assert!(is_hidden(&decode(path).unwrap()), "{path}");
        }
        for path in ["/", "/a.b/c.", "/.well-known", "/.well-known/security.txt"] {
            assert!(!is_hidden(&decode(path).unwrap()), "{path}");
        }
    }

    #[test]
    fn text_says_how_it_is_encoded() {
        for (name, expected) in [
            ("a.html", "text/html; charset=utf-8"),
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.css", "text/css; charset=utf-8"),
            ("a.svg", "image/svg+xml"),
            ("a.png", "image/png"),
            ("a.woff2", "font/woff2"),
            ("a.json", "application/json"),
            ("a", "application/octet-stream"),
        ] {
            assert_eq!(content_type(Path::new(name)), expected);
        }
    }
}
