//! The tests of an exercise, made from its list of properties, and a look at the answer.
//!
//! These are macros and not a build script, which would be linked anew for each exercise. They learn from
//! Cargo's variables for the compiler which exercise it is.

mod answers;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io, process};

use exercises_protocol::{Exercise, Source, WHY};
use proc_macro::{TokenStream, TokenTree};

/// Checks the answer in the library of an exercise, which gives the name of the answer's module. Expands to
/// nothing, or to an error that says how the answer goes past `crate::sync`. So every compilation of the
/// answer says it, and says it once.
#[proc_macro]
pub fn door(module: TokenStream) -> TokenStream {
    let error = made_from(|exercise| door_of(&Source::of(&text_of(exercise))));
    let Some(module) = module.into_iter().next() else { return error };
    // Puts the error into the reader's own text. Without this the compiler tells from which macro it comes.
    let here = |mut token: TokenTree| {
        token.set_span(module.span());
        token
    };
    error.into_iter().map(here).collect()
}

/// Makes the tests in `tests/model.rs` and `tests/real.rs`: the answer as `mod exercise`, without tests of
/// the learner's own, and a test for each property in `exercise.toml`. A property without a function in the
/// suite does not compile, and a function of the suite without a property is dead code.
#[proc_macro]
pub fn properties(_: TokenStream) -> TokenStream {
    made_from(|exercise| {
        let answer = answer_of(exercise);
        let [answer, list, original] = [answer, exercise.folder().join("exercise.toml"), exercise.answer()]
            .map(|path| path.to_string_lossy().into_owned());
        // The compiler must see the list and the original, or Cargo would not notice when they change.
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

/// Makes the answers that a learner's test judges, in the suite of such an exercise. `answers!(ex10 m01 m03)`
/// expands to a module for the solution of ex10, for each other right answer and for these wrong ones, and to
/// a call of the suite's macro `each_answer`. That is given, for each, `right` or `wrong`, the module, and
/// what is right or wrong about it.
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

/// Nothing if there is no answer: the compiler says so.
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

/// Where the answer is. Tests of the learner's own run in the library; here they would run outside of the
/// model. So if there are some, it is a copy without them: the same lines, so what is said of one holds for
/// the other.
fn answer_of(exercise: &Exercise) -> PathBuf {
    let path = exercise.answer();
    // An editor has no such folder, and runs no tests.
    let (Some(text), Some(scratch)) =
        (Source::of(&text_of(exercise)).without_own_tests(), env::var_os("CARGO_TARGET_TMPDIR"))
    else {
        return path;
    };
    let target = env::var_os("CARGO_CRATE_NAME").expect("Cargo sets it for the compiler");
    let copy = Path::new(&scratch).join(&exercise.name).join(target).join("exercise.rs");
    if let Err(error) = write(&copy, &text, &path) {
        // A panic would be an error at a line of the exercise, and `cargo course` takes those for the
        // learner's.
        eprintln!("error: cannot write {}: {error}", copy.display());
        process::exit(1);
    }
    copy
}

/// The copy is as old as the answer: what is younger than the tests would have Cargo build them again.
fn write(copy: &Path, text: &str, answer: &Path) -> io::Result<()> {
    fs::create_dir_all(copy.parent().unwrap_or(copy))?;
    fs::write(copy, text)?;
    File::options().write(true).open(copy)?.set_modified(fs::metadata(answer)?.modified()?)
}
