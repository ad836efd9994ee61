//! Replaces this program by an optimised build of itself.
//!
//! `cargo course` is built without optimisation, as `cargo test` would build it, so that the book is
//! available soon. But if the client is slower than the server, the load only measures the client. So `load`
//! makes Cargo build this program again, optimised but without the book and the exercises, and replaces
//! itself by the result. The process and its arguments stay the same, so no code has to forward signals or
//! the exit status.

use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use std::env;
use std::process::{Command, Stdio};

/// The environment variable that prevents this replacement. The optimised program and the program in tests
/// get this variable; servers in tests need no fast client.
pub const AS_BUILT: &str = "COURSE_LOAD_AS_BUILT";

/// Returns whether this program is too slow for sending the load.
pub(super) fn is_needed() -> bool {
    cfg!(debug_assertions) && env::var_os(AS_BUILT).is_none()
}

/// Builds the optimised program, and replaces this program by it. If this succeeds, the function does not
/// return.
///
/// # Errors
/// Returns an error if the optimised program cannot be built or started.
pub(super) fn take_over(workspace: &Workspace) -> anyhow::Result<()> {
    let program = workspace.target().join("release").join(format!("course{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        eprintln!("Compiling an optimised client for the load: a minute or two, once.");
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo)
        .args(["build", "--release", "--package", "course", "--no-default-features", "--manifest-path"])
        .arg(workspace.root().join("Cargo.toml"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", cargo.display()))?;
    ensure!(status.success(), "the client could not be built; Cargo's messages above say why");
    let mut client = Command::new(&program);
    become_it(client.args(env::args_os().skip(1)).env(AS_BUILT, "1"))
        .with_context(|| format!("cannot start {}", program.display()))
}

#[cfg(unix)]
fn become_it(client: &mut Command) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    Err(client.exec().into())
}

/// Runs the client as a child process and exits with its status. Ctrl-C goes to both processes, and the
/// client then ends gracefully.
#[cfg(not(unix))]
fn become_it(client: &mut Command) -> anyhow::Result<()> {
    command_line::on_signals(|_| ())?;
    std::process::exit(client.status()?.code().unwrap_or(1))
}
