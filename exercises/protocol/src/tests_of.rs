//! The tests of an exercise, made from its list of properties by its build script, which looks at the answer, too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Exercise, Source, WHY};

/// In the build script of an exercise: writes what its library and its tests include.
///
/// `door.rs` is for the library. It is empty, or does not compile and says why: the answer goes past `crate::sync`. So that
/// is told once, wherever somebody compiles the answer.
///
/// `properties.rs` is for `tests/model.rs` and `tests/real.rs`. It has the answer as `mod exercise`, without tests of the
/// learner's own, and a test for each property in `exercise.toml`. A property without a function in the suite does not compile, and
/// a function of the suite without a property is dead code.
///
/// # Panics
/// If a file cannot be read or written: Cargo shows the message.
pub fn write_tests() {
    let directory = |name| PathBuf::from(env::var_os(name).expect("Cargo sets it for a build script"));
    let (folder, out) = (directory("CARGO_MANIFEST_DIR"), directory("OUT_DIR"));
    println!("cargo::rerun-if-changed=exercise.toml");
    println!("cargo::rerun-if-changed=src/exercise.rs");
    let exercise = Exercise::read(folder).unwrap_or_else(|error| panic!("{error:#}"));
    let text = fs::read_to_string(exercise.answer()).unwrap_or_default(); // if there is none, the compiler says so
    let answer = Source::of(&text);
    write_door(&out, &answer);
    let mut tests = module(&out, &exercise, &answer);
    for property in &exercise.properties {
        let (name, promise) = (&property.name, &property.promise);
        let _ = writeln!(
            tests,
            "#[test]\nfn {name}() {{\n    check(ANSWER, {name:?}, {promise:?}, suite::{name});\n}}"
        );
    }
    write(&out.join("properties.rs"), &tests);
}

fn write_door(out: &Path, answer: &Source<'_>) {
    let refused = answer.refused();
    let mut door = "";
    if !refused.is_empty() {
        let mut message = "src/exercise.rs goes past `crate::sync`".to_owned();
        for refused in &refused {
            let _ = write!(message, "\n  {refused}");
        }
        let _ = write!(message, "\n{WHY}\nexercises/sync/README.md lists what `crate::sync` has.");
        write(&out.join("door.txt"), &message);
        door = "compile_error!(include_str!(\"door.txt\"));\n"; // the compiler shows this line, so it is short
    }
    write(&out.join("door.rs"), door);
}

/// The answer as a module. Tests of the learner's own run in the library; here they would run outside of the model.
fn module(out: &Path, exercise: &Exercise, answer: &Source<'_>) -> String {
    let mut path = exercise.answer();
    if let Some(text) = answer.without_own_tests() {
        path = out.join("exercise.rs"); // the same lines: what is said of one holds for the answer
        write(&path, &text);
    }
    let path = path.to_string_lossy();
    format!("#[path = {path:?}]\nmod exercise;\nconst ANSWER: &str = include_str!({path:?});\n")
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
