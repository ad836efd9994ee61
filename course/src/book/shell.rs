//! Prepares the commands of the book for a shell; the recorder and the live course use this module.
//!
//! A shell runs the commands in the form in which a reader would type them. In a command, `cargo course`
//! means this program itself.

use crate::book::recipes::Server;
use crate::workspace::Workspace;
use regex::Regex;
use std::process::Command;

/// The address that the pages and their commands use.
pub(crate) const SHOWN: &str = "127.0.0.1:8080";

/// Translates a command from the form on the pages to the form that a shell can run.
pub(crate) fn in_shell(workspace: &Workspace, command: &str) -> String {
    let me = std::env::current_exe().unwrap_or_default();
    match command.strip_prefix("cargo course") {
        Some(rest) => format!("'{}'{rest} --workspace '{}'", me.display(), workspace.root().display()),
        None => command.replace("cargo run", "cargo run --quiet"),
    }
}

/// Makes a command run in the project's root, with the same output at any terminal.
pub(crate) fn settle(command: &mut Command, workspace: &Workspace) {
    command.current_dir(workspace.root());
    command.env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never").env("CARGO_TARGET_DIR", workspace.target());
    command.env("RUST_BACKTRACE", "0").env("LC_ALL", "C.UTF-8").env("COLUMNS", "110"); // the same width for any terminal
}

/// Returns the commands that build the programs and tests of a command; they have the same Cargo options as
/// that command.
///
/// A command can have a time limit (`timeout 4 cargo run …`), or clients that start at a certain time;
/// compilation must not use up any of this time.
pub(crate) fn build_commands(command: &str) -> Vec<String> {
    let builds = [("cargo run ", "cargo build"), ("cargo test ", "cargo test --no-run")];
    let build = |part: &str| {
        builds.iter().find_map(|(runs, build)| {
            let (_, arguments) = part.split_once(runs)?;
            let ends = |word: &&str| *word != "--" && !word.contains('>');
            let which: Vec<&str> = arguments.split_whitespace().take_while(ends).collect();
            Some(format!("{build} {}", which.join(" ")))
        })
    };
    command.split([';', '|', '&', '(', ')']).filter_map(build).collect()
}

/// Returns the command that starts a server on a free port.
pub(crate) fn server_command(server: &Server) -> String {
    let separator = if server.command.contains(" -- ") { "" } else { " --" };
    format!("exec {}{separator} --addr 127.0.0.1:0 2>&1", server.command)
}

/// Finds the line in which a server reports its address, and returns this address.
pub(crate) fn address(line: &str) -> Option<&str> {
    let address = Regex::new(r"127\.0\.0\.1:\d+").expect("a valid expression");
    address.find(line).map(|found| found.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_runs_can_be_built_before() {
        for (command, builds) in [
            ("cargo run --bin pooled", &["cargo build --bin pooled"][..]),
            ("timeout -s INT 4 cargo run --release --bin a -- --bin b", &["cargo build --release --bin a"]),
            ("A=b cargo run -p a --example c 2>&1 | sort", &["cargo build -p a --example c"]),
            (
                "cargo run --bin a; cargo test -p b --test c d",
                &["cargo build --bin a", "cargo test --no-run -p b --test c d"],
            ),
            ("cargo course load --stages pooled", &[]),
            ("curl http://127.0.0.1:8080/", &[]),
        ] {
            assert_eq!(build_commands(command), builds, "{command}");
        }
    }
}
