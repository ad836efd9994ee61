//! Builds the programs that a comparison starts as separate processes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// The workspace to which a program belongs.
#[derive(Clone, Copy)]
pub enum Workspace {
    /// The workspace of the course.
    Course,
    /// The workspace of the comparisons.
    Bench,
}

/// Builds a binary of a package with optimisation, and returns its path.
///
/// # Errors
/// Returns an error if Cargo cannot be run or does not build the binary. Cargo has already printed
/// the reason.
pub fn binary(workspace: Workspace, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    // The path of the running program is target/<profile>/<name>.
    let me = env::current_exe().context("cannot find myself")?;
    let target = me.parent().and_then(|profile| profile.parent()).context("I am in no target directory")?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = match workspace {
        Workspace::Course => here.join("../.."),
        Workspace::Bench => here.join(".."),
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--package", package, "--bin", name, "--manifest-path"]);
    command.arg(root.join("Cargo.toml")).arg("--target-dir").arg(target);
    // Incremental compilation makes code slower. It would affect only our code, because the peers are not in
    // a workspace.
    command.env("CARGO_INCREMENTAL", "0");
    let status = command.stdout(Stdio::null()).status();
    ensure!(status.context("cannot run Cargo")?.success(), "Cargo's messages above say what is wrong");
    Ok(target.join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}
