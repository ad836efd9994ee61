//! Finds the files that have the given words, the best matches first.

use crate::content::{Content, Stamp, read};
use crate::place::Place;
use crate::query::Query;
use crate::store::{self, MODIFIED, SIZE, Store};
use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use tantivy::collector::{Count, TopDocs};
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};

/// A file that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The file's real name.
    pub path: PathBuf,
    /// The score of the match; it can be compared only with the scores of the same search.
    pub score: f32,
    /// A line that shows why the file was found. The value is `None` if only the file's name matches, or if
    /// the file cannot be read any more.
    pub place: Option<Place>,
    /// The state of the file compared with its indexed version.
    pub now: Now,
}

/// The state of a file compared with its indexed version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Now {
    /// The file has not changed.
    Same,
    /// The file has changed, so the file perhaps no longer has the words.
    Changed,
    /// The file cannot be read, or no longer exists.
    Unreadable,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// The total number of files that match the search.
    pub count: usize,
    /// The files that match best.
    pub best: Vec<Hit>,
}

/// Searches. Returns at most `limit` files, the best match first. Each file of at most `largest` bytes has
/// a line that shows why the file was found.
///
/// # Errors
/// Fails if the index is damaged.
pub fn search(store: &Store, query: &Query, limit: usize, largest: u64) -> anyhow::Result<Hits> {
    let searcher = store.searcher()?;
    let wanted = query.for_index(store.fields);
    let best = TopDocs::with_limit(limit.max(1)).order_by_score();
    let (count, found) = searcher.search(&wanted, &(Count, best)).map_err(|error| store.explained(error))?;
    let hits = found.into_iter().take(limit).map(|(score, address)| {
        let (path, stamp) = document(&searcher, store, address)?;
        let (place, now) = look(&path, stamp, query, largest);
        Ok(Hit { path, score, place, now })
    });
    Ok(Hits { count, best: hits.collect::<anyhow::Result<_>>()? })
}

/// Returns the file of a document, and the version of the file that was indexed.
fn document(searcher: &Searcher, store: &Store, address: DocAddress) -> anyhow::Result<(PathBuf, Stamp)> {
    let document: TantivyDocument = searcher.doc(address).map_err(|error| store.explained(error))?;
    let path = document.get_first(store.fields.path).and_then(|path| path.as_str());
    let path = store::path_of(path.context("a document of the index has no path")?);
    let columns = searcher.segment_reader(address.segment_ord).fast_fields();
    let modified = columns.i64(MODIFIED)?.first(address.doc_id).unwrap_or(i64::MIN);
    let size = columns.u64(SIZE)?.first(address.doc_id).unwrap_or(0);
    Ok((path, Stamp { modified, size }))
}

fn look(path: &PathBuf, indexed: Stamp, query: &Query, largest: u64) -> (Option<Place>, Now) {
    let Ok(metadata) = fs::metadata(path) else { return (None, Now::Unreadable) };
    let now = match Stamp::of(&metadata) {
        stamp if stamp == indexed => Now::Same,
        stamp if indexed.modified == i64::MIN && stamp.size == indexed.size => Now::Same,
        _ => Now::Changed,
    };
    match read(path, largest) {
        Ok(Content::Text(text, _)) => (Place::find(&text, query), now),
        Ok(Content::Skipped(_)) => (None, now),
        Err(_) => (None, Now::Unreadable),
    }
}
