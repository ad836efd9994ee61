//! A small project for running the program; a test can change anything in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A project that has a book of two pages with one listing, and its own target directory.
pub(crate) struct Project {
    dir: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\n");
        project.write("course/Cargo.toml", "");
        project.write("book/book.toml", "[build]\ncreate-missing = false\n");
        project.write("book/src/SUMMARY.md", "[First](index.md)\n[Second](second.md)\n");
        project.write("book/src/index.md", "# First\n");
        project.write("book/src/second.md", "# Second\n\n```rust\n{{#include ../../code.rs:main}}\n```\n");
        project.write("code.rs", "// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\n");
        project
    }

    /// Makes a project with a copy of this project's exercises. The copy has the wrong answers and the
    /// additional right answers of ex01 only, because such answers make up most of the lines, and no test
    /// needs those of other exercises.
    pub(crate) fn with_exercises() -> Self {
        let project = Self::new();
        let exercises = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exercises");
        for entry in fs::read_dir(exercises).unwrap() {
            let folder = entry.unwrap().path();
            if folder.join("exercise.toml").is_file() {
                let name = folder.file_name().unwrap();
                let left_out: &[&str] = if folder.ends_with("ex01-worker-pool") {
                    &[]
                } else {
                    &["wrong", "wrong.diff", "right"]
                };
                copy(&folder, &project.path("exercises").join(name), left_out);
                // The copy contains the stub, even if the learner has changed the file.
                let copied = project.path("exercises").join(name);
                fs::copy(copied.join("stub/exercise.rs"), copied.join("src/exercise.rs")).unwrap();
            }
        }
        project
    }

    /// Makes a project with the programs for which the learner is the scheduler.
    pub(crate) fn with_programs() -> Self {
        let project = Self::with_exercises();
        let exercises = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exercises");
        fs::copy(exercises.join("kinds.toml"), project.path("exercises/kinds.toml")).unwrap();
        copy(&exercises.join("graphs"), &project.path("exercises/graphs"), &[]);
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

    /// Returns the program, ready to run on this project.
    pub(crate) fn course(&self, arguments: &[&str]) -> Command {
        course(&self.path("target"), arguments, self.dir.path())
    }
}

/// Returns the program, ready to run on the project in `root`.
pub(crate) fn course(target: &Path, arguments: &[&str], root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_course"));
    command.args(arguments).arg("--workspace").arg(root).env("CARGO_TARGET_DIR", target);
    command.env(course::load::AS_BUILT, "1");
    command.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS"); // the same for any terminal
    command
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn copy(from: &Path, to: &Path, left_out: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if left_out.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, &[]);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
