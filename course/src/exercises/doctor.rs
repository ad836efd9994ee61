//! `doctor`: checks whether everything that the course needs is installed, and says what the learner must do
//! if something is missing.

use crate::exercises::{Style, catalogue, say};
use crate::workspace::Workspace;
use exercises_protocol::{Exercise, counted};
use std::fs::{self, OpenOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

/// The version of Rust with which the project is built and tested: the value `rust-version` in its
/// Cargo.toml.
const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// The result of one check.
enum Finding {
    Well(String),
    /// A fault that was found, and what the learner can do about it.
    Problem(String, String),
}

use Finding::{Problem, Well};

/// Makes all checks, prints the results, and returns whether no fault was found.
pub fn doctor(workspace: &Workspace) -> bool {
    let style = Style::of_stdout();
    let mut findings =
        vec![rust(), linker(), offline_dependencies(workspace), target(workspace), progress(workspace)];
    findings.extend(exercises(workspace));
    findings
        .extend([ports(), program("curl", "the book's experiments use it; install it from https://curl.se")]);
    let mut problems = 0;
    for finding in findings {
        match finding {
            Well(what) => say(&format!("{}  {what}\n", style.good("ok     "))),
            Problem(what, remedy) => {
                problems += 1;
                say(&format!("{}  {what}\n         {remedy}\n", style.bad("problem")));
            }
        }
    }
    say(&match problems {
        0 => "\nEverything is there. `cargo course next` says where to begin.\n".to_owned(),
        1 => "\nOne problem.\n".to_owned(),
        n => format!("\n{n} problems.\n"),
    });
    problems == 0
}

fn rust() -> Finding {
    let update = "rustup update stable (or install Rust from https://rustup.rs)".to_owned();
    let Some(said) = first_line("rustc", &["--version"]) else {
        return Problem("rustc cannot be run".into(), update);
    };
    let version = said.split_whitespace().nth(1).unwrap_or_default();
    if numbers(version) >= numbers(RUST_VERSION) {
        Well(format!("{said} (the course needs {RUST_VERSION})"))
    } else {
        Problem(format!("{said} is too old; the course needs {RUST_VERSION}"), update)
    }
}

/// Returns the numbers in a version; the text from the first hyphen on is ignored.
fn numbers(version: &str) -> Vec<u32> {
    let version = version.split('-').next().unwrap_or_default();
    version.split('.').map_while(|number| number.parse().ok()).collect()
}

fn linker() -> Finding {
    if cfg!(target_env = "msvc") {
        return Well("this program was linked, so there is a linker".into());
    }
    program("cc", "install a C compiler (gcc or clang): Rust links with it")
}

fn program(name: &str, remedy: &str) -> Finding {
    match first_line(name, &["--version"]) {
        Some(said) => Well(said),
        None => Problem(format!("`{name}` cannot be run"), remedy.to_owned()),
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// Checks that all dependencies of the exercises have been downloaded. Cargo itself downloads missing
/// dependencies if there is a network.
fn offline_dependencies(workspace: &Workspace) -> Finding {
    let metadata = super::cargo::cargo(workspace)
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        // Without this flag, Cargo also asks for the dependencies of other systems, although `cargo fetch`
        // and a build download only the dependencies for this system.
        .args(["--filter-platform", &host()])
        .stdin(Stdio::null())
        .output();
    match metadata {
        Ok(output) if output.status.success() => {
            Well("every dependency is downloaded; no network is needed from here on".into())
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or_default();
            Problem(
                format!("cargo cannot work offline here: {first}"),
                "run `cargo fetch` once, while there is a network".into(),
            )
        }
        Err(error) => {
            Problem(format!("cargo cannot be run: {error}"), "install Rust from https://rustup.rs".into())
        }
    }
}

/// Returns the name that rustc uses for this system, such as `x86_64-unknown-linux-gnu`.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()
}

fn target(workspace: &Workspace) -> Finding {
    let dir = workspace.target();
    match fs::create_dir_all(&dir).and_then(|()| tempfile::tempfile_in(&dir)) {
        Ok(_) => Well(format!("builds go to {}", dir.display())),
        Err(error) => Problem(
            format!("cannot write to {}: {error}", dir.display()),
            "set CARGO_TARGET_DIR to a directory that you may write to".into(),
        ),
    }
}

fn progress(workspace: &Workspace) -> Finding {
    let path = workspace.progress();
    let remedy = format!("make {} a file that you may write to", path.display());
    if path.exists() {
        return match OpenOptions::new().append(true).open(&path) {
            Ok(_) => Well(format!("your progress is in {}", path.display())),
            Err(error) => {
                Problem(format!("cannot write your progress to {}: {error}", path.display()), remedy)
            }
        };
    }
    match tempfile::tempfile_in(workspace.root()) {
        Ok(_) => Well(format!("your progress will be in {}", path.display())),
        Err(error) => Problem(format!("cannot create {}: {error}", path.display()), remedy),
    }
}

fn exercises(workspace: &Workspace) -> Vec<Finding> {
    match catalogue::all(workspace) {
        Ok(exercises) => {
            let mut findings: Vec<Finding> = exercises.iter().filter_map(problem).collect();
            let complete = exercises.len() - findings.len();
            findings
                .push(Well(format!("{complete} of {} are complete", counted(exercises.len(), "exercise"))));
            findings
        }
        Err(error) => {
            vec![Problem(format!("{error:#}"), "git checkout -- exercises".into())]
        }
    }
}

/// Returns what an exercise lacks.
fn problem(exercise: &Exercise) -> Option<Finding> {
    let name = &exercise.name;
    let restore = format!("git checkout -- exercises/{name}");
    let files =
        ["Cargo.toml", "README.md", "src/lib.rs", "stub/exercise.rs", "tests/model.rs", "tests/real.rs"];
    let missing: Vec<&str> =
        files.into_iter().filter(|file| !exercise.folder().join(file).is_file()).collect();
    if !missing.is_empty() {
        return Some(Problem(format!("{name}: {} missing", missing.join(", ")), restore));
    }
    let answer = exercise.answer();
    if !answer.is_file() {
        let remedy = format!("cargo course reset {}", exercise.short());
        return Some(Problem(format!("{name}: src/exercise.rs is missing"), remedy));
    }
    let error = writable(&answer).err()?;
    Some(Problem(
        format!("{name}: src/exercise.rs cannot be written: {error}"),
        format!("give yourself the right to write {}", answer.display()),
    ))
}

fn writable(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().append(true).open(path).map(drop)
}

fn ports() -> Finding {
    let free = (8000..=8099).find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    let Some(free) = free else {
        return Problem(
            "none of the ports 8000 to 8099 of 127.0.0.1 is free".into(),
            "give `cargo course` another one: cargo course --addr 127.0.0.1:0 lets the system choose".into(),
        );
    };
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 8080)) {
        Ok(_) => Well(format!("the book will be served on port {free}; 8080, the servers' port, is free")),
        Err(error) => Problem(
            format!("port 8080, which the book's servers use, cannot be listened on: {error}"),
            "stop what uses it, or start the servers with --addr 127.0.0.1:0 and use the port they print"
                .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("1.100.0") > numbers("1.95"));
        assert!(numbers("1.95.0-nightly") >= numbers("1.95"));
        assert!(numbers("1.94.1") < numbers("1.95"));
    }
}
