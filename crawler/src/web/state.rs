//! What has been crawled and what has not, in a file that survives whatever happens to the process.
//!
//! The file is a `redb` database. Each page has a record. A commit writes what became of some pages, together with the pages that
//! they link to and that nobody had seen: so a page whose links are not known yet is not done, and no link is lost.
//!
//! ```text
//!   waiting ── a commit has its links ──▶ fetched
//!      │
//!      └── given up, or not allowed ──▶ failed, refused
//! ```
//!
//! A page that was fetched when the process died, and not committed, is still waiting: it is fetched again. That is *at least once*.

use super::frontier::{Job, Kind};
use anyhow::{Context, anyhow, bail};
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, TableDefinition, TableError,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What this version writes. A file with a higher number is refused.
const FORMAT: &str = "1";

const PAGES: TableDefinition<&str, &[u8]> = TableDefinition::new("pages");
const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");

/// What is known of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How far it is.
    pub progress: Progress,
    /// Links from the start.
    pub depth: u32,
    /// What the server said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The pages that it links to, in its order, also those that are not crawled.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links: Vec<String>,
    /// Links that were too many, or too long, to be kept.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: usize,
    /// It is longer than what was read.
    #[serde(skip_serializing_if = "is_no", default)]
    pub is_truncated: bool,
    /// Why it could not be fetched, or why nobody goes where it leads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The page that this one says is the real one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy_of: Option<String>,
}

/// How far a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// Not fetched yet.
    Waiting,
    /// The server has answered, if only that the page is not there.
    Fetched,
    /// There was no answer, as often as it was tried.
    Failed,
    /// `robots.txt` says no.
    Refused,
}

impl Record {
    /// A page that was found.
    pub fn waiting(depth: u32) -> Record {
        Record {
            progress: Progress::Waiting,
            depth,
            status: None,
            links: Vec::new(),
            left_out: 0,
            is_truncated: false,
            why: None,
            copy_of: None,
        }
    }
}

/// The file.
pub struct State {
    database: Database,
    path: PathBuf,
}

impl State {
    /// Opens the file, or makes it. Reads all of it: what is not as it was written would be believed, and written again.
    ///
    /// # Errors
    /// If another process has it, it is damaged or from a later version, or the system refuses.
    pub fn open(path: &Path) -> anyhow::Result<State> {
        let database = Database::builder().set_check_integrity_on_open(true).create(path);
        let database = database.map_err(|error| explained(path, error))?;
        let state = State { database, path: path.to_owned() };
        state.check()?;
        Ok(state)
    }

    /// Refuses the file of a later version, and one of another program.
    fn check(&self) -> anyhow::Result<()> {
        let name = self.path.display();
        let read = self.database.begin_read()?;
        let format = match read.open_table(ABOUT) {
            Ok(about) => about.get("format")?.map(|format| format.value().to_owned()),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => bail!("{name} is damaged ({error})"),
        };
        match format.as_deref() {
            Some(FORMAT) => Ok(()),
            Some(later) => bail!("{name} was made by a later version of this program (format {later})"),
            None if read.list_tables()?.next().is_some() => {
                bail!("{name} is the file of another program: name a new file")
            }
            None => {
                let write = self.database.begin_write()?;
                write.open_table(ABOUT)?.insert("format", FORMAT)?;
                write.open_table(PAGES)?;
                Ok(write.commit()?)
            }
        }
    }

    // ANCHOR: commit
    /// Makes all of these records durable at once. A page that was found and has a record keeps it. Waits until it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written: the file is as it was.
    pub fn commit<'r>(
        &self,
        done: impl IntoIterator<Item = (&'r str, &'r Record)>,
        found: impl IntoIterator<Item = (&'r str, Record)>,
    ) -> anyhow::Result<()> {
        let cannot = || format!("{} cannot be written", self.path.display());
        let write = self.database.begin_write().with_context(cannot)?;
        {
            let mut pages = write.open_table(PAGES).with_context(cannot)?;
            for (url, record) in found {
                if pages.get(url).with_context(cannot)?.is_none() {
                    pages.insert(url, bytes(&record).as_slice()).with_context(cannot)?;
                }
            }
            for (url, record) in done {
                pages.insert(url, bytes(record).as_slice()).with_context(cannot)?;
            }
        }
        write.commit().with_context(cannot)
    }
    // ANCHOR_END: commit

    /// A note on the crawl as a whole, by its name.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn note(&self, name: &str) -> anyhow::Result<Option<String>> {
        let about = self.database.begin_read()?.open_table(ABOUT)?;
        Ok(about.get(name)?.map(|note| note.value().to_owned()))
    }

    /// Makes such a note durable.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn set_note(&self, name: &str, note: &str) -> anyhow::Result<()> {
        let cannot = || format!("{} cannot be written", self.path.display());
        let write = self.database.begin_write().with_context(cannot)?;
        write.open_table(ABOUT).with_context(cannot)?.insert(name, note).with_context(cannot)?;
        write.commit().with_context(cannot)
    }

    /// Every page, in the order of the addresses.
    ///
    /// # Errors
    /// If the file is damaged, or `each` fails.
    pub fn each(&self, mut each: impl FnMut(&str, Record) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let damaged = || format!("{} is damaged", self.path.display());
        let read = self.database.begin_read().with_context(damaged)?;
        let pages = read.open_table(PAGES).with_context(damaged)?;
        for entry in pages.iter().with_context(damaged)? {
            let (url, record) = entry.with_context(damaged)?;
            each(url.value(), serde_json::from_slice(record.value()).with_context(damaged)?)?;
        }
        Ok(())
    }
}

/// The page of a record that waits.
pub fn job(url: &str, site: &str, record: &Record) -> Job {
    Job { url: Arc::from(url), site: Arc::from(site), depth: record.depth, attempts: 0, kind: Kind::Page }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_no(value: &bool) -> bool {
    !*value
}

fn bytes(record: &Record) -> Vec<u8> {
    serde_json::to_vec(record).expect("numbers and texts")
}

/// A sentence for why a file cannot be opened.
fn explained(path: &Path, error: DatabaseError) -> anyhow::Error {
    let name = path.display();
    match error {
        DatabaseError::DatabaseAlreadyOpen => {
            anyhow!("another process is at work on {name}: wait for it, or name another file")
        }
        DatabaseError::UpgradeRequired(_) => {
            anyhow!("{name} was made by another version of this program: name another file")
        }
        DatabaseError::Storage(StorageError::Io(error)) => match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                anyhow!("{name} is damaged, or no state of a crawl: name another file")
            }
            _ => anyhow!("{name}: {error}"),
        },
        DatabaseError::Storage(StorageError::Corrupted(what)) => {
            anyhow!("{name} is damaged ({what}): name another file")
        }
        other => anyhow!("{name}: {other}"),
    }
}
