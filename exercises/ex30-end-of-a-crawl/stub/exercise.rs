//! The frontier of a crawl: workers take pages from it and add the links that they find, until the crawl is
//! over.
//!
//! This is the only file to edit. `cargo test -p ex30-end-of-a-crawl` checks it.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

/// A page, by its number. Any number may be a page.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share it; it is not told how many. Its fields are yours.
pub struct Frontier {
    waiting: Mutex<VecDeque<Page>>,
}

/// A page that a worker reads. It ends with `done()` or `again()`. If it is dropped without one of them (the
/// worker has panicked), the page is given up: it is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
}

impl Frontier {
    /// Makes a crawl that begins with these pages. A page may be among them twice, and there may be none.
    pub fn new(starts: &[Page]) -> Self {
        todo!("a frontier in which each of these pages waits, once")
    }

    /// Takes a page, and waits for one if none is there and one may still be found.
    ///
    /// `None`: the crawl is over, or it was stopped. From then on take() always returns `None`, to every
    /// worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        todo!("wait for a page, as long as one may be found")
    }

    /// Stops the crawl: workers that wait in take() are let go, and no page is handed out any more. Pages
    /// that are being read may still be read to their end.
    pub fn stop(&self) {
        todo!("hand out no page any more, and tell the workers that wait")
    }

    /// The pages that were found and are not over, each once, in any order: they wait, are being read, or
    /// were put back.
    pub fn left(&self) -> Vec<Page> {
        todo!("the pages that were found and are not over")
    }
}

impl Visit<'_> {
    /// The page to read.
    pub fn page(&self) -> Page {
        todo!("the page")
    }

    /// Says that the page was read, and has these links. The page is over. Links to pages that were found
    /// before change nothing.
    pub fn done(self, links: &[Page]) {
        todo!("take on the links that are new; then this page is over")
    }

    /// Says that the page could not be read now. The page is put back and will be handed out again.
    pub fn again(self) {
        todo!("the page waits once more, and is not over")
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        todo!("this page is open no more, and if it was the last one: tell the workers that wait")
    }
}
