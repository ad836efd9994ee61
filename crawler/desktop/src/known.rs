//! The files that the index had before a run; for each file, also whether the run has seen it.
//!
//! Nothing is loaded into memory: each path is looked up in the mapped index, and a flag for each document
//! records whether its file was seen. So a run needs one byte of memory for each document.

use crate::content::Stamp;
use crate::store::{self, Fields, MODIFIED, SIZE, Store};
use anyhow::Context;
use std::path::{Path, PathBuf};
use tantivy::columnar::Column;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term};

/// The documents of the last commit before a run.
pub struct Known {
    searcher: Searcher,
    fields: Fields,
    /// The segments of the index; a segment is written once and never changed. Each segment of the index
    /// has its own documents.
    segments: Vec<Segment>,
}

struct Segment {
    modified: Column<i64>,
    size: Column<u64>,
    seen: Vec<bool>,
}

impl Known {
    /// Returns the documents that `store` has now.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn of(store: &Store) -> anyhow::Result<Known> {
        let searcher = store.searcher()?;
        let segments = searcher.segment_readers().iter().map(Segment::new).collect::<tantivy::Result<_>>();
        let segments = segments.map_err(|error| store.explained(error))?;
        Ok(Known { searcher, fields: store.fields, segments })
    }

    /// Returns the indexed version of a file if the index has one. From now on, the file of this document
    /// counts as seen.
    pub(super) fn see(&mut self, key: &str) -> anyhow::Result<Option<Stamp>> {
        let term = Term::from_field_text(self.fields.path, key);
        let mut found = None;
        for (reader, segment) in self.searcher.segment_readers().iter().zip(&mut self.segments) {
            if let Some(document) = document(reader, &term)? {
                segment.seen[document as usize] = true;
                found = Some(segment.stamp(document));
            }
        }
        Ok(found)
    }

    /// Returns the keys of all files that were not seen and are below `roots`, but not below `except`.
    pub(super) fn unseen(
        &self,
        roots: &[PathBuf],
        except: &[PathBuf],
    ) -> impl Iterator<Item = anyhow::Result<String>> {
        let readers = self.searcher.segment_readers().iter().zip(&self.segments).enumerate();
        let keys = readers.flat_map(move |(number, (reader, segment))| {
            let unseen = reader.doc_ids_alive().filter(|document| !segment.seen[*document as usize]);
            unseen.map(move |document| self.key(number, document))
        });
        let is_below = |key: &str, some: &[PathBuf]| {
            let path = store::path_of(key);
            some.iter().any(|above: &PathBuf| path.starts_with(Path::new(above)))
        };
        keys.filter(move |key| match key {
            Ok(key) => is_below(key, roots) && !is_below(key, except),
            Err(_) => true,
        })
    }

    fn key(&self, segment: usize, document: DocId) -> anyhow::Result<String> {
        let segment = u32::try_from(segment).context("too many segments")?;
        let document: TantivyDocument = self.searcher.doc(tantivy::DocAddress::new(segment, document))?;
        let path = document.get_first(self.fields.path).and_then(|path| path.as_str());
        Ok(path.context("a document without a path")?.to_owned())
    }
}

impl Segment {
    fn new(reader: &SegmentReader) -> tantivy::Result<Segment> {
        let columns = reader.fast_fields();
        let seen = vec![false; reader.max_doc() as usize];
        Ok(Segment { modified: columns.i64(MODIFIED)?, size: columns.u64(SIZE)?, seen })
    }

    fn stamp(&self, document: DocId) -> Stamp {
        Stamp {
            modified: self.modified.first(document).unwrap_or(i64::MIN),
            size: self.size.first(document).unwrap_or(0),
        }
    }
}

/// In a segment, returns the document that has the term, unless the document was removed.
fn document(reader: &SegmentReader, term: &Term) -> anyhow::Result<Option<DocId>> {
    let index = reader.inverted_index(term.field())?;
    let Some(mut documents) = index.read_postings(term, IndexRecordOption::Basic)? else { return Ok(None) };
    while documents.doc() != TERMINATED {
        if !reader.is_deleted(documents.doc()) {
            return Ok(Some(documents.doc()));
        }
        documents.advance();
    }
    Ok(None)
}
