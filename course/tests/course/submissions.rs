//! Tests how `check --submissions` finds out which student has sent which answer. The verdicts need
//! a compiler, so their tests are in `judging.rs`.

use crate::fixture::{Project, stderr, stdout};
use serde_json::{Value, json};
use std::process::Output;

/// Alice has sent files; Bob has sent his whole copy of the course, in which he has begun one exercise; Carol
/// has sent no answer.
fn submitted() -> Project {
    let project = Project::with_exercises();
    let stub =
        std::fs::read_to_string(project.path("exercises/ex02-one-shot-future/stub/exercise.rs")).unwrap();
    for (path, text) in [
        ("alice/ex01.rs", "// mine"),
        ("alice/later/ex01-worker-pool.rs", "// mine, too"),
        ("alice/ex02-one-shot-future/exercise.rs", stub.replace('\n', "\r\n").as_str()),
        ("alice/.old/ex06.rs", "// hidden"),
        ("bob/course/exercises/ex02-one-shot-future/src/exercise.rs", "// Bob's"),
        ("bob/course/exercises/ex02-one-shot-future/stub/exercise.rs", &stub),
        ("bob/course/exercises/ex04-thread-locals/tests/model.rs", "// no answer"),
        ("carol/letter.txt", "I was ill"),
    ] {
        project.write(&format!("sent/{path}"), text);
    }
    project
}

fn check(project: &Project, arguments: &[&str]) -> Output {
    let sent = project.path("sent");
    project
        .course(&[&["check", "--submissions", sent.to_str().unwrap()], arguments].concat())
        .output()
        .unwrap()
}

/// Returns the verdict on each answer of each student. In this project the exercises have no
/// packages, so Cargo cannot build them.
fn verdicts(report: &Value) -> Vec<(&str, Vec<[&str; 2]>)> {
    let submissions = report["submissions"].as_array().unwrap().iter();
    submissions
        .map(|submission| {
            let judged = submission["exercises"].as_array().unwrap().iter();
            let judged = judged.map(|judged| ["name", "verdict"].map(|key| judged[key].as_str().unwrap()));
            (submission["student"].as_str().unwrap(), judged.collect())
        })
        .collect()
}

#[test]
fn the_exercises_that_were_begun_are_judged_for_each_student() {
    let project = submitted();
    let output = check(&project, &["--json"]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let [one, two] = ["ex01-worker-pool", "ex02-one-shot-future"];
    let expected = [
        ("alice", vec![[one, "could_not_check"], [two, "not_begun"]]),
        ("bob", vec![[one, "missing"], [two, "could_not_check"]]),
        ("carol", vec![[one, "missing"], [two, "missing"]]),
    ];
    let mut found = verdicts(&report);
    for (_, judged) in &mut found {
        judged.sort_unstable();
    }
    assert_eq!(found, expected, "{report:#}");
    assert_eq!(output.status.code(), Some(3), "two could not be checked");
    let alice = report["submissions"][0]["exercises"].as_array().unwrap();
    let several = alice.iter().find(|judged| judged["name"] == one).unwrap();
    let reason = several["reason"].as_str().unwrap();
    assert!(reason.contains("alice/ex01.rs, alice/later/ex01-worker-pool.rs"), "{reason}");
    assert_eq!((&several["passed"], &several["of"]), (&json!(0), &json!(16)));
    assert_eq!(
        several["properties"][0],
        json!({"name": "every_job_runs_once", "stage": 1, "passed": false, "seen": ""})
    );
    assert_eq!((&report["format"], &report["time_limit"]), (&json!(1), &json!(300)));
    let bob = report["submissions"][1]["exercises"].as_array().unwrap();
    let file = "bob/course/exercises/ex02-one-shot-future/src/exercise.rs";
    assert!(bob.iter().any(|judged| judged["file"] == file), "{report:#}");
}

#[test]
fn the_teachers_own_project_stays_as_it_is() {
    let project = submitted();
    project.write("exercises/ex02-one-shot-future/src/exercise.rs", "// the teacher's");
    project.write("progress.txt", "solved ex01-worker-pool\n");
    check(&project, &["ex02"]);
    let read = |path: &str| std::fs::read_to_string(project.path(path)).unwrap();
    assert_eq!(read("exercises/ex02-one-shot-future/src/exercise.rs"), "// the teacher's");
    assert_eq!(read("progress.txt"), "solved ex01-worker-pool\n");
    assert!(project.path("exercises/ex02-one-shot-future/solution/exercise.rs").is_file());
    assert!(!project.path("target/submissions").exists());
}

#[test]
fn a_file_is_a_student_if_one_exercise_is_asked_for() {
    let project = Project::with_exercises();
    let stub = std::fs::read_to_string(project.path("exercises/ex01-worker-pool/stub/exercise.rs")).unwrap();
    project.write("sent/alice.rs", &stub);
    let output = check(&project, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("check EXERCISE --submissions"), "{}", stderr(&output));
    let output = check(&project, &["ex01"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stdout(&output), "alice: 0 of 16\n  ex01-worker-pool: 0 of 16, not begun\n");
}

#[test]
fn a_folder_without_submissions_is_refused() {
    let project = Project::with_exercises();
    for sent in ["sent/readme.txt", "elsewhere/readme.txt"] {
        project.write(sent, "nothing");
        let output = check(&project, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    }
}
