//! Build script of `model`, `solutions`, `memory` and `real`: a module for every answer of every exercise, with the
//! exercise's suite beside it. The list is `wrong.diff` and the folder `right`. The text that is compiled is the file itself, and
//! for a wrong answer one that is written here. `model` has each stub and wrong answer, `solutions` each right one, `memory` all of the exercises with that model;
//! `real` has no wrong ones: on real threads a wrong answer may pass by luck, so the proof asks nothing of it there. It has them
//! if only one exercise is built (`EXERCISE_ONLY=ex01`), for `cargo course wrong`, which counts how often they pass.
//!
//! For each `[[schedule]]` of `kinds.toml`, `model` has its threads with the wrong answer, and `solutions` with the solution.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, iter};

use exercises_protocol::graph::Program;
use exercises_protocol::{Exercise, Kinds, Model, ONLY, Property, Wrong};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").canonicalize().unwrap();
    // A new exercise is a new package, which Cargo.lock lists. rustc itself sees to the files that it compiles.
    println!("cargo::rerun-if-changed={}", folder.join("../Cargo.lock").display());
    println!("cargo::rerun-if-changed={}", folder.join("kinds.toml").display());
    println!("cargo::rerun-if-env-changed={ONLY}");
    let only = env::var(ONLY).ok();
    let (mut modules, mut table, mut scenes) = (String::new(), String::new(), String::new());
    let programs = Kinds::read(&folder).unwrap().schedule;
    let mut exercises = exercises_protocol::all(&folder).unwrap();
    exercises.retain(|exercise| only.as_ref().is_none_or(|only| exercise.name.starts_with(only)));
    for exercise in exercises {
        let (name, suite) = (&exercise.name, exercise.suite());
        // What is not there counts as changed, and all answers would be built each time.
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
                let wrong = only.iter().flat_map(|_| wrong());
                [stub(), solution()].into_iter().chain(right()).chain(wrong).collect()
            }
            _ => Vec::new(),
        };
        for program in &programs {
            let Some(path) = answer_of(program, &exercise, &package) else { continue };
            let (name, scenario) = (&program.name, program.scenario(&folder));
            let _ = write!(
                modules,
                "mod {name} {{\n    #[path = {path:?}]\n    mod exercise;\n    #[path = {scenario:?}]\n    pub mod scenario;\n}}\n"
            );
            let _ = writeln!(
                scenes,
                "    Scene {{ name: {name:?}, source: include_str!({path:?}), scenario: {name}::scenario::scenario }},"
            );
        }
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
    let scenes = format!(
        "use exercises_harness::model::graph::Scene;\n/// The answers in which a learner is the scheduler.\n\
         pub const SCENES: &[Scene] = &[\n{scenes}];\n"
    );
    fs::write(out_dir().join("answers.rs"), modules + &table + &scenes).unwrap();
}

/// The answer that the threads of a program run in this package, if it is an answer to this exercise.
fn answer_of(program: &Program, exercise: &Exercise, package: &str) -> Option<PathBuf> {
    let wrong = program.wrong(exercise)?.unwrap();
    match package {
        "exercises-proof-model" => write_out(exercise, wrong),
        "exercises-proof-solutions" => Some(exercise.solution()),
        _ => None,
    }
}

/// Writes a wrong answer as a file. One whose edit does not apply is left out and named, and the proof says so again: the program
/// with which a maintainer mends it has to be built.
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
