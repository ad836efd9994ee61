//! The proof. Checks the verdicts on all answers; a single wrong verdict fails the test.
//!
//! The first round is run for every exercise that is built. All rounds are run for a single exercise, which
//! the number `TURN` chooses. `TURN=all` runs all rounds for every exercise. Running all rounds takes half an
//! hour of processor time. The run of all rounds finds verdicts that depend on chance: a wrong answer that
//! passes in some rounds, or a right answer that is rejected in some rounds.

use std::path::Path;
use std::process::{Command, Stdio};

use exercises_proof::{
    NO_VERDICT, Proof, ROUNDS, built, exercises, graph_mistakes, ledger, predicted, stages_that_are_one,
};

#[test]
fn every_exercise_rejects_what_it_should_and_nothing_else() {
    let exe = Path::new(env!("CARGO_BIN_EXE_exercises-proof"));
    let exercises = built().unwrap();
    let turn = std::env::var("TURN").unwrap_or_else(|_| "0".to_owned());
    let in_turn = turn.parse::<usize>().map(|turn| turn % exercises.len());
    assert!(in_turn.is_ok() || turn == "all", "TURN is a number, or `all`, and not {turn:?}");
    let mut mistakes = Vec::new();
    for (n, exercise) in exercises.iter().enumerate() {
        let is_its_turn = in_turn.as_ref().map_or(true, |in_turn| *in_turn == n);
        let rounds = if is_its_turn { ROUNDS } else { 1 };
        mistakes.extend(Proof::of(exercise, exe, Some(rounds)).unwrap().mistakes);
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
}

#[test]
fn every_exercise_has_been_proven_as_it_is_now() {
    let mistakes = ledger::mistakes(&exercises(None).unwrap()).unwrap();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// Checks that the outcome shown to a learner after a prediction is the outcome of a real run.
#[test]
fn what_was_seen_of_a_wrong_answer_is_what_is_seen_now() {
    let exe = Path::new(env!("CARGO_BIN_EXE_exercises-proof"));
    for (path, now) in predicted(exe).unwrap() {
        let seen = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(seen, now, "{}: `exercises-proof --seen` writes it", path.display());
    }
}

#[test]
fn every_graph_is_what_its_program_does() {
    let mistakes = graph_mistakes().unwrap();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// Changes the stages of an exercise so that the first stage cannot be done alone. Checks that the proof
/// notices this change. The proof itself checks that the unchanged exercise has no such mistake.
#[test]
fn a_first_stage_that_nobody_can_do_alone_is_noticed() {
    let exe = Path::new(env!("CARGO_BIN_EXE_exercises-proof"));
    let mut exercise = exercises(Some("ex22")).unwrap().remove(0);
    // After this change, answers that break the first stage count as answers that break only the second
    // stage.
    let (first, second): (Vec<_>, Vec<_>) =
        exercise.properties.iter().cloned().partition(|property| property.stage == 1);
    exercise.wrong.retain(|wrong| first.iter().any(|property| property.name == wrong.property));
    exercise.wrong.truncate(3);
    exercise.wrong.iter_mut().for_each(|wrong| wrong.property.clone_from(&second[0].name));
    let complaint = stages_that_are_one(&exercise, exe).unwrap();
    assert!(complaint.starts_with("ex22-bounded-acceptor: no answer keeps all properties"), "{complaint}");
    exercise.second_stage = None;
    assert_eq!(stages_that_are_one(&exercise, exe), None, "it has one stage");
}

/// Checks that `cargo course wrong` counts how often an answer is caught. If a test cannot be run, the answer
/// must not count as caught.
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
