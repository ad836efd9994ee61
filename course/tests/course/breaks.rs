//! Tests the experiments of the book: the command that does them, their recordings, and the proof that they
//! can still be done.

use crate::fixture::{Project, stderr, stdout};
use std::fs;
use std::process::Stdio;

const PATCH: &str = "--- a/said.txt\n+++ b/said.txt\n@@ -1,2 +1,2 @@\n first\n-second\n+third\n";

/// Makes a project with a page that has two experiments. The first experiment changes a file and prints that
/// file; the second experiment needs a reader.
pub(crate) fn project() -> Project {
    let project = Project::new();
    project.write("said.txt", "first\nsecond\n");
    project.write(
        "book/src/index.md",
        "# First\n\n## Break it\n\nPredict.\n\n1. In `said.txt`, say *third*.\n2. Look at it\n   yourself.\n\n\
         <details><summary>What you should see</summary>\n\n1. It says *third*.\n2. You know.\n\n</details>\n\n## Recap\n",
    );
    project.write(
        "book/src/breaks/record.toml",
        "[[run]]\nbreaks = \"index-1\"\ncommand = \"cat said.txt\"\n\n\
         [[by_hand]]\nbreaks = \"index-2\"\nreason = \"only you can look\"\n",
    );
    project.write("book/src/breaks/index-1.patch", PATCH);
    project.write("book/src/breaks/index-1.txt", "first\nthird\n");
    project
}

/// Runs the program without a terminal, and returns its exit code and its output.
fn course(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let output = project.course(arguments).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

#[test]
fn pages_and_experiments_are_listed() {
    let project = project();
    let (code, said) = course(&project, &["break"]);
    assert!(code == Some(0) && said.starts_with("index  ") && said.contains(" 1 to 2  First\n"), "{said}");
    let (code, said) = course(&project, &["break", "index"]);
    assert_eq!(code, Some(0), "{said}");
    for line in
        ["cargo course break index 1\n", "  In `said.txt`, say *third*.\n", "  Look at it yourself.\n"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn a_page_or_an_experiment_that_does_not_exist_is_wrong_usage() {
    let project = project();
    for (arguments, told) in [
        (&["break", "second"][..], "error: no page `second` has experiments. These have:\n  index\n"),
        (&["break", "index", "3"], "error: index has no experiment 3: it has 1 to 2\n"),
    ] {
        assert_eq!(course(&project, arguments), (Some(2), told.to_owned()));
    }
}

/// Without a terminal, the command does not ask for a prediction.
#[cfg(unix)]
#[test]
fn an_experiment_is_done_in_a_copy_that_is_gone_in_the_end() {
    let project = project();
    let (code, said) = course(&project, &["break", "index.md", "1"]);
    assert_eq!(code, Some(0), "{said}");
    let parts = [
        "  Predict.\n  In `said.txt`",
        "said.txt\n…\n first\n-second\n+third\n",
        "$ cat said.txt\nfirst\nthird\n",
        "  It says *third*.\n",
    ];
    let places = parts.map(|part| said.find(part).unwrap_or_else(|| panic!("{part}: {said}")));
    assert!(places.is_sorted(), "{said}");
    assert!(!said.contains("What do you predict") && !said.contains("You predicted"), "{said}");
    assert_eq!(fs::read_to_string(project.path("said.txt")).unwrap(), "first\nsecond\n");
    assert!(!project.path("target/break").exists());
}

#[test]
fn an_experiment_without_a_recipe_says_why() {
    let (code, said) = course(&project(), &["break", "index", "2"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("cannot run this experiment for you: only you can look.\n"), "{said}");
    assert!(said.contains("What you should see\n  You know.\n"), "{said}");
}

#[test]
fn a_stale_patch_runs_nothing() {
    let project = project();
    project.write("said.txt", "first\n2nd\n");
    let (code, said) = course(&project, &["break", "index", "1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("error: breaks/index-1.patch: it does not fit said.txt") && !said.contains("$ cat"),
        "{said}"
    );
}

#[test]
fn two_at_once_are_refused() {
    let project = project();
    fs::create_dir_all(project.path("target")).unwrap();
    let lock = fs::File::create(project.path("target/break.lock")).unwrap();
    lock.lock().unwrap();
    let (code, said) = course(&project, &["break", "index", "1"]);
    assert!(code == Some(1) && said.contains("another `cargo course break` is at work"), "{said}");
    drop(lock);
    assert_eq!(course(&project, &["break", "index", "2"]).0, Some(0));
}

/// The course runs until the experiment has begun; then a signal ends it.
#[cfg(unix)]
#[test]
fn after_a_signal_there_is_no_copy() {
    use std::io::{BufRead, BufReader};
    let project = project();
    let recipe = "[[run]]\nbreaks = \"index-1\"\ncommand = \"echo begun; while [ -e said.txt ]; do sleep 0.1; done\"\n";
    project.write("book/src/breaks/record.toml", recipe);
    let mut course =
        project.course(&["break", "index", "1"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(course.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "begun"));
    assert!(project.path("target/break").exists());
    let kill = std::process::Command::new("kill").arg(course.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert_eq!(course.wait().unwrap().code(), Some(143));
    assert!(!project.path("target/break").exists());
}

#[cfg(unix)]
#[test]
fn the_output_of_an_experiment_is_recorded_and_checked() {
    let project = project();
    assert_eq!(course(&project, &["book", "record", "--check"]).0, Some(0));
    project.write("book/src/breaks/index-1.txt", "first\nsecond\n");
    let (code, said) = course(&project, &["book", "record", "--check", "index-1.txt"]);
    assert!(code == Some(1) && said.contains("index-1.txt: differs"), "{said}");
    assert_eq!(course(&project, &["book", "record"]).0, Some(0));
    assert_eq!(fs::read_to_string(project.path("book/src/breaks/index-1.txt")).unwrap(), "first\nthird\n");
    assert!(!project.path("target/record").exists());
}

#[test]
fn the_page_has_the_commands_of_its_experiments() {
    let project = project();
    let (code, said) = course(&project, &["book", "check"]);
    assert_eq!(code, Some(0), "{said}");
    let built = fs::read_to_string(project.path("target/book/index.html")).unwrap();
    assert!(built.contains("$ cargo course break index 1\n</code>"), "{built}");
}

#[test]
fn each_fault_of_an_experiment_is_found() {
    let by_hand = "[[by_hand]]\nbreaks = \"index-2\"\nreason = \"only you can look\"\n";
    let run = "[[run]]\nbreaks = \"index-1\"\ncommand = \"cat said.txt\"\n";
    let recipes = |more: &str| format!("{run}\n{by_hand}\n{more}");
    for (file, text, fault) in [
        ("said.txt", "2nd\n".to_owned(), "breaks/index-1.patch: it does not fit said.txt"),
        ("book/src/breaks/index-1.patch", "third\n".into(), "breaks/index-1.patch: it changes no file"),
        ("book/src/breaks/record.toml", run.into(), "breaks/record.toml: index-2 has no recipe"),
        ("book/src/breaks/record.toml", recipes(run), "index-1 has two recipes"),
        (
            "book/src/breaks/record.toml",
            recipes(&by_hand.replace("index-2", "index-1")),
            "index-1 has a recipe, and is listed as by hand",
        ),
        (
            "book/src/breaks/record.toml",
            recipes(&by_hand.replace("index-2", "index-3")),
            "no page has the experiment index-3",
        ),
        (
            "book/src/breaks/record.toml",
            recipes("").replace("command", "file = \"gone.txt\"\ncommand"),
            "breaks/gone.txt: not recorded yet; `cargo course book record gone.txt` does it",
        ),
        ("book/src/breaks/index-3.patch", PATCH.into(), "breaks/index-3.patch: no page has this experiment"),
        ("book/src/breaks/old.txt", "old\n".into(), "breaks/old.txt: record.toml does not name it"),
        (
            "book/src/breaks/index-1.txt",
            "first\n3rd\n".into(),
            "", // the answer has no figure
        ),
        (
            "book/src/second.md",
            "# Second\n\n`cargo course break index 3`\n\n```rust\n{{#include ../../code.rs:main}}\n```\n"
                .into(),
            "second.md:3: `cargo course break index 3`: there is no such experiment",
        ),
    ] {
        let project = project();
        project.write(file, &text);
        let (code, said) = course(&project, &["book", "check"]);
        assert_eq!(code, Some(i32::from(!fault.is_empty())), "{fault}: {said}");
        assert!(said.contains(fault), "{fault}: {said}");
    }
}

#[test]
fn a_figure_of_an_answer_must_have_been_recorded() {
    let project = project();
    let page = fs::read_to_string(project.path("book/src/index.md")).unwrap();
    project.write("book/src/index.md", &page.replace("It says *third*.", "It says 3.5, and not 17."));
    project.write("book/src/breaks/index-1.txt", "factor 3.5\n");
    let (code, said) = course(&project, &["book", "check"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("index.md: the answer to experiment 1 has 17, which was not recorded"), "{said}");
    project.write("book/src/breaks/index-1.txt", "factor 3.5 of 17\n");
    assert_eq!(course(&project, &["book", "check"]).0, Some(0));
}
