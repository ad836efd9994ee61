//! The record of all pages, crawled or not, in a file that survives a crash of the process.
//!
//! The file is a `redb` database. Each page has a record. A commit writes the outcomes of some pages,
//! together with the new pages to which these pages link. So a page is finished only when its links are
//! recorded, and no link is lost.
//!
//! ```text
//!   waiting ── a commit has its links ──▶ fetched
//!      │
//!      └── given up, or not allowed ──▶ failed, refused
//! ```
//!
//! If a page was fetched but its outcome was not committed before the process died, the page still waits, and
//! is fetched again. So a page is fetched *at least once*. A separate file in the directory of the state
//! records that the page was [under way](super::under_way). A page is given up if the process died three
//! times while it fetched the page, because the page may be the cause.

pub use super::record::{Progress, Record};

use super::frontier::{DEADLY, Job, Kind};
use super::record::since_1970;
use super::under_way;
use anyhow::{Context, anyhow, bail};
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, Table, TableDefinition,
    TableError, WriteTransaction,
};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The format that this version of the program writes. A file with a higher format number is refused.
const FORMAT: &str = "1";

const PAGES: TableDefinition<&str, &[u8]> = TableDefinition::new("pages");
const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");

/// Jobs that were tried but are not finished, each with the numbers of its failed tries and of deaths of the
/// process. The key is the address of a page, or the name of a site that is being asked for its rules.
const TRIES: TableDefinition<&str, (u32, u32)> = TableDefinition::new("tries");

/// The `robots.txt` of a site, and the time at which it was read, in seconds since 1970.
const RULES: TableDefinition<&str, (u64, &[u8])> = TableDefinition::new("rules");

/// The time until which no request may be sent to a site, in milliseconds since 1970.
const RESTS: TableDefinition<&str, u64> = TableDefinition::new("rests");

/// The number of bytes of the file that are kept in memory.
const CACHE: usize = 16 << 20;

/// The longest plausible pause: a longer pause must have been written with a wrong clock.
const LONGEST_REST: Duration = Duration::from_hours(24);

/// Rules that allow nothing, for a site whose own rules were being read when the process died.
const NOTHING: &[u8] = b"User-agent: *\nDisallow: /\n";

/// The changes that are written together.
#[derive(Debug, Default)]
pub struct Changes {
    /// The records of finished pages.
    pub over: Vec<(Arc<str>, Record)>,
    /// Pages that were found. If a page already has a record, the record does not change.
    pub found: Vec<Job>,
    /// Jobs that were tried but are not finished.
    pub tried: Vec<Job>,
    /// The `robots.txt` of sites; the value is `None` if the file could not be read.
    pub rules: Vec<(Arc<str>, Option<Vec<u8>>)>,
    /// Sites to which no request may be sent for some time, each with the length of this time from now on.
    pub rests: Vec<(Arc<str>, Duration)>,
}

impl Changes {
    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        let Changes { over, found, tried, rules, rests } = self;
        over.is_empty() && found.is_empty() && tried.is_empty() && rules.is_empty() && rests.is_empty()
    }

    /// Appends later changes.
    pub fn extend(&mut self, next: Changes) {
        let Changes { over, found, tried, rules, rests } = next;
        self.over.extend(over);
        self.found.extend(found);
        self.tried.extend(tried);
        self.rules.extend(rules);
        self.rests.extend(rests);
    }
}

/// What earlier runs have found out, except for the pages.
#[derive(Debug, Default)]
pub struct Known {
    /// The numbers of failed tries and of deaths of the process, for pages and sites that are not finished.
    pub tries: HashMap<String, (u32, u32)>,
    /// The `robots.txt` of sites, each with its age.
    pub rules: Vec<(String, Vec<u8>, Duration)>,
    /// Sites to which no request may be sent, each with the remaining time.
    pub rests: Vec<(String, Duration)>,
}

/// The file.
pub struct State {
    database: Database,
    path: PathBuf,
}

impl State {
    /// Opens the state file, or creates it. Reads the whole file to detect damaged data, which the program
    /// would otherwise trust and write again.
    ///
    /// # Errors
    /// Fails if another process has the file, if the file is damaged or of a later version, or if the
    /// system refuses.
    pub fn open(path: &Path) -> anyhow::Result<State> {
        let database =
            Database::builder().set_cache_size(CACHE).set_check_integrity_on_open(true).create(path);
        let database = database.map_err(|error| explained(path, error))?;
        let state = State { database, path: path.to_owned() };
        state.check()?;
        state.count_deaths().with_context(|| format!("{} cannot be used", path.display()))?;
        Ok(state)
    }

    /// Refuses the file of a later version, and the file of another program.
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

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds one to the number of deaths of each job that was in progress when the process died.
    fn count_deaths(&self) -> anyhow::Result<()> {
        let died = under_way::at_death(&self.path);
        let write = self.database.begin_write()?;
        {
            let (mut tries, mut pages) = (write.open_table(TRIES)?, write.open_table(PAGES)?);
            let (mut rules, _) = (write.open_table(RULES)?, write.open_table(RESTS)?);
            for name in &died {
                let name = name.as_str();
                let (attempts, deaths) = tries.get(name)?.map(|tries| tries.value()).unwrap_or_default();
                let deaths = deaths + 1;
                let record = pages
                    .get(name)?
                    .map(|record| serde_json::from_slice::<Record>(record.value()))
                    .transpose()?;
                match record {
                    _ if deaths < DEADLY => drop(tries.insert(name, (attempts, deaths))?),
                    None if is_site(name) => {
                        tries.remove(name)?;
                        rules.insert(name, (since_1970().as_secs(), NOTHING))?;
                    }
                    record => {
                        tries.remove(name)?;
                        // If the page that links to this page was not durable, this page has no record.
                        let record = record.unwrap_or_else(|| Record::waiting(0));
                        let why =
                            Some(format!("the program ended {deaths} times while it was being fetched"));
                        let record = Record { progress: Progress::Failed, why, at: None, ..record };
                        pages.insert(name, bytes(&record).as_slice())?;
                    }
                }
            }
        }
        under_way::forget(&self.path); // first, because missing a death is better than counting it twice
        Ok(write.commit()?)
    }

    /// Returns what earlier runs have found out, except for the pages.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn known(&self) -> anyhow::Result<Known> {
        let (read, now, mut known) = (self.database.begin_read()?, since_1970(), Known::default());
        for entry in read.open_table(TRIES)?.iter()? {
            let (key, value) = entry?;
            known.tries.insert(key.value().to_owned(), value.value());
        }
        for entry in read.open_table(RULES)?.iter()? {
            let (site, value) = entry?;
            let (read_at, text) = value.value();
            let age = now.saturating_sub(Duration::from_secs(read_at));
            known.rules.push((site.value().to_owned(), text.to_owned(), age));
        }
        for entry in read.open_table(RESTS)?.iter()? {
            let (site, until) = entry?;
            let rest = Duration::from_millis(until.value()).saturating_sub(now).min(LONGEST_REST);
            if !rest.is_zero() {
                known.rests.push((site.value().to_owned(), rest));
            }
        }
        Ok(known)
    }

    // ANCHOR: commit
    /// Makes all given changes durable at once, and waits until they are on the disk.
    ///
    /// # Errors
    /// Fails if the changes cannot be written; then the file does not change.
    pub fn commit(&self, changes: &Changes) -> anyhow::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        self.write(changes).with_context(|| format!("{} cannot be written", self.path.display()))
    }

    fn write(&self, changes: &Changes) -> anyhow::Result<()> {
        let write = self.database.begin_write()?;
        {
            let (mut pages, mut tries) = (write.open_table(PAGES)?, write.open_table(TRIES)?);
            for page in &changes.found {
                if pages.get(&*page.url)?.is_none() {
                    pages.insert(&*page.url, bytes(&Record::waiting(page.depth)).as_slice())?;
                }
            }
            for (url, record) in &changes.over {
                pages.insert(&**url, bytes(record).as_slice())?;
                tries.remove(&**url)?;
            }
            for job in changes.tried.iter().filter(|job| job.attempts + job.deaths > 0) {
                tries.insert(key(job), (job.attempts, job.deaths))?;
            }
            write_sites(&write, changes, &mut tries)?;
        }
        Ok(write.commit()?)
    }
    // ANCHOR_END: commit

    /// Returns a note about the whole crawl; the note is found by its name.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn note(&self, name: &str) -> anyhow::Result<Option<String>> {
        let about = self.database.begin_read()?.open_table(ABOUT)?;
        Ok(about.get(name)?.map(|note| note.value().to_owned()))
    }

    /// Makes a note about the whole crawl durable.
    ///
    /// # Errors
    /// Fails if the note cannot be written.
    pub fn set_note(&self, name: &str, note: &str) -> anyhow::Result<()> {
        let cannot = || format!("{} cannot be written", self.path.display());
        let write = self.database.begin_write().with_context(cannot)?;
        write.open_table(ABOUT).with_context(cannot)?.insert(name, note).with_context(cannot)?;
        write.commit().with_context(cannot)
    }

    /// Returns true if no page has a record.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn is_empty(&self) -> anyhow::Result<bool> {
        Ok(self.database.begin_read()?.open_table(PAGES)?.first()?.is_none())
    }

    /// Returns true if the page has a record.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn has(&self, url: &str) -> anyhow::Result<bool> {
        Ok(self.database.begin_read()?.open_table(PAGES)?.get(url)?.is_some())
    }

    /// Returns the record of a page.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn record(&self, url: &str) -> anyhow::Result<Option<Record>> {
        let pages = self.database.begin_read()?.open_table(PAGES)?;
        Ok(pages.get(url)?.map(|record| serde_json::from_slice(record.value())).transpose()?)
    }

    /// Calls `each` with every page, in the order of the addresses.
    ///
    /// # Errors
    /// Fails if the file is damaged, or if `each` fails.
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

/// Writes the rules and the pauses of sites.
fn write_sites(
    write: &WriteTransaction,
    changes: &Changes,
    tries: &mut Table<'_, &'static str, (u32, u32)>,
) -> anyhow::Result<()> {
    let now = since_1970();
    let (mut rules, mut rests) = (write.open_table(RULES)?, write.open_table(RESTS)?);
    for (site, text) in &changes.rules {
        tries.remove(&**site)?;
        match text {
            Some(text) => rules.insert(&**site, (now.as_secs(), text.as_slice()))?,
            None => rules.remove(&**site)?,
        };
    }
    for (site, rest) in &changes.rests {
        let until = u64::try_from((now + *rest).as_millis()).unwrap_or(u64::MAX);
        rests.insert(&**site, until)?;
    }
    Ok(())
}

/// Returns true if the key is the name of a site; addresses of pages have a path, but names of sites do
/// not.
pub(super) fn is_site(name: &str) -> bool {
    name.matches('/').count() == 2
}

/// Returns the key under which the tries of a job are stored.
pub(super) fn key(job: &Job) -> &str {
    match job.kind {
        Kind::Page => &job.url,
        Kind::Robots => &job.site,
    }
}

fn bytes(record: &Record) -> Vec<u8> {
    serde_json::to_vec(record).expect("numbers and texts")
}

/// Returns a sentence that explains why a file cannot be opened.
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
