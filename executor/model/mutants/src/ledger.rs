//! Records the sources with which each mutant was caught. `proven.toml` has one hash for each patched file
//! together with its patches, and one hash for the tests of each tool. One more hash covers this program, the
//! compiler and the model checkers. Each run computes the hashes anew. If a hash has changed, all mutants
//! that depend on this hash must be tried again.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::patch::{FOLDERS, Patch};
use crate::tool;
use crate::tree::lines_of;

const FILE: &str = "executor/model/mutants/proven.toml";
const HEADER: &str = "# Written by `bash .ci/mutants` when every mutant that it tried was caught; it tries those whose lines are not right.\n";
const MACHINERY: &str = "machinery";

pub(crate) struct Ledger {
    /// The lines that the file `proven.toml` must have, by key.
    lines: BTreeMap<String, String>,
    stale: BTreeSet<String>,
}

impl Ledger {
    pub(crate) fn new(root: &Path, patches: &[Patch]) -> Result<Self> {
        let mut inputs = BTreeMap::from([(MACHINERY.to_owned(), machinery(root)?)]);
        for patch in patches {
            if let Entry::Vacant(tests) = inputs.entry(key_of(patch)) {
                tests.insert(tool::sources(root, &patch.tool, patch.module())?);
            }
            for change in &patch.files {
                let text = || fs::read(root.join(&change.path)).unwrap_or_default();
                let input = inputs.entry(change.path.clone());
                let input = input.or_insert_with(|| vec![(change.path.clone().into(), text())]);
                input.push((patch.name.clone().into(), patch.text.clone().into()));
            }
        }
        let lines = inputs.into_iter().map(|(key, input)| (key.clone(), line(root, &key, &input)));
        let lines: BTreeMap<_, _> = lines.collect();
        let proven = fs::read_to_string(root.join(FILE)).unwrap_or_default();
        let proven: BTreeSet<&str> = proven.lines().collect();
        let stale = lines.iter().filter(|(_, line)| !proven.contains(line.as_str()));
        let stale = stale.map(|(key, _)| key.clone()).collect();
        Ok(Self { lines, stale })
    }

    /// True if the mutant was caught with the present sources.
    pub(crate) fn has_proven(&self, patch: &Patch) -> bool {
        let files = patch.files.iter().map(|change| change.path.clone());
        !files.chain([MACHINERY.to_owned(), key_of(patch)]).any(|key| self.stale.contains(&key))
    }

    /// Writes the file. The caller must have caught each mutant that the old file did not prove.
    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let lines: Vec<&str> = self.lines.values().map(String::as_str).collect();
        Ok(fs::write(root.join(FILE), format!("{HEADER}{}\n", lines.join("\n")))?)
    }
}

type Sources = Vec<(PathBuf, Vec<u8>)>;

fn line(root: &Path, key: &str, input: &Sources) -> String {
    // Another version of the compiler may compute hashes in another way. The version of the compiler is
    // hashed, too.
    let mut hasher = DefaultHasher::new();
    for (path, text) in input {
        (path.strip_prefix(root).unwrap_or(path), text).hash(&mut hasher);
    }
    format!("{key:?} = \"{:016x}\"", hasher.finish())
}

/// Returns the key of the tests that the mutant depends on. In a large test program each module has its own
/// key.
fn key_of(patch: &Patch) -> String {
    let module = if tool::has_modules(&patch.tool) { patch.module() } else { "" };
    format!("{} {module}", patch.tool).trim_end().to_owned()
}

/// The files that affect every verdict.
fn machinery(root: &Path) -> Result<Sources> {
    let mut files = vec![("rustc".into(), lines_of(Command::new("rustc").arg("-V"))?.concat().into())];
    let lock = fs::read_to_string(root.join("Cargo.lock"))?;
    let is_checker =
        |package: &&str| ["loom\"", "shuttle", "generator\""].iter().any(|name| package.starts_with(name));
    let checkers = lock.split("[[package]]\nname = \"").filter(is_checker).collect::<String>();
    files.push(("Cargo.lock".into(), checkers.into()));
    let here = root.join(FOLDERS[0]);
    tool::add_files(&here.join("Cargo.toml"), &mut files)?;
    tool::add_files(&here.join("src"), &mut files)?;
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    #[test]
    fn a_line_that_is_not_right_proves_nothing() {
        let root = env::temp_dir().join(format!("mutants-ledger-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        };
        let patch = |tool: &str, file: &str| {
            let text = format!(
                "# breaks: x\n# caught by: {tool} m::t\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n"
            );
            Patch::read(tool, &text).unwrap()
        };
        let patches = [patch("executor", "executor/src/x.rs"), patch("loom", "executor/src/y.rs")];
        let proven = |patches: &[Patch; 2]| {
            let ledger = Ledger::new(&root, patches).unwrap();
            [ledger.has_proven(&patches[0]), ledger.has_proven(&patches[1])]
        };
        let files = [
            "executor/src/x.rs",
            "executor/src/y.rs",
            "executor/tests/executor/m.rs",
            "executor/tests/executor/other.rs",
        ];
        for file in files {
            write(file, "a\n");
        }
        write("executor/tests/executor/main.rs", "mod m;\n");
        write("executor/model/tests/cores/main.rs", "mod m;\n");
        write("Cargo.lock", "[[package]]\nname = \"loom\"\nversion = \"1\"\n");
        write("executor/model/mutants/src/main.rs", "fn main() {}\n");
        assert_eq!(proven(&patches), [false, false], "no ledger");
        Ledger::new(&root, &patches).unwrap().write(&root).unwrap();
        assert_eq!(proven(&patches), [true, true]);

        for (file, text, still) in [
            ("executor/tests/executor/other.rs", "changed", [true, true]),
            ("executor/tests/executor/main.rs", "mod m;\nmod other;\n", [true, true]),
            ("executor/src/x.rs", "a\nchanged\n", [false, true]),
            ("executor/tests/executor/m.rs", "changed", [false, true]),
            ("executor/model/primitives/loom.rs", "changed", [true, false]),
            ("Cargo.lock", "[[package]]\nname = \"loom\"\nversion = \"2\"\n", [false, false]),
            ("executor/model/mutants/src/main.rs", "changed", [false, false]),
            ("executor/model/mutants/proven.toml", "\"machinery\" = \"0000000000000000\"\n", [false, false]),
        ] {
            write(file, text);
            assert_eq!(proven(&patches), still, "{file}");
            Ledger::new(&root, &patches).unwrap().write(&root).unwrap();
        }
        let mut patches = patches;
        patches[0].text.push_str("+c\n");
        assert_eq!(proven(&patches), [false, true], "another patch");
        fs::remove_dir_all(&root).unwrap();
    }
}
