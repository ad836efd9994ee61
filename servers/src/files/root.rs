//! A directory, and functions that open the files below it.
//!
//! The program must not examine a path first and open it afterwards. Between the two steps, another program
//! could replace the file by a link, or by a named pipe; opening a pipe waits until another process opens the
//! other end of the pipe. So this module opens a file in one step that can neither leave the directory nor
//! wait; the module then asks the descriptor what kind of file it is.
//!
//! | system | how a path is opened | links |
//! |---|---|---|
//! | Linux from 5.6 | `openat2` with `RESOLVE_BENEATH`, one system call | followed if they stay below the directory; an absolute link is not followed |
//! | other Unix, older Linux | `openat` with `O_NOFOLLOW`, one name at a time | not followed |
//! | others | the path is resolved, compared with the path of the directory, then opened | followed if they stay below the directory; but a link that is changed between the steps can lead out |
//!
//! The directory itself is opened only once. If the path later leads to another directory, the server still
//! serves the old directory.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// The file or directory that a path leads to.
pub(super) enum Found {
    File(Arc<File>, Metadata),
    Directory,
}

#[cfg(unix)]
pub(super) use by_descriptor::Root;
#[cfg(not(unix))]
pub(super) use by_path::Root;

#[cfg(unix)]
mod by_descriptor {
    use super::{Arc, ErrorKind, File, Found, Path, io};
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use std::os::fd::OwnedFd;

    /// The flags for opening a file. Opening a named pipe without `NONBLOCK` would wait; for a regular
    /// file the flag changes nothing.
    const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    #[derive(Debug)]
    pub(crate) struct Root {
        directory: OwnedFd,
        has_openat2: bool,
    }

    impl Root {
        pub(crate) fn open(path: &Path) -> io::Result<Root> {
            let directory = openat(CWD, path, DIRECTORY, Mode::empty())?;
            // False if the kernel is too old to have `openat2`, or if a sandbox forbids unknown system calls.
            let has_openat2 = in_one_step(&directory, Path::new("."), DIRECTORY).is_ok();
            Ok(Root { directory, has_openat2 })
        }

        /// `relative` must consist of plain names.
        pub(crate) fn find(&self, relative: &Path) -> io::Result<Found> {
            let descriptor = if self.has_openat2 {
                in_one_step(&self.directory, relative, FILE)?
            } else {
                name_by_name(&self.directory, relative)?
            };
            let file = File::from(descriptor);
            let metadata = file.metadata()?;
            match metadata.file_type() {
                kind if kind.is_file() => Ok(Found::File(Arc::new(file), metadata)),
                kind if kind.is_dir() => Ok(Found::Directory),
                _ => Err(ErrorKind::NotFound.into()),
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn in_one_step(directory: &OwnedFd, relative: &Path, how: OFlags) -> io::Result<OwnedFd> {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;

        /// How often the program tries to open a file. While a file below the directory is being renamed,
        /// the system perhaps cannot tell whether a `..` in a link stays below the directory. Then the
        /// system returns an error that asks the program to try again.
        const ATTEMPTS: usize = 10;
        let below = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match openat2(directory, relative, how, Mode::empty(), below) {
                Err(Errno::AGAIN) => {}
                opened => return Ok(opened?),
            }
        }
        Err(Errno::AGAIN.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn in_one_step(_: &OwnedFd, _: &Path, _: OFlags) -> io::Result<OwnedFd> {
        Err(ErrorKind::Unsupported.into())
    }

    fn name_by_name(directory: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
        let (parents, name) = (relative.parent(), relative.file_name().ok_or(ErrorKind::NotFound)?);
        let mut inner: Option<OwnedFd> = None;
        for parent in parents.into_iter().flat_map(Path::iter) {
            let at = inner.as_ref().unwrap_or(directory);
            inner = Some(openat(at, parent, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?);
        }
        let at = inner.as_ref().unwrap_or(directory);
        Ok(openat(at, name, FILE | OFlags::NOFOLLOW, Mode::empty())?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::fs;
        use std::io::Read;
        use std::os::unix::fs::symlink;

        /// Opens the file or directory at `path`: by `openat2` on systems that have that call, and
        /// otherwise name by name.
        fn both(root: &Path, path: &str) -> [io::Result<String>; 2] {
            let root = Root::open(root).unwrap();
            [root.has_openat2, false].map(|has_openat2| {
                let root = Root { directory: root.directory.try_clone().unwrap(), has_openat2 };
                match root.find(Path::new(path))? {
                    Found::Directory => Ok("a directory".to_owned()),
                    Found::File(file, _) => {
                        let mut text = String::new();
                        (&*file).read_to_string(&mut text)?;
                        Ok(text)
                    }
                }
            })
        }

        #[test]
        fn what_is_below_is_found() {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("a/b")).unwrap();
            fs::write(root.path().join("a/b/file"), "here").unwrap();
            for (path, expected) in [("a/b/file", "here"), ("a/b", "a directory"), ("a", "a directory")] {
                for found in both(root.path(), path) {
                    assert_eq!(found.unwrap(), expected, "{path}");
                }
            }
            for path in ["b", "a/file", "a/b/file/c"] {
                assert!(both(root.path(), path).iter().all(Result::is_err), "{path}");
            }
        }

        #[test]
        fn no_link_leads_out() {
            let outer = tempfile::tempdir().unwrap();
            let root = outer.path().join("root");
            fs::create_dir(&root).unwrap();
            fs::write(outer.path().join("secret"), "secret").unwrap();
            fs::write(root.join("file"), "here").unwrap();
            symlink("../secret", root.join("out")).unwrap();
            symlink("..", root.join("up")).unwrap();
            symlink("/etc", root.join("absolute")).unwrap();
            symlink("loop", root.join("loop")).unwrap();
            for path in ["out", "up/secret", "up/root/file", "absolute/passwd", "loop"] {
                assert!(both(&root, path).iter().all(Result::is_err), "{path}");
            }
            symlink("file", root.join("in")).unwrap();
            let [by_openat2, by_name] = both(&root, "in");
            assert_eq!(by_openat2.is_ok(), Root::open(&root).unwrap().has_openat2);
            assert!(by_name.is_err(), "links are not followed where no system call can keep them below");
        }

        #[test]
        fn only_a_directory_is_a_root() {
            let file = tempfile::NamedTempFile::new().unwrap();
            assert!(Root::open(file.path()).is_err());
        }
    }
}

#[cfg(not(unix))]
mod by_path {
    use super::{Arc, ErrorKind, File, Found, Path, io};
    use std::fs;
    use std::path::PathBuf;

    #[derive(Debug)]
    pub(crate) struct Root(PathBuf);

    impl Root {
        pub(crate) fn open(path: &Path) -> io::Result<Root> {
            let root = path.canonicalize()?;
            fs::read_dir(&root)?;
            Ok(Root(root))
        }

        /// `relative` must consist of plain names.
        pub(crate) fn find(&self, relative: &Path) -> io::Result<Found> {
            let path = self.0.join(relative).canonicalize()?;
            if !path.starts_with(&self.0) {
                return Err(ErrorKind::NotFound.into());
            }
            if fs::metadata(&path)?.is_dir() {
                return Ok(Found::Directory);
            }
            let file = File::open(&path)?;
            match file.metadata()? {
                metadata if metadata.is_file() => Ok(Found::File(Arc::new(file), metadata)),
                _ => Err(ErrorKind::NotFound.into()),
            }
        }
    }
}
