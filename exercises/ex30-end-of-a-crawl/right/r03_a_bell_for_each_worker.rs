//! Right: each worker that sleeps has a condition variable of its own, in a line; a page rings the first one.
#![allow(unused)]

use std::collections::{BTreeSet, VecDeque};

use crate::sync::{Arc, Condvar, Mutex};

/// A page, by its number. Any number may be a page.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share it; it is not told how many.
pub struct Frontier {
    state: Mutex<State>,
}

/// A page that a worker reads. It ends with `done()` or `again()`. If it is dropped without one of them (the worker has
/// panicked), the page is given up: it is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
    is_put_back: bool,
}

#[derive(Default)]
struct State {
    /// Every page that was ever found.
    seen: BTreeSet<Page>,
    /// Pages that were found and are not over: those that wait, and those that are being read.
    open: BTreeSet<Page>,
    /// The open pages that no worker reads.
    waiting: VecDeque<Page>,
    is_stopped: bool,
    /// The workers that sleep.
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
    /// A crawl that begins with these pages. A page may be among them twice, and there may be none.
    pub fn new(starts: &[Page]) -> Self {
        let frontier = Self { state: Mutex::default() };
        frontier.find(starts);
        frontier
    }

    /// Takes a page, and waits for one if none is there and one may still be found.
    ///
    /// `None`: the crawl is over, or it was stopped. From then on take() always says so, to every worker.
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
                    state.ring_one(); // if it woke up by itself, its bell may have been rung for that page
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

    /// Stops the crawl: workers that wait in take() are let go, and no page is handed out any more. Pages that are being read may
    /// still be read to their end.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_stopped = true;
        state.ring_all();
    }

    /// The pages that were found and are not over, each once, in any order: those that wait, those that are being read, and those
    /// that were put back.
    pub fn left(&self) -> Vec<Page> {
        self.state.lock().unwrap().open.iter().copied().collect()
    }

    /// Takes on the pages that were not found before. Each of them is open from now on.
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
    /// The page to read.
    pub fn page(&self) -> Page {
        self.page
    }

    /// The page was read, and has these links. It is over. Links to pages that were found before change nothing.
    pub fn done(self, links: &[Page]) {
        self.frontier.find(links);
        // The page is open until it is dropped, on the next line. So the crawl is not over before the links are there.
    }

    /// The page could not be read now. It is put back and will be handed out again.
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
