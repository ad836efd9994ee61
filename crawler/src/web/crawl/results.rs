//! The results that a store reports after the crawl has ended.

use super::state::State;
use super::store::Store;
use std::collections::HashSet;
use std::sync::Arc;

/// A store that can report its results after the crawl has ended.
pub trait Results: Store {
    /// Returns the pages that this process knows.
    fn state(&self) -> Arc<State>;

    /// Returns the number of pages that were requested again and had not changed.
    fn unchanged(&self) -> usize;

    /// Returns the number of waiting pages that this run's command line excludes.
    fn beyond(&self) -> usize {
        0
    }

    /// Returns the number of waiting pages that are not in the state of this process.
    fn elsewhere(&self) -> usize {
        0
    }

    /// Returns true if a page was seen in this run or before.
    fn has_seen(&self, url: &str) -> bool;

    /// Returns those of the given pages that have not been seen yet. A store that must send a message to get
    /// an answer sends one message for all given pages.
    fn unseen(&self, urls: HashSet<String>) -> Vec<String> {
        urls.into_iter().filter(|url| !self.has_seen(url)).collect()
    }
}
