//! Files below one directory.
//!
//! # No way out
//!
//! A path is split at its slashes first and decoded then, and each part has to be one plain name. So `..`, a
//! backslash, an encoded slash, a drive letter or NUL never reach the file system. What remains are symbolic
//! links: the file that a path leads to is found first and then has to lie below the root. (Somebody who can
//! change the directory at the right moment could still slip a link in between; they could as well put
//! the file there.)

use crate::http::{Body, Part, Request, Response, Status, Validators, has_valid_escapes};
use percent_encoding::percent_decode_str;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// The files below a directory, by path.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Serves what is below `root`.
    ///
    /// # Errors
    ///
    /// If `root` is not a directory that can be read.
    pub fn below(root: &Path) -> io::Result<Files> {
        let root = root.canonicalize()?;
        fs::read_dir(&root)?;
        Ok(Files { root })
    }

    /// The file that the request asks for, or the error page.
    ///
    /// A directory stands for its `index.html`; asked for without its slash, it is a redirect, or the relative
    /// links of that page would lead elsewhere.
    pub fn respond(&self, request: &Request<'_>) -> Response {
        let found = match decode(request.path) {
            Ok(relative) => self.find(&relative, request),
            Err(status) => Err(status),
        };
        found.unwrap_or_else(|status| self.error(status))
    }

    fn find(&self, relative: &Path, request: &Request<'_>) -> Result<Response, Status> {
        let wants_directory = request.path.ends_with('/');
        let mut path = self.resolve(relative)?;
        if path.is_dir() {
            if !wants_directory {
                let query = request.query.map_or_else(String::new, |query| format!("?{query}"));
                return Ok(Response::redirect(format!("{}/{query}", request.path)));
            }
            path = self.resolve(&relative.join("index.html"))?;
        } else if wants_directory {
            return Err(Status::NotFound);
        }
        let (file, length, validators) = open(&path)?;
        let response = if validators.client_is_current(request) {
            Response::not_modified()
        } else {
            send_part(Part::requested_by(request, length, &validators), file, length, content_type(&path))
                .map_err(|error| status_of(&error))?
        };
        // Ask before using a copy again: the next build of a book is a minute away.
        let response = response.header("Cache-Control", "no-cache").header("ETag", validators.etag);
        let response = response.header("Accept-Ranges", "bytes");
        Ok(match validators.last_modified {
            Some(date) => response.header("Last-Modified", date),
            None => response,
        })
    }

    /// Follows symbolic links, and finds nothing outside the root.
    fn resolve(&self, relative: &Path) -> Result<PathBuf, Status> {
        let path = self.root.join(relative).canonicalize().map_err(|error| status_of(&error))?;
        if path.starts_with(&self.root) { Ok(path) } else { Err(Status::NotFound) }
    }

    fn error(&self, status: Status) -> Response {
        if status == Status::NotFound
            && let Ok(path) = self.resolve(Path::new("404.html"))
            && let Ok((file, length, _)) = open(&path)
        {
            return Response::new(status, content_type(&path), Body::File { file, length });
        }
        Response::error(
            status,
            match status {
                Status::NotFound => "there is no such page",
                Status::Forbidden => "this file may not be read",
                Status::BadRequest => "the path is not percent-encoded text",
                Status::ServiceUnavailable => "too many files are open",
                _ => "the file cannot be read",
            },
        )
    }
}

fn send_part(part: Part, mut file: File, whole: u64, content_type: String) -> io::Result<Response> {
    Ok(match part {
        Part::Whole => Response::new(Status::Ok, content_type, Body::File { file, length: whole }),
        Part::Range { start, length } => {
            file.seek(SeekFrom::Start(start))?;
            let range = format!("bytes {start}-{}/{whole}", start + length - 1);
            let body = Body::File { file, length };
            Response::new(Status::PartialContent, content_type, body).header("Content-Range", range)
        }
        Part::Missing => {
            let what = format!("the file has {whole} bytes");
            Response::error(Status::RangeNotSatisfiable, &what)
                .header("Content-Range", format!("bytes */{whole}"))
        }
    })
}

/// The relative path that a request's path stands for.
fn decode(path: &str) -> Result<PathBuf, Status> {
    let mut relative = PathBuf::new();
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(relative);
    }
    for part in path.split('/') {
        if !has_valid_escapes(part) {
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
    // `a/` and `a/.` are one component too. A colon names a stream or a drive on Windows, a backslash separates.
    is_one_name && !name.contains(['/', '\\', '\0']) && !(cfg!(windows) && name.contains(':'))
}

/// Opens a regular file. Opening a named pipe would wait for its other end, so the kind is looked at first.
fn open(path: &Path) -> Result<(File, u64, Validators), Status> {
    let open = || -> io::Result<_> {
        if !fs::metadata(path)?.is_file() {
            return Err(ErrorKind::NotFound.into());
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        let validators = Validators::new(metadata.modified()?, metadata.len());
        Ok((file, metadata.len(), validators))
    };
    open().map_err(|error| status_of(&error))
}

fn status_of(error: &io::Error) -> Status {
    match error.kind() {
        ErrorKind::PermissionDenied => Status::Forbidden,
        // Also a path whose names are too long, or that goes through a file or round a loop of links.
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => Status::NotFound,
        _ if is_loop(error) => Status::NotFound,
        _ if is_out_of_descriptors(error) => Status::ServiceUnavailable,
        _ => Status::InternalServerError,
    }
}

/// `ELOOP`, for which there is no stable `ErrorKind`.
fn is_loop(error: &io::Error) -> bool {
    let code = if cfg!(target_os = "macos") { 62 } else { 40 };
    cfg!(unix) && error.raw_os_error() == Some(code)
}

/// `EMFILE` and `ENFILE`, for which there is no `ErrorKind`.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
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
        for path in [
            "/..",
            "/../",
            "/a/../b",
            "/%2e%2e/b",
            "/.%2E/b",
            "/./b",
            "/a/.",
            "//etc/passwd",
            "/a//b",
            "/a%2Fb",
            "/%2fetc",
            "/a%2F",
            "/..%5Cb",
            "/a\\b",
            "/a%00b",
            "/%00",
        ] {
            assert_eq!(decode(path), Err(Status::NotFound), "{path}");
        }
        for path in ["/%", "/%4", "/%zz", "/a%+1", "/%ff", "/%c3"] {
            assert_eq!(decode(path), Err(Status::BadRequest), "{path}");
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
