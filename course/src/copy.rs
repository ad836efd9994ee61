//! Makes a temporary copy of the project, in which the learner's answer to an exercise can be replaced.
//!
//! # Built in the project's own target directory
//!
//! The target directory already contains builds of most of the packages on which the copy depends. Cargo
//! identifies a package by its path in its workspace; this path is the same in the copy, so Cargo mistakes
//! the packages of the copy for the packages of the project. Cargo also considers a package as already built
//! if the build is as new as the package's files, or newer. These facts have three consequences:
//!
//! * Files keep their times in the copy, so a package that is the same in the project and in the
//!   copy is not built again.
//! * The copy is removed at the end. After that, the sources of the packages that were built from the copy no
//!   longer exist, so Cargo builds these packages again. If the copy remained, Cargo would check the *copy's*
//!   files and miss a change in the project: the next test would run the old build.
//! * The folder of each copy is a folder that no other copy has used. If two copies used one folder, Cargo
//!   could run a build of the first copy in the second copy, because the files of the second copy are older
//!   than this build.

use crate::workspace::{PROGRESS, Workspace, was_built};
use anyhow::Context;
use std::fs::{self, File};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A copy of a project's sources. Dropping this value removes the copy.
#[derive(Debug)]
pub struct Copy {
    workspace: Workspace,
}

impl Copy {
    /// Copies the sources of `workspace` to a new folder in the folder `name` of the target directory,
    /// without hidden files, build output and the learner's progress. Removes an older copy first.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or written.
    pub fn of(workspace: &Workspace, name: &str) -> anyhow::Result<Self> {
        let folder = workspace.target().join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        let to = folder.join(UNIX_EPOCH.elapsed()?.as_nanos().to_string());
        copy_sources(workspace.root(), &to)?;
        Ok(Self { workspace: Workspace::at(to)?.built_in(workspace.target()) })
    }

    /// Returns the copy as a project.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.workspace.root());
        let _ = self.workspace.root().parent().map(fs::remove_dir); // the folder of the copies, if it is empty
    }
}

fn copy_sources(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_string_lossy().starts_with('.');
        if hidden || was_built(&path) || to.starts_with(&path) || name == PROGRESS {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_sources(&path, &to.join(&name))?;
        } else {
            copy_file(&path, &to.join(&name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(fs::metadata(from)?.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_copy_has_the_sources_with_their_times_and_is_gone_in_the_end() {
        let project = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = project.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        };
        let sources = ["Cargo.toml", "course/Cargo.toml", "course/src/lib.rs"];
        let others =
            ["progress.txt", ".git/HEAD", "marked/CACHEDIR.TAG", "target/debug/a", "course/target/a"];
        sources.iter().chain(&others).for_each(|path| write(path));
        let old = SystemTime::now() - Duration::from_hours(1);
        let source = project.path().join(sources[2]);
        File::options().append(true).open(&source).unwrap().set_modified(old).unwrap();

        let workspace = Workspace::at(project.path()).unwrap();
        // The path of the copy does not depend on `CARGO_TARGET_DIR`, because for a target directory without
        // a tag the path itself matters.
        let to = project.path().join("built/copy");
        copy_sources(workspace.root(), &to).unwrap();
        for path in sources {
            assert_eq!(fs::read_to_string(to.join(path)).unwrap(), "text", "{path}");
        }
        for path in others {
            assert!(!to.join(path).exists(), "{path}");
        }
        assert!(!to.join("built").exists());
        let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(time(&to.join(sources[2])), time(&source));
        drop(Copy { workspace: Workspace::at(&to).unwrap() });
        assert!(!to.exists());
    }

    #[test]
    fn no_two_copies_have_the_same_folder() {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir(project.path().join("course")).unwrap();
        for path in ["Cargo.toml", "course/Cargo.toml"] {
            fs::write(project.path().join(path), "text").unwrap();
        }
        let workspace = Workspace::at(project.path()).unwrap().built_in(project.path().join("built"));
        let root = || Copy::of(&workspace, "copy").unwrap().workspace().root().to_owned();
        let (first, second) = (root(), root());
        assert_ne!(first, second);
        assert!(!first.exists() && !second.exists());
    }
}
