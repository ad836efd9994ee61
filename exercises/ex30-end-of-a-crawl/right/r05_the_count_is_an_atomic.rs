//! Right: the number of open pages is an atomic. The worker that brings this number to 0 takes the lock
//! before it wakes the other workers.
#![allow(unused)]

use std::collections::{BTreeSet, VecDeque};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share a frontier. The frontier does not know the number of its
/// workers.
pub struct Frontier {
    state: Mutex<State>,
    /// The number of pages that were found and are not over.
    open: AtomicUsize,
    /// Notified when a page waits, and when no page will be handed out any more.
    changed: Condvar,
}

/// A page that a worker reads. A visit ends with `done()` or `again()`. If a visit is dropped without
/// `done()` or `again()`, its worker has panicked. Then the page is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
    is_put_back: bool,
}

#[derive(Default)]
struct State {
    /// All pages that were ever found.
    seen: BTreeSet<Page>,
    /// The pages that were found and are not over. Each of these pages waits or is being read.
    open: BTreeSet<Page>,
    /// The open pages that no worker is reading.
    waiting: VecDeque<Page>,
    is_stopped: bool,
}

impl Frontier {
    /// Makes a crawl that begins with the given pages. `starts` may contain a page twice, and may be empty.
    pub fn new(starts: &[Page]) -> Self {
        let frontier =
            Self { open: AtomicUsize::new(0), state: Mutex::default(), changed: Condvar::default() };
        frontier.find(starts);
        frontier
    }

    /// Takes a page, or waits until a page is found or the crawl is over.
    ///
    /// Returns `None` if the crawl is over or was stopped. After the first `None`, take() returns `None` to
    /// every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        let mut state = self.state.lock().unwrap();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(page) = state.waiting.pop_front() {
                return Some(Visit { frontier: self, page, is_put_back: false });
            }
            if self.open.load(Ordering::SeqCst) == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Stops the crawl: take() returns `None` to the workers that wait, and no page is handed out any more. A
    /// worker that is reading a page may still finish that page.
    pub fn stop(&self) {
        self.state.lock().unwrap().is_stopped = true;
        self.changed.notify_all();
    }

    /// Returns all pages that were found and are not over: each page once, in any order. Each of these pages
    /// waits, is being read, or was put back.
    pub fn left(&self) -> Vec<Page> {
        self.state.lock().unwrap().open.iter().copied().collect()
    }

    /// Adds the pages that were not found before. Each added page is open and waits.
    fn find(&self, pages: &[Page]) {
        let mut state = self.state.lock().unwrap();
        for page in pages {
            if state.seen.insert(*page) {
                state.open.insert(*page);
                self.open.fetch_add(1, Ordering::SeqCst);
                state.waiting.push_back(*page);
                self.changed.notify_one();
            }
        }
    }
}

impl Visit<'_> {
    /// Returns the page to read.
    pub fn page(&self) -> Page {
        self.page
    }

    /// Ends the visit: the page was read and has the given links. The page is over. Links to pages that were
    /// found before change nothing.
    pub fn done(self, links: &[Page]) {
        self.frontier.find(links);
        // The page is open until the visit is dropped on the next line. So the crawl is not over before the
        // links are added.
    }

    /// Ends the visit: the page could not be read now. The page is put back and will be handed out again.
    pub fn again(mut self) {
        self.is_put_back = true;
        let mut state = self.frontier.state.lock().unwrap();
        state.waiting.push_back(self.page);
        self.frontier.changed.notify_one();
        drop(state); // before `self`, whose destructor may lock
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if self.is_put_back {
            return;
        }
        self.frontier.state.lock().unwrap().open.remove(&self.page);
        if self.frontier.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            // A worker that has read a number above 0 holds the lock until the worker sleeps.
            drop(self.frontier.state.lock().unwrap());
            self.frontier.changed.notify_all();
        }
    }
}
