//! How a command of the book is given to a shell: by the recorder, and by the live course.
//!
//! A shell runs the commands, as a reader would type them. In a command, `cargo course` means this program
//! itself.

use crate::book::recipes::Server;
use crate::workspace::Workspace;
use regex::Regex;
use std::process::Command;

/// The address that the pages and their commands use.
pub(crate) const SHOWN: &str = "127.0.0.1:8080";

/// Returns a command as the pages show it in the words for a shell.
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
    command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "110"); // the same width for any terminal
}

/// Returns the `cargo build` command that belongs to a `cargo run` command, with its options for the
/// program and the profile.
///
/// A command can have a time limit (`timeout 4 cargo run …`), or clients that come at a certain time;
/// compilation must not use this time.
pub(crate) fn build_command(command: &str) -> Option<String> {
    let (_, arguments) = command.split_once("cargo run ")?;
    let ends = ["--", "|", "&&", ";", "&", ">", "2>"];
    let which: Vec<&str> = arguments.split_whitespace().take_while(|word| !ends.contains(word)).collect();
    Some(format!("cargo build {}", which.join(" ")))
}

/// Returns the command that starts a server on a free port.
pub(crate) fn server_command(server: &Server) -> String {
    let separator = if server.command.contains(" -- ") { "" } else { " --" };
    format!("exec {}{separator} --addr 127.0.0.1:0 2>&1", server.command)
}

/// Returns the address in a line in which a server says where it listens.
pub(crate) fn address(line: &str) -> Option<&str> {
    let address = Regex::new(r"127\.0\.0\.1:\d+").expect("a valid expression");
    address.find(line).map(|found| found.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_runs_can_be_built_before() {
        for (command, build) in [
            ("cargo run --bin pooled", Some("cargo build --bin pooled")),
            (
                "timeout -s INT 4 cargo run --release --bin a -- --bin b",
                Some("cargo build --release --bin a"),
            ),
            ("A=b cargo run -p a --example c | sort", Some("cargo build -p a --example c")),
            ("cargo course load --stages pooled", None),
            ("curl http://127.0.0.1:8080/", None),
        ] {
            assert_eq!(build_command(command).as_deref(), build, "{command}");
        }
    }
}
