//! Turns the answers to an exercise into modules of another exercise's suite.
//!
//! The macro writes the texts of the answers into the suite; it does not write the paths of their files. A
//! line of an answer must not count as a line of the learner's file; besides, a wrong answer has no file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, bail};
use exercises_protocol::Exercise;

/// An answer to the exercise, and a text about the answer.
struct Answer {
    kind: &'static str,
    name: String,
    about: String,
    text: String,
}

/// Returns a module for each right answer to an exercise and for the given wrong answers, and a call of
/// `each_answer!` with all of them. `wanted` begins with the name of the exercise.
pub(super) fn all(wanted: &[String]) -> anyhow::Result<String> {
    let [short, wrong @ ..] = wanted else { bail!("an exercise, and wrong answers to it: `ex10 m01 m03`") };
    let exercises = exercises_protocol::all(&folder_of_the_exercises()?)?;
    let exercise = exercises.iter().find(|exercise| exercise.short() == short);
    let exercise = exercise.with_context(|| format!("there is no exercise {short}"))?;
    let (mut code, mut each) = (String::new(), String::new());
    for Answer { kind, name, about, text } in right(exercise)?.into_iter().chain(these(exercise, wrong)?) {
        let _ = writeln!(code, "pub mod {name} {{\n{text}\n}}");
        let _ = write!(each, "{kind} {name} {:?};", about.trim_end_matches('.'));
    }
    // The compiler must read the files: only then does Cargo notice when a file changes.
    for path in files(exercise) {
        let _ =
            write!(code, "const _: &[u8] = include_bytes!({:?});", path.canonicalize()?.to_string_lossy());
    }
    let _ = write!(code, "each_answer! {{ {each} }}");
    Ok(code)
}

/// Returns the folder `exercises` that contains the package that is being compiled. This folder may differ
/// from the folder in which this macro was compiled. For example, a teacher's program judges each submission in
/// a copy of the project, the copies share a target directory, and each copy is removed afterwards.
fn folder_of_the_exercises() -> anyhow::Result<PathBuf> {
    let package =
        env::var_os("CARGO_MANIFEST_DIR").context("Cargo sets CARGO_MANIFEST_DIR for the compiler")?;
    let folder = Path::new(&package).ancestors().find(|folder| folder.ends_with("exercises"));
    folder.map(Path::to_owned).context("the package does not lie in the folder `exercises`")
}

fn right(exercise: &Exercise) -> anyhow::Result<Vec<Answer>> {
    let about = format!("it is the solution of {}", exercise.name);
    let text = exercise.base(None)?;
    let mut answers = vec![Answer { kind: "right", name: "solution".into(), about, text }];
    for name in &exercise.right {
        let text = fs::read_to_string(exercise.right_answer(name))?;
        let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
        let about = head.join(" ").trim_start_matches("Right: ").to_owned();
        answers.push(Answer { kind: "right", name: name.clone(), about, text: exercise.base(Some(name))? });
    }
    Ok(answers)
}

fn these(exercise: &Exercise, wrong: &[String]) -> anyhow::Result<Vec<Answer>> {
    let answer = |name: &String| {
        let wrong = exercise.wrong(name)?;
        let (name, about) = (wrong.name.clone(), wrong.what_is_wrong());
        Ok(Answer { kind: "wrong", name, about, text: exercise.wrong_answer(wrong)? })
    };
    wrong.iter().map(answer).collect()
}

fn files(exercise: &Exercise) -> impl Iterator<Item = PathBuf> {
    let right = exercise.right.iter().map(|name| exercise.right_answer(name));
    [exercise.solution(), exercise.folder().join("wrong.diff")].into_iter().chain(right)
}
