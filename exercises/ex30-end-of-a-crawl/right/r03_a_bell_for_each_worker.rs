//! Right: each sleeping worker has its own condition variable in a queue. For each new page, the first
//! condition variable of the queue is notified.
#![allow(unused)]

use std::collections::{BTreeSet, VecDeque};

use crate::sync::{Arc, Condvar, Mutex};

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share a frontier. The frontier does not know the number of its
/// workers.
pub struct Frontier {
    state: Mutex<State>,
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
    /// The condition variables of the workers that sleep.
    bells: VecDeque<Arc<Condvar>>,
}

impl State {
    fn ring_one(&mut self) {
        if let Some(bell) = self.bells.pop_front() {
            bell.notify_one();
        }
    }

    fn ring_all(&mut self) {
        for bell in self.bells.drain(..) {
            bell.notify_one();
        }
    }
}

impl Frontier {
    /// Makes a crawl that begins with the given pages. `starts` may contain a page twice, and may be empty.
    pub fn new(starts: &[Page]) -> Self {
        let frontier = Self { state: Mutex::default() };
        frontier.find(starts);
        frontier
    }

    /// Takes a page, or waits until a page is found or the crawl is over.
    ///
    /// Returns `None` if the crawl is over or was stopped. After the first `None`, take() returns `None` to
    /// every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        let bell = Arc::new(Condvar::new());
        let mut state = self.state.lock().unwrap();
        loop {
            state.bells.retain(|other| !Arc::ptr_eq(other, &bell));
            if state.is_stopped {
                return None;
            }
            if let Some(page) = state.waiting.pop_front() {
                if !state.waiting.is_empty() {
                    state.ring_one(); // perhaps the bell of this worker was rung for another page
                }
                return Some(Visit { frontier: self, page, is_put_back: false });
            }
            if state.open.is_empty() {
                return None;
            }
            state.bells.push_back(Arc::clone(&bell));
            state = bell.wait(state).unwrap();
        }
    }

    /// Stops the crawl: take() returns `None` to the workers that wait, and no page is handed out any more. A
    /// worker that is reading a page may still finish that page.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_stopped = true;
        state.ring_all();
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
                state.waiting.push_back(*page);
                state.ring_one();
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
        state.ring_one();
        drop(state); // before `self`, whose destructor may lock
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if self.is_put_back {
            return;
        }
        let mut state = self.frontier.state.lock().unwrap();
        state.open.remove(&self.page);
        if state.open.is_empty() {
            state.ring_all();
        }
    }
}
