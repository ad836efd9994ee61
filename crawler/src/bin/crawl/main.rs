//! A crawler of web sites, on a tracking executor: what was not done when it was stopped is done by the next run.
//!
//! Each page is a task: `tasks.rs` has what it does. When a task ends, its outcome goes to one thread that makes outcomes durable, in
//! groups; the links that are new go to the frontier, which says what may be fetched next. A site is left alone for a while after each
//! page: the next task of its stripe is *scheduled*, and no thread sleeps for politeness.
//!
//! ```sh
//! cargo run --bin crawl -- --demo --state demo.crawl
//! cargo run --release --bin crawl -- https://example.org/ --state example.crawl --graph pages.jsonl
//! ```

use clap::Parser;
use crawler::stage;
use crawler::web::args::CrawlArgs;
use crawler::web::frontier::Job;
use crawler::web::keeper::{IN_FLIGHT, Keeper, Outcome};
use crawler::web::progress::Progress;
use crawler::web::report::{Ended, finish};
use crawler::web::run::Run;
use executor::channel::Sender;
use executor::{CancelToken, ExecutorService, Latch, ScheduledThreadPoolExecutor};
use executor::{Semaphore, ThreadPoolExecutor, TrackingExecutor, masked};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

mod tasks;

/// How often the thread that waits for the others looks whether it is to stop.
const TICK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let args = CrawlArgs::parse();
    stage::run("crawl", 1, "stopping; what was fetched is being written", |stop| {
        let run = Arc::new(Run::prepare(&args)?);
        let ended = crawl(&run, stop)?;
        finish(&args, &run, &ended)
    })
}

/// What the tasks share.
struct Crawl {
    run: Arc<Run>,
    pages: TrackingExecutor<ThreadPoolExecutor, Job>,
    timer: ScheduledThreadPoolExecutor,
    in_flight: Semaphore,
    outcomes: Sender<Outcome>,
    is_over: Latch,
    stop: CancelToken,
    trouble: Mutex<Option<anyhow::Error>>,
}

/// Crawls until all pages are over, or `stop` is cancelled.
fn crawl(run: &Arc<Run>, stop: &CancelToken) -> anyhow::Result<Ended> {
    let (outcomes, keeper) = Keeper::begin(Arc::clone(&run.state), stop.clone())?;
    let pool = ThreadPoolExecutor::builder().threads(run.threads).name("fetch").build()?;
    let crawl = Arc::new(Crawl {
        run: Arc::clone(run),
        pages: TrackingExecutor::owning(pool).with_tags(),
        timer: ScheduledThreadPoolExecutor::new(1),
        in_flight: Semaphore::new(IN_FLIGHT),
        outcomes,
        is_over: Latch::new(1),
        stop: stop.clone(),
        trouble: Mutex::default(),
    });
    // Whoever cancels, the keeper too, stops the pages before anything else.
    let stopping = stop.on_cancel({
        let crawl = Arc::clone(&crawl);
        move || crawl.halt()
    });
    crawl.begin();
    let progress = Progress::new();
    while crawl.is_over.wait_timeout(TICK).is_err() && !stop.is_cancelled() {
        progress.show(&run.frontier, crawl.pages.stats().running);
    }
    drop(progress);
    drop(stopping);
    let ended = crawl.end();
    drop(crawl); // the keeper ends when its last sender is dropped
    keeper.end()?;
    ended
}

impl Crawl {
    fn begin(self: &Arc<Self>) {
        let added = self.run.frontier.add(self.run.first());
        if self.run.frontier.open_pages() == 0 {
            self.is_over.count_down();
        } else if self.send(None, added.new, None) {
            added.ready.into_iter().for_each(|page| self.start(page));
        }
    }

    // ANCHOR: end
    /// Stops what is under way.
    fn halt(&self) {
        drop(self.timer.shutdown_now());
        drop(self.pages.stop());
    }

    /// Stops what is under way, and waits for it. What was being fetched is known then.
    fn end(&self) -> anyhow::Result<Ended> {
        self.halt();
        masked(|| while !self.pages.await_termination(Duration::from_hours(1)) {});
        if let Some(error) = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let cut_off = self.pages.cut_off()?;
        let cut_off = cut_off.iter().filter(|task| task.is_certain()).count();
        let has_ended = self.run.frontier.open_pages() == 0;
        let is_whole = has_ended && self.run.frontier.left() + self.run.beyond == 0;
        Ok(Ended { is_whole, is_left: has_ended, cut_off })
    }
    // ANCHOR_END: end
}
