//! What the classic listing lacks: a state that always says what is left.

use super::{Crawl, Page, SITE, TwoDays, lock};
use executor::ExecutorService;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long one wait for the tasks takes. The wait is repeated as often as necessary.
const TICK: Duration = Duration::from_millis(5);

/// Where a task is when the request to stop comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The task waits for the server.
    Fetching,
    /// The task has the page, and nothing has been written.
    Fetched,
    /// The page and its links have been written, and no link has been submitted.
    Written,
    /// The task has done everything, and has not returned.
    Submitted,
}

// ANCHOR: state
/// Stands for the file of `crawl`, which never has only one of two changes that belong together.
struct State {
    found: Vec<Page>,
    done: Vec<Page>,
}

impl State {
    /// Writes in one step that a page is done, and its links. Returns the links that are new.
    fn write(&mut self, page: Page, links: &[Page]) -> Vec<Page> {
        let mut new = links.to_vec();
        new.retain(|link| !self.found.contains(link));
        self.found.extend(&new);
        self.done.push(page);
        new
    }

    /// What is left to do, at any time.
    fn waiting(&self) -> Vec<Page> {
        self.found.iter().copied().filter(|page| !self.done.contains(page)).collect()
    }
}
// ANCHOR_END: state

/// The request to stop comes when the task of `stopped` is at `point`, and that task does not give up before
/// the first wait for it is over.
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
        let new = lock(&writes).write(page, links); // not given up, even if the request has come
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
        crawl.moment.over(); // one wait was not enough, so it waits again
    }
    let state = lock(&state);
    lock(&crawl.seen).clone_from(&state.found);
    crawl.next_day(state.waiting())
}
// ANCHOR_END: right
