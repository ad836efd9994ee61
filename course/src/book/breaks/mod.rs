//! The experiments of the book: each section *Break it* asks the reader to predict what a change does.
//!
//! The change of the experiment 2 of `work-stealing.md` is the patch `breaks/work-stealing-2.patch`, and its
//! command is in `breaks/record.toml`. So [`break_it`] can do the experiment in a copy of the project,
//! `book record` can check that its output is still the same, and [`faults()`] can prove that no patch is
//! stale.

mod command;
mod experiment;
mod faults;

pub use command::break_it;

pub(super) use faults::faults;

use crate::book::pages::Page;
use crate::book::recipes::{BREAKS, Recipes};
use crate::copy::Copy;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use experiment::Experiment;
use mdbook_driver::book::Book;
use mutants::Change;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// With this prefix before the name of an experiment, a page asks the live course for the experiment.
const BUTTON: &str = "break-";

/// Returns the command of each experiment that the course can do; the key is the name by which a page asks
/// for the experiment.
///
/// # Errors
/// Returns an error if a `record.toml` cannot be parsed.
pub(crate) fn commands(sources: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut commands = BTreeMap::new();
    for folder in Recipes::FOLDERS {
        for (experiment, _) in Recipes::read(sources, folder)?.experiments() {
            let (page, number) = experiment.rsplit_once('-').context("an experiment has a number")?;
            commands.insert(format!("{BUTTON}{experiment}"), format!("cargo course break {page} {number}"));
        }
    }
    Ok(commands)
}

/// Returns the path of the patch of an experiment; an experiment that changes nothing has no patch.
fn patch_of(sources: &Path, experiment: &str) -> PathBuf {
    sources.join(BREAKS).join(format!("{experiment}.patch"))
}

/// Returns a copy of the project in which the change of an experiment has been made; returns `None` if the
/// experiment changes nothing. `name` is the name of the copy in the target directory.
///
/// # Errors
/// Returns an error if the project cannot be copied, or if the patch does not apply.
pub(super) fn broken_copy(
    workspace: &Workspace,
    experiment: &str,
    name: &str,
) -> anyhow::Result<Option<Copy>> {
    let patch = patch_of(&workspace.book().join("src"), experiment);
    if !patch.is_file() {
        return Ok(None);
    }
    let changed = apply(&patch, workspace.root())?;
    let copy = Copy::of(workspace, name)?;
    for (path, text) in changed {
        let file = copy.workspace().root().join(path);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Some(copy))
}

/// Returns the files that a patch changes in the project in `root`, each file with its new text.
///
/// # Errors
/// Returns an error if a file cannot be read, or if the patch does not apply to it.
fn apply(patch: &Path, root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let name = || format!("{BREAKS}/{}", patch.file_name().unwrap_or_default().display());
    let apply = |change: &Change| {
        let text = fs::read_to_string(root.join(&change.path))
            .with_context(|| format!("cannot read {}", change.path))?;
        let changed = change.apply(&text).ok_or_else(|| {
            anyhow!(
                "it does not fit {} as that is now. If you have edited the file, `git stash` puts your \
                 edits aside",
                change.path
            )
        })?;
        Ok((change.path.clone(), changed))
    };
    let text = fs::read_to_string(patch).with_context(name)?;
    Change::all(&text).and_then(|changes| changes.iter().map(apply).collect()).with_context(name)
}

/// Adds to each section *Break it* of a book the commands that do its experiments.
///
/// # Errors
/// Returns an error if a `record.toml` cannot be parsed.
pub(super) fn add(book: &mut Book, sources: &Path) -> anyhow::Result<()> {
    let mut can_be_done: BTreeSet<String> = BTreeSet::new();
    for folder in Recipes::FOLDERS {
        let recipes = Recipes::read(sources, folder)?;
        can_be_done.extend(recipes.experiments().into_iter().map(|(experiment, _)| experiment.to_owned()));
    }
    book.for_each_chapter_mut(|chapter| {
        let Some(path) = chapter.source_path.clone() else { return };
        let page = Page { name: path.display().to_string(), path, text: chapter.content.clone() };
        let mut commands = String::new();
        for experiment in Experiment::all(&page).iter().filter(|it| can_be_done.contains(&it.name())) {
            let (name, command) = (experiment.name(), experiment.command());
            let _ = writeln!(commands, "```console,shows-{BUTTON}{name}\n$ {command}\n```\n");
        }
        let folded = experiment::section(&page.text)
            .and_then(|section| Some(section.start + page.text[section].find("<details>")?));
        if let Some(before) = folded
            && !commands.is_empty()
        {
            let told = "To have the course do it in a copy of the project:";
            chapter.content.insert_str(before, &format!("{told}\n\n{commands}"));
        }
    });
    Ok(())
}
