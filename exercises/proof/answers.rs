//! Build script of `model`, `solutions`, `memory` and `real`. The script writes a module for every answer of
//! every exercise, together with the exercise's suite. The answers are listed in `wrong.diff` and in the
//! folder `right`. A right answer is compiled from its own file, and a wrong answer from a file that this
//! script writes. `model` has each stub and wrong answer, `solutions` has each right answer, and `memory` has
//! all answers to the exercises with the model of memory. `real` has no wrong answers: on real threads they
//! may pass by luck, so the proof does not check wrong answers there. But if only one exercise is built
//! (`EXERCISE_ONLY=ex01`), `real` has its wrong answers, because `cargo course wrong` counts how often they
//! pass.
//!
//! For each `[[schedule]]` of `kinds.toml`, `model` has the program's threads with the wrong answer, and
//! `solutions` has these threads with the solution.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, iter};

use exercises_protocol::graph::Program;
use exercises_protocol::{Exercise, Kinds, Model, ONLY, Property, Wrong};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").canonicalize().unwrap();
    // A new exercise is a new package, which Cargo.lock lists. Cargo itself watches the files that rustc
    // compiles.
    println!("cargo::rerun-if-changed={}", folder.join("../Cargo.lock").display());
    println!("cargo::rerun-if-changed={}", folder.join("kinds.toml").display());
    println!("cargo::rerun-if-env-changed={ONLY}");
    let only = env::var(ONLY).ok();
    let (mut modules, mut table) = (String::new(), String::new());
    let mut exercises = exercises_protocol::all(&folder).unwrap();
    let is_named = |exercise: &Exercise, only: &str| {
        only.split_whitespace().any(|start| exercise.name.starts_with(start))
    };
    exercises.retain(|exercise| only.as_ref().is_none_or(|only| is_named(exercise, only)));
    let is_alone = only.is_some() && exercises.len() == 1;
    let scenes = scenes(&folder, &exercises);
    for exercise in exercises {
        let (name, suite) = (&exercise.name, exercise.suite());
        // Cargo would treat a missing file as changed, and would then build all answers each time.
        let lists = ["exercise.toml", "right", "wrong.diff", "wrong", "solution"];
        for list in lists.map(|list| exercise.folder().join(list)).iter().filter(|list| list.exists()) {
            println!("cargo::rerun-if-changed={}", list.display());
        }
        let stub = || ("stub".to_owned(), exercise.stub());
        let solution = || ("solution".to_owned(), exercise.solution());
        let right = || exercise.right.iter().map(|name| (name.clone(), exercise.right_answer(name)));
        let wrong = || {
            exercise.wrong.iter().filter_map(|wrong| Some((wrong.name.clone(), write_out(&exercise, wrong)?)))
        };
        let package = env::var("CARGO_PKG_NAME").unwrap();
        let answers: Vec<_> = match (package.as_str(), exercise.model) {
            ("exercises-proof-model", Model::Threads | Model::Single) => {
                iter::once(stub()).chain(wrong()).collect()
            }
            ("exercises-proof-solutions", Model::Threads | Model::Single) => {
                iter::once(solution()).chain(right()).collect()
            }
            ("exercises-proof-memory", Model::Memory) => {
                [stub(), solution()].into_iter().chain(right()).chain(wrong()).collect()
            }
            ("exercises-proof-real", _) => {
                let wrong = is_alone.then(wrong).into_iter().flatten();
                [stub(), solution()].into_iter().chain(right()).chain(wrong).collect()
            }
            _ => Vec::new(),
        };
        for (answer, path) in answers {
            let module = format!("{}_{answer}", name.replace('-', "_"));
            let properties: String = exercise
                .properties
                .iter()
                .map(|Property { name, promise, .. }| {
                    format!("        ({name:?}, {promise:?}, suite::{name}),\n")
                })
                .collect();
            let _ = write!(
                modules,
                "mod {module} {{\n    #[path = {path:?}]\n    mod exercise;\n    #[path = {suite:?}]\n    mod suite;\n    \
                 pub const PROPERTIES: &[(&str, &str, fn())] = &[\n{properties}    ];\n}}\n"
            );
            let _ = writeln!(
                table,
                "    Answer {{ exercise: {name:?}, name: {answer:?}, source: include_str!({path:?}), properties: {module}::PROPERTIES }},"
            );
        }
    }
    let table = format!(
        "use exercises_harness::Answer;\n/// The answers.\npub const ANSWERS: &[Answer] = &[\n{table}];\n"
    );
    fs::write(out_dir().join("answers.rs"), modules + &table + &scenes).unwrap();
}

/// For each program in which a learner is the scheduler, writes a module with the program's code and threads.
/// Also writes the list of all programs.
fn scenes(folder: &Path, exercises: &[Exercise]) -> String {
    let (mut modules, mut list) = (String::new(), String::new());
    for program in Kinds::read(folder).unwrap().schedule {
        let Some(path) = code_of(&program, folder, exercises) else { continue };
        let (name, scenario) = (&program.name, program.scenario(folder));
        let _ = write!(
            modules,
            "mod {name} {{\n    #[path = {path:?}]\n    mod exercise;\n    #[path = {scenario:?}]\n    pub mod scenario;\n}}\n"
        );
        let _ = writeln!(
            list,
            "    Scene {{ name: {name:?}, source: include_str!({path:?}), scenario: {name}::scenario::scenario }},"
        );
    }
    format!(
        "{modules}use exercises_harness::model::graph::Scene;\n/// The code in which a learner is the scheduler.\n\
         pub const SCENES: &[Scene] = &[\n{list}];\n"
    )
}

/// Returns the code that a program's threads run, if this package contains that code.
fn code_of(program: &Program, folder: &Path, exercises: &[Exercise]) -> Option<PathBuf> {
    let which = match env::var("CARGO_PKG_NAME").unwrap().as_str() {
        "exercises-proof-model" => "wrong",
        "exercises-proof-solutions" => "right",
        _ => return None,
    };
    program.own_code(folder, which).or_else(|| {
        let find = |exercise| Some((exercise, program.wrong(exercise)?.unwrap()));
        let (exercise, wrong) = exercises.iter().find_map(find)?;
        if which == "right" { Some(exercise.solution()) } else { write_out(exercise, wrong) }
    })
}

/// Writes a wrong answer as a file. If an edit does not apply, the script leaves out the wrong answer and
/// prints a warning, and the proof reports this answer later. The build must not fail, because it builds the
/// program with which a maintainer repairs the edit.
fn write_out(exercise: &Exercise, wrong: &Wrong) -> Option<PathBuf> {
    let path = out_dir().join(&exercise.name).join(format!("{}.rs", wrong.name));
    match exercise.wrong_answer(wrong) {
        Ok(text) => {
            fs::create_dir_all(path.with_file_name("")).unwrap();
            fs::write(&path, text).unwrap();
            Some(path)
        }
        Err(error) => {
            format!("{error:#}").lines().for_each(|line| println!("cargo::warning={line}"));
            None
        }
    }
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").unwrap())
}
