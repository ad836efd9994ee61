//! A crawler of web sites that tracks its tasks: if a run is stopped, the next run fetches the remaining
//! pages.
//!
//! The threads of a pool take leases from a store; each lease is for a page or for a question to a site. Each
//! thread then reports the outcome to the store: see [`work`]. After each page, the crawler sends no request
//! to the site for a while. The store knows when the next request to a site may be sent, so no thread sleeps
//! because of a site's pause.
//!
//! ```sh
//! cargo run --bin crawl -- --demo --state demo.crawl
//! cargo run --release --bin crawl -- https://example.org/ --state example.crawl --graph pages.jsonl
//! ```

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use command_line::FAILED;
use crawler::web::args::CrawlArgs;
#[cfg(feature = "redis")]
use crawler::web::args::StatusArgs;
use crawler::web::crawl::outcome::{Lease, Outcome};
use crawler::web::crawl::results::Results;
use crawler::web::crawl::run::Run;
#[cfg(feature = "redis")]
use crawler::web::crawl::shared::print;
use crawler::web::crawl::store::work;
use crawler::web::crawl::visitor::Visitor;
use crawler::web::out::progress::Progress;
use crawler::web::out::report::{Ended, finish};
use executor::{CancelToken, Cancelled, ThreadPoolExecutor, TrackingExecutor};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    #[cfg(feature = "redis")]
    if let Some(args) = StatusArgs::asked_for() {
        let said = || command_line::print(print(&args.frontier, &args.crawl)?).map(|()| ExitCode::SUCCESS);
        return command_line::ended("crawl", FAILED, said());
    }
    let args = CrawlArgs::parse();
    if let Err(error) = args.scope() {
        CrawlArgs::command().error(ErrorKind::ValueValidation, error).exit();
    }
    command_line::run("crawl", FAILED, "stopping; what was fetched is being written", |stop| {
        match args.frontier {
            None => run(&args, &Run::prepare(&args)?, stop),
            #[cfg(feature = "redis")]
            Some(_) => run(&args, &Run::join(&args, stop)?, stop),
            #[cfg(not(feature = "redis"))]
            Some(_) => anyhow::bail!("--frontier needs a program that was built with `--features redis`"),
        }
    })
}

/// Crawls, and prints the report.
fn run<S>(args: &CrawlArgs, run: &Run<S>, stop: &CancelToken) -> anyhow::Result<ExitCode>
where
    S: Results<Lease: AsRef<Lease>, Outcome = Outcome, Error = anyhow::Error>,
{
    let ended = crawl(run, stop)?;
    finish(args, run, &ended)
}

// ANCHOR: crawl
/// Crawls until all pages are finished, or until `stop` is cancelled.
fn crawl<S>(run: &Run<S>, stop: &CancelToken) -> anyhow::Result<Ended>
where
    S: Results<Lease: AsRef<Lease>, Outcome = Outcome, Error = anyhow::Error>,
{
    let pool = ThreadPoolExecutor::builder().threads(run.threads).name("fetch").build()?;
    let pages = Arc::new(TrackingExecutor::owning(pool).with_tags());
    let visitor = Arc::clone(&run.visitor);
    let progress = Progress::new();
    let cut_off = work(
        &run.store,
        &pages,
        run.most,
        stop,
        move |lease, token| task(lease.as_ref(), &visitor, token),
        |store| progress.show(|| store.status(), pages.stats().running),
    )?;
    let status = run.store.status();
    let is_whole = status.open + status.left + run.store.beyond() == 0;
    Ok(Ended { is_whole, is_left: status.open == 0, cut_off })
}

/// Runs a task: fetches a page, or asks a site for its rules.
fn task(lease: &Lease, visitor: &Visitor, token: &CancelToken) -> Result<Outcome, Cancelled> {
    match lease {
        Lease::Page(page, rules, before) => {
            visitor.visit(page, rules, before.as_deref(), token).map(Outcome::Page)
        }
        Lease::Site(asking) => asking.clone().step(visitor, token).map(Box::new).map(Outcome::Site),
    }
}
// ANCHOR_END: crawl
