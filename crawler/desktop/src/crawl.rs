//! The work of the walking thread: it walks through the files and compares them with the files in the
//! index.

use crate::store::{self, Store};
use crate::tally::Tally;
use crate::walk::{Found, Rules, walk};
use crate::{File, Known, Skipped, Writer};
use std::path::PathBuf;
use std::sync::Arc;

/// The largest number of unreadable directories that are remembered. If more directories than this are
/// unreadable, a run removes no files from the index.
const MOST_UNREADABLE: usize = 1000;

/// A walk that is in progress, and the files that it has seen.
pub struct Crawl {
    roots: Vec<PathBuf>,
    found: Box<dyn Iterator<Item = Found> + Send>,
    known: Known,
    tally: Arc<Tally>,
    unreadable: Vec<PathBuf>,
    /// True if part of the tree was not read, so that an unseen file may still exist.
    is_partial: bool,
}

impl Crawl {
    /// Begins a walk below `roots`, which are real paths, for the index of `store`.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn new(
        roots: Vec<PathBuf>,
        rules: &Rules,
        store: &Store,
        tally: &Arc<Tally>,
    ) -> anyhow::Result<Crawl> {
        let found = Box::new(walk(&roots, rules, store.directory()));
        let tally = Arc::clone(tally);
        Ok(Crawl { roots, found, known: Known::of(store)?, tally, unreadable: Vec::new(), is_partial: false })
    }

    /// Removes from the index the files that the walk has not seen. Call this function only after the walk
    /// has reached its end.
    ///
    /// Files below an unreadable directory stay in the index.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn remove_unseen(&self, writer: &Writer) -> anyhow::Result<()> {
        if self.is_partial {
            return Ok(());
        }
        for key in self.known.unseen(&self.roots, &self.unreadable) {
            writer.remove_key(&key?);
            self.tally.count(|tally| &tally.removed);
        }
        Ok(())
    }

    /// Returns the file that the walk has found, if the index does not have this version of the file.
    fn changed(&mut self, found: Found) -> anyhow::Result<Option<File>> {
        match found {
            Found::File(path, stamp) => {
                let Some(key) = store::key(&path) else {
                    self.tally.unreadable(Some(&path), &"its name is no Unicode");
                    return Ok(None);
                };
                let indexed = self.known.see(&key)?;
                if indexed != Some(stamp) || stamp.modified == i64::MIN {
                    return Ok(Some(File { path, key, is_known: indexed.is_some() }));
                }
                self.tally.count(|tally| &tally.unchanged);
            }
            Found::Special => self.tally.skipped(Skipped::Special),
            Found::Unreadable(path, why) => {
                self.tally.unreadable(path.as_deref(), &why);
                match path {
                    Some(path) if self.unreadable.len() < MOST_UNREADABLE => self.unreadable.push(path),
                    _ => self.is_partial = true,
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Crawl {
    /// The item is a file whose current version is not in the index, or an error if the index is
    /// damaged.
    type Item = anyhow::Result<File>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = self.found.next()?;
            if let Some(file) = self.changed(found).transpose() {
                return Some(file);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stamp;
    use std::path::Path;

    const STAMP: Stamp = Stamp { modified: 1, size: 1 };

    /// Indexes some files, and then the files that another walk finds. Returns the files that the index has
    /// after the second walk.
    fn after(found: Vec<Found>) -> (u64, Vec<&'static str>) {
        let files = ["/tree/a/1", "/tree/a/2", "/tree/b/3", "/elsewhere/4"];
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let writer = Writer::new(&store, 1).unwrap();
        let tally = Arc::<Tally>::default();
        let roots = vec!["/tree".into(), "/elsewhere".into()];
        let walk = |roots, found: Vec<Found>| {
            let found = Box::new(found.into_iter());
            let known = Known::of(&store).unwrap();
            let tally = Arc::clone(&tally);
            let mut crawl = Crawl { roots, found, known, tally, unreadable: Vec::new(), is_partial: false };
            let mut batch = writer.batch();
            for file in crawl.by_ref() {
                batch.put(file.unwrap(), "word".to_owned(), STAMP).unwrap();
            }
            batch.send().unwrap();
            crawl.remove_unseen(&writer).unwrap();
            writer.commit(true).unwrap();
        };
        walk(roots, files.map(|path| Found::File(path.into(), STAMP)).into());
        walk(vec!["/tree".into()], found);
        let mut known = Known::of(&store).unwrap();
        let left = files
            .into_iter()
            .filter(|path| known.see(&store::key(Path::new(path)).unwrap()).unwrap() == Some(STAMP));
        (tally.gaps(), left.collect())
    }

    #[test]
    fn what_was_not_seen_is_removed() {
        let seen = vec![Found::File("/tree/a/2".into(), STAMP), Found::Special];
        assert_eq!(after(seen), (0, vec!["/tree/a/2", "/elsewhere/4"]));
    }

    #[test]
    fn what_is_below_a_directory_that_cannot_be_read_stays() {
        let seen = vec![Found::Unreadable(Some("/tree/a".into()), "no permission".into())];
        assert_eq!(after(seen), (1, vec!["/tree/a/1", "/tree/a/2", "/elsewhere/4"]));
    }

    #[test]
    fn after_trouble_without_a_place_nothing_is_removed() {
        let seen = vec![Found::Unreadable(None, "something".into())];
        assert_eq!(after(seen), (1, vec!["/tree/a/1", "/tree/a/2", "/tree/b/3", "/elsewhere/4"]));
    }
}
