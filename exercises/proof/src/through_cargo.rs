//! Proves the exercises as a learner runs them: one answer after the other becomes `src/exercise.rs`, in a
//! copy of the workspace, and `cargo test` decides. This proof is slow, because each answer is compiled and
//! linked separately; its result must agree with the fast proof.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use exercises_protocol::Exercise;

use crate::folder;

/// Runs `cargo test` on every answer, and returns the wrong verdicts.
pub fn through_cargo(exercises: &[Exercise]) -> anyhow::Result<Vec<String>> {
    let root = folder().join("..").canonicalize().context("cannot find the workspace")?;
    let scratch = std::env::current_exe()?.with_file_name("exercises-proof.scratch");
    let copy = scratch.join("workspace");
    if copy.exists() {
        fs::remove_dir_all(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
    }
    copy_sources(&root, &copy, &scratch)?;
    let mut mistakes = Vec::new();
    for exercise in exercises {
        let read = |path| fs::read_to_string(path).with_context(|| format!("cannot read {}", exercise.name));
        let mut answers = vec![("solution", read(exercise.solution())?), ("stub", read(exercise.stub())?)];
        for wrong in &exercise.wrong {
            answers.push((&wrong.name, exercise.wrong_answer(wrong)?));
        }
        for (answer, text) in answers {
            println!("{} {answer}", exercise.name);
            fs::write(copy.join("exercises").join(&exercise.name).join("src/exercise.rs"), text)?;
            let output = Command::new(env!("CARGO"))
                .args(["test", "--offline", "--color=never", "-p", &exercise.name])
                .env("CARGO_TARGET_DIR", scratch.join("target"))
                .current_dir(&copy)
                .output()
                .context("cannot run cargo")?;
            let text = String::from_utf8_lossy(&output.stdout);
            if let Some(mistake) = judge(exercise, answer, output.status.success(), &text) {
                mistakes.push(format!("{} {answer} through cargo test: {mistake}", exercise.name));
            }
        }
    }
    Ok(mistakes)
}

fn judge(exercise: &Exercise, answer: &str, passed: bool, output: &str) -> Option<String> {
    let words = output.split_whitespace().collect::<Vec<_>>().join(" "); // messages are wrapped
    let failed = |property: &str| words.contains(&format!("test {property} ... FAILED"));
    let problem = match (answer, exercise.wrong(answer)) {
        ("solution", _) => (!passed).then_some("is rejected"),
        (_, Err(_)) => {
            let all_fail = exercise.properties.iter().all(|property| failed(&property.name));
            (passed || !all_fail || !words.contains("still to do"))
                .then_some("not every property says what is to do")
        }
        (_, Ok(wrong)) => (passed || !failed(&wrong.property) || !words.contains(&wrong.message))
            .then_some("is not rejected by the expected property with the expected message"),
    };
    problem.map(|problem| format!("{problem}\n{output}"))
}

/// Copies the workspace without build results and hidden files.
fn copy_sources(from: &Path, to: &Path, scratch: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_string_lossy().starts_with('.');
        let built = path.join("CACHEDIR.TAG").exists() || scratch.starts_with(&path);
        let target: PathBuf = to.join(&name);
        if hidden || built {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_sources(&path, &target, scratch)?;
        } else {
            fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}
