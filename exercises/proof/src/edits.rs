//! Writes a wrong answer as a whole file, which a maintainer can edit and try (`--edit`), and makes an entry
//! of the edited file (`--keep`).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use exercises_protocol::wrong::{self, Code, without_head};
use exercises_protocol::{Exercise, Wrong};
use similar::{Algorithm, ChangeTag, TextDiff};

/// The length that an edit of another right answer may have, in percent of the length of an edit of the
/// solution. The solution is preferred because a reader has seen it.
const FARTHER: usize = 150;

/// If an edit replaces at least this percentage of an answer, the edit is too large to help a reader.
const TOO_MUCH: usize = 60;

/// The first lines that a new wrong answer must have.
const HEAD: [&str; 3] = ["Wrong: ", "The learner sees: ", "Caught by PROPERTY: \"WORDS OF ITS MESSAGE\""];

/// Writes `wrong/NAME.rs`, the whole text of a wrong answer, with its texts at the top. A new wrong answer
/// begins with the contents of the solution.
///
/// # Errors
/// Returns an error if that file exists already, or if the edit does not apply.
pub fn edit(exercise: &Exercise, name: &str) -> anyhow::Result<PathBuf> {
    let (name, head, code) = match exercise.wrong(name) {
        Ok(wrong) => {
            let text = match exercise.wrong_answer(wrong) {
                Ok(text) => text,
                Err(error) => bail!("{error:#}\nChange the entry by hand: {}", list(exercise).display()),
            };
            (wrong.name.as_str(), head(wrong), without_head(&text).to_owned())
        }
        Err(_) => (name, HEAD.map(str::to_owned).into(), exercise.base(None)?),
    };
    let path = file(exercise, name);
    ensure!(!path.exists(), "{} is there already; `--keep {name}` makes an edit of it", path.display());
    let head = head.iter().fold(String::new(), |text, line| text + format!("//! {line}").trim_end() + "\n");
    fs::create_dir_all(path.with_file_name("")).context("cannot make the folder wrong/")?;
    fs::write(&path, head + &code).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Makes an entry of `wrong.diff` from `wrong/NAME.rs`, and then removes `wrong/NAME.rs`. `beside` names the
/// right answer that the entry edits; it may be `solution`. Without `beside`, the entry edits the right
/// answer that differs least from the file; if nearly all lines differ, the whole file is kept.
///
/// # Errors
/// Returns an error, and changes nothing, if there is no such file, or if its first lines lack a required
/// text.
pub fn keep(exercise: &Exercise, name: &str, beside: Option<&str>) -> anyhow::Result<String> {
    let before = exercise.wrong(name).ok();
    let name = before.map_or(name, |wrong| &wrong.name);
    let path = file(exercise, name);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("there is no {}; `--edit {name}` writes it", path.display()))?;
    let code = without_head(&text);
    let own: Vec<String> =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.trim().to_owned()).collect();
    let head = match (own.is_empty(), before) {
        (true, Some(wrong)) => head(wrong), // a design of its own has its texts in the list only
        _ => own,
    };
    let head = format!("=== {name}\n{}\n", head.join("\n"));
    let edit = shortest(exercise, &head, code, beside)?;
    let is_too_much =
        |edit: &String| (edit.lines().count() - head.lines().count()) * 100 > code.lines().count() * TOO_MUCH;
    let (entry, said) = match edit {
        Some(edit) if beside.is_some() || !is_too_much(&edit) => (edit, format!("{name} is an edit now")),
        _ => (
            format!("{head}The whole of it: wrong/{name}.rs\n"),
            format!("{name} is a design of its own, so its file stays"),
        ),
    };
    let [wrong] =
        wrong::parse(&entry)?.try_into().ok().context("its first lines make more than one entry of it")?;
    exercise.property(&wrong.property)?;
    write_entry(exercise, before, &entry)?;
    if wrong.code == Code::Whole {
        fs::write(&path, code).with_context(|| format!("cannot write {}", path.display()))?;
    } else {
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(said)
}

/// Finds the shortest entry that turns a right answer into this code.
fn shortest(
    exercise: &Exercise,
    head: &str,
    code: &str,
    beside: Option<&str>,
) -> anyhow::Result<Option<String>> {
    let all = [None].into_iter().chain(exercise.right.iter().map(|name| Some(name.as_str())));
    let is_meant = |base: Option<&str>| {
        let short = |name: &str| name.split('_').next() == beside;
        beside.is_none_or(|beside| base.map_or(beside == "solution", |name| name == beside || short(name)))
    };
    let bases: Vec<Option<&str>> = all.filter(|base| is_meant(*base)).collect();
    ensure!(!bases.is_empty(), "{} has no right answer {}", exercise.name, beside.unwrap_or_default());
    let mut best: Option<(usize, String)> = None;
    for base in bases {
        let before = exercise.base(base)?;
        ensure!(before != code, "it is the same as {}", base.unwrap_or("the solution"));
        let Some(hunks) = hunks(exercise, head, base, &before, code)? else { continue };
        let lines = hunks.lines().count() * if base.is_none() { 100 } else { FARTHER };
        if best.as_ref().is_none_or(|best| lines < best.0) {
            best = Some((lines, hunks));
        }
    }
    Ok(best.map(|best| best.1))
}

/// Makes the entry with the fewest context lines that are enough to determine one place. Returns `None` if
/// even many context lines do not determine the place.
fn hunks(
    exercise: &Exercise,
    head: &str,
    base: Option<&str>,
    before: &str,
    after: &str,
) -> anyhow::Result<Option<String>> {
    let beside = base.map_or_else(String::new, |name| format!("Beside right/{name}:\n"));
    let mut shortest: Option<String> = None;
    for algorithm in [Algorithm::Myers, Algorithm::Patience] {
        let diff = TextDiff::configure().algorithm(algorithm).diff_lines(before, after);
        let entries = (1..=8).map(|context| format!("{head}{beside}{}", with_context(&diff, context)));
        for entry in entries {
            let wrong = wrong::parse(&entry)?.swap_remove(0);
            let makes_it = exercise.wrong_answer(&wrong).is_ok_and(|text| without_head(&text) == after);
            if makes_it {
                if shortest.as_ref().is_none_or(|best| entry.lines().count() < best.lines().count()) {
                    shortest = Some(entry);
                }
                break;
            }
        }
    }
    Ok(shortest)
}

/// Returns the differences, each with the given number of lines before and after it, without empty lines at
/// the ends.
fn with_context<'a>(diff: &TextDiff<'a, 'a, str>, context: usize) -> String {
    let mut text = String::new();
    for group in diff.grouped_ops(context) {
        let changes = group.iter().flat_map(|operation| diff.iter_changes(operation));
        let lines: Vec<String> = changes
            .map(|change| match (change.tag(), change.value().trim_end_matches('\n')) {
                (ChangeTag::Equal, "") => String::new(),
                (ChangeTag::Equal, line) => format!(" {line}"),
                (ChangeTag::Delete, line) => format!("-{line}"),
                (ChangeTag::Insert, line) => format!("+{line}"),
            })
            .collect();
        let begin = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
        let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        text = text + "@@\n" + &lines[begin..end].join("\n") + "\n";
    }
    text
}

/// Replaces the earlier entry of this answer by the new entry; if there is no earlier entry, adds the new
/// entry at the end.
fn write_entry(exercise: &Exercise, before: Option<&Wrong>, entry: &str) -> anyhow::Result<()> {
    let path = list(exercise);
    let text = if path.exists() {
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?
    } else {
        "# Typical wrong answers, each as an edit of solution/exercise.rs. CONTRIBUTING.md says how to add one.\n".to_owned()
    };
    let lines: Vec<&str> = text.lines().collect();
    let new: Vec<&str> = entry.lines().collect();
    let lines = match before {
        Some(wrong) => [&lines[..wrong.lines.start], &new, &lines[wrong.lines.end..]].concat(),
        None => [lines.as_slice(), &[""], &new].concat(),
    };
    fs::write(&path, lines.join("\n") + "\n").with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the texts that are written above the code of a wrong answer.
fn head(wrong: &Wrong) -> Vec<String> {
    let caught = format!("Caught by {}: \"{}\"", wrong.property, wrong.message);
    wrong.text.iter().cloned().chain([caught]).collect()
}

fn file(exercise: &Exercise, name: &str) -> PathBuf {
    exercise.folder().join("wrong").join(format!("{name}.rs"))
}

fn list(exercise: &Exercise) -> PathBuf {
    exercise.folder().join("wrong.diff")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLUTION: &str =
        "//! Right.\nfn a() {\n    one();\n    two();\n}\n\nfn b() {\n    one();\n    two();\n}\n";

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            let toml = "title = \"\"\nchapters = []\nneeds = []\nhints = []\nafterwards = \"\"\n\
                 [[property]]\nname = \"holds\"\npromise = \"\"\n";
            folder.write("exercise.toml", toml);
            folder.write("solution/exercise.rs", SOLUTION);
            folder.write("right/r01_other.rs", &SOLUTION.replace("fn a() {\n    one", "fn a() {\n    other"));
            folder
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join("ex99-x").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
            fs::write(self.path(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).unwrap()
        }

        fn exercise(&self) -> Exercise {
            Exercise::read(self.path("")).unwrap()
        }

        fn keep(&self, name: &str, beside: Option<&str>) -> String {
            keep(&self.exercise(), name, beside).unwrap_or_else(|error| format!("{error:#}"))
        }
    }

    /// Returns the file of a wrong answer with this code.
    fn file_with(code: &str) -> String {
        format!("//! Wrong: x.\n//! The learner sees: y.\n//! Caught by holds: \"w\"\n{code}")
    }

    fn entry_with(edit: &str) -> String {
        format!("\n=== m01_new\nWrong: x.\nThe learner sees: y.\nCaught by holds: \"w\"\n{edit}")
    }

    const IN_B: &str = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    three();\n    two();\n}\n";

    #[test]
    fn a_new_mistake_is_the_solution_until_somebody_has_made_it_and_said_what_it_is() {
        let folder = Folder::new();
        edit(&folder.exercise(), "m01_new").unwrap();
        let file = "wrong/m01_new.rs";
        assert!(folder.read(file).ends_with("fn b() {\n    one();\n    two();\n}\n"));
        assert!(edit(&folder.exercise(), "m01_new").unwrap_err().to_string().contains("is there already"));
        assert_eq!(folder.keep("m01_new", None), "it is the same as the solution");
        let changed = folder.read(file).replace("fn b() {\n    one", "fn b() {\n    three");
        folder.write(file, &changed);
        assert!(folder.keep("m01_new", None).contains("does not say `Wrong: …`"));
        folder.write(file, &changed.replace("//! Wrong:", "//! Wrong: x"));
        assert!(folder.keep("m01_new", None).contains("ex99-x has no property `PROPERTY`"));
        assert!(!folder.path("wrong.diff").exists() && folder.path(file).exists(), "nothing was changed");
        folder.write(file, &file_with(IN_B));
        assert_eq!(folder.keep("m01_new", None), "m01_new is an edit now");
        let list = folder.read("wrong.diff");
        assert!(
            list.ends_with(&entry_with("@@\n fn b() {\n-    one();\n+    three();\n     two();\n")),
            "{list}"
        );
        assert!(!folder.path(file).exists());
        assert!(folder.keep("m01_new", None).contains("`--edit m01_new` writes it"));
    }

    #[test]
    fn a_mistake_is_changed_in_its_place_and_moves_to_another_right_answer() {
        let folder = Folder::new();
        let next = "\n=== m02_last\nWrong: x\nThe learner sees: y\nCaught by holds: \"w\"\n# Why.\n@@\n fn a() {\n-    one();\n";
        folder.write(
            "wrong.diff",
            &(format!("# List.\n{}", entry_with("@@\n fn a() {\n-    one();\n")) + next),
        );
        edit(&folder.exercise(), "m01").unwrap();
        folder.write("wrong/m01_new.rs", &file_with(IN_B));
        assert_eq!(folder.keep("m01", Some("r01")), "m01_new is an edit now");
        let list = folder.read("wrong.diff");
        let [begin, end] = ["# List.\n\n=== m01_new\n", next];
        assert!(
            list.starts_with(begin) && list.ends_with(end) && list.contains("Beside right/r01_other:\n"),
            "{list}"
        );
        let exercise = folder.exercise();
        assert_eq!(
            exercise.wrong_answer(&exercise.wrong[0]).unwrap(),
            file_with(IN_B).replace("//! Caught by holds: \"w\"\n", "")
        );

        edit(&exercise, "m01").unwrap();
        assert!(folder.keep("m01", Some("r09")).contains("ex99-x has no right answer r09"));
        folder.keep("m01", None);
        assert!(!folder.read("wrong.diff").contains("Beside"), "the solution is nearer");
    }

    #[test]
    fn a_design_of_its_own_stays_a_file_and_its_texts_are_in_the_list() {
        let folder = Folder::new();
        let code = "fn all() {\n    different();\n}\n";
        folder.write("wrong/m01_new.rs", &file_with(code));
        assert_eq!(folder.keep("m01_new", None), "m01_new is a design of its own, so its file stays");
        assert!(folder.read("wrong.diff").ends_with(&entry_with("The whole of it: wrong/m01_new.rs\n")));
        assert_eq!(folder.read("wrong/m01_new.rs"), code);
        folder.write("wrong/m01_new.rs", IN_B);
        assert_eq!(folder.keep("m01", None), "m01_new is an edit now", "with the texts that the list had");
        assert!(
            folder
                .read("wrong.diff")
                .contains("Wrong: x.\nThe learner sees: y.\nCaught by holds: \"w\"\n@@\n")
        );
    }

    #[test]
    fn an_edit_that_does_not_apply_is_for_its_maintainer() {
        let folder = Folder::new();
        folder.write("wrong.diff", &entry_with("@@\n-    gone();\n"));
        let error = edit(&folder.exercise(), "m01").unwrap_err().to_string();
        assert!(
            error.contains("    gone();\nChange the entry by hand: ") && error.ends_with("wrong.diff"),
            "{error}"
        );
    }
}
