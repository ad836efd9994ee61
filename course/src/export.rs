//! `export --student DIR`: makes a copy of the project for students, without solutions and typical
//! mistakes.
//!
//! The copy contains the files that Git tracks, as they are in the working tree, with three changes:
//!
//! * The copy leaves out files that contain an answer, and files that need such a file: [`Plan::leaves_out`].
//! * If a kept file names a file that was left out, the kept file is rewritten: [`Plan::rewritten`].
//! * Each file that a learner edits contains its stub again, even if the teacher has changed the file.
//!
//! In some exercises the learner writes a test, which must judge answers to another exercise. The copy has no
//! answers that such an exercise could judge, so the exercise is also left out.

use crate::exercises::catalogue;
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use exercises_protocol::Exercise;
use regex::{Captures, Regex};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The page with all solutions.
const SOLUTIONS: &str = "solutions.md";

/// The questions for exams.
const EXAM: &str = "book/exam.toml";

/// The parts of an exercise's folder that are left out.
const ANSWERS: [&str; 4] = ["solution", "right", "wrong", "wrong.diff"];

/// The parts of the project that need the answers: the proof, and the scripts and jobs that run the proof.
const PROVES: [&str; 3] = ["exercises/proof/", ".ci/", ".github/"];

/// Writes the copy for students to the directory `to`.
///
/// # Errors
/// Returns an error if `to` is not empty, if the project is not a clone of a Git repository, or if a file
/// cannot be read or written.
pub fn for_students(workspace: &Workspace, to: &Path) -> anyhow::Result<()> {
    let is_free = !to.exists() || fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_none());
    ensure!(is_free, "{} exists and is not an empty directory; nothing was written", to.display());
    let plan = Plan::of(workspace)?;
    let tracked = tracked(workspace)?;
    for path in tracked.iter().filter(|path| !plan.leaves_out(path)) {
        plan.copy(path, &to.join(path)).with_context(|| format!("cannot copy {path}"))?;
    }
    if to.join("Cargo.lock").is_file() {
        forget_what_is_left_out(workspace, to)?;
    }
    Ok(())
}

/// Returns the paths of the files that Git tracks, with `/` between the names.
fn tracked(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(workspace.root())
        .stdin(Stdio::null())
        .output()
        .context("cannot run git, which knows which files belong to the project")?;
    ensure!(
        output.status.success(),
        "only what Git tracks is copied, and {} is no clone: {}",
        workspace.root().display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let paths = String::from_utf8(output.stdout).context("Git tracks a file whose name is not UTF-8")?;
    Ok(paths.split_terminator('\0').map(str::to_owned).collect())
}

/// Lets Cargo remove entries from `Cargo.lock` that only the left-out packages need.
fn forget_what_is_left_out(workspace: &Workspace, to: &Path) -> anyhow::Result<()> {
    let output = crate::exercises::cargo(workspace)
        .args(["update", "--workspace", "--offline", "--quiet"])
        .current_dir(to)
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "cargo cannot renew {}. Run `cargo fetch` once, while there is a network.\n{}",
        to.join("Cargo.lock").display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// Decides what the copy contains.
struct Plan<'a> {
    workspace: &'a Workspace,
    /// The folders of the exercises that judge answers to another exercise, such as
    /// `exercises/ex34-test-of-an-inbox/`.
    judges: Vec<String>,
    link: Regex,
    include: Regex,
    /// Finds what an exercise's README says about the typical mistakes of the exercise; this is the last part
    /// of a sentence, or a whole sentence.
    mistakes: Regex,
}

impl<'a> Plan<'a> {
    fn of(workspace: &'a Workspace) -> anyhow::Result<Self> {
        let judges = |exercise: &Exercise| exercise.judges.is_some();
        let exercises = catalogue::all(workspace)?;
        let judges = exercises.iter().filter(|exercise| judges(exercise));
        let link = format!(r"\[([^\]]*)\]\({}[^)]*\)", regex::escape(SOLUTIONS));
        Ok(Self {
            workspace,
            judges: judges.map(|exercise| format!("exercises/{}/", exercise.name)).collect(),
            link: Regex::new(&link)?,
            include: Regex::new(r"\{\{#include \.\./\.\./([^:}]+)(?::([^}]+))?\}\}\n")?,
            mistakes: Regex::new(r"[.;]\s+[^.;]*`wrong\.diff`[^.]*\.")?,
        })
    }

    /// Returns whether the copy leaves out the file at this path.
    fn leaves_out(&self, path: &str) -> bool {
        let mut parts = path.split('/');
        let is_answer = parts.next() == Some("exercises")
            && parts.next().is_some()
            && parts.next().is_some_and(|part| ANSWERS.contains(&part));
        let below = |folder: &str| path.starts_with(folder);
        is_answer
            || path == format!("book/src/{SOLUTIONS}")
            || path == EXAM
            || PROVES.into_iter().any(below)
            || self.judges.iter().any(|folder| below(folder))
    }

    fn copy(&self, path: &str, to: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        let from = self.workspace.root().join(self.stub_of(path).as_deref().unwrap_or(path));
        match self.rewritten(path, &from)? {
            Some(text) => fs::write(to, text)?,
            None => drop(fs::copy(from, to)?),
        }
        Ok(())
    }

    /// Returns the path of the stub, if the file is one that a learner edits.
    fn stub_of(&self, path: &str) -> Option<String> {
        let folder = path.strip_suffix("/src/exercise.rs")?;
        let stub = format!("{folder}/stub/exercise.rs");
        (folder.starts_with("exercises/") && self.workspace.root().join(&stub).is_file()).then_some(stub)
    }

    /// Returns the text that the file has in the copy, if this text differs from the original text.
    fn rewritten(&self, path: &str, from: &Path) -> anyhow::Result<Option<String>> {
        let is_page =
            path.starts_with("book/src/") && Path::new(path).extension().is_some_and(|kind| kind == "md");
        let is_list = ["Cargo.toml", "exercises/kinds.toml", "exercises/README.md"].contains(&path);
        let is_readme = path.starts_with("exercises/ex") && path.ends_with("/README.md");
        if !is_page && !is_list && !is_readme {
            return Ok(None);
        }
        let text = fs::read_to_string(from)?;
        Ok(Some(match path {
            "Cargo.toml" => manifest(&text),
            "exercises/kinds.toml" => kinds(&text),
            "exercises/README.md" => self.table(&text),
            _ if is_readme => self.mistakes.replace_all(&text, ".").into_owned(),
            "book/src/SUMMARY.md" => lines(&text, |line| !line.contains(&format!("({SOLUTIONS})"))),
            _ => self.page(&text)?,
        }))
    }

    /// Returns the list of exercises, from which the rows of left-out exercises and left-out folders have
    /// been removed.
    fn table(&self, text: &str) -> String {
        let names = self.judges.iter().map(|folder| folder.trim_start_matches("exercises/"));
        let rows: Vec<String> = names.map(|name| format!("]({name}")).collect();
        let folders: Vec<String> = ANSWERS.iter().map(|name| format!("exNN-name/{name}")).collect();
        let is_folder =
            |line: &str| folders.iter().any(|folder| line.starts_with(folder)) || line.starts_with("proof/");
        let is_row = |line: &str| line.starts_with('|') && rows.iter().any(|row| line.contains(row));
        lines(text, |line| !is_row(line) && !is_folder(line))
    }

    /// Returns a page without links to the solutions. If a page shows a typical mistake by an include, the
    /// line with the include is replaced by the text of the mistake.
    fn page(&self, text: &str) -> anyhow::Result<String> {
        let text = self.link.replace_all(text, "$1");
        let mut missing = None;
        let page = self.include.replace_all(&text, |found: &Captures<'_>| {
            let (file, anchor) = (&found[1], found.get(2).map(|anchor| anchor.as_str()));
            if !self.leaves_out(file) {
                return found[0].to_owned();
            }
            let source = fs::read_to_string(self.workspace.root().join(file)).unwrap_or_default();
            let part = anchor.and_then(|anchor| part(&source, anchor));
            part.unwrap_or_else(|| {
                missing = Some(file.to_owned());
                String::new()
            })
        });
        match missing {
            None => Ok(page.into_owned()),
            Some(file) => {
                bail!("it includes {file}, which the copy must not have, and not a named part of it")
            }
        }
    }
}

/// Returns the manifest of the workspace without the proof. The tests of the package `course` need the
/// typical mistakes, so in the copy `cargo test` does not test that package.
fn manifest(text: &str) -> String {
    let (mut in_profile, mut in_defaults) = (false, false);
    lines(text, |line| {
        if line.starts_with('[') {
            in_profile = line.starts_with("[profile.") && line.contains("exercises-proof");
        }
        in_defaults = line.starts_with("default-members") || in_defaults && line != "]";
        let is_proof = line.trim_start().starts_with("\"exercises/proof");
        !(in_profile || is_proof || in_defaults && line.trim() == "\"course\",")
    })
}

/// Returns the tasks except those whose code is a typical mistake that exists only in `wrong.diff`. The
/// states of a program in `graphs/` are kept if the program's code is kept, and left out if the code is left
/// out.
fn kinds(text: &str) -> String {
    let is_head = |line: &str| ["[[mend]]", "[[predict]]", "[[schedule]]"].contains(&line);
    let mut tasks: Vec<String> = vec![String::new()];
    for line in text.lines() {
        if is_head(line) {
            tasks.push(String::new());
        }
        let task = tasks.last_mut().expect("the text before the first task");
        task.push_str(line);
        task.push('\n');
    }
    let needs_a_mistake = |task: &&String| {
        task.starts_with("[[mend]]")
            || task.contains("\ncode = { exercise = ") && !task.starts_with("[[schedule]]")
    };
    tasks.iter().filter(|task| !needs_a_mistake(task)).map(String::as_str).collect()
}

/// Returns only those lines for which the predicate is true.
fn lines(text: &str, mut wanted: impl FnMut(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|line| wanted(line.trim_end())).collect()
}

/// Returns the lines between the comment `ANCHOR` with the given name and the comment that ends it.
fn part(text: &str, anchor: &str) -> Option<String> {
    let (_, from) = text.split_once(&format!("ANCHOR: {anchor}\n"))?;
    let (part, _) = from.split_once(&format!("ANCHOR_END: {anchor}\n"))?;
    Some(part.rsplit_once('\n').map_or(String::new(), |(lines, _)| lines.to_owned() + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_loses_the_proof_and_its_profiles_and_nothing_else() {
        let text = "members = [\n    \"course\",\n    \"exercises/ex*\",\n    \"exercises/proof\",\n    \"exercises/proof/model\",\n]\n\
                    default-members = [\n    \"course\",\n    \"charts\",\n]\n\
                    [profile.dev.package.exercises-proof-model]\ndebug = false\n[profile.dev.package.loom]\nopt-level = 2\n";
        let expected = "members = [\n    \"course\",\n    \"exercises/ex*\",\n]\ndefault-members = [\n    \"charts\",\n]\n\
                        [profile.dev.package.loom]\nopt-level = 2\n";
        assert_eq!(manifest(text), expected);
    }

    #[test]
    fn tasks_stay_whose_code_is_there() {
        let wrong = "code = { exercise = \"ex01\", wrong = \"m01\" }\n";
        let kept = [
            "# All\n\n".to_owned(),
            "[[predict]]\nname = \"predict1\"\ncode = { file = \"a.rs\" }\n\n[[predict.option]]\ntext = \"A\"\n".into(),
            format!("[[schedule]]\nname = \"schedule1\"\n{wrong}"),
        ];
        let all = format!(
            "{}[[mend]]\nname = \"mend1\"\n{}[[predict]]\n{wrong}[[predict.option]]\ntext = \"B\"\n{}",
            kept[0], kept[1], kept[2]
        );
        assert_eq!(kinds(&all), kept.concat());
    }
}
