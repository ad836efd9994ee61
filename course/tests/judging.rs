//! Tests `cargo course check` with answers to exercises: the stub, the solution, and typical mistakes.
//! Also tests other answers: an answer that hangs, one that does not compile, and one that bypasses
//! `crate::sync`.
//!
//! Each answer must be compiled, so these tests take minutes and are not part of `cargo test`. The package of
//! the proof tries all answers, but without running Cargo. So this program tries only one exercise of each
//! kind, with one mistake; the variable `TURN` says which ones. `TURN=all` tries every exercise, and
//! `JUDGING=all` also tries every mistake:
//!
//! ```sh
//! cargo test --features course/end-to-end --test judging
//! ```

use course::exercises::catalogue;
use course::workspace::Workspace;
use exercises_protocol::{Exercise, Wrong};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Only one test runs at a time, because all tests share a target directory, and an answer that waits for
/// Cargo's lock would look as if it hung.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A copy of the project in which tests may overwrite the exercises.
struct Copy(
    course::copy::Copy,
    #[expect(dead_code, reason = "held until the test is over")] MutexGuard<'static, ()>,
);

impl Copy {
    fn new() -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = Self(course::copy::Copy::of(&Workspace::find().unwrap(), "judging").unwrap(), turn);
        for exercise in copy.exercises() {
            fs::copy(exercise.stub(), exercise.answer()).unwrap();
        }
        copy
    }

    /// Returns the exercise with this short name.
    fn exercise(&self, short: &str) -> Exercise {
        self.exercises().into_iter().find(|exercise| exercise.short() == short).unwrap()
    }

    fn exercises(&self) -> Vec<Exercise> {
        let mut exercises = catalogue::all(self.0.workspace()).unwrap();
        exercises.sort_by(|a, b| a.name.cmp(&b.name));
        exercises
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let target = Workspace::find().unwrap().target(); // where most dependencies are built already
        let mut command = Command::new(env!("CARGO_BIN_EXE_course"));
        command
            .args(arguments)
            .arg("--workspace")
            .arg(self.0.workspace().root())
            .env("CARGO_TARGET_DIR", target)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("COLUMNS");
        command
    }

    fn course(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Checks this exercise with the program. Returns the exit code and the report.
    fn check(&self, exercise: &Exercise) -> (i32, Value) {
        self.check_with(exercise, &[])
    }

    fn check_with(&self, exercise: &Exercise, more: &[&str]) -> (i32, Value) {
        let output = self.course(&[&["check", exercise.short(), "--json"], more].concat());
        Self::report(&output)
    }

    /// Runs `cargo test`, as a learner who uses only Cargo does.
    fn cargo_test(&self, exercise: &Exercise) -> Output {
        Command::new(env!("CARGO"))
            .args(["test", "--package", &exercise.name])
            .current_dir(self.0.workspace().root())
            .env("CARGO_TARGET_DIR", Workspace::find().unwrap().target())
            .output()
            .unwrap()
    }

    fn report(output: &Output) -> (i32, Value) {
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code().unwrap(), report["exercises"][0].clone())
    }

    fn is_solved(&self, exercise: &Exercise) -> bool {
        let progress = fs::read_to_string(self.0.workspace().progress()).unwrap_or_default();
        progress.lines().any(|line| line == format!("solved {}", exercise.name))
    }
}

/// Replaces the learner's answer.
fn answer(exercise: &Exercise, path: &str) {
    fs::copy(exercise.folder().join(path), exercise.answer()).unwrap();
}

/// Replaces the learner's answer by a typical wrong answer.
fn mistake(exercise: &Exercise, name: &str) {
    fs::write(exercise.answer(), exercise.wrong_answer(exercise.wrong(name).unwrap()).unwrap()).unwrap();
}

fn property<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["properties"].as_array().unwrap().iter().find(|property| property["name"] == name).unwrap()
}

fn message(state: &Value) -> String {
    format!(
        "{} – {}",
        state["seen"].as_str().unwrap_or_default(),
        state["cause"].as_str().unwrap_or_default()
    )
}

fn tried(mistakes: &[Wrong]) -> impl Iterator<Item = &Wrong> {
    let all = std::env::var("JUDGING").is_ok_and(|which| which == "all");
    mistakes.iter().take(if all { usize::MAX } else { 1 })
}

/// Returns the exercises that this run tests: one of each kind, because all exercises of a kind are built
/// and checked in the same way.
fn in_turn(exercises: Vec<Exercise>) -> Vec<Exercise> {
    let turn = std::env::var("TURN").unwrap_or_else(|_| "0".to_owned());
    if turn == "all" {
        return exercises;
    }
    let turn: usize = turn.parse().expect("TURN is a number, or `all`");
    let mut kinds: Vec<Vec<Exercise>> = Vec::new();
    for exercise in exercises {
        let kind = |other: &Exercise| (other.model, other.uses_the_library());
        match kinds.iter_mut().find(|others| kind(&others[0]) == kind(&exercise)) {
            Some(others) => others.push(exercise),
            None => kinds.push(vec![exercise]),
        }
    }
    assert!(kinds.len() > 2, "{kinds:?}");
    kinds.into_iter().map(|mut kind| kind.swap_remove(turn % kind.len())).collect()
}

#[test]
fn answers_get_the_right_verdict() {
    let copy = Copy::new();
    let (exercises, all) = (in_turn(copy.exercises()), copy.exercises().len());
    for exercise in &exercises {
        let (code, report) = copy.check(exercise);
        assert_eq!(
            (code, &report["verdict"]),
            (1, &"failed".into()),
            "the stub of {}: {report:#}",
            exercise.name
        );
        for property in report["properties"].as_array().unwrap() {
            assert!(message(&property["model"]).contains("still to do"), "{property}");
        }

        for wrong in tried(&exercise.wrong) {
            mistake(exercise, &wrong.name);
            let (code, report) = copy.check(exercise);
            let state = &property(&report, &wrong.property)["model"];
            assert_eq!((code, &state["verdict"]), (1, &"failed".into()), "{}: {report:#}", wrong.name);
            assert!(message(state).contains(&wrong.message), "{}: {}", wrong.name, message(state));
        }
        assert!(!copy.is_solved(exercise));

        answer(exercise, "solution/exercise.rs");
        let (code, report) = copy.check(exercise);
        assert_eq!((code, &report["verdict"]), (0, &"solved".into()), "{report:#}");
        assert!(copy.is_solved(exercise));
    }
    if exercises.len() == all {
        let output = copy.course(&["check", "--all"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stdout).contains("Solved."));
    }
}

#[test]
fn the_first_failure_is_shown_in_full_and_drawn() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    let text = String::from_utf8(copy.course(&["check", "ex01"]).stdout).unwrap();
    assert!(text.contains("Nothing is written yet") && !text.contains("explain"), "{text}");
    mistake(exercise, "m03_notify_one_at_shutdown");
    let output = copy.course(&["check"]); // no name: the exercise that was edited last
    assert!(!String::from_utf8_lossy(&output.stderr).contains("a minute or two"), "it was built just now");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    for part in
        ["properties hold", "FAILS  shutdown_", "promise   ", "seen      ", "cause     ", "►", "hint ex01"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let hint = String::from_utf8(copy.course(&["hint", "ex01"]).stdout).unwrap();
    assert!(hint.starts_with("shutdown_wakes_every_sleeping_worker\nhint  "), "{hint}");
    mistake(exercise, "m10_thread_per_job");
    let text = String::from_utf8(copy.course(&["check", "ex01"]).stdout).unwrap();
    let cause = text.find("cause     ").map(|n| &text[n..]).unwrap_or_default();
    assert!(text.contains("FAILS  one_worker_runs_the_jobs_in_their_order"), "{text}");
    assert!(cause.starts_with("cause     a thread for each job is no pool"), "{text}");
    mistake(exercise, "m03_notify_one_at_shutdown");
    let output = copy.course(&["explain", "ex01", "shutdown_wakes_every_sleeping_worker"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let path = text.lines().find(|line| line.contains(".svg")).unwrap_or_else(|| panic!("{text}"));
    let svg = fs::read_to_string(PathBuf::from(path.trim())).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("notify_one"), "{svg}");
    assert!(text.contains("at line") && text.contains("notify_one();"), "{text}");
}

#[test]
fn answers_that_hang_do_not_compile_or_take_the_wrong_door_are_told_so() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    let solution = fs::read_to_string(exercise.solution()).unwrap();

    let begin = "fn work(shared: &Shared) {";
    assert!(solution.contains(begin));
    fs::write(
        exercise.answer(),
        solution.replace(begin, &format!("{begin}\n    loop {{ std::hint::spin_loop() }}\n")),
    )
    .unwrap();
    let (code, report) = copy.check(exercise);
    assert_eq!(code, 1);
    let properties = report["properties"].as_array().unwrap();
    let hung: Vec<_> = properties.iter().filter(|property| property["model"]["hung"] == true).collect();
    let said = message(&hung.first().unwrap_or_else(|| panic!("{report:#}"))["model"]);
    // The learner must wait for one deadline only, not for the deadline of each property: after the first
    // hang, no further property is begun.
    let at_once = thread::available_parallelism().unwrap().get();
    assert!(hung.len() <= at_once, "{report:#}");
    assert!(properties.iter().any(|property| property["model"]["verdict"] == "not_run"), "{report:#}");
    assert!(
        said.contains("it is not done after") && said.contains("a loop of your code has no end"),
        "{said}"
    );

    fs::write(exercise.answer(), solution.replace("Arc<Shared>", "Arc<Shard>")).unwrap();
    let (code, report) = copy.check(exercise);
    assert_eq!((code, &report["verdict"]), (1, &"does_not_compile".into()));
    assert!(report["compiler"].as_str().unwrap().contains("Shard"), "{report:#}");

    let past_the_door = solution
        .replace("crate::sync::{", "std::sync::{")
        .replace(", thread}", "}")
        .replace("thread::", "std::thread::");
    fs::write(exercise.answer(), past_the_door).unwrap();
    let (code, report) = copy.check(exercise);
    assert_eq!((code, &report["verdict"]), (1, &"does_not_compile".into()), "{report:#}");
    let said = report["compiler"].as_str().unwrap();
    for once in ["goes past `crate::sync`", "write instead: `crate::sync::Condvar`"] {
        assert_eq!(said.matches(once).count(), 1, "{once}: {said}");
    }
    let output = copy.cargo_test(exercise);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert_eq!(said.matches("goes past `crate::sync`").count(), 1, "{said}");

    for (line, said) in [
        ("thread_local! { static JOBS: u8 = 0; }", "`use crate::sync::thread_local;` at the top"),
        (
            "fn nap() { std::thread::sleep(std::time::Duration::from_secs(1)); }",
            "wait for what has to happen",
        ),
    ] {
        fs::write(exercise.answer(), format!("{solution}\n{line}\n")).unwrap();
        let (code, report) = copy.check(exercise);
        assert_eq!(code, 1, "{line}: {report:#}");
        assert!(report["compiler"].as_str().unwrap().contains(said), "{line}: {report:#}");
    }
}

/// The thread pool of the Rust book: workers that share the receiver of a channel.
#[test]
fn the_pool_that_many_have_built_before_leads_to_a_good_end() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    let pool = fs::read_to_string(exercise.folder().join("right/r08_a_channel_as_the_queue.rs")).unwrap();
    fs::write(
        exercise.answer(),
        pool.replace("use crate::sync::", "use std::sync::")
            .replace(", thread}", "}")
            .replace("thread::", "std::thread::"),
    )
    .unwrap();
    let (_, report) = copy.check(exercise);
    let said = report["compiler"].as_str().unwrap();
    for instead in [
        "`crate::sync::mpsc`",
        "`crate::sync::mpsc::Receiver`",
        "`crate::sync::Mutex`",
        "`crate::sync::thread::Builder::new`",
    ] {
        assert!(said.contains(&format!("write instead: {instead}")), "{instead}: {said}");
    }
    mistake(exercise, "m27_a_channel_and_no_catch");
    let (_, report) = copy.check(exercise);
    let properties = report["properties"].as_array().unwrap();
    let failed = properties.iter().find(|p| p["name"] == "a_panicking_job_costs_no_worker").unwrap();
    assert!(message(&failed["model"]).contains("catch it (std::panic::catch_unwind)"), "{failed:#}");
    answer(exercise, "right/r08_a_channel_as_the_queue.rs");
    let (code, report) = copy.check(exercise);
    assert_eq!((code, &report["verdict"]), (0, &"solved".into()), "{report:#}");
}

#[test]
fn what_crate_sync_has_not_is_refused_by_the_compiler_with_the_reason() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    let solution = fs::read_to_string(exercise.solution()).unwrap();
    let uses = [
        ("fn a(d: std::time::Duration) { crate::sync::thread::sleep(d); }", "nothing that looks at a clock"),
        (
            "fn b(r: crate::sync::mpsc::Receiver<u8>, d: std::time::Duration) { r.recv_timeout(d); }",
            "a time-out hides",
        ),
        (
            "fn c(c: &Condvar, m: &Mutex<u8>, d: std::time::Duration) { c.wait_timeout(m.lock().unwrap(), d).unwrap(); }",
            "wait for what has to happen, not for a time",
        ),
        ("struct D { value: crate::sync::OnceLock<u8> }", "no `Once`, `OnceLock` or `LazyLock`"),
        ("fn e() -> bool { thread::panicking() }", "no `thread::panicking`"),
        (
            "fn f() -> usize { thread::available_parallelism().unwrap().get() }",
            "as many threads as you are asked for",
        ),
        ("fn g(m: &Mutex<u8>) -> bool { m.is_poisoned() }", "does not say whether a lock is poisoned"),
    ];
    let uses_all: Vec<&str> = uses.iter().map(|(line, _)| *line).collect();
    fs::write(exercise.answer(), format!("{solution}\n{}\n", uses_all.join("\n"))).unwrap();
    let (code, report) = copy.check(exercise);
    assert_eq!((code, &report["verdict"]), (1, &"does_not_compile".into()), "{report:#}");
    let said = report["compiler"].as_str().unwrap();
    for (line, reason) in uses {
        assert!(said.contains(reason), "{line}: {said}");
    }
    assert_eq!(said.matches("error[E0277]").count(), uses.len(), "nothing else is wrong with them: {said}");

    // The compiler's message about this line names `std::sync::LazyLock`, and must say why that
    // type is not allowed.
    let line =
        "static JOBS: std::sync::LazyLock<Mutex<Vec<Job>>> = std::sync::LazyLock::new(Mutex::default);";
    fs::write(exercise.answer(), format!("{solution}\n{line}\n")).unwrap();
    let (_, report) = copy.check(exercise);
    assert!(report["compiler"].as_str().unwrap().contains("a static would still hold"), "{report:#}");
}

#[test]
fn tests_of_the_learners_own_may_use_all_of_std_and_are_run_once() {
    const OWN: &str = "
        #[cfg(test)]
        mod tests {
            use super::*;
            use std::sync::mpsc;
            use std::time::Duration;

            #[test]
            fn a_test_of_my_own() {
                let (sender, receiver) = mpsc::channel();
                let pool = WorkerPool::new(1);
                pool.execute(move || sender.send(std::thread::current().id()).unwrap());
                assert_ne!(receiver.recv_timeout(Duration::from_secs(60)).unwrap(), std::thread::current().id());
                pool.shutdown();
            }
        }";
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    let solution = fs::read_to_string(exercise.solution()).unwrap();
    fs::write(exercise.answer(), format!("{solution}{OWN}")).unwrap();
    let (code, report) = copy.check(exercise);
    assert_eq!((code, &report["verdict"]), (0, &"solved".into()), "{report:#}");
    let output = copy.cargo_test(exercise);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("a_test_of_my_own ... ok").count(), 1, "{said}");
    let again = copy.cargo_test(exercise);
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(!said.contains("Compiling"), "nothing has changed: {said}");
}

#[test]
fn an_answer_that_names_an_ordering_is_told_that_nothing_checks_it() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex02");
    let count = "fn count(n: &crate::sync::atomic::AtomicUsize) { n.fetch_add(1, crate::sync::atomic::Ordering::Relaxed); }";
    let solution = fs::read_to_string(exercise.solution()).unwrap();
    let wrong = exercise.wrong_answer(exercise.wrong("m04_no_drop").unwrap()).unwrap();
    for (text, verdict) in [(solution, "solved"), (wrong, "failed")] {
        fs::write(exercise.answer(), format!("{text}\n{count}\n")).unwrap();
        let note = "the model runs every atomic as `SeqCst`. Your file names `Relaxed` (line ";
        let (_, report) = copy.check(exercise);
        assert_eq!(report["verdict"], verdict, "{report:#}");
        assert!(report["notes"][0].as_str().unwrap().contains(note), "{report:#}");
        let text = String::from_utf8(copy.course(&["check", "ex02"]).stdout).unwrap();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(note) && words.contains("who-sees-what.md"), "{text}");
    }
    answer(exercise, "solution/exercise.rs");
    let (_, report) = copy.check(exercise);
    assert!(report["notes"].is_null(), "{report:#}");
}

#[test]
fn what_the_machine_does_wrong_is_no_verdict_on_the_answer() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex02");
    answer(exercise, "solution/exercise.rs");

    // Tests a target directory that the program cannot write.
    let blocked = copy.0.workspace().root().join("blocked");
    fs::write(&blocked, "").unwrap();
    let output =
        copy.command(&["check", "ex02", "--json"]).env("CARGO_TARGET_DIR", &blocked).output().unwrap();
    let (code, report) = Copy::report(&output);
    assert_eq!((code, &report["verdict"]), (3, &"could_not_check".into()), "{report:#}");
    assert!(report["reason"].as_str().unwrap().contains("blocked"), "{report:#}");
    let output = copy.command(&["check", "ex02"]).env("CARGO_TARGET_DIR", &blocked).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("says nothing about your answer") && !text.contains("does not compile"), "{text}");

    // Tests a dependency that has not been downloaded, without a network.
    let output = copy
        .command(&["check", "ex02", "--json"])
        .envs([("CARGO_HOME", copy.0.workspace().root()), ("CARGO_NET_OFFLINE", Path::new("true"))])
        .output()
        .unwrap();
    let (code, report) = Copy::report(&output);
    assert_eq!((code, &report["verdict"]), (3, &"could_not_check".into()), "{report:#}");
    assert!(!copy.is_solved(exercise));
}

#[test]
fn a_report_cannot_be_printed() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex02");
    let solution = fs::read_to_string(exercise.solution()).unwrap();
    let whole = "pub fn promise<T>() -> (Promise<T>, Future<T>) {";
    assert!(solution.contains(whole));
    let mut every = String::new();
    for property in &exercise.properties {
        let _ = write!(every, "println!(\"test {} ... ok\");", property.name);
    }
    for forged in [
        r#"println!("\u{1e}exercise-report {{\"Ok\":2000}}"); std::process::exit(0);"#.to_owned(),
        r#"println!("\u{1e}exercise-report  {{\"Ok\":2000}}"); std::process::exit(0);"#.to_owned(),
        format!("{every} std::process::exit(0);"),
        format!("{every} panic!();"),
        "std::process::exit(0);".to_owned(),
    ] {
        fs::write(exercise.answer(), solution.replace(whole, &format!("{whole} {forged}"))).unwrap();
        let (code, report) = copy.check(exercise);
        assert_eq!((code, &report["verdict"]), (1, &"failed".into()), "{forged}: {report:#}");
        let held =
            report["properties"].as_array().unwrap().iter().filter(|p| p["model"]["verdict"] == "held");
        assert_eq!(held.count(), 0, "{forged}: {report:#}");
    }
    assert!(!copy.is_solved(exercise));
}

#[test]
fn a_report_for_machines_says_what_was_checked_and_can_be_short() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex01");
    mistake(exercise, "m03_notify_one_at_shutdown");
    let (_, whole) = copy.check_with(exercise, &["--all-messages"]);
    let (_, first) = copy.check(exercise);
    let (code, short) = copy.check_with(exercise, &["--summary"]);
    assert_eq!((code, &short["verdict"], &short["name"]), (1, &"failed".into(), &"ex01-worker-pool".into()));
    let kept = Workspace::find().unwrap().target().join("course/your-schedule.json");
    let schedule: Value = serde_json::from_str(&fs::read_to_string(&kept).unwrap()).unwrap();
    assert_eq!(schedule["file"], "exercises/ex01-worker-pool/src/exercise.rs");
    assert_eq!(schedule["title"], "ex01-worker-pool, shutdown_wakes_every_sleeping_worker");
    assert!(schedule["states"].as_array().unwrap().len() > 5, "{schedule:#}");
    let state = |report: &Value| property(report, "shutdown_wakes_every_sleeping_worker")["model"].clone();
    assert!(!state(&whole)["schedule"].is_null() && state(&short)["schedule"].is_null(), "{short:#}");
    assert_eq!(message(&state(&short)), message(&state(&whole)));
    assert!(short.to_string().len() < 12_000 && first.to_string().len() < 16_000, "{first:#}");
    let drawn = |report: &Value| {
        let properties = report["properties"].as_array().unwrap().iter();
        let drawn = properties.filter(|property| !property["model"]["schedule"].is_null());
        drawn.map(|property| property["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&first), ["shutdown_wakes_every_sleeping_worker"], "the failure that is shown first");
    assert!(drawn(&whole).len() > 5, "{:?}", drawn(&whole));
    assert!(short["milliseconds"].as_u64().is_some(), "{short:#}");
    assert_eq!(short["sha256"], whole["sha256"]);
    answer(exercise, "solution/exercise.rs");
    let (_, solved) = copy.check_with(exercise, &["--summary"]);
    let hash = |report: &Value, of: &str| report["sha256"][of].as_str().unwrap().to_owned();
    assert_ne!(hash(&solved, "answer"), hash(&whole, "answer"));
    assert_eq!(hash(&solved, "suite"), hash(&whole, "suite"));
}

/// A process; dropping this value ends it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn watch_checks_again_whenever_the_file_is_saved() {
    let copy = Copy::new();
    let exercise = &copy.exercise("ex02");
    let mut command = copy.command(&["watch", "ex02"]);
    let mut watch = Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let stdout = watch.0.stdout.take().unwrap();
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let wait_for = |words: &str| {
        let until = Instant::now() + Duration::from_mins(5); // another process may be compiling
        while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if line.contains(words) {
                return;
            }
        }
        panic!("no line with `{words}`");
    };
    wait_for("Watching");
    mistake(exercise, "m04_no_drop");
    wait_for("FAILS");
    wait_for("Watching");
    answer(exercise, "solution/exercise.rs");
    wait_for("Solved.");
    wait_for("Watching");
    assert!(copy.is_solved(exercise));
}

/// Runs a command on the real project, so the command must not change the project.
fn of_the_project(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_course"))
        .args(arguments)
        .env("CARGO_TARGET_DIR", Workspace::find().unwrap().target())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap()
}

#[test]
fn submissions_are_judged_one_after_the_other_whatever_one_of_them_does() {
    let copy = Copy::new(); // only waits for its turn: the submissions have their own copy
    let solution = fs::read_to_string(copy.exercise("ex00").solution()).unwrap();
    let with_body =
        |body: &str| format!("{}{{ {body} }}\n", &solution[..solution.rfind(" {\n    let mut").unwrap()]);
    let sent = tempfile::tempdir().unwrap();
    let expected = [
        ("ann", solution.clone(), "solved"),
        ("bob", with_body("std::process::exit(0)"), "failed"),
        ("cem", with_body(r#"loop { println!("{}", "again ".repeat(10_000)) }"#), "failed"),
        ("dan", with_body("loop {}"), "failed"),
        ("eve", "pub fn serve_all(visits: Visits) {}\n".into(), "does_not_compile"),
        ("fay", "include!(\"../solution/exercise.rs\");\n".into(), "does_not_compile"),
        ("gus", solution, "solved"),
    ];
    for (student, text, _) in &expected {
        fs::write(sent.path().join(format!("{student}.rs")), text).unwrap();
    }
    let output = of_the_project(&["check", "ex00", "--json", "--submissions", sent.path().to_str().unwrap()]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for ((student, _, verdict), submission) in expected.iter().zip(report["submissions"].as_array().unwrap())
    {
        let judged = &submission["exercises"][0];
        assert_eq!(
            (&submission["student"], &judged["verdict"]),
            (&(*student).into(), &(*verdict).into()),
            "{judged:#}"
        );
        let all = judged["of"].as_u64().unwrap();
        assert_eq!(judged["passed"] == all, *verdict == "solved", "{judged:#}");
        assert_eq!(judged["compiler"] != "", *verdict == "does_not_compile", "{judged:#}");
        assert!(*verdict != "failed" || judged["properties"][0]["seen"] != "", "{judged:#}");
    }
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_answer_is_judged_in_a_copy_for_students() {
    let copy = Copy::new();
    let to = tempfile::tempdir().unwrap();
    let output = of_the_project(&["export", "--student", to.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exercise = copy.exercise("ex00");
    fs::copy(exercise.solution(), to.path().join("exercises").join(&exercise.name).join("src/exercise.rs"))
        .unwrap();
    let macros = to.path().join("exercises/protocol/macros/src/answers.rs");
    fs::write(&macros, fs::read(&macros).unwrap()).unwrap(); // so Cargo compiles the macro from this copy
    let root = to.path().to_str().unwrap();
    let (code, report) = Copy::report(&of_the_project(&["check", "ex00", "--json", "--workspace", root]));
    assert_eq!((code, &report["verdict"]), (0, &"solved".into()), "{report:#}");

    // The copies share a target directory, and the copy from which Cargo compiled the macro is gone now. The
    // suite of exercise 34 contains answers to another exercise, which must come from its own copy.
    drop(to);
    let (_, report) = copy.check(&copy.exercise("ex34"));
    assert_eq!(report["verdict"], "failed", "{report:#}");
}
