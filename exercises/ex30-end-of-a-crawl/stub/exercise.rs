//! The frontier of a crawl: workers take pages from the frontier and add the links that they find, until the
//! crawl is over.
//!
//! This file is the only file to edit. `cargo test -p ex30-end-of-a-crawl` checks it.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// The pages of a crawl. Any number of workers share a frontier. The frontier does not know the number of its
/// workers. You choose the fields of this struct.
pub struct Frontier {
    waiting: Mutex<VecDeque<Page>>,
}

/// A page that a worker reads. A visit ends with `done()` or `again()`. If a visit is dropped without
/// `done()` or `again()`, its worker has panicked. Then the page is over, and its links are not known.
pub struct Visit<'a> {
    frontier: &'a Frontier,
    page: Page,
}

impl Frontier {
    /// Makes a crawl that begins with the given pages. `starts` may contain a page twice, and may be empty.
    pub fn new(starts: &[Page]) -> Self {
        todo!("a frontier in which each of these pages waits, once")
    }

    /// Takes a page, or waits until a page is found or the crawl is over.
    ///
    /// Returns `None` if the crawl is over or was stopped. After the first `None`, take() returns `None` to
    /// every worker.
    pub fn take(&self) -> Option<Visit<'_>> {
        todo!("wait for a page, as long as one may be found")
    }

    /// Stops the crawl: take() returns `None` to the workers that wait, and no page is handed out any more. A
    /// worker that is reading a page may still finish that page.
    pub fn stop(&self) {
        todo!("hand out no page any more, and tell the workers that wait")
    }

    /// Returns all pages that were found and are not over: each page once, in any order. Each of these pages
    /// waits, is being read, or was put back.
    pub fn left(&self) -> Vec<Page> {
        todo!("the pages that were found and are not over")
    }
}

impl Visit<'_> {
    /// Returns the page to read.
    pub fn page(&self) -> Page {
        todo!("the page")
    }

    /// Ends the visit: the page was read and has the given links. The page is over. Links to pages that were
    /// found before change nothing.
    pub fn done(self, links: &[Page]) {
        todo!("take on the links that are new; then this page is over")
    }

    /// Ends the visit: the page could not be read now. The page is put back and will be handed out again.
    pub fn again(self) {
        todo!("the page waits once more, and is not over")
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        todo!("this page is open no more, and if it was the last one: tell the workers that wait")
    }
}
