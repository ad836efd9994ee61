//! Twenty rounds of the proof, each with schedules of its own. One wrong verdict among them is a failure.

use std::path::Path;

use exercises_proof::{Proof, exercises};

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
