//! Twenty rounds of the proof, each with schedules of its own. One wrong verdict among them is a failure.

use std::path::Path;
use std::process::{Command, Stdio};

use exercises_proof::{NO_VERDICT, Proof, exercises};

const ROUNDS: u64 = 20;

fn prove(name: &str) {
    let exe = Path::new(env!("CARGO_BIN_EXE_exercises-proof"));
    for exercise in exercises(Some(name)).unwrap() {
        let proof = Proof::of(&exercise, exe, ROUNDS).unwrap();
        assert!(proof.mistakes.is_empty(), "{}", proof.mistakes.join("\n\n"));
    }
}

#[test]
fn every_exercise_rejects_what_it_should_and_nothing_else() {
    prove("");
}

/// `cargo course wrong` counts how often an answer is caught. One that cannot be run must not count.
#[test]
fn an_answer_that_is_not_there_is_not_caught() {
    let exe = env!("CARGO_BIN_EXE_exercises-proof");
    let run = |answer| {
        let arguments = ["--run", "real", "ex01-worker-pool", answer, "every_job_runs_once"];
        Command::new(exe).args(arguments).stdin(Stdio::null()).output().unwrap().status.code()
    };
    assert_eq!(run("nobody_wrote_this"), Some(i32::from(NO_VERDICT)));
    assert_eq!(run("stub"), Some(1));
    assert_eq!(run("solution"), Some(0));
}
