//! The sites that the tests crawl, and a crawl that has many workers.

use exercises_harness::{fail, step};

use super::super::exercise::{Frontier, Page};
use super::EARLY;
use crate::probe::Shared;
use crate::sync::{Arc, thread};

/// The pages of a site, with the links of each page.
pub(super) type Site = &'static [(Page, &'static [Page])];

/// A site in which no two links lead to the same page. One page has the smallest page number, and another
/// page has the largest.
pub(super) const TREE: Site = &[(1, &[0, 2]), (0, &[Page::MAX]), (2, &[]), (Page::MAX, &[])];

/// A site in which a page can have several links to it: from other pages, from itself, or two from the same
/// page.
pub(super) const CYCLIC: Site = &[(1, &[2, 3, 2]), (2, &[1, 2, 4]), (3, &[4, 1]), (4, &[])];

pub(super) fn links_of(site: Site, page: Page) -> &'static [Page] {
    match site.iter().find(|(number, _)| *number == page) {
        Some((_, links)) => links,
        None => fail(&format!("take() handed out page {page}"), "no page links to it"),
    }
}

/// A crawl that starts at page 1 and has many workers.
pub(super) struct Crawl {
    pub(super) frontier: Frontier,
    site: Site,
    /// What the test knows about the crawl.
    known: Shared<Known>,
}

#[derive(Default)]
struct Known {
    /// The pages that were handed out, and for which neither `done()` nor `again()` has been called.
    being_read: Vec<Page>,
    /// The pages for which `done()` has been called.
    read: Vec<Page>,
    /// True if page 2 was put back because it could not be read. This happens once.
    has_failed: bool,
    is_stopped: bool,
}

impl Crawl {
    pub(super) fn of(site: Site) -> Arc<Self> {
        Arc::new(Self { frontier: Frontier::new(&[1]), site, known: Shared::default() })
    }

    /// Starts a worker that reads pages until take() returns None.
    pub(super) fn worker(self: &Arc<Self>, page_2_fails_once: bool) -> thread::JoinHandle<()> {
        let crawl = Arc::clone(self);
        thread::spawn(move || {
            while let Some(visit) = crawl.frontier.take() {
                let page = visit.page();
                step(&format!("reads page {page}"));
                crawl.known.with(|known| known.being_read.push(page));
                let fails = crawl.known.with(|known| {
                    known.being_read.retain(|other| *other != page);
                    let fails = page_2_fails_once && page == 2 && !known.has_failed;
                    known.has_failed |= fails;
                    if !fails {
                        known.read.push(page);
                    }
                    fails
                });
                if fails { visit.again() } else { visit.done(links_of(crawl.site, page)) }
            }
            crawl.has_ended();
        })
    }

    pub(super) fn stop(&self) {
        self.known.with(|known| known.is_stopped = true);
        self.frontier.stop();
    }

    /// Notes that take() returned None, and fails if a page is still being read.
    fn has_ended(&self) {
        step("take() returned None");
        let reads =
            self.known.with(|known| if known.is_stopped { None } else { known.being_read.first().copied() });
        if let Some(page) = reads {
            fail(
                &format!("take() returned None to a worker, and another worker is reading page {page}"),
                EARLY,
            );
        }
    }

    /// Returns the pages that were read, in order.
    pub(super) fn read(&self) -> Vec<Page> {
        let mut read = self.known.with(|known| known.read.clone());
        read.sort_unstable();
        read
    }

    /// Returns the pages that were found and not read, in order.
    pub(super) fn not_read(&self) -> Vec<Page> {
        let read = self.read();
        let mut found = vec![1];
        for page in &read {
            found.extend(links_of(self.site, *page));
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|page| !read.contains(page));
        found
    }
}
