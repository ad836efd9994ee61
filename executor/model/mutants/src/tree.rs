//! The copy of the project in which the mutants are built. Unchanged files are not written again, so Cargo
//! compiles only the code that depends on changed files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The parts of the project that the mutants' tests compile.
const PARTS: [&str; 9] = [
    "executor",
    "logservice/src",
    "logservice/model",
    "logservice/road/src",
    "crawler/src",
    "crawler/model",
    "servers/src/reactor",
    "Cargo.lock",
    "README.md",
];
const MEMBERS: [&str; 4] = ["executor", "executor/model", "logservice/model", "crawler/model"];

pub(crate) fn lines_of(command: &mut Command) -> Result<Vec<String>> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

/// Writes the tree. `changed` contains the files that differ from the project's files.
pub(crate) fn write(root: &Path, tree: &Path, changed: &BTreeMap<String, String>) -> Result<()> {
    let listed = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let mut files = lines_of(Command::new("git").current_dir(root).args(listed).args(PARTS))?;
    files.retain(|file| !file.contains("/mutants/") && root.join(file).is_file());
    let mut wanted: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for file in files {
        wanted.insert(
            tree.join(&file),
            changed.get(&file).map_or_else(|| fs::read(root.join(&file)), |text| Ok(text.clone().into()))?,
        );
    }
    wanted.insert(tree.join("Cargo.toml"), manifest(&fs::read_to_string(root.join("Cargo.toml"))?)?.into());
    for (path, text) in &wanted {
        if fs::read(path).ok().as_ref() != Some(text) {
            fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
            fs::write(path, text)?;
        }
    }
    remove_others(tree, &wanted)
}

/// Returns the workspace's manifest without the packages that have no mutants.
fn manifest(text: &str) -> Result<String> {
    let rest = text.find("[workspace.package]").context("Cargo.toml without [workspace.package]")?;
    Ok(format!("[workspace]\nresolver = \"3\"\nmembers = {MEMBERS:?}\n\n{}", &text[rest..]))
}

fn remove_others(folder: &Path, wanted: &BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains_key(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn only_what_has_changed_is_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let tree = env::temp_dir().join(format!("mutants-tree-{}", std::process::id()));
        let written = |file: &str| fs::metadata(tree.join(file)).unwrap().modified().unwrap();
        fs::create_dir_all(&tree).unwrap();
        write(&root, &tree, &BTreeMap::new()).unwrap();
        let (job, task) = (written("executor/src/task/borrowed.rs"), written("executor/src/task/mod.rs"));
        fs::write(tree.join("executor/src/gone.rs"), "").unwrap();
        write(&root, &tree, &[("executor/src/task/mod.rs".to_owned(), "mod task;".to_owned())].into())
            .unwrap();
        assert_eq!(written("executor/src/task/borrowed.rs"), job);
        assert_ne!(written("executor/src/task/mod.rs"), task);
        assert!(!tree.join("executor/src/gone.rs").exists());
        fs::remove_dir_all(&tree).unwrap();
    }
}
