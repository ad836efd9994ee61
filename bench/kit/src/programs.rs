//! Builds the programs that a comparison starts as processes of their own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// Which workspace a program is in.
#[derive(Clone, Copy)]
pub enum Workspace {
    /// The course's workspace.
    Course,
    /// The workspace of the comparisons.
    Bench,
}

/// Builds a binary of a package, optimised, and returns its path.
///
/// # Errors
/// If Cargo cannot be run or does not build it. Cargo has printed the reason.
pub fn binary(workspace: Workspace, package: &str, name: &str) -> anyhow::Result<PathBuf> {
    // The running program is target/<profile>/<name>.
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
    // Incremental compilation makes code slower, and only ours: the peers are not in a workspace.
    command.env("CARGO_INCREMENTAL", "0");
    let status = command.stdout(Stdio::null()).status();
    ensure!(status.context("cannot run Cargo")?.success(), "Cargo's messages above say what is wrong");
    Ok(target.join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}
