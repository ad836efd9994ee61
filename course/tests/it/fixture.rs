//! A small project to run the program on, so that a test can break what it likes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A project with a book of two pages and one listing, and a target directory of its own.
pub(crate) struct Project {
    dir: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        project.write("Cargo.toml", "");
        project.write("course/Cargo.toml", "");
        project.write("book/book.toml", "[build]\ncreate-missing = false\n");
        project.write("book/src/SUMMARY.md", "[First](index.md)\n[Second](second.md)\n");
        project.write("book/src/index.md", "# First\n");
        project.write("book/src/second.md", "# Second\n\n```rust\n{{#include ../../code.rs:main}}\n```\n");
        project.write("code.rs", "// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\n");
        project
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// The program, about to run on this project.
    pub(crate) fn course(&self, arguments: &[&str]) -> Command {
        course(&self.path("target"), arguments, self.dir.path())
    }
}

/// The program, about to run on the project in `root`.
pub(crate) fn course(target: &Path, arguments: &[&str], root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_course"));
    command.args(arguments).arg("--workspace").arg(root).env("CARGO_TARGET_DIR", target);
    command
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
