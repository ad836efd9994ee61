//! The patches: what each breaks, which test must notice it, and the changed text of its files.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

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

/// The changes of a patch to one file.
pub(crate) struct Change {
    pub path: String,
    hunks: Vec<Hunk>,
}

/// Old lines, and the new lines that replace them.
struct Hunk {
    begin: usize,
    old: Vec<String>,
    new: Vec<String>,
}

/// Reads all patches, by name. A patch that cannot be read is an error, because otherwise no build would
/// contain it.
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
        let mut files: Vec<Change> = Vec::new();
        for line in text.split_inclusive('\n') {
            if let Some(path) = line.strip_prefix("+++ b/") {
                files.push(Change { path: path.trim_end().to_owned(), hunks: Vec::new() });
            } else if !line.starts_with("--- ")
                && let Some(change) = files.last_mut()
            {
                change.read_line(line)?;
            }
        }
        ensure!(!files.is_empty(), "it changes no file");
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
            tool: tool.to_owned(),
            test: path.to_owned(),
            files,
        })
    }

    /// Returns the module of the test. In a program without modules it is the test itself.
    pub(crate) fn module(&self) -> &str {
        self.test.split("::").next().unwrap_or_default()
    }
}

impl Change {
    fn read_line(&mut self, line: &str) -> Result<()> {
        if let Some(header) = line.strip_prefix("@@ -") {
            let begin =
                header.split([',', ' ']).next().unwrap_or_default().parse().context("a hunk's header")?;
            self.hunks.push(Hunk { begin, old: Vec::new(), new: Vec::new() });
            return Ok(());
        }
        let hunk = self.hunks.last_mut().context("a line before the first hunk")?;
        let line = if line == "\n" { " \n" } else { line }; // an editor has removed the space
        match line.split_at(1) {
            ("-", old) => hunk.old.push(old.to_owned()),
            ("+", new) => hunk.new.push(new.to_owned()),
            (" ", kept) => {
                hunk.old.push(kept.to_owned());
                hunk.new.push(kept.to_owned());
            }
            _ => bail!("not a line of a patch: {line}"),
        }
        Ok(())
    }

    /// Returns the text with the change. The text must have the old lines to the letter, though perhaps at
    /// another place. Otherwise the patch could break something that its first lines do not say. If there are
    /// several such places, the place nearest to the old one counts, as in `patch`.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (mut out, mut done, mut moved) = (String::new(), 0, 0);
        for hunk in &self.hunks {
            let expected = hunk.begin.saturating_sub(1).saturating_add_signed(moved);
            let fits = |at: &usize| {
                lines[*at..].iter().zip(&hunk.old).filter(|(a, b)| a == b).count() == hunk.old.len()
            };
            let at = (done..=lines.len()).filter(fits).min_by_key(|at| at.abs_diff(expected))?;
            moved += at.cast_signed() - expected.cast_signed();
            out.extend(lines[done..at].iter().copied());
            out.extend(hunk.new.iter().map(String::as_str));
            done = at + hunk.old.len();
        }
        out.extend(lines[done..].iter().copied());
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "# breaks: b is c\n# caught by: executor module::test\n--- a/x.rs\n+++ b/x.rs\n@@ -2,2 +2,2 @@ fn\n a\n-b\n+c\n";

    #[test]
    fn a_patch_says_who_catches_it_and_is_applied_where_its_lines_have_moved_to() {
        let patch = Patch::read("name", PATCH).unwrap();
        assert_eq!((&*patch.tool, &*patch.test, patch.module()), ("executor", "module::test", "module"));
        assert_eq!(patch.files[0].path, "x.rs");
        assert_eq!(patch.files[0].apply("1\n2\n3\na\nb\nend\n").unwrap(), "1\n2\n3\na\nc\nend\n");
        assert_eq!(
            patch.files[0].apply("a\nb\n3\n4\na\nb\n").unwrap(),
            "a\nc\n3\n4\na\nb\n",
            "the nearest place"
        );
    }

    #[test]
    fn a_patch_whose_surroundings_have_changed_does_not_apply() {
        let patch = Patch::read("name", PATCH).unwrap();
        assert_eq!(patch.files[0].apply("a \nb\n"), None);
        assert_eq!(patch.files[0].apply("a\n"), None);
        assert_eq!(patch.files[0].apply("a\nb"), None, "a last line without its end is another line");
    }

    #[test]
    fn a_patch_without_its_first_lines_is_refused() {
        assert!(Patch::read("name", &PATCH.replace("# breaks", "# is")).is_err());
        assert!(Patch::read("name", &PATCH.replace("# caught", "# seen")).is_err());
    }
}
