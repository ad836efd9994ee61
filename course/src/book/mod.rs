//! Builds the book, and checks that it agrees with the code.
//!
//! mdBook does not fail on a missing include, a misspelt anchor or a broken link. Besides, mdBook does not
//! check the prose: it does not know whether `cargo run --bin pooled` still exists, or whether a program
//! prints what a page says. So [`build`] fails on every complaint, [`check()`] finds the other faults, and
//! [`record()`] runs the commands whose output the book shows.

pub(crate) mod breaks;
mod built;
mod check;
mod commands;
mod complaints;
pub(crate) mod equal;
mod generated;
mod graph;
mod includes;
mod links;
mod order;
mod pages;
mod paths;
mod predictions;
mod prose;
mod readable;
pub(crate) mod recipes;
mod record;
mod running;
mod schedules;
pub(crate) mod shell;
mod speed_up;
mod steps;
mod transcripts;

pub use breaks::break_it;
pub use check::check;
pub use record::record;

use self::built::Note;
use crate::ways::Ways;
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use exercises_protocol::Kinds;
use mdbook_driver::MDBook;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Builds the book into `book` below the target directory, unless the book is up to date, and returns that
/// directory.
///
/// # Errors
/// Returns an error if there is no book, if the book includes code that does not exist, if the target
/// directory cannot be written, or if mdBook reports anything.
pub fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let source = workspace.book();
    ensure!(
        source.join("book.toml").is_file(),
        "there is no book in {}: its book.toml is missing. `git checkout -- book` brings it back.",
        source.display()
    );
    let destination = workspace.target().join("book");
    // A file that cannot be read is ignored here, because the build below reports the error.
    let note = Note::of(&source, &destination).ok();
    if note.as_ref().is_some_and(Note::is_as_noted) && destination.join("index.html").is_file() {
        return Ok(destination);
    }
    // On a busy machine, a build can take longer than a user waits for a first sign of life.
    let _ = writeln!(io::stderr(), "Building the book; this takes some seconds.");
    let mut book = MDBook::load(&source)
        .with_context(|| format!("mdBook cannot read the book in {}", source.display()))?;
    includes::check(&book.source_dir())?;
    steps::add(&mut book.book, &Ways::read(workspace)?);
    let pages = book.source_dir();
    predictions::put(&mut book.book, &pages)?;
    schedules::add(&mut book.book, &Kinds::read(&workspace.exercises())?);
    breaks::add(&mut book.book, &pages)?;
    transcripts::mark(&mut book.book);

    let cannot_write = || {
        format!(
            "cannot write the book to {}. Make room for it there, or set CARGO_TARGET_DIR to a directory \
             that you may write to.",
            destination.display()
        )
    };
    note.iter().for_each(Note::remove);
    fs::create_dir_all(&destination).with_context(cannot_write)?;
    book.config.build.build_dir.clone_from(&destination);
    let (built, complaints) = complaints::during(|| book.build());
    built.with_context(cannot_write)?;
    if !complaints.is_empty() {
        bail!("mdBook built the book, but complains:\n  {}", complaints.join("\n  "));
    }
    note.iter().for_each(Note::write);
    Ok(destination)
}
