//! Tests what the commands for exercises print. The verdicts need a compiler, so their tests are in
//! `judging.rs`.

use crate::fixture::{Project, stderr, stdout};
use std::fs;
use std::process::{Command, Output};

fn run(project: &Project, arguments: &[&str]) -> Output {
    project.course(arguments).output().unwrap()
}

/// Runs the program, expects success, and returns its output.
fn said(project: &Project, arguments: &[&str]) -> String {
    let output = run(project, arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

/// Runs the program, expects exit code 1, and returns its output together with the messages on
/// standard error.
fn refused(project: &Project, arguments: &[&str]) -> String {
    let output = run(project, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stdout(&output));
    stdout(&output) + &stderr(&output)
}

/// Runs the program with a command line that names something unknown, and expects exit code 2.
fn misused(project: &Project, arguments: &[&str]) -> String {
    let output = run(project, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stdout(&output));
    stderr(&output)
}

const ANSWER: &str = "exercises/ex01-worker-pool/src/exercise.rs";
const STUB: &str = "exercises/ex01-worker-pool/stub/exercise.rs";

#[test]
fn next_says_what_to_read_what_to_edit_and_how_to_go_on() {
    let project = Project::with_exercises();
    project.write("progress.txt", "solved ex00-three-visitors\n");
    let text = said(&project, &["next"]);
    for part in [
        "ex01-worker-pool/README.md",
        ANSWER,
        "cargo course check ex01",
        "cargo course hint ex01",
        "exercise 2 of ",
        "35 to 75 minutes",
        "threads, Mutex and Condvar",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains('\x1b'), "colours, and no terminal: {text:?}");
}

#[test]
fn next_passes_over_what_is_solved_and_the_list_shows_it() {
    let project = Project::with_exercises();
    project.write(
        "progress.txt",
        "solved ex00-three-visitors\nsolved ex01-worker-pool\nsolved ex03-bounded-executor\n",
    );
    project.write("exercises/ex02-one-shot-future/src/exercise.rs", "// begun\n");
    assert!(said(&project, &["next"]).contains("ex02-one-shot-future"));
    let list = said(&project, &["list"]);
    let exercises = list.lines().filter(|line| line.contains(" minutes "));
    let states: Vec<&str> =
        exercises.skip(1).take(3).map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(states, ["solved", "begun", "solved"]);
    assert!(list.contains("3 of ") && list.contains(" solved"), "{list}");
    let lines: Vec<&str> = list.lines().map(str::trim).collect();
    assert!(
        lines[2].starts_with("begun") && lines[3].starts_with("needs "),
        "what is solved needs none: {list}"
    );
}

#[test]
fn next_and_list_follow_the_book_and_say_after_which_page() {
    let project = Project::with_exercises();
    let summary = "[First](index.md)\n- [The *second*](second.md)\n- [Rooms](no-room.md)\n\
                   - [Handles](the-handle.md)\n- [Exercises](how-exercises-work.md)\n";
    project.write("book/src/SUMMARY.md", summary);
    project.write(
        "progress.txt",
        "solved ex00-three-visitors\nsolved ex01-worker-pool\nsolved ex11-hand-over\n",
    );
    let text = said(&project, &["next"]);
    assert!(text.contains("ex02-one-shot-future") && text.contains("after page 4 of 4: Exercises"), "{text}");
    project.write("book/src/SUMMARY.md", &summary.replace("- [Exercises](how-exercises-work.md)\n", ""));
    let text = said(&project, &["next"]);
    let list = said(&project, &["list"]);
    let all = list.lines().filter(|line| line.contains(" minutes ")).count();
    assert!(text.contains(&format!("exercise 1 of {all}, after page 2 of 3: Rooms")), "{text}");
    let place = |name: &str| list.find(name).unwrap_or_else(|| panic!("no {name} in {list}"));
    assert!(place("ex03-") < place("ex02-") && place("ex02-") < place("ex01-"), "{list}");
    assert!(list.contains("after page 3 of 3: Handles"), "{list}");
}

#[test]
fn a_way_has_its_own_next_exercise_with_the_pages_before_it() {
    let project = Project::with_exercises();
    project.write(
        "book/src/SUMMARY.md",
        "- [One](index.md)\n- [How](how-exercises-work.md)\n- [*Rooms*](no-room.md)\n- [Two](second.md)\n",
    );
    project.write("exercises/kinds.toml", KINDS);
    let ways = r#"
[[way]]
name = "week"
title = "One week"
part = [
    { title = "Monday", pages = ["index", "how-exercises-work"], exercises = ["predict1", "ex01"] },
    { title = "Tuesday", pages = ["no-room"], exercises = ["ex03"] },
]
"#;
    project.write("book/ways.toml", ways);
    let next = || said(&project, &["next", "--way", "week"]);
    let text = next();
    assert!(
        text.starts_with("One week: 0 of 3 exercises done\n\nMonday  the pages One; How\n\npredict1: "),
        "{text}"
    );
    project.write("progress.txt", "solved predict1\n");
    let text = next();
    assert!(
        text.starts_with("One week: 1 of 3 exercises done") && text.contains("ex01-worker-pool"),
        "{text}"
    );
    project.write("progress.txt", "solved predict1\nsolved ex01-worker-pool\n");
    let text = next();
    assert!(text.contains("Tuesday  the pages Rooms\n\nex03-bounded-executor"), "{text}");
    assert_eq!(said(&project, &["next"]), text, "`next` follows the way that was asked for");
    for arguments in [&["next", "--way", "all"][..], &["next"]] {
        let text = said(&project, arguments);
        assert!(!text.starts_with("One week") && text.contains("exercise"), "the way is left: {text}");
    }
    project.write("progress.txt", "solved predict1\nsolved ex01-worker-pool\nsolved ex03-bounded-executor\n");
    assert!(next().contains("That is the whole way"));
    assert!(misused(&project, &["next", "--way", "year"]).contains("There are: week"));
}

#[test]
fn next_and_list_tell_core_pages_from_further_reading() {
    let project = Project::with_exercises();
    project.write(
        "book/src/SUMMARY.md",
        "- [One](index.md)\n- [How](how-exercises-work.md)\n- [Rooms](no-room.md)\n",
    );
    let core = "[[way]]\nname = \"core\"\ntitle = \"\"\n[[way.part]]\ntitle = \"\"\n\
                pages = [\"index\", \"no-room\"]\nexercises = [\"ex03\"]\n";
    project.write("book/ways.toml", core);
    let list = said(&project, &["list"]);
    for after in ["page 2 of 3 (further reading): How", "page 3 of 3 (core page 2 of 2): Rooms"] {
        assert!(list.contains(&format!("after {after}")), "{after}: {list}");
    }
}

#[test]
fn next_and_list_say_where_one_is() {
    let project = Project::with_exercises();
    project.write("book/src/SUMMARY.md", "- [Rooms](no-room.md)\n- [Handles](the-handle.md)\n");
    project.write("progress.txt", "solved ex03-bounded-executor\nsolved ex34-test-of-an-inbox\n");
    let all = said(&project, &["list"]).lines().filter(|line| line.contains(" minutes ")).count();
    let text = said(&project, &["next"]);
    assert!(text.contains(&format!("after page 2 of 2: Handles; 2 of {all} exercises done")), "{text}");
    let list = said(&project, &["list"]);
    assert!(list.contains("The next one comes after page 2 of 2: Handles."), "{list}");
}

#[test]
fn the_list_is_there_for_machines_too() {
    let project = Project::with_exercises();
    project.write("progress.txt", "solved ex01-worker-pool\nhint ex02-one-shot-future 2\n");
    let list: serde_json::Value = serde_json::from_str(&said(&project, &["list", "--json"])).unwrap();
    let exercises = list["exercises"].as_array().unwrap();
    assert_eq!(exercises[1]["state"], "solved");
    assert_eq!((&exercises[2]["state"], &exercises[2]["hints_given"]), (&"new".into(), &2.into()));
    assert_eq!(exercises[3]["name"], "ex03-bounded-executor");
    assert_eq!(exercises[1]["minutes"], serde_json::json!([35, 75]));
    assert!(exercises[1]["needs"].as_array().unwrap().len() > 1);
    assert_eq!((&list["format"], &list["version"]), (&2.into(), &env!("CARGO_PKG_VERSION").into()));
    let suite = exercises[3]["sha256"]["suite"].as_str().unwrap();
    project.write("exercises/ex03-bounded-executor/tests/suite/mod.rs", "pub fn nothing_is_tested() {}");
    let list: serde_json::Value = serde_json::from_str(&said(&project, &["list", "--json"])).unwrap();
    let weakened = &list["exercises"][3]["sha256"];
    assert!(weakened["suite"] != suite && weakened["harness"] == exercises[3]["sha256"]["harness"], "{list}");
}

#[test]
fn hints_come_one_at_a_time_and_any_can_be_asked_for() {
    let project = Project::with_exercises();
    for number in ["1", "2", "3", "3"] {
        assert!(said(&project, &["hint", "ex01"]).starts_with(&format!("hint {number} of 3  ")));
    }
    assert!(said(&project, &["hint", "2", "1"]).starts_with("hint 1 of 3"));
    assert!(misused(&project, &["hint", "ex01", "4"]).contains("hints 1 to 3"));
    assert!(misused(&project, &["hint", "ex01", "0"]).contains("hints 1 to 3"));
}

#[test]
fn after_a_failure_the_hint_of_its_property_comes_first() {
    let project = Project::with_exercises();
    let hint = || said(&project, &["hint", "ex01"]);
    let text = said(&project, &["hint", "ex01", "a_panicking_job_costs_no_worker"]);
    assert!(text.starts_with("a_panicking_job_costs_no_worker\nhint  "), "{text}");
    project.write("progress.txt", "failed ex01-worker-pool shutdown_wakes_every_sleeping_worker\n");
    let text = hint();
    assert!(text.starts_with("shutdown_wakes_every_sleeping_worker\nhint  "), "{text}");
    assert!(text.contains("cargo course hint ex01\n"), "{text}");
    assert!(hint().starts_with("hint 1 of 3"));
    assert!(hint().starts_with("hint 2 of 3"));
    // First another property fails, then a property that this version does not know; in the end all
    // properties hold.
    for (failed, hinted) in [
        ("failed ex01-worker-pool every_job_runs_once", "every_job_runs_once\n"),
        ("failed ex01-worker-pool it_flies", "hint 1 of 3"),
        ("failed ex01-worker-pool every_job_runs_once\nsolved ex01-worker-pool", "hint 1 of 3"),
    ] {
        project.write("progress.txt", &format!("{failed}\n"));
        let text = hint();
        assert!(text.starts_with(hinted), "{failed}: {text}");
    }
    let text = misused(&project, &["hint", "ex01", "flies"]);
    assert!(text.contains("`flies`") && text.contains("every_job_runs_once"), "{text}");
}

#[test]
fn a_reset_keeps_what_was_there_every_time() {
    let project = Project::with_exercises();
    let stub = fs::read_to_string(project.path(STUB)).unwrap();
    for (number, answer) in [("1", "// first\n"), ("2", "// second\n")] {
        project.write(ANSWER, answer);
        assert!(said(&project, &["reset", "ex01"]).contains(&format!("exercise.{number}.bak")));
        let backup = format!("exercises/ex01-worker-pool/src/exercise.{number}.bak");
        assert_eq!(fs::read_to_string(project.path(&backup)).unwrap(), answer);
        assert_eq!(fs::read_to_string(project.path(ANSWER)).unwrap(), stub);
    }
    assert!(said(&project, &["reset", "ex01"]).contains("nothing to reset"));
    fs::remove_file(project.path(ANSWER)).unwrap();
    said(&project, &["reset", "ex01"]);
    assert_eq!(fs::read_to_string(project.path(ANSWER)).unwrap(), stub);
}

#[test]
fn a_reset_that_cannot_keep_the_answer_changes_nothing() {
    let project = Project::with_exercises();
    project.write(ANSWER, "// precious\n");
    fs::remove_file(project.path(STUB)).unwrap();
    assert!(refused(&project, &["reset", "ex01"]).contains("git checkout"));
    assert_eq!(fs::read_to_string(project.path(ANSWER)).unwrap(), "// precious\n");
}

#[test]
fn the_solution_is_shown_when_asked_twice_or_after_solving() {
    let project = Project::with_exercises();
    assert!(refused(&project, &["solution", "ex01"]).contains("ask again"));
    let solution = said(&project, &["solution", "ex01"]);
    let why = solution.find("why the solution is right").unwrap_or_else(|| panic!("{solution}"));
    assert!(solution[..why].contains("pub struct WorkerPool") && !solution.contains("todo!"), "{solution}");
    assert!(solution[why..].contains("Why no wake-up is lost"), "{solution}");
    project.write("progress.txt", "solved ex02-one-shot-future\n");
    said(&project, &["solution", "ex02"]);
}

#[test]
fn the_mistakes_are_shown_after_solving() {
    let project = Project::with_exercises();
    assert!(refused(&project, &["wrong", "ex01"]).contains("once you have solved"));
    project.write("progress.txt", "solved ex01-worker-pool\n");
    let text = said(&project, &["wrong", "ex01"]);
    let property = text.find("shutdown_wakes_every_sleeping_worker").unwrap();
    assert!(text[property..].contains("m03_notify_one_at_shutdown"), "{text}");
    assert!(text.contains("the worker waits in an `if`"), "{text}");
}

#[test]
fn a_mistake_is_shown_as_its_difference_from_the_solution_after_solving() {
    let project = Project::with_exercises();
    let text = refused(&project, &["wrong", "ex01", "m12"]);
    assert!(text.contains("wakes no worker") && text.contains("once you have solved"), "{text}");
    assert!(!text.contains("notify_one();"), "{text}");
    project.write("progress.txt", "solved ex01-worker-pool\n");
    for name in ["m12", "m12_no_notify", "m12_no_notify.rs"] {
        let text = said(&project, &["wrong", "ex01", name]);
        let changed: Vec<&str> = text.lines().filter(|line| line.starts_with(['+', '-'])).collect();
        assert_eq!(changed, ["-         self.shared.changed.notify_one(); // one job, one worker"], "{text}");
        assert!(text.lines().filter(|line| line.starts_with("  ")).count() > 4, "what is around it: {text}");
        assert!(text.contains("Caught by a_worker_without_a_job_sleeps_until_there_is_one"), "{text}");
    }
}

#[test]
fn a_mistake_can_be_put_in_the_place_of_ones_answer_which_is_kept() {
    let project = Project::with_exercises();
    let [answer, backup] =
        ["exercise.rs", "exercise.1.bak"].map(|file| format!("exercises/ex01-worker-pool/src/{file}"));
    let read = |path: &str| fs::read_to_string(project.path(path)).unwrap();
    let stub = read(&answer);
    let text = said(&project, &["wrong", "ex01", "m12", "--put"]);
    assert!(
        text.contains("is m12_no_notify now") && !text.contains("kept"),
        "a stub need not be kept: {text}"
    );
    let wrong = read(&answer);
    assert!(wrong.starts_with("//! Wrong: ") && wrong.contains("pub struct WorkerPool"), "{wrong}");
    assert!(!said(&project, &["wrong", "ex01", "m12", "--put"]).contains("kept"), "it is there already");
    project.write(&answer, "mine");
    assert!(said(&project, &["wrong", "ex01", "m10", "--put"]).contains("exercise.1.bak"));
    assert_eq!(read(&backup), "mine");
    assert!(read(&answer).contains("//! Wrong: "), "a design of its own has its texts, too");
    said(&project, &["reset", "ex01"]);
    assert_eq!(read(&answer), stub);
    assert!(misused(&project, &["wrong", "ex01", "m99", "--put"]).contains("m01_if_for_while"));
}

const KINDS: &str = r#"
[[mend]]
name = "mend1"
title = "A pool that sleeps"
chapter = "second.md"
minutes = 10
exercise = "ex01"
wrong = "m12"

[[predict]]
name = "predict1"
title = "Who waits?"
chapter = "index.md"
minutes = 5
code = { exercise = "ex01", wrong = "m03" }
question = "Who waits in the end?"
answer = "b"
option = [{ text = "None", why = "One of them sleeps on." }, { text = "A worker", why = "It was not told." }]
"#;

#[test]
fn a_wrong_answer_to_mend_takes_the_place_of_ones_own_without_a_word_about_it() {
    let project = Project::with_exercises();
    project.write("exercises/kinds.toml", KINDS);
    project.write(ANSWER, "mine");
    let text = said(&project, &["mend", "mend1"]);
    assert!(text.contains("exercise.1.bak") && text.contains("cargo course check ex01"), "{text}");
    let put = fs::read_to_string(project.path(ANSWER)).unwrap();
    assert!(put.contains("pub struct WorkerPool") && !put.contains("Wrong: "), "{put}");
    assert!(!put.contains("notify_one(); // one job"), "{put}");
    assert!(said(&project, &["mend"]).contains("mend1"), "without a name it is the first");
    assert!(misused(&project, &["mend", "mend9"]).contains("There are: mend1"));
    let progress = fs::read_to_string(project.path("progress.txt")).unwrap();
    assert!(
        progress.contains("\nmending ex01-worker-pool mend1\n") && !progress.contains("solved"),
        "{progress}"
    );
}

#[test]
fn a_prediction_is_asked_for_explained_and_shown() {
    let project = Project::with_exercises();
    project.write("exercises/kinds.toml", KINDS);
    project.write("exercises/seen/predict1.txt", "thread 1 waits\n");
    let question = said(&project, &["predict"]);
    for part in [
        "predict1: Who waits?",
        "notify_one();",
        "Who waits in the end?",
        "  a)   None\n",
        "  b)   A worker\n",
    ] {
        assert!(question.contains(part), "no {part} in {question}");
    }
    assert!(!question.contains("notify_all") && !question.contains("told"), "{question}");
    let wrong = refused(&project, &["predict", "predict1", "a"]);
    assert!(wrong.contains("no.") && wrong.contains("sleeps on") && !wrong.contains("told"), "{wrong}");
    assert!(said(&project, &["next"]).contains("cargo course predict predict1"), "its page is the first");
    let right = said(&project, &["predict", "predict1", "B"]);
    for part in [
        "yes.",
        "It was not told.",
        "One of them sleeps on.",
        "thread 1 waits",
        "cargo course wrong ex01 m03 --put",
    ] {
        assert!(right.contains(part), "no {part} in {right}");
    }
    assert!(misused(&project, &["predict", "predict1", "c"]).contains("the options a to b"));
    assert!(misused(&project, &["predict", "predict1", "both"]).contains("no `both`"));
    assert!(said(&project, &["next"]).contains("cargo course mend mend1"));
}

#[test]
fn the_list_has_the_exercises_that_are_no_packages_at_their_pages() {
    let project = Project::with_exercises();
    project.write("exercises/kinds.toml", KINDS);
    project.write("progress.txt", "solved predict1\n");
    project.write(
        "book/src/SUMMARY.md",
        "- [One](index.md)\n- [How](how-exercises-work.md)\n- [Two](second.md)\n",
    );
    let list = said(&project, &["list"]);
    let place = |name: &str| list.find(name).unwrap_or_else(|| panic!("no {name} in {list}"));
    assert!(list.starts_with("solved  predict1 ") && place("ex01-") < place("mend1"), "{list}");
    assert!(list.contains("1 of 2 are done"), "{list}");
    let list: serde_json::Value = serde_json::from_str(&said(&project, &["list", "--json"])).unwrap();
    let task = &list["tasks"][0];
    assert_eq!(
        (&task["name"], &task["kind"], &task["state"]),
        (&"predict1".into(), &"predict".into(), &"solved".into())
    );
    project.write("exercises/kinds.toml", "[[mend]]\nname = \"mend1\"\n");
    assert!(refused(&project, &["list"]).contains("kinds.toml"));
}

#[test]
fn that_the_first_build_takes_long_is_said_once() {
    let project = Project::with_exercises();
    let told = || stderr(&run(&project, &["check", "ex01"])).contains("a minute or two");
    assert!(told(), "before the first build");
    assert!(told(), "it has failed: there is nothing to build in this project");
    project.write("target/exercises/built.txt", "");
    assert!(!told());
}

#[test]
fn what_does_not_exist_is_named_with_what_does() {
    let project = Project::with_exercises();
    for command in ["check", "hint", "reset", "explain", "watch", "solution", "wrong"] {
        let text = misused(&project, &[command, "ex99"]);
        assert!(text.contains("`ex99`") && text.contains("ex03-bounded-executor"), "{text}");
    }
    let text = misused(&project, &["explain", "ex01", "flies"]);
    assert!(text.contains("`flies`") && text.contains("every_job_runs_once"), "{text}");
    for more in [[].as_slice(), &["--put"], &["--runs", "1"]] {
        let text = misused(&project, &[&["wrong", "ex01", "m99"], more].concat());
        assert!(text.contains("`m99`") && text.contains("m01_if_for_while"), "{text}");
    }
    misused(&project, &["check", "--all", "ex01"]);
}

#[test]
fn without_a_name_the_exercise_is_meant_that_was_edited_last() {
    let project = Project::with_exercises();
    let second = "exercises/ex02-one-shot-future/src/exercise.rs";
    project.write(second, "mine");
    assert!(said(&project, &["hint"]).starts_with("ex02-one-shot-future\nhint 1 of 3"));
    assert!(said(&project, &["reset"]).contains("ex02-one-shot-future/src/exercise.1.bak"));
    assert!(said(&project, &["hint"]).starts_with("ex00-three-visitors\n"), "none is begun: the next one");
    assert!(stderr(&run(&project, &["explain"])).contains("checking ex00-three-visitors"));
}

#[test]
fn the_workspace_may_be_named_before_a_command_and_what_the_server_needs_may_not() {
    let project = Project::with_exercises();
    let root = project.path("").display().to_string();
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_course")).args(arguments).output().unwrap();
    let output = run(&["--workspace", &root, "--ascii", "next"]);
    assert!(stdout(&output).contains("ex00-three-visitors"), "{}", stderr(&output));
    for option in [["--threads", "2"], ["--addr", "127.0.0.1:0"]] {
        let output = run(&[&option, ["--workspace", &root].as_slice(), &["next"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        let said = format!("the argument '{}", option[0]);
        assert!(
            stderr(&output).contains(&said) && stderr(&output).contains("before 'next'"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_project_without_exercises_says_so() {
    let text = refused(&Project::new(), &["next"]);
    assert!(text.contains("there are no exercises") && text.contains("git checkout -- exercises"), "{text}");
}

#[test]
fn progress_that_cannot_be_read_is_an_error_and_not_an_empty_list() {
    let project = Project::with_exercises();
    fs::create_dir(project.path("progress.txt")).unwrap(); // permission bits would not stop root
    assert!(refused(&project, &["list"]).contains("cannot read your progress"));
}

#[test]
fn the_doctor_names_each_problem_and_a_remedy() {
    let project = Project::with_exercises();
    fs::remove_file(project.path("exercises/ex01-worker-pool/tests/model.rs")).unwrap();
    fs::remove_file(project.path("exercises/ex02-one-shot-future/src/exercise.rs")).unwrap();
    let text = refused(&project, &["doctor"]);
    for part in [
        "ex01-worker-pool: tests/model.rs missing",
        "git checkout -- exercises/ex01-worker-pool",
        "ex02-one-shot-future: src/exercise.rs is missing",
        "cargo course reset ex02",
        " exercises are complete",
        "ok       rustc 1.",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert!(!text.contains("ex03"), "a complete exercise has no line of its own: {text}");
}

#[test]
fn the_doctor_sees_a_target_that_cannot_be_written() {
    let project = Project::with_exercises();
    project.write("target", "");
    let text = refused(&project, &["doctor"]);
    assert!(text.contains("cannot write to") && text.contains("CARGO_TARGET_DIR"), "{text}");
}

/// `cargo fetch` and a build download only the dependencies for this system; without a network,
/// other dependencies may be missing.
#[test]
fn the_doctor_does_not_ask_for_what_only_another_system_needs() {
    let project = Project::new();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"here\"]\n");
    let dependency = "[target.'cfg(target_os = \"another\")'.dependencies]\nabsent = \"1\"\n";
    project
        .write("here/Cargo.toml", &format!("[package]\nname = \"here\"\nversion = \"1.0.0\"\n{dependency}"));
    project.write("here/src/lib.rs", "");
    // Makes a registry in a folder; the registry lists the package but lacks its file.
    let registry =
        "[source.crates-io]\nreplace-with = \"near\"\n[source.near]\nlocal-registry = \"registry\"\n";
    project.write(".cargo/config.toml", registry);
    let sum = "0".repeat(64);
    let listed = format!(
        r#"{{"name":"absent","vers":"1.0.0","deps":[],"cksum":"{sum}","features":{{}},"yanked":false}}"#
    );
    project.write("registry/index/ab/se/absent", &listed);
    let source = "registry+https://github.com/rust-lang/crates.io-index";
    let absent = format!(
        "[[package]]\nname = \"absent\"\nversion = \"1.0.0\"\nsource = \"{source}\"\nchecksum = \"{sum}\"\n"
    );
    let here = "[[package]]\nname = \"here\"\nversion = \"1.0.0\"\ndependencies = [\n \"absent\",\n]\n";
    project.write("Cargo.lock", &format!("version = 4\n\n{absent}\n{here}"));
    let text = refused(&project, &["doctor"]); // there are no exercises
    assert!(text.contains("ok       every dependency is downloaded"), "{text}");
    // The package is really missing; on a system that needs the package, this is a fault.
    let needed = dependency.replace("target_os = \"another\"", "all()");
    project.write("here/Cargo.toml", &format!("[package]\nname = \"here\"\nversion = \"1.0.0\"\n{needed}"));
    let text = refused(&project, &["doctor"]);
    assert!(text.contains("cannot work offline here") && text.contains("run `cargo fetch` once"), "{text}");
}

#[test]
fn where_there_is_only_ascii_or_when_asked_nothing_else_is_written() {
    let project = Project::with_exercises();
    project.write("progress.txt", "solved ex01-worker-pool\n");
    project.write("exercises/ex01-worker-pool/solution/exercise.rs", "// größer → …\n");
    let said = |locale: &str, more: &[&str]| {
        let arguments = [&["solution", "ex01"], more].concat();
        let output = project.course(&arguments).env("LC_ALL", locale).output().unwrap();
        stdout(&output)
    };
    let (utf8, ascii) = (said("C.UTF-8", &[]), said("C", &[]));
    assert!(utf8.contains("// größer → …\n"), "{utf8}");
    assert!(ascii.is_ascii() && ascii.contains("// gr??er > ...\n"), "{ascii}");
    assert_eq!(said("C.UTF-8", &["--ascii"]), ascii);
}

#[test]
fn text_is_as_wide_as_the_terminal() {
    let project = Project::with_exercises();
    let widest = |columns: &str| {
        let output = project.course(&["hint", "ex01", "3"]).env("COLUMNS", columns).output().unwrap();
        let text = stdout(&output);
        let hint = text.lines().take_while(|line| !line.is_empty());
        hint.map(|line| line.chars().count()).max().unwrap()
    };
    assert!((50..=60).contains(&widest("60")), "{}", widest("60"));
    assert!((90..=100).contains(&widest("100")), "{}", widest("100"));
}

#[test]
fn a_missing_answer_is_no_wrong_answer() {
    let project = Project::with_exercises();
    fs::remove_file(project.path(ANSWER)).unwrap();
    let output = run(&project, &["check", "ex01"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&format!("{ANSWER} is missing; `cargo course reset ex01`")), "{text}");
    said(&project, &["reset", "ex01"]);
    assert!(project.path(ANSWER).is_file());
}
