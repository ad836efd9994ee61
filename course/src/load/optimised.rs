//! Hands the command over to an optimised build of this program.
//!
//! `cargo course` is built as `cargo test` builds it, not optimised, so that the book is there soon. But a client that
//! is slower than the server measures itself. So `load` has Cargo build this program once more, optimised and without
//! the book and the exercises, and becomes that program: same arguments, same process, so signals and the exit status are its own.

use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use std::env;
use std::process::{Command, Stdio};

/// Set for the optimised program, and for tests, which have servers to themselves that need no fast client.
pub const AS_BUILT: &str = "COURSE_LOAD_AS_BUILT";

/// Whether another program has to send the load, since this one is slow.
pub(super) fn is_needed() -> bool {
    cfg!(debug_assertions) && env::var_os(AS_BUILT).is_none()
}

/// Builds that program and becomes it, so this returns only if something fails.
///
/// # Errors
/// If the optimised program cannot be built or started.
pub(super) fn take_over(workspace: &Workspace) -> anyhow::Result<()> {
    let program = workspace.target().join("release").join(format!("course{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        eprintln!("Compiling an optimised client for the load: a minute or so, once.");
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

/// Ctrl-C goes to both, and the client is the one that ends in order.
#[cfg(not(unix))]
fn become_it(client: &mut Command) -> anyhow::Result<()> {
    ctrlc::set_handler(|| {})?;
    std::process::exit(client.status()?.code().unwrap_or(1))
}
