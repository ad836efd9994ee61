//! The proof. One wrong verdict is a failure.
//!
//! The first round is run for every exercise that is built, and all rounds for one of them in turn: `TURN` is a number that
//! says which. `TURN=all` runs all rounds for every exercise. That takes half an hour of processor time, and finds what the
//! first round does not: a wrong answer that passes by chance, and a right one that is rejected by chance.

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

/// What a learner is shown after a prediction is what happens.
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

/// The stages of an exercise are changed so that nobody can do the first alone. The proof has to notice. That it has no
/// complaint of the exercise as it is, is a part of the proof.
#[test]
fn a_first_stage_that_nobody_can_do_alone_is_noticed() {
    let exe = Path::new(env!("CARGO_BIN_EXE_exercises-proof"));
    let mut exercise = exercises(Some("ex22")).unwrap().remove(0);
    // Answers that break the first stage are now called answers that reach the second.
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
