//! Finds the directory of the project.
//!
//! `cargo course` runs in the caller's current directory, which may be any directory of the project. If the
//! binary was copied elsewhere, the current directory may be any directory at all. The program first tries
//! the path that the project had at compile time. If the project has moved since then, the program searches
//! the current directory and the directories above it.

use anyhow::{Context, ensure};
use std::env;
use std::path::{self, Path, PathBuf};

/// The name of the file that contains a learner's progress.
pub(crate) const PROGRESS: &str = "progress.txt";

/// The project's root directory, and the paths below it.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    /// The directory for build output, if it is not the directory of the project itself.
    target: Option<PathBuf>,
}

impl Workspace {
    /// Checks that the project is in `root`, and uses `root` as the project's directory.
    pub fn at(root: impl Into<PathBuf>) -> anyhow::Result<Self> {
        // Commands run in different directories, so a relative path would lead to a different place for each
        // command.
        let root = path::absolute(root.into()).context("the current directory cannot be read")?;
        ensure!(
            is_root(&root),
            "{} is not the project's root: it has no course/Cargo.toml. \
             Give the directory that the project was cloned into.",
            root.display()
        );
        Ok(Self { root, target: None })
    }

    /// Finds the project at the path from which Cargo runs this program; or else at the path that the project
    /// had at compile time, or in the current directory and the directories above it. The path at compile time
    /// comes second, because copies of the project that share a target directory also share this program.
    pub fn find() -> anyhow::Result<Self> {
        let here = env::current_dir().context("the current directory cannot be read")?;
        let run_from = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let compiled = Path::new(env!("CARGO_MANIFEST_DIR"));
        let packages = run_from.iter().map(PathBuf::as_path).chain([compiled]);
        let mut roots = packages.filter_map(Path::parent).chain(here.ancestors());
        let root = roots.find(|dir| is_root(dir)).with_context(|| {
            format!(
                "cannot find the project: it is not where it was compiled, and neither {} nor any directory \
                 above it has a course/Cargo.toml. Change into the project, or name it with --workspace.",
                here.display()
            )
        })?;
        Ok(Self { root: root.to_path_buf(), target: None })
    }

    /// Returns the same project, but with another directory for all build output.
    #[cfg(feature = "book")]
    pub(crate) fn built_in(self, target: PathBuf) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Returns the directory of the book's sources.
    pub fn book(&self) -> PathBuf {
        self.root.join("book")
    }

    /// Returns the project's root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of the exercises.
    pub fn exercises(&self) -> PathBuf {
        self.root.join("exercises")
    }

    /// Returns the path of the file that contains a learner's progress.
    pub fn progress(&self) -> PathBuf {
        self.root.join(PROGRESS)
    }

    /// Returns the path relative to the project's root, as a user in the root would type it.
    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Returns the directory for all build output: the value of `CARGO_TARGET_DIR` if it is set, as in Cargo
    /// itself, or `target`. A copy of a project uses the target directory of the project.
    pub fn target(&self) -> PathBuf {
        if let Some(target) = &self.target {
            return target.clone();
        }
        match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) if !dir.is_empty() => path::absolute(&dir).unwrap_or_else(|_| PathBuf::from(dir)),
            _ => self.root.join("target"),
        }
    }
}

/// Returns whether a directory contains build output of Cargo. Cargo puts a tag into the directories that it
/// creates. A directory that existed before Cargo used it has no tag, such as a `target` in which a copy of
/// the project was made; so a `target` beside a `Cargo.toml` also counts.
#[cfg(feature = "book")]
pub(crate) fn was_built(dir: &Path) -> bool {
    dir.join("CACHEDIR.TAG").exists()
        || (dir.ends_with("target") && dir.with_file_name("Cargo.toml").is_file())
}

fn is_root(dir: &Path) -> bool {
    dir.join("Cargo.toml").is_file() && dir.join("course/Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_project_it_was_compiled_in() {
        let workspace = Workspace::find().unwrap();
        assert!(workspace.book().join("book.toml").is_file(), "{workspace:?}");
    }

    #[test]
    fn a_relative_directory_is_made_absolute() {
        let root = Workspace::at("..").unwrap().root().to_path_buf(); // a test runs in the folder of its package
        assert!(root.is_absolute() && root.join("course").is_dir(), "{}", root.display());
    }

    #[test]
    fn a_directory_that_is_not_the_project_is_refused_by_name() {
        let elsewhere = tempfile::tempdir().unwrap();
        let error = Workspace::at(elsewhere.path()).unwrap_err().to_string();
        assert!(error.contains(&elsewhere.path().display().to_string()), "{error}");
    }
}
