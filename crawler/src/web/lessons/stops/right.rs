//! The part that the classic listing lacks: a state that always contains the remaining pages.

use super::{Crawl, Page, SITE, TwoDays, lock};
use executor::ExecutorService;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The duration of one wait for the tasks. The wait is repeated as often as necessary.
const TICK: Duration = Duration::from_millis(5);

/// The point that a task has reached when the request to stop arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The task is waiting for the server.
    Fetching,
    /// The task has the page, but nothing has been written.
    Fetched,
    /// The page and its links have been written, but no link has been submitted.
    Written,
    /// The task has done all its work, but has not returned.
    Submitted,
}

// ANCHOR: state
/// Represents the state file of `crawl`, in which two changes that belong together are always written
/// together.
struct State {
    found: Vec<Page>,
    done: Vec<Page>,
}

impl State {
    /// Records in one step both the links of a page and that the page is done. Returns the links that are new
    /// in the state.
    fn write(&mut self, page: Page, links: &[Page]) -> Vec<Page> {
        let mut new = links.to_vec();
        new.retain(|link| !self.found.contains(link));
        self.found.extend(&new);
        self.done.push(page);
        new
    }

    /// Returns the remaining pages, at any time.
    fn waiting(&self) -> Vec<Page> {
        self.found.iter().copied().filter(|page| !self.done.contains(page)).collect()
    }
}
// ANCHOR_END: state

/// The request to stop arrives when the task of `stopped` is at `point`. The task gives up only after the
/// first wait for it has ended.
// ANCHOR: right
pub fn right(threads: usize, point: Point, stopped: Page) -> TwoDays {
    let state = Arc::new(Mutex::new(State { found: vec![SITE[0].0], done: Vec::new() }));
    let writes = Arc::clone(&state);
    let crawl = Crawl::start((threads, 1), move |crawl, page, token| {
        let here = |now| {
            if (now, page) == (point, stopped) {
                crawl.moment.here();
            }
        };
        here(Point::Fetching);
        token.check()?; // cut off: the page waits in the state, as before
        let links = crawl.server.get(page);
        here(Point::Fetched);
        let new = lock(&writes).write(page, links); // written even if the request to stop has come
        here(Point::Written);
        for link in new {
            crawl.submit(link); // a link that is refused waits in the state
        }
        here(Point::Submitted);
        Ok(())
    });
    crawl.moment.comes();
    drop(crawl.stop()); // these pages wait in the state
    while !crawl.pages.await_termination(TICK) {
        crawl.moment.over(); // one wait was not enough, so the crawl waits again
    }
    let state = lock(&state);
    lock(&crawl.seen).clone_from(&state.found);
    crawl.next_day(state.waiting())
}
// ANCHOR_END: right
