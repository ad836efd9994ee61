//! Ways to stop a crawl: four ways lose pages or fetch them again, and one way does neither.
//!
//! Each way is a function that starts a crawl of a small site on a real pool, and makes one page wait at a
//! given moment. When the page has reached this moment, the crawl is told to stop. So every run of a way does
//! the same steps. After the stop, a second day is simulated: a crawl that is not stopped begins with the
//! state that the first crawl saved. The site has recorded the pages that were requested on both days.
//!
//! | way | what the first day forgets |
//! |---|---|
//! | [`false_positive`] | that a page was complete when the request to stop came |
//! | [`wrappers`] | the addresses of the tasks that had not begun |
//! | [`links_lost`] | a link that the crawl has recorded as seen but could not submit |
//! | [`too_slow`] | every page that was being fetched, because one page took long to give up |
//! | [`right()`] | nothing |
//!
//! A task that has reached its moment waits only for a limited time, and every wait for a task is limited as
//! well: a wait that would never end becomes a panic.

mod faults;
mod right;

pub use faults::{false_positive, links_lost, too_slow, wrappers};
pub use right::{Point, right};

use executor::{CancelToken, Cancelled, ExecutorExt, ExecutorService, Latch, masked};
use executor::{ThreadPoolExecutor, TrackingExecutor};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The limit of the watchdog: a wait that takes longer than this time panics.
const PATIENCE: Duration = Duration::from_secs(30);

/// An address of the site.
pub type Page = &'static str;

// ANCHOR: site
/// The site: each page and its links. The crawl begins with the first page.
pub const SITE: [(Page, &[Page]); 7] = [
    ("/", &["/news", "/shop", "/about"]),
    ("/news", &["/", "/news/today"]),
    ("/shop", &["/shop/tea", "/shop/cups"]),
    ("/about", &[]),
    ("/news/today", &["/news"]),
    ("/shop/tea", &["/about"]),
    ("/shop/cups", &["/shop"]),
];
// ANCHOR_END: site

/// A server that records the pages that it has sent.
#[derive(Default)]
struct Server {
    sent: Mutex<Vec<Page>>,
}

impl Server {
    /// Records that a page was sent, and returns the page's links.
    fn get(&self, page: Page) -> &'static [Page] {
        lock(&self.sent).push(page);
        links(page)
    }
}

/// Returns the links of a page.
pub(super) fn links(page: Page) -> &'static [Page] {
    SITE.iter().find(|(address, _)| *address == page).map_or(&[], |(_, links)| links)
}

/// A point in a task at which the crawl is told to stop.
struct Moment {
    is_here: Latch,
    is_over: Latch,
}

impl Moment {
    fn new(tasks: usize) -> Moment {
        Moment { is_here: Latch::new(tasks), is_over: Latch::new(1) }
    }

    /// Waits, in a task, until the crawl has been told to stop and the moment has ended.
    fn here(&self) {
        self.is_here.count_down();
        masked(|| self.is_over.wait_timeout(PATIENCE)).expect("the moment is over in time");
    }

    /// Waits until the tasks have reached the moment.
    fn comes(&self) {
        self.is_here.wait_timeout(PATIENCE).expect("the tasks come to the moment in time");
    }

    /// Ends the moment, so that the tasks continue.
    fn over(&self) {
        self.is_over.count_down();
    }
}

/// The function that a task of the crawl calls with its page.
type Work = dyn Fn(&Arc<Crawl>, Page, &CancelToken) -> Result<(), Cancelled> + Send + Sync;

/// The crawl of the first day.
struct Crawl {
    pages: TrackingExecutor<ThreadPoolExecutor, Page>,
    server: Server,
    /// Pages that a link has already named. Pages that have been seen are not submitted again.
    seen: Mutex<Vec<Page>>,
    moment: Moment,
    work: Box<Work>,
}

impl Crawl {
    /// Starts the crawl with the first page. The moment begins when `tasks` tasks of the crawl have reached
    /// it.
    fn start(
        (threads, tasks): (usize, usize),
        work: impl Fn(&Arc<Crawl>, Page, &CancelToken) -> Result<(), Cancelled> + Send + Sync + 'static,
    ) -> Arc<Crawl> {
        let (first, _) = SITE[0];
        let crawl = Arc::new(Crawl {
            pages: TrackingExecutor::owning(ThreadPoolExecutor::fixed(threads)).with_tags(),
            server: Server::default(),
            seen: Mutex::new(vec![first]),
            moment: Moment::new(tasks),
            work: Box::new(work),
        });
        crawl.submit(first);
        crawl
    }

    /// Submits a page to be fetched; a crawl that is being stopped refuses the page.
    fn submit(self: &Arc<Self>, page: Page) {
        let crawl = Arc::clone(self);
        let _ = self.pages.tagged(page).submit_cancellable(move |token| (crawl.work)(&crawl, page, token));
    }

    /// Records a page as seen, and returns true if it was not seen before.
    fn is_new(&self, page: Page) -> bool {
        let mut seen = lock(&self.seen);
        let is_new = !seen.contains(&page);
        if is_new {
            seen.push(page);
        }
        is_new
    }

    // ANCHOR: classic_task
    /// Submits the links of a page, one after the other, until the task is told to stop; the task of the
    /// classic listing does the same. The classic listing submits every link that it finds. This function
    /// submits a link only if it is new.
    fn submit_links(self: &Arc<Self>, links: &[Page], token: &CancelToken) -> Result<(), Cancelled> {
        for &link in links {
            token.check()?;
            if self.is_new(link) {
                self.submit(link);
            }
        }
        Ok(())
    }
    // ANCHOR_END: classic_task

    /// Tells the crawl to stop, and returns the pages whose tasks had not begun.
    fn stop(&self) -> Vec<Page> {
        self.pages.stop().into_iter().filter_map(|(_task, page)| page).collect()
    }

    /// Waits until the tasks have ended, and returns the pages of the interrupted tasks, which were told to
    /// stop before they ended.
    fn cut_off(&self) -> Vec<Page> {
        assert!(self.pages.await_termination(PATIENCE), "the tasks end in time");
        let cut_off = self.pages.cut_off().expect("it has terminated");
        cut_off.into_iter().filter_map(|task| task.tag).collect()
    }

    /// Runs the second day: continues with the saved pages, in their order, and with the set of seen pages.
    /// The second day is not stopped.
    fn next_day(&self, left: Vec<Page>) -> TwoDays {
        let first_day = lock(&self.server.sent).clone();
        let (server, mut waiting) = (Server::default(), left.clone());
        while !waiting.is_empty() {
            let links = server.get(waiting.remove(0));
            waiting.extend(links.iter().filter(|link| self.is_new(link)));
        }
        let second_day = lock(&server.sent).clone();
        TwoDays::compare(first_day, left, second_day)
    }
}

/// The pages that were fetched on two days, compared with the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoDays {
    /// Pages that were fetched on the first day, which was stopped.
    pub first_day: Vec<Page>,
    /// Pages that the first day left to the second day.
    pub left: Vec<Page>,
    /// Pages that were fetched on the second day.
    pub second_day: Vec<Page>,
    /// Pages of the site that were fetched on neither day. No later day will fetch the lost pages, because
    /// they are not in the saved state.
    pub lost: Vec<Page>,
    /// Pages that were fetched more than once.
    pub twice: Vec<Page>,
}

impl TwoDays {
    fn compare(first_day: Vec<Page>, left: Vec<Page>, second_day: Vec<Page>) -> TwoDays {
        let times =
            |page: Page| first_day.iter().chain(&second_day).filter(|fetched| **fetched == page).count();
        let pages = || SITE.iter().map(|(page, _)| *page);
        let lost = pages().filter(|page| times(page) == 0).collect();
        let twice = pages().filter(|page| times(page) > 1).collect();
        TwoDays { first_day, left, second_day, lost, twice }
    }
}

impl fmt::Display for TwoDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |pages: &[Page]| if pages.is_empty() { "nothing".to_owned() } else { pages.join(" ") };
        writeln!(f, "  fetched on the first day   {}", list(&self.first_day))?;
        writeln!(f, "  saved for the second day   {}", list(&self.left))?;
        writeln!(f, "  fetched on the second day  {}", list(&self.second_day))?;
        writeln!(f, "  lost                       {}", list(&self.lost))?;
        write!(f, "  fetched twice              {}", list(&self.twice))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
