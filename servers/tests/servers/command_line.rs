//! Tests the command line of the stages: wrong command lines, and the README's statements about the
//! flags.

use crate::support::{
    BOUNDED, LIFECYCLE, MULTI_REACTOR, POOLED, REACTOR, SINGLE_THREADED, STAGES, STOPPING_STAGES, Stage,
    output_of,
};
use std::process::Command;

/// Runs a stage that cannot start, and checks that it prints one line about `expected`.
pub(crate) fn assert_fails(binary: &str, flags: &[&str], expected: &str) {
    // A backtrace shows where a program has a bug, but this program has no bug.
    let output = output_of(Command::new(binary).args(flags).env("RUST_BACKTRACE", "1"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("backtrace"), "{said}");
    assert!(!output.status.success() && output.stdout.is_empty(), "{flags:?}: {said}");
    assert!(said.lines().next().unwrap().contains(expected), "{flags:?}: {said}");
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for binary in STAGES {
        let expected = "is taken by another program; choose another address with --addr";
        assert_fails(binary, &["--addr", &taken], expected);
        for root in ["no-such-directory", binary] {
            let flags = ["--addr", "127.0.0.1:0", "--root", root];
            assert_fails(binary, &flags, "give --root a directory that can be read");
        }
        for (flag, value, expected) in [
            ("--addr", "here", "expected HOST:PORT"),
            ("--addr", "127.0.0.1:99999", "expected HOST:PORT"),
            ("--threads", "0", "from 1 to 10000"),
            ("--threads", "many", "from 1 to 10000"),
            ("--threads", "10001", "from 1 to 10000"),
            ("--idle-timeout", "5", "such as 500ms"),
            ("--max-body", "many", "from 0 to"),
            ("--max-headers", "0", "from 1 to"),
            ("--host", "example.org:80", "a name without a port"),
        ] {
            assert_fails(binary, &[flag, value], expected);
        }
    }
}

#[test]
fn a_token_that_can_be_guessed_or_is_not_wanted_is_refused() {
    for binary in STOPPING_STAGES {
        assert_fails(binary, &["--shutdown-token=short"], "16 or more");
        assert_fails(binary, &["--shutdown-token", "--no-shutdown"], "cannot be used with");
    }
}

#[test]
fn a_policy_that_does_not_exist_or_a_queue_without_room_is_refused() {
    assert_fails(BOUNDED, &["--policy", "hope"], "invalid value 'hope'");
    assert_fails(BOUNDED, &["--queue", "0"], "number would be zero");
}

#[test]
fn every_stage_has_the_same_flags() {
    let flags = |binary: &str| {
        let help = output_of(Command::new(binary).arg("--help")).stdout;
        let help = String::from_utf8(help).unwrap();
        let flags =
            help.lines().map(str::trim).filter(|line| line.starts_with('-') && !line.starts_with("- "));
        // The description of a flag is on the same line as the flag; if some description is long, the
        // descriptions are on the next lines.
        flags.filter_map(|line| line.split("  ").next()).map(str::to_owned).collect::<Vec<_>>()
    };
    let everywhere = flags(SINGLE_THREADED);
    assert!(everywhere.len() > 10, "{everywhere:?}");
    for binary in STAGES {
        let mut flags = flags(binary);
        let own: &[&str] = match binary {
            LIFECYCLE | REACTOR => &["--grace", "--shutdown-token", "--no-shutdown"],
            BOUNDED => &["--policy", "--queue", "--backlog", "--grace", "--shutdown-token", "--no-shutdown"],
            MULTI_REACTOR => &["--loops", "--trusting", "--grace", "--shutdown-token", "--no-shutdown"],
            _ => &[],
        };
        flags.retain(|flag| !own.iter().any(|own| flag.starts_with(own)));
        assert_eq!(flags, everywhere, "{binary}");
    }
}

/// Returns the flags that the help lists as limits, each with its default.
fn limits() -> Vec<(String, String)> {
    let help = output_of(Command::new(SINGLE_THREADED).arg("-h")).stdout;
    let help = String::from_utf8(help).unwrap();
    // A long description continues on the next line, so the text of a flag ends where the next flag
    // begins.
    let (_, limits) = help.split_once("Limits:").unwrap();
    let limit = |text: &str| {
        let flag = text.split_whitespace().next().unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, default) = text.split_once("[default: ")?;
        Some((format!("--{flag}"), default.split_once(']')?.0.to_owned()))
    };
    limits.split("\n      --").skip(1).filter_map(limit).collect()
}

#[test]
fn the_readme_tells_every_limit() {
    let readme = include_str!("../../README.md");
    let rows = readme.lines().filter_map(|line| {
        let (flag, rest) = line.strip_prefix("| `--")?.split_once("` | ")?;
        Some((format!("--{flag}"), rest.split_once(" | ")?.0.to_owned()))
    });
    assert_eq!(rows.collect::<Vec<_>>(), limits());
}

#[test]
fn the_threads_of_a_pool_are_told_of_when_asked_for() {
    for binary in [POOLED, LIFECYCLE, BOUNDED] {
        let mut command = Command::new(binary);
        let stage = Stage::start_command(binary, command.arg("--quiet").env("RUST_LOG", "executor=debug"));
        stage.assert_alive();
        let line = stage.log_line();
        let event = r#"DEBUG executor::threads: a thread begins thread="pool-1-thread-1" alive=1"#;
        assert!(line.ends_with(event), "{line}");
    }
}

#[test]
fn a_rust_log_that_makes_no_sense_is_reported_and_ignored() {
    let mut command = Command::new(POOLED);
    let stage = Stage::start_command(POOLED, command.arg("--quiet").env("RUST_LOG", "executor=loud"));
    let line = stage.log_line();
    assert!(line.starts_with("RUST_LOG=executor=loud is ignored"), "{line}");
    stage.assert_alive();
    assert_eq!(stage.stop(), Vec::<String>::new());
}

#[test]
fn quiet_is_quiet() {
    for binary in STAGES {
        let stage = Stage::start(binary, &["--quiet"]);
        stage.assert_alive();
        assert_eq!(stage.connect().send("nonsense\r\n\r\n").reply().status, 400);
        assert_eq!(stage.stop(), Vec::<String>::new());
    }
}

#[test]
fn a_closed_stderr_stops_nothing() {
    for binary in STAGES {
        let stage = Stage::start_with_closed_log(binary);
        for _ in 0..5 {
            stage.assert_alive();
        }
    }
}
