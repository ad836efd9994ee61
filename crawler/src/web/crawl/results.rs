//! What a store reports when the crawl has ended.

use super::state::State;
use super::store::Store;
use std::collections::HashSet;
use std::sync::Arc;

/// A store, when the crawl has ended.
pub trait Results: Store {
    /// The pages that this process knows.
    fn state(&self) -> Arc<State>;

    /// How many pages were asked for again and had not changed.
    fn unchanged(&self) -> usize;

    /// How many waiting pages this run's command line does not admit.
    fn beyond(&self) -> usize {
        0
    }

    /// How many waiting pages the state does not know.
    fn elsewhere(&self) -> usize {
        0
    }

    /// Whether a page has been seen, in this run or before.
    fn has_seen(&self, url: &str) -> bool;

    /// Returns those of the given pages that have not been seen. A store that must send a message to get an
    /// answer asks about all of them at once.
    fn unseen(&self, urls: HashSet<String>) -> Vec<String> {
        urls.into_iter().filter(|url| !self.has_seen(url)).collect()
    }
}
