//! Macros that make the tests of an exercise from its list of properties, and that check the answer.
//!
//! The crate has macros and no build script, because Cargo must link a build script again for each exercise.
//! The macros learn the name of the exercise from the variables that Cargo sets for the compiler.

mod answers;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io, process};

use exercises_protocol::{Exercise, Source, WHY};
use proc_macro::{TokenStream, TokenTree};

/// Checks the answer in the library of an exercise; the argument is the name of the answer's module. Expands
/// to nothing, or to an error that says how the answer bypasses `crate::sync`. So every compilation of the
/// answer reports the error once.
#[proc_macro]
pub fn door(module: TokenStream) -> TokenStream {
    let error = made_from(|exercise| door_of(&Source::of(&text_of(exercise))));
    let Some(module) = module.into_iter().next() else { return error };
    // Makes the error point into the learner's own text. Without this code, the compiler also names the macro
    // from which the error comes.
    let here = |mut token: TokenTree| {
        token.set_span(module.span());
        token
    };
    error.into_iter().map(here).collect()
}

/// Makes the tests in `tests/model.rs` and `tests/real.rs`: the answer as `mod exercise`, without the
/// learner's own tests, and a test for each property in `exercise.toml`. If a property has no function in the
/// suite, the tests do not compile; if a function of the suite has no property, the function is dead code.
#[proc_macro]
pub fn properties(_: TokenStream) -> TokenStream {
    made_from(|exercise| {
        let answer = answer_of(exercise);
        let [answer, list, original] = [answer, exercise.folder().join("exercise.toml"), exercise.answer()]
            .map(|path| path.to_string_lossy().into_owned());
        // The compiler must read the list and the original file: only then does Cargo notice when a file
        // changes.
        let mut tests = format!(
            "#[path = {answer:?}] mod exercise; const ANSWER: &str = include_str!({answer:?});
             const _: [&[u8]; 2] = [include_bytes!({list:?}), include_bytes!({original:?})];"
        );
        for property in &exercise.properties {
            let (name, promise) = (&property.name, &property.promise);
            let _ = write!(
                tests,
                "#[test] fn {name}() {{ check(ANSWER, {name:?}, {promise:?}, suite::{name}); }}"
            );
        }
        tests
    })
}

/// Turns the answers that a learner's test judges into modules of the suite. `answers!(ex10 m01 m03)` expands
/// to a module for the solution of ex10, for each other right answer and for the wrong answers m01 and m03,
/// and to a call of the suite's macro `each_answer`. The macro `each_answer` gets, for each answer, `right`
/// or `wrong`, the module, and a text that says what is right or wrong about the answer.
#[proc_macro]
pub fn answers(wanted: TokenStream) -> TokenStream {
    let wanted: Vec<String> = wanted.into_iter().map(|word| word.to_string()).collect();
    let code = answers::all(&wanted).unwrap_or_else(|error| error_that_says(&format!("{error:#}")));
    code.parse().expect("it is Rust")
}

fn made_from(make: impl FnOnce(&Exercise) -> String) -> TokenStream {
    let folder = env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it for the compiler");
    let code =
        Exercise::read(folder).map_or_else(|error| error_that_says(&format!("{error:#}")), |it| make(&it));
    code.parse().expect("it is Rust")
}

fn error_that_says(message: &str) -> String {
    format!("compile_error!({message:?});")
}

/// Returns the text of the answer. The text is empty if there is no answer, because the compiler reports the
/// missing file anyway.
fn text_of(exercise: &Exercise) -> String {
    proc_macro2::fallback::force(); // what the compiler cuts into tokens does not say at which byte they are
    fs::read_to_string(exercise.answer()).unwrap_or_default()
}

fn door_of(answer: &Source<'_>) -> String {
    let refused = answer.refused();
    if refused.is_empty() {
        return String::new();
    }
    let mut message = "src/exercise.rs goes past `crate::sync`".to_owned();
    for refused in &refused {
        let _ = write!(message, "\n  {refused}");
    }
    let _ = write!(message, "\n{WHY}\nexercises/sync/README.md lists what `crate::sync` has.");
    error_that_says(&message)
}

/// Returns the path of the answer. The learner's own tests run in the library. They must not run among the
/// tests of the properties, because the model does not control them there. So if the learner has written
/// tests, the function returns the path of a copy without these tests; the copy has the same line numbers.
fn answer_of(exercise: &Exercise) -> PathBuf {
    let path = exercise.answer();
    // If an editor expands this macro, there is no folder for the copy, and no test is run.
    let (Some(text), Some(scratch)) =
        (Source::of(&text_of(exercise)).without_own_tests(), env::var_os("CARGO_TARGET_TMPDIR"))
    else {
        return path;
    };
    let target = env::var_os("CARGO_CRATE_NAME").expect("Cargo sets it for the compiler");
    let copy = Path::new(&scratch).join(&exercise.name).join(target).join("exercise.rs");
    if let Err(error) = write(&copy, &text, &path) {
        // This code must not panic: the compiler reports a panic as an error at a line of the exercise, and
        // `cargo course` treats this error as the learner's mistake.
        eprintln!("error: cannot write {}: {error}", copy.display());
        process::exit(1);
    }
    copy
}

/// Writes the copy with the modification time of the answer, because Cargo builds the tests again if the copy
/// is younger than the tests.
fn write(copy: &Path, text: &str, answer: &Path) -> io::Result<()> {
    fs::create_dir_all(copy.parent().unwrap_or(copy))?;
    fs::write(copy, text)?;
    File::options().write(true).open(copy)?.set_modified(fs::metadata(answer)?.modified()?)
}
