//! A crawler of web sites, on a tracking executor: what was not done when it was stopped is done by the next run.
//!
//! Each page is a task. When a task ends, its outcome goes to one thread that makes outcomes durable, in groups; the links that are new
//! go to the frontier, which says what may be fetched next. A site is left alone for a while after each page: the next task of its lane
//! is *scheduled*, and no thread sleeps for politeness.
//!
//! ```sh
//! cargo run -p crawler --bin crawl -- --demo --state demo.crawl
//! cargo run --release -p crawler --bin crawl -- https://example.org/ --state example.crawl --graph pages.jsonl
//! ```

use anyhow::anyhow;
use clap::Parser;
use crawler::stage;
use crawler::web::args::CrawlArgs;
use crawler::web::frontier::{Job, Kind};
use crawler::web::keeper::{IN_FLIGHT, Outcome, keep};
use crawler::web::run::{Ended, Run, finish};
use crawler::web::state::Record;
use crawler::web::visit::Visit;
use executor::channel::{Sender, bounded};
use executor::{CancelReason, CancelToken, Cancelled, ExecutorExt, ExecutorService, Latch, OwnedPermit};
use executor::{ScheduledThreadPoolExecutor, Semaphore, ThreadPoolExecutor, TrackingExecutor, masked};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How often the thread that waits for the others looks whether it is to stop.
const TICK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let args = CrawlArgs::parse();
    stage::run("crawl", 1, "stopping; what was fetched is being written", |stop| {
        let run = Run::prepare(&args)?;
        let (state, begun) = (Arc::clone(&run.state), run.begun());
        let ended = crawl(run, stop)?;
        finish(&args, &state, begun, &ended)
    })
}

/// What the tasks share.
struct Crawl {
    run: Run,
    pages: TrackingExecutor<ThreadPoolExecutor, Job>,
    timer: ScheduledThreadPoolExecutor,
    in_flight: Semaphore,
    outcomes: Sender<Outcome>,
    is_over: Latch,
}

/// Crawls until all pages are over, or `stop` is cancelled.
pub(crate) fn crawl(mut run: Run, stop: &CancelToken) -> anyhow::Result<Ended> {
    let (outcomes, arrived) = bounded(IN_FLIGHT);
    let (state, on_trouble) = (Arc::clone(&run.state), stop.clone());
    let keeper = ThreadPoolExecutor::builder().threads(1).name("keeper").build()?;
    let kept = keeper.submit(move || {
        let kept = keep(&arrived, &state);
        if kept.is_err() {
            on_trouble.cancel_because(CancelReason::new("the state cannot be written"));
        }
        kept
    })?;
    let pool = ThreadPoolExecutor::builder().threads(run.threads).name("fetch").build()?;
    let first = std::mem::take(&mut run.first);
    let crawl = Arc::new(Crawl {
        run,
        pages: TrackingExecutor::owning(pool).with_tags(),
        timer: ScheduledThreadPoolExecutor::new(1),
        in_flight: Semaphore::new(IN_FLIGHT),
        outcomes,
        is_over: Latch::new(1),
    });
    crawl.begin(first);
    while crawl.is_over.wait_timeout(TICK).is_err() && !stop.is_cancelled() {}
    let ended = crawl.end();
    drop(crawl); // nobody sends outcomes any more
    kept.join().map_err(|_| anyhow!("the thread that writes the state has panicked"))??;
    ended
}

impl Crawl {
    fn begin(self: &Arc<Self>, first: Vec<Job>) {
        let added = self.run.frontier.add(first);
        // The starts may be new to the state.
        let found = added.new;
        if found.is_empty() {
            self.is_over.count_down();
        }
        added.ready.into_iter().for_each(|page| self.start(page));
    }

    /// Has a page fetched. If the crawl is being stopped, it stays where it is: waiting, in the state.
    fn start(self: &Arc<Self>, page: Job) {
        let (crawl, tag) = (Arc::clone(self), page.clone());
        let _handle = self.pages.tagged(tag).submit_cancellable(move |token| match page.kind {
            Kind::Robots => crawl.rules(&page, token),
            Kind::Page => crawl.page(page, token),
        });
    }

    fn rules(self: &Arc<Self>, page: &Job, token: &CancelToken) -> Result<(), Cancelled> {
        let listed = self.run.visitor.ask_for_rules(page, token)?;
        let listed = self.run.frontier.add(listed);
        // Before any page of the site, so that no page is done whose site's list could be lost.
        let outcome = Outcome { page: None, found: listed.new, permit: None };
        if masked(|| self.outcomes.put(outcome).is_ok()) {
            let ready = self.run.frontier.open_site(&page.site);
            ready.into_iter().chain(listed.ready).for_each(|page| self.start(page));
        }
        Ok(())
    }

    // ANCHOR: page
    /// What a task does with a page. Cut off before the outcome is sent, nothing has happened; after that, nothing is lost.
    fn page(self: &Arc<Self>, page: Job, token: &CancelToken) -> Result<(), Cancelled> {
        let permit = self.in_flight.acquire().map_err(|_| Cancelled)?.into_owned();
        let site = Arc::clone(&page.site);
        let is_last = match self.run.visitor.visit(&page, token)? {
            Visit::Over(record, links) => masked(|| self.over(page, *record, links, permit)),
            Visit::Again(pause) => {
                self.later(pause, move |crawl| crawl.run.frontier.again(page));
                false
            }
        };
        // The lane cools down. The timer waits, and no thread that could fetch.
        let delay = self.run.visitor.delay(&site);
        self.later(delay, move |crawl| crawl.run.frontier.free(&site));
        if is_last {
            self.is_over.count_down();
        }
        Ok(())
    }

    /// A page is over. New pages are counted before that, and start after its outcome has been sent. Whether it was the last one.
    fn over(self: &Arc<Self>, page: Job, record: Record, links: Vec<Job>, permit: OwnedPermit) -> bool {
        let added = self.run.frontier.add(links);
        let outcome = Outcome { page: Some((page.url, record)), found: added.new, permit: Some(permit) };
        if self.outcomes.put(outcome).is_err() {
            return false; // the state cannot be written: the crawl is being stopped
        }
        added.ready.into_iter().for_each(|page| self.start(page));
        self.run.frontier.done()
    }
    // ANCHOR_END: page

    /// Looks after some time whether a page can start.
    fn later(self: &Arc<Self>, delay: Duration, next: impl FnOnce(&Crawl) -> Option<Job> + Send + 'static) {
        let crawl = Arc::clone(self);
        let look = move || {
            if let Some(page) = next(&crawl) {
                crawl.start(page);
            }
        };
        if delay.is_zero() {
            return look();
        }
        let _ = self.timer.schedule(delay, look);
    }

    // ANCHOR: end
    /// Stops what is under way, and waits for it. What was being fetched is known then.
    fn end(&self) -> anyhow::Result<Ended> {
        drop(self.timer.shutdown_now());
        drop(self.pages.stop());
        masked(|| while !self.pages.await_termination(Duration::from_hours(1)) {});
        let cut_off = self.pages.cut_off()?;
        let cut_off = cut_off.iter().filter(|task| task.is_certain()).count();
        Ok(Ended { is_whole: self.run.frontier.open_pages() == 0, cut_off })
    }
    // ANCHOR_END: end
}
