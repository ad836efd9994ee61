//! Runs tests that are meant to fail, and reads their messages. In each file that uses this module, the
//! properties are both the suite and the learner's code; a property and its test have the same name.

use std::path::PathBuf;
use std::process::{Command, Output};

use exercises_protocol::{Failure, PROPERTY, State, TRACE};

pub(crate) const PROMISE: &str = "What a property promises.";

/// The ignored tests are meant to fail. Runs one ignored test as `cargo test` would.
pub(crate) fn failing(test: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored"]).env_remove(PROPERTY);
    command.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
    command.env(TRACE, traces()).output().unwrap()
}

fn traces() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("traces")
}

/// Returns the message of the test, in one line.
pub(crate) fn message(test: &str) -> String {
    let output = failing(test);
    assert!(!output.status.success(), "{test} passes");
    let shown = String::from_utf8(output.stdout).unwrap();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the failure that the test has recorded.
pub(crate) fn written(test: &str) -> Failure {
    let json = std::fs::read(traces().join(format!("{test}.json"))).unwrap();
    match serde_json::from_slice(&json).unwrap() {
        State::Failed(failure) => *failure,
        state => panic!("{state:?}"),
    }
}
