//! The tests of an exercise, made from its list of properties by its build script.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use crate::Exercise;

/// In the build script of an exercise: writes `properties.rs`, with a test for each property in `exercise.toml`.
/// `tests/model.rs` and `tests/real.rs` include it. A property without a function in the suite does not compile, and a
/// function of the suite without a property is dead code.
///
/// # Panics
/// If a file cannot be read or written: Cargo shows the message.
pub fn write_tests() {
    println!("cargo::rerun-if-changed=exercise.toml");
    let directory = |name| PathBuf::from(env::var_os(name).expect("Cargo sets it for a build script"));
    let exercise =
        Exercise::read(directory("CARGO_MANIFEST_DIR")).unwrap_or_else(|error| panic!("{error:#}"));
    let mut tests = String::new();
    for property in &exercise.properties {
        let (name, promise) = (&property.name, &property.promise);
        let _ = writeln!(
            tests,
            "#[test]\nfn {name}() {{\n    check(ANSWER, {name:?}, {promise:?}, suite::{name});\n}}"
        );
    }
    fs::write(directory("OUT_DIR").join("properties.rs"), tests).expect("OUT_DIR can be written");
}
