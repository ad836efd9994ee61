//! Build script of `model`, `solutions` and `real`: a module for every answer of every exercise, with the exercise's suite
//! beside it. So a new file under `wrong/` is compiled and proven without being listed, and the text that is compiled is
//! the file itself. `model` has each stub and wrong answer, `solutions` each solution; `real` has no wrong ones: on real
//! threads a wrong answer may pass by luck, so the proof asks nothing of it there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, iter};

fn main() {
    let exercises = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").canonicalize().unwrap();
    println!("cargo::rerun-if-changed={}", exercises.display());
    let (mut modules, mut table) = (String::new(), String::new());
    for exercise in sorted(&exercises).into_iter().filter(|path| path.join("exercise.toml").is_file()) {
        let name = stem(&exercise);
        let suite = exercise.join("tests/suite/mod.rs");
        let text = fs::read_to_string(&suite).unwrap();
        let properties = properties(&text);
        let stub = || ("stub".to_owned(), exercise.join("stub/exercise.rs"));
        let solution = || ("solution".to_owned(), exercise.join("solution/exercise.rs"));
        let wrong = || sorted(&exercise.join("wrong")).into_iter().map(|path| (stem(&path), path));
        let answers: Vec<_> = match env::var("CARGO_PKG_NAME").unwrap().as_str() {
            "exercises-proof-model" => iter::once(stub()).chain(wrong()).collect(),
            "exercises-proof-solutions" => vec![solution()],
            _ => vec![stub(), solution()],
        };
        for (answer, path) in answers {
            let module = format!("{}_{answer}", name.replace('-', "_"));
            let arms: String = properties
                .iter()
                .map(|p| {
                    format!("        {p:?} => crate::mode::run_here(include_str!({path:?}), suite::{p}),\n")
                })
                .collect();
            let _ = write!(
                modules,
                "mod {module} {{\n    #[path = {path:?}]\n    pub mod exercise;\n    #[path = {suite:?}]\n    pub mod suite;\n    \
                 pub fn run(property: &str) {{\n        match property {{\n{arms}            _ => {{}}\n        }}\n    }}\n}}\n"
            );
            let _ = writeln!(table, "    ({name:?}, {answer:?}, {module}::run),");
        }
    }
    let table = format!(
        "/// Exercise, answer, and what runs a property of it (and does not come back, unless there is no such property).\n\
         pub const ANSWERS: &[(&str, &str, fn(&str))] = &[\n{table}];\n"
    );
    fs::write(PathBuf::from(env::var("OUT_DIR").unwrap()).join("answers.rs"), modules + &table).unwrap();
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The public functions of a suite.
fn properties(suite: &str) -> Vec<&str> {
    suite
        .lines()
        .filter_map(|line| line.strip_prefix("pub fn ")?.split_once('(').map(|(name, _)| name))
        .collect()
}
