//! Tests the copy for students. The tests in `judging.rs` judge an answer in a copy for students.

use crate::fixture::{Project, course, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EX01: &str = "exercises/ex01-worker-pool";

/// What the READMEs of exercises say about typical mistakes.
const MISTAKES: [&str; 2] = [
    "Hints are in `exercise.toml`. The typical wrong answers are in `wrong.diff`: read them after you have solved the\n\
     exercise. The queue is here.\n",
    "Hints are in `exercise.toml`; the typical wrong answers are in `wrong.diff`, for afterwards. The queue is here.\n",
];

/// A project that Git tracks; it has an exercise, "test of an inbox", that judges the answers to another
/// exercise.
fn cloned() -> Project {
    let project = Project::with_exercises();
    project.write(".gitignore", "/target\n/progress.txt\n");
    project.write("exercises/proof/Cargo.toml", "");
    project.write("book/src/solutions.md", "# Solutions\n");
    project.write("book/exam.toml", "");
    project
        .write("book/src/SUMMARY.md", "[First](index.md)\n[Second](second.md)\n[Solutions](solutions.md)\n");
    let wait = format!(
        "# First\n\n[All of\nthem](solutions.md#ex01).\n\n```diff\n{{{{#include ../../{EX01}/wrong.diff:wait}}}}\n```\n"
    );
    project.write("book/src/index.md", &wait);
    project.write(&format!("{EX01}/src/exercise.rs"), "// the teacher's own answer\n");
    project.write("exercises/ex02-one-shot-future/README.md", MISTAKES[0]);
    project.write("exercises/ex03-bounded-executor/README.md", MISTAKES[1]);
    for arguments in [&["init", "--quiet"][..], &["add", "."]] {
        assert!(
            Command::new("git").args(arguments).current_dir(project.path("")).status().unwrap().success()
        );
    }
    project.write("progress.txt", "solved ex01-worker-pool\n");
    project.write("notes.txt", "the marks");
    project
}

fn export(project: &Project, to: &Path) -> Output {
    project.course(&["export", "--student", to.to_str().unwrap()]).output().unwrap()
}

/// Returns all files below a folder, as paths relative to it.
fn files(below: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(below.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.push(path.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found
}

#[test]
fn a_copy_for_students_has_no_answer_and_nothing_that_git_does_not_track() {
    let project = cloned();
    let to = tempfile::tempdir().unwrap();
    let output = export(&project, to.path());
    assert!(output.status.success(), "{}", stderr(&output));
    let files = files(to.path());
    for word in [
        "/solution/",
        "/right/",
        "/wrong/",
        "wrong.diff",
        "solutions.md",
        "exam.toml",
        "proof",
        "ex34-",
        ".txt",
    ] {
        let found: Vec<_> = files.iter().filter(|path| path.contains(word)).collect();
        assert!(found.is_empty(), "{word}: {found:?}");
    }
    for file in [".gitignore", &format!("{EX01}/tests/suite/mod.rs"), &format!("{EX01}/README.md")] {
        assert!(files.iter().any(|path| path == file), "no {file}");
    }
    let read = |path: &str| fs::read_to_string(to.path().join(path)).unwrap();
    assert_eq!(read(&format!("{EX01}/src/exercise.rs")), read(&format!("{EX01}/stub/exercise.rs")));
    assert_eq!(read("book/src/SUMMARY.md"), "[First](index.md)\n[Second](second.md)\n");
    for readme in ["exercises/ex02-one-shot-future/README.md", "exercises/ex03-bounded-executor/README.md"] {
        assert_eq!(read(readme), "Hints are in `exercise.toml`. The queue is here.\n");
    }
    let page = read("book/src/index.md");
    assert!(page.contains("\nAll of\nthem.\n") && page.contains("\n-    loop {\n"), "{page}");
    assert!(!page.contains("#include") && !page.contains("ANCHOR"), "{page}");
}

#[test]
fn a_directory_with_something_in_it_is_left_alone() {
    let project = cloned();
    let to = tempfile::tempdir().unwrap();
    fs::write(to.path().join("thesis.md"), "text").unwrap();
    let output = export(&project, to.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("not an empty directory"), "{}", stderr(&output));
    assert_eq!(files(to.path()), ["thesis.md"]);
}

#[test]
fn a_project_that_is_no_clone_is_not_copied() {
    let project = Project::with_exercises();
    let to = tempfile::tempdir().unwrap();
    let output = export(&project, to.path());
    assert!(stderr(&output).contains("is no clone"), "{}", stderr(&output));
    assert!(files(to.path()).is_empty());
}

#[test]
fn in_a_copy_the_commands_that_give_help_work_and_the_others_say_that_there_is_nothing() {
    let project = cloned();
    let to = tempfile::tempdir().unwrap();
    assert!(export(&project, to.path()).status.success());
    let run = |arguments: &[&str]| {
        let output = course(&to.path().join("target"), arguments, to.path()).output().unwrap();
        (output.status.code(), stdout(&output) + &stderr(&output))
    };
    for (arguments, code, said) in [
        (&["next"][..], 0, "ex00-three-visitors"),
        (&["list"], 0, "ex01-worker-pool"),
        (&["hint", "ex01", "3"], 0, "ask your teacher"),
        (&["solution", "ex01"], 1, "has no solutions"),
        (&["wrong", "ex01"], 1, "has no typical mistakes"),
        (&["mend"], 2, "has no exercises of this kind"),
        (&["exam", "--key"], 1, "has no exam questions"),
        (&["wrong", "ex01", "m01", "--runs", "1"], 2, "has no typical mistakes"),
    ] {
        let (status, text) = run(arguments);
        assert!(status == Some(code) && text.contains(said), "{arguments:?}: {status:?} {text}");
    }
}

/// Tests the real project: its book can be built without the answers, and Cargo accepts its manifests and
/// lock file. If the project is a copy without Git history, it cannot be exported.
#[test]
fn the_copy_of_this_project_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if !root.join(".git").exists() {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    let target = to.path().join("target");
    let arguments = ["export", "--student", to.path().to_str().unwrap()];
    let output = course(&target, &arguments, &root).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for readme in
        files(to.path()).iter().filter(|path| path.starts_with("exercises/ex") && path.ends_with("README.md"))
    {
        assert!(!fs::read_to_string(to.path().join(readme)).unwrap().contains("wrong.diff"), "{readme}");
    }
    let output = course(&target, &["book", "build"], to.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // This needs no package's sources. `cargo tree` would: those of desktop search, too, which `cargo test` never downloads.
    cargo.args(["update", "--workspace", "--offline", "--locked", "--quiet"]);
    let output = cargo.current_dir(to.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}
