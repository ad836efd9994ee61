//! The index on disk: the data about each file, and the checks when an index is opened.
//!
//! The library `tantivy` keeps the index. Each file has a document with its path, the version that was
//! indexed, and the words of its name and its text. The index does not keep the text itself: to show a line
//! of a file, a search reads the file again.
//!
//! ```text
//!   new ── first commit ──▶ incomplete ◀── each commit of a run that is not at its end ──┐
//!                             │                                                          │
//!                             └── last commit of a run that saw everything ──▶ complete ─┘
//! ```
//!
//! A commit replaces `meta.json` by renaming a new file, so a killed process leaves the index in the state
//! of the last commit.

use crate::words;
use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
#[cfg(unix)]
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
#[cfg(unix)]
use std::iter;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, Searcher, TantivyError};

/// The format that this version of the program writes. An index of another format is refused, because other
/// versions split the same text into different words.
const FORMAT: u64 = 2;

/// An index on disk, which can be read and written.
pub struct Store {
    pub(super) index: Index,
    pub(super) fields: Fields,
    directory: PathBuf,
}

/// The fields of a file's document.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    /// The [`key`] of the path, by which a document is found and removed.
    pub(super) path: Field,
    /// The words of the file's name.
    pub(super) name: Field,
    /// The words of the file's text.
    pub(super) text: Field,
    /// The version of the file that was indexed: see [`Stamp`](crate::Stamp).
    pub(super) modified: Field,
    pub(super) size: Field,
}

pub(super) const MODIFIED: &str = "modified";
pub(super) const SIZE: &str = "size";

impl Fields {
    fn schema() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(words::NAME)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = TextOptions::default().set_indexing_options(words);
        let fields = Fields {
            path: schema.add_text_field("path", STRING | STORED),
            name: schema.add_text_field("name", words.clone()),
            text: schema.add_text_field("text", words),
            modified: schema.add_i64_field(MODIFIED, FAST),
            size: schema.add_u64_field(SIZE, FAST),
        };
        (schema.build(), fields)
    }
}

impl Store {
    /// Opens the index in a directory; creates an index if the directory is empty or does not exist.
    ///
    /// # Errors
    /// Fails if the directory contains other files, if the index is damaged or of a later version, or if
    /// the system refuses.
    pub fn open_or_create(directory: &Path) -> anyhow::Result<Store> {
        let name = directory.display();
        fs::create_dir_all(directory).with_context(|| format!("cannot make the directory {name}"))?;
        if !directory.join("meta.json").exists() {
            // Files with names that begin with a dot are lock files; the library creates them before all
            // other files.
            let is_foreign =
                fs::read_dir(directory).with_context(|| format!("cannot read {name}"))?.any(|entry| {
                    entry.is_ok_and(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
                });
            if is_foreign {
                bail!("{name} is not empty and not an index: name a new or empty directory");
            }
            let (schema, _) = Fields::schema();
            match Index::create_in_dir(directory, schema) {
                Ok(_) | Err(TantivyError::IndexAlreadyExists) => (), // another process has created it meanwhile
                Err(error) => return Err(explained(error, directory)),
            }
        }
        Store::open(directory)
    }

    /// Opens an existing index.
    ///
    /// # Errors
    /// Fails if there is no index, if the index is damaged or of a later version, or if the system refuses.
    pub fn open(directory: &Path) -> anyhow::Result<Store> {
        let name = directory.display();
        if !directory.join("meta.json").exists() {
            bail!("there is no index in {name}: `index DIRECTORY --into {name}` makes one");
        }
        let directory = fs::canonicalize(directory).with_context(|| format!("cannot open {name}"))?;
        let index = Index::open_in_dir(&directory).map_err(|error| explained(error, &directory))?;
        index.tokenizers().register(words::NAME, words::analyzer());
        let store = Store { fields: Fields::schema().1, index, directory };
        store.check()?;
        Ok(store)
    }

    /// Returns the real path of the index's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns true if the last run saw everything that it had to index.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn is_complete(&self) -> anyhow::Result<bool> {
        Ok(self.note()?["complete"] == true)
    }

    /// Compares the whole index with its checksums, because otherwise a commit could copy damaged data and
    /// write a new checksum for these data.
    ///
    /// # Errors
    /// Fails if any part of the index is damaged.
    pub fn verify(&self) -> anyhow::Result<()> {
        let damaged = self.index.validate_checksum().map_err(|error| self.explained(error))?;
        let files: BTreeSet<_> = damaged.iter().map(|file| file.display().to_string()).collect();
        match files.first() {
            None => Ok(()),
            Some(file) => Err(damage(&self.directory, &format_args!("{file} is not as it was written"))),
        }
    }

    /// Returns the number of files in the index.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn files(&self) -> anyhow::Result<u64> {
        Ok(self.searcher()?.num_docs())
    }

    /// Returns a view of the last commit, which later commits do not change.
    pub(super) fn searcher(&self) -> anyhow::Result<Searcher> {
        let reader = self.index.reader_builder().reload_policy(tantivy::ReloadPolicy::Manual).try_into();
        Ok(reader.map_err(|error| self.explained(error))?.searcher())
    }

    pub(super) fn explained(&self, error: TantivyError) -> anyhow::Error {
        explained(error, &self.directory)
    }

    fn check(&self) -> anyhow::Result<()> {
        let name = self.directory.display();
        let note = self.note()?;
        match note["format"].as_u64() {
            Some(FORMAT) => (),
            Some(format) if format > FORMAT => {
                bail!("{name} was made by a later version of this program (format {format})")
            }
            Some(_) => bail!(
                "{name} was made by an earlier version of this program: remove the directory and index again"
            ),
            None if note.is_null() => (), // no commit yet
            _ => bail!("{name} is an index of another program: name a new or empty directory"),
        }
        if self.index.schema() != Fields::schema().0 {
            bail!("{name} is an index of another program: name a new or empty directory");
        }
        Ok(())
    }

    /// Returns the note that the last commit stored in addition to the documents; returns null before the
    /// first commit.
    fn note(&self) -> anyhow::Result<Value> {
        let meta = self.index.load_metas().map_err(|error| self.explained(error))?;
        Ok(meta.payload.map_or(Value::Null, |note| serde_json::from_str(&note).unwrap_or(Value::Bool(false))))
    }
}

/// Returns the note that a commit stores in addition to the documents.
pub(super) fn note(is_complete: bool) -> String {
    json!({ "format": FORMAT, "complete": is_complete }).to_string()
}

/// Runs `call`, which panics if a file on the disk is damaged, and turns a panic into an error with the
/// text `what`.
///
/// # Errors
/// Returns the error of `call`, or an error with the text `what` if `call` panics.
pub fn guarded<T>(what: &str, call: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let ended = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(hook);
    ended.unwrap_or_else(|_| Err(anyhow!("{what}")))
}

fn damage(directory: &Path, what: &dyn fmt::Display) -> anyhow::Error {
    anyhow!("the index in {} is damaged ({what}): remove the directory and index again", directory.display())
}

/// Returns a sentence that explains an error of the index.
fn explained(error: TantivyError, directory: &Path) -> anyhow::Error {
    let name = directory.display();
    let damaged = |what: &dyn fmt::Display| damage(directory, what);
    match error {
        TantivyError::LockFailure(LockError::LockBusy, _) => {
            anyhow!(
                "another process is at work on the index in {name}: wait for it, or name another directory"
            )
        }
        TantivyError::IncompatibleIndex(_)
        | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_)) => {
            anyhow!(
                "the index in {name} was made by another version of this program: remove the directory and index again"
            )
        }
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
            damaged(&format_args!("{} is missing", file.display()))
        }
        TantivyError::IoError(error)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. }) => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                damaged(&"a file of it is not whole")
            }
            _ => anyhow!("the index in {name}: {error}"),
        },
        TantivyError::OpenDirectoryError(OpenDirectoryError::NotADirectory(_)) => {
            anyhow!("{name} is no directory")
        }
        TantivyError::DataCorruption(corruption) => {
            let what = format!("{corruption:?}"); // a long text with the content of the file
            damaged(&format_args!("{:.60}…", what.trim_start_matches("Data corruption ")))
        }
        TantivyError::DeserializeError(error) => damaged(&error),
        other => anyhow!("the index in {name}: {other}"),
    }
}

/// Returns the text that identifies a path in the index; the path can be restored from this text, even if
/// the path is not Unicode. Returns `None` if no such text exists.
pub(super) fn key(path: &Path) -> Option<String> {
    #[cfg(unix)]
    if path.to_str().is_none() {
        use std::os::unix::ffi::OsStrExt;
        let bytes = path.as_os_str().as_bytes().iter().map(|byte| char::from(*byte));
        return Some(iter::once(ESCAPE).chain(bytes).collect());
    }
    path.to_str().map(str::to_owned)
}

/// Returns the path of a [`key`].
pub(super) fn path_of(key: &str) -> PathBuf {
    #[cfg(unix)]
    if let Some(escaped) = key.strip_prefix(ESCAPE) {
        use std::os::unix::ffi::OsStringExt;
        let bytes = escaped.chars().map(|c| u8::try_from(c).unwrap_or(b'?'));
        return OsString::from_vec(bytes.collect()).into();
    }
    key.into()
}

/// The first character of a [`key`] whose path is not Unicode; no path begins with this character.
#[cfg(unix)]
const ESCAPE: char = '\0';
