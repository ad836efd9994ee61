//! The only writer of the index: it accepts documents and makes commits.
//!
//! The library has its own threads, which turn documents into parts of the index. The library's queue holds
//! ten thousand documents of any size; with large files, the documents would take gigabytes. So each batch of
//! documents holds a permit for the bytes of the texts in the batch. The permit is given back when the
//! documents are dropped, which happens after the library has processed them.
//!
//! ```text
//!   put ─▶ batch ─▶ waits for room ─▶ queue of the library ─▶ its threads ─▶ dropped: room again
//!                                                               │
//!   commit: waits for all that has been sent ◀──────────────────┘
//! ```
//!
//! Documents are sent in batches. If documents are sent one by one, each processed document wakes a thread
//! that waits for a permit, and a whole run takes a tenth longer.

use crate::content::Stamp;
use crate::store::{self, Fields, Store};
use anyhow::{Context, anyhow};
use executor::{OwnedPermit, Semaphore};
use std::iter;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, UserOperation};
use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::{IndexWriter, TantivyError, Term};

/// The number of bytes that each thread of the library collects before it writes a part of the index.
const MEMORY: usize = 64 << 20;

/// The amount of text that may wait for the library's threads, in units of 1024 bytes.
const ROOM: usize = 64 << 10;

/// The number of bytes of text that are sent together.
const BATCH: usize = 1 << 20;

/// The time for which a process tries to lock the index. The process that has the lock may have been
/// killed, but may not have ended yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// The only writer of an index, even among several processes.
pub struct Writer {
    inner: Mutex<Inner>,
    room: Semaphore,
    fields: Fields,
    directory: PathBuf,
}

struct Inner {
    /// The library's writer, which is behind a lock, although the library allows threads to share it. For
    /// each call, the library's writer first numbers the operations, and then puts the removals into a list.
    /// With two threads, the list can get out of order, and a removal can remove the new version of a
    /// document instead of the old version.
    index: IndexWriter<FileDocument>,
    /// True if anything was put or removed since the last commit. The same lock protects `has_changed`,
    /// because a removal that waits during a commit must be recorded for the next commit.
    has_changed: bool,
    /// True if the last commit has marked the index as complete.
    is_complete: bool,
}

/// A file to index. Only a [`Crawl`](crate::Crawl) creates values of this type, so no file is indexed
/// twice.
#[derive(Debug)]
pub struct File {
    /// The file's real path.
    pub path: PathBuf,
    pub(super) key: String,
    /// True if the index contains a version of this file.
    pub(super) is_known: bool,
}

impl Writer {
    /// Locks an index for this process. The library uses `threads` threads to turn documents into parts of
    /// the index.
    ///
    /// # Errors
    /// Fails if another process has the lock, or if the index cannot be written.
    pub fn new(store: &Store, threads: usize) -> anyhow::Result<Writer> {
        let options = || {
            IndexWriterOptions::builder()
                .num_worker_threads(threads)
                .memory_budget_per_thread(MEMORY)
                .num_merge_threads(1)
                .build()
        };
        let begun = Instant::now();
        let index = loop {
            match store.index.writer_with_options(options()) {
                Err(TantivyError::LockFailure(LockError::LockBusy, _)) if begun.elapsed() < PATIENCE => {
                    thread::sleep(PATIENCE / 20);
                }
                other => break other.map_err(|error| store.explained(error))?,
            }
        };
        Ok(Writer {
            inner: Mutex::new(Inner { index, has_changed: false, is_complete: store.is_complete()? }),
            room: Semaphore::new(ROOM),
            fields: store.fields,
            directory: store.directory().to_owned(),
        })
    }

    /// Returns a batch, through which one thread puts files into the index.
    pub fn batch(&self) -> Batch<'_> {
        Batch { writer: self, files: Vec::new(), bytes: 0 }
    }

    /// Removes a file from the index. Returns true if the index had the file.
    pub fn remove(&self, file: &File) -> bool {
        if file.is_known {
            self.remove_key(&file.key);
        }
        file.is_known
    }

    pub(super) fn remove_key(&self, key: &str) {
        let mut inner = self.locked();
        inner.has_changed = true;
        inner.index.delete_term(self.term(key));
    }

    /// Commits all changes atomically: after a crash, the index has all of the changes or none. Waits until
    /// the changes are on the disk. Returns true if the commit had changes to write.
    ///
    /// # Errors
    /// Fails if the index cannot be written. After an error, the index stays in the state of the last
    /// commit.
    pub fn commit(&self, is_complete: bool) -> anyhow::Result<bool> {
        self.commit_as(Some(is_complete))
    }

    /// Commits like [`commit`](Self::commit), but in the middle of a run. After this call the index counts as
    /// incomplete, if anything has changed.
    ///
    /// # Errors
    /// Fails in the same cases as [`commit`](Self::commit).
    pub fn commit_changes(&self) -> anyhow::Result<bool> {
        self.commit_as(None)
    }

    fn commit_as(&self, is_complete: Option<bool>) -> anyhow::Result<bool> {
        let mut inner = self.locked();
        if !inner.has_changed && is_complete.is_none_or(|is_complete| is_complete == inner.is_complete) {
            return Ok(false);
        }
        let is_complete = is_complete.unwrap_or(false);
        let committed = inner.index.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(&store::note(is_complete));
            prepared.commit()
        });
        committed.map_err(|error| self.failed(error))?;
        (inner.has_changed, inner.is_complete) = (false, is_complete);
        Ok(true)
    }

    /// Waits for the library's threads that merge small parts of the index into larger ones.
    ///
    /// # Errors
    /// Fails if one of the library's threads has failed. All committed changes stay in the index.
    pub fn close(self) -> anyhow::Result<()> {
        let inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        inner.index.wait_merging_threads().context("the index could not be tidied up")
    }

    /// Returns the operations for some files: for each file, a removal of the old version and an addition
    /// of the new version.
    fn operations(
        &self,
        (file, text, stamp): (File, String, Stamp),
        room: &Arc<OwnedPermit>,
    ) -> impl Iterator<Item = UserOperation<FileDocument>> + use<> {
        let before = file.is_known.then(|| UserOperation::Delete(self.term(&file.key)));
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let document =
            FileDocument { fields: self.fields, path: file.key, name, text, stamp, _room: Arc::clone(room) };
        before.into_iter().chain([UserOperation::Add(document)])
    }

    fn failed(&self, error: TantivyError) -> anyhow::Error {
        let why = match error {
            TantivyError::IoError(error) => error.to_string(),
            other => other.to_string(),
        };
        anyhow!("the index in {} cannot be written: {why}", self.directory.display())
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn term(&self, key: &str) -> Term {
        Term::from_field_text(self.fields.path, key)
    }
}

/// Files that one thread has read but not sent yet. Files that were not sent when the batch is dropped are
/// not indexed.
pub struct Batch<'w> {
    writer: &'w Writer,
    files: Vec<(File, String, Stamp)>,
    bytes: usize,
}

impl Batch<'_> {
    // ANCHOR: put
    /// Replaces the indexed version of a file with the given version. Sends the batch when it is full, and
    /// blocks while the library already has too much text to index.
    ///
    /// # Errors
    /// Fails if the library has stopped after an error, for example because the disk is full, or if the
    /// calling task was cancelled.
    pub fn put(&mut self, file: File, text: String, stamp: Stamp) -> anyhow::Result<()> {
        self.bytes += text.len();
        self.files.push((file, text, stamp));
        if self.bytes < BATCH { Ok(()) } else { self.send() }
    }

    /// Sends the files of the batch to the library.
    ///
    /// # Errors
    /// Fails in the same cases as [`put`](Self::put).
    pub fn send(&mut self) -> anyhow::Result<()> {
        if self.files.is_empty() {
            return Ok(());
        }
        let bytes = mem::take(&mut self.bytes);
        let permits = (bytes / 1024 + 1).min(ROOM);
        let room = Arc::new(self.writer.room.acquire_many(permits)?.into_owned());
        let operations: Vec<_> =
            self.files.drain(..).flat_map(|file| self.writer.operations(file, &room)).collect();
        let mut inner = self.writer.locked();
        inner.has_changed = true;
        inner.index.run(operations)?;
        Ok(())
    }
    // ANCHOR_END: put
}

/// A file in the form that the library accepts.
struct FileDocument {
    fields: Fields,
    path: String,
    name: String,
    text: String,
    stamp: Stamp,
    /// The permit of the batch that contains this document.
    _room: Arc<OwnedPermit>,
}

/// A value of a document.
#[derive(Clone, Copy, Debug)]
enum FileValue<'a> {
    Text(&'a str),
    Modified(i64),
    Size(u64),
}

impl<'a> Value<'a> for FileValue<'a> {
    type ArrayIter = iter::Empty<Self>;
    type ObjectIter = iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            FileValue::Text(text) => ReferenceValueLeaf::Str(text),
            FileValue::Modified(time) => ReferenceValueLeaf::I64(time),
            FileValue::Size(bytes) => ReferenceValueLeaf::U64(bytes),
        })
    }
}

impl Document for FileDocument {
    type Value<'a> = FileValue<'a>;
    type FieldsValuesIter<'a> = std::array::IntoIter<(Field, FileValue<'a>), 5>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let fields = self.fields;
        [
            (fields.path, FileValue::Text(&self.path)),
            (fields.name, FileValue::Text(&self.name)),
            (fields.text, FileValue::Text(&self.text)),
            (fields.modified, FileValue::Modified(self.stamp.modified)),
            (fields.size, FileValue::Size(self.stamp.size)),
        ]
        .into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executor::CancelToken;

    const STAMP: Stamp = Stamp { modified: 1, size: 1 };

    fn file(number: usize) -> File {
        File { path: format!("/{number}").into(), key: format!("/{number}"), is_known: false }
    }

    #[test]
    fn room_comes_back_when_documents_have_been_indexed() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(&Store::open_or_create(folder.path()).unwrap(), 2).unwrap();
        let mut batch = writer.batch();
        for number in 0..10 {
            batch.put(file(number), "word ".repeat(100_000), STAMP).unwrap();
        }
        batch.send().unwrap();
        writer.commit(true).unwrap();
        assert_eq!(writer.room.available_permits(), ROOM);
    }

    /// Puts a text of `bytes` bytes into the index while only `left` units of the permits are free. Returns
    /// true if the call waited until permits were given back.
    fn waits(bytes: usize, left: usize) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(&Store::open_or_create(folder.path()).unwrap(), 1).unwrap();
        let others = writer.room.acquire_many(ROOM - left).unwrap();
        let waited = thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut batch = writer.batch();
                batch.put(file(1), " ".repeat(bytes), STAMP)?;
                batch.send()
            });
            while writer.room.waiting() == 0 && !sender.is_finished() {
                thread::yield_now();
            }
            let waited = !sender.is_finished();
            drop(others);
            sender.join().unwrap().unwrap();
            waited
        });
        writer.commit(true).unwrap();
        assert_eq!(writer.room.available_permits(), ROOM);
        waited
    }

    #[test]
    fn what_waits_for_a_commit_to_end_is_committed_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let writer = Writer::new(&store, 1).unwrap();
        for _ in 0..20 {
            let mut batch = writer.batch();
            batch.put(file(1), "word".to_owned(), STAMP).unwrap();
            batch.send().unwrap();
            // The commit and the removal both wait for the lock; either of them may get the lock first, but
            // usually the commit does.
            let held = writer.locked();
            thread::scope(|scope| {
                scope.spawn(|| writer.commit(true).unwrap());
                scope.spawn(|| writer.remove_key("/1"));
                thread::sleep(Duration::from_millis(5)); // if this time is too short, the test finds fewer faults
                drop(held);
            });
            writer.commit(true).unwrap();
            assert_eq!(store.files().unwrap(), 0);
        }
    }

    #[test]
    fn who_has_too_much_waits_for_room() {
        assert!(waits(1, 0));
        assert!(waits(1000 * 1024, 1000));
        assert!(!waits(999 * 1024, 1000));
        // A text that is larger than the whole budget takes all permits, and does not wait for more permits
        // than exist.
        assert!(waits(ROOM * 1024 + 1, 1));
    }

    #[test]
    fn who_waits_for_room_can_be_called_back() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::new(&Store::open_or_create(folder.path()).unwrap(), 1).unwrap();
        let others = writer.room.acquire_many(ROOM).unwrap();
        let token = CancelToken::new();
        token.cancel();
        let mut batch = writer.batch();
        token.attach(|| batch.put(file(1), "word".repeat(BATCH), STAMP)).unwrap_err();
        drop(others);
    }
}
