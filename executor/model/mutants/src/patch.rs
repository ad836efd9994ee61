//! The patches: what each patch breaks, which test must notice the fault, and the changed text of the patched
//! files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use mutants::Change;

/// The folders of the patches. Patches in different folders have different names.
pub(crate) const FOLDERS: [&str; 3] =
    ["executor/model/mutants", "logservice/model/mutants", "crawler/model/mutants"];

pub(crate) struct Patch {
    pub name: String,
    pub text: String,
    /// A model checker, or a test program of `executor`.
    pub tool: String,
    /// The path of the test in the tool's program.
    pub test: String,
    pub files: Vec<Change>,
}

/// Reads all patches, by name. An unreadable patch is an error; if the program skipped the patch, no build
/// would contain its mutant.
pub(crate) fn all(root: &Path) -> Result<Vec<Patch>> {
    let mut patches = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "patch") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let text = fs::read_to_string(&path)?;
                patches.push(Patch::read(&name, &text).with_context(|| format!("{name}.patch"))?);
            }
        }
    }
    patches.sort_by(|a, b| a.name.cmp(&b.name));
    let twice = patches.windows(2).find(|two| two[0].name == two[1].name);
    ensure!(twice.is_none(), "two patches are called {}", twice.map_or("", |two| &two[0].name));
    Ok(patches)
}

impl Patch {
    pub(crate) fn read(name: &str, text: &str) -> Result<Self> {
        let field = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        ensure!(field("# breaks: ").is_some(), "its first lines lack '# breaks: …'");
        let caught_by = field("# caught by: ").and_then(|caught_by| caught_by.split_once(' '));
        let (tool, path) = caught_by.context("its first lines lack '# caught by: TOOL module::test'")?;
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
            tool: tool.to_owned(),
            test: path.to_owned(),
            files: Change::all(text)?,
        })
    }

    /// Returns the module of the test. In a program without modules, returns the test itself.
    pub(crate) fn module(&self) -> &str {
        self.test.split("::").next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "# breaks: b is c\n# caught by: executor module::test\n--- a/x.rs\n+++ b/x.rs\n@@ -2,2 +2,2 @@ fn\n a\n-b\n+c\n";

    #[test]
    fn a_patch_says_who_catches_it() {
        let patch = Patch::read("name", PATCH).unwrap();
        assert_eq!((&*patch.tool, &*patch.test, patch.module()), ("executor", "module::test", "module"));
        assert_eq!(patch.files[0].path, "x.rs");
    }

    #[test]
    fn a_patch_without_its_first_lines_is_refused() {
        assert!(Patch::read("name", &PATCH.replace("# breaks", "# is")).is_err());
        assert!(Patch::read("name", &PATCH.replace("# caught", "# seen")).is_err());
    }
}
