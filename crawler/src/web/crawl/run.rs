//! The start of a run of `crawl`: reads the command line, and finds the point at which the last run was
//! stopped.

use super::disk::Disk;
use super::frontier::Limits;
use super::keeper::IN_FLIGHT;
use super::save::Saver;
#[cfg(feature = "redis")]
use super::shared::{Joining, Shared};
use super::state::State;
use super::visitor::Visitor;
use crate::web::args::CrawlArgs;
use crate::web::demo::{Demo, DemoOptions};
use crate::web::sites::urls::{Scope, normalise};
use anyhow::{Context, anyhow, bail};
#[cfg(feature = "redis")]
use executor::CancelToken;
use hypertext_http::{Fetcher, Options};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
#[cfg(feature = "redis")]
use url::Url;

/// The number of pages of the user's own site that are fetched at the same time.
const DEMO_STRIPES: usize = 16;

/// A note in a state; the note identifies the built-in site to which the state belongs.
const DEMO: &str = "built-in site";

/// The values with which a run starts.
pub struct Run<S> {
    /// The store of the pages, which knows the pages of earlier runs.
    pub store: Arc<S>,
    /// The visitor, which fetches each page.
    pub visitor: Arc<Visitor>,
    /// The largest number of pages that are leased at once.
    pub most: usize,
    /// The number of threads that fetch pages.
    pub threads: usize,
    /// The time at which the run began.
    pub begun: Instant,
    _demo: Option<Demo>,
}

impl Run<Mutex<Disk>> {
    /// Opens the state that the command line names, and finds the remaining work.
    ///
    /// # Errors
    /// Fails if the state cannot be used, or if the run has no page with which to begin.
    pub fn prepare(args: &CrawlArgs) -> anyhow::Result<Run<Mutex<Disk>>> {
        let (mut starts, is_own) =
            (args.starts.iter().cloned().map(normalise).collect::<Vec<_>>(), args.demo.is_some());
        let mut scope = args.scope()?;
        let state = State::open(&args.state)?;
        let demo = args.demo.map(|pages| demo(pages, &state, &args.state)).transpose()?;
        if let Some(demo) = &demo {
            starts = vec![demo.start_url()];
            scope = Scope::new(&starts, &args.allow, true)?.with_patterns(&args.only, &args.not)?;
        }
        let (visitor, limits) = visitor(args, scope, is_own)?;
        let store = Disk::open(state, Arc::clone(&visitor), limits, &starts, args.retry_failed, args.again)?;
        if store.beyond > 0 {
            let beyond = store.beyond;
            visitor.note(format!(
                "{beyond} pages wait for a run with other starts or flags: this one does not go there"
            ));
        }
        Ok(Run {
            store: Arc::new(Mutex::new(store)),
            visitor,
            most: IN_FLIGHT,
            threads: args.threads.get(),
            begun: Instant::now(),
            _demo: demo,
        })
    }
}

#[cfg(feature = "redis")]
impl Run<Shared> {
    /// Joins the crawl that the command line names, or begins this crawl.
    ///
    /// # Errors
    /// Fails if the engine or the state cannot be used, or if the crawl has other flags.
    pub fn join(args: &CrawlArgs, stop: &CancelToken) -> anyhow::Result<Run<Shared>> {
        let (engine, crawl) = args
            .frontier
            .as_deref()
            .zip(args.crawl.as_deref())
            .context("--frontier and --crawl are missing")?;
        let starts: Vec<_> = args.starts.iter().cloned().map(normalise).collect();
        let (visitor, limits) = visitor(args, args.scope()?, false)?;
        let lease = args.lease.unwrap_or(args.timeout + MARGIN);
        let how = Joining { engine, crawl, settings: settings(args, &starts, lease), lease };
        let store =
            Shared::join(&how, State::open(&args.state)?, Arc::clone(&visitor), limits, &starts, stop)?;
        Ok(Run {
            store: Arc::new(store),
            visitor,
            most: args.threads.get(), // more leases would wait for a thread, and could expire
            threads: args.threads.get(),
            begun: Instant::now(),
            _demo: None,
        })
    }
}

/// The time that is added to the time limit of a page to get the duration of a lease; it is for the work
/// before and after the fetch.
#[cfg(feature = "redis")]
const MARGIN: Duration = Duration::from_secs(30);

/// Returns the flags that all processes of a crawl must have in common.
#[cfg(feature = "redis")]
fn settings(args: &CrawlArgs, starts: &[Url], lease: Duration) -> serde_json::Value {
    serde_json::json!({
        "format": 1,
        "starts": starts.iter().map(Url::as_str).collect::<Vec<_>>(),
        "--allow": args.allow,
        "--only": args.only,
        "--not": args.not,
        "--check": args.check,
        "--fragments": args.fragments,
        "--accept": args.accept,
        "--depth": args.depth,
        "--pages": args.pages,
        "--allow-private": args.allow_private,
        "--ignore-robots": args.ignore_robots,
        "--robots-name": args.robots_name(),
        "--delay": args.delay.as_secs_f64(),
        "--per-site": args.per_site,
        "--timeout": args.timeout.as_secs_f64(),
        "--retries": args.retries,
        "--patience": args.patience.as_secs_f64(),
        "--max-bytes": args.max_bytes,
        "lease": lease.as_secs_f64(),
    })
}

/// Returns the visitor of the pages, and the limits of the crawl.
fn visitor(args: &CrawlArgs, scope: Scope, is_own: bool) -> anyhow::Result<(Arc<Visitor>, Limits)> {
    let visitor = Visitor {
        fetcher: fetcher(args, is_own)?,
        scope,
        name: args.robots_name().to_owned(),
        retries: args.retries,
        depth: args.depth,
        delay: if is_own { Duration::ZERO } else { args.delay },
        checks: args.check,
        looks_for_parts: args.fragments,
        accepted: args.accept.clone(),
        heeds_robots: !args.ignore_robots,
        save: args.save.as_deref().map(Saver::new),
        notes: Mutex::default(),
    };
    let limits = Limits {
        pages: args.pages,
        patience: args.patience,
        delay: visitor.delay,
        per_site: if is_own { DEMO_STRIPES } else { args.per_site.get() },
    };
    Ok((Arc::new(visitor), limits))
}

/// Starts the built-in site. If the state belongs to a built-in site, starts the same site at the same
/// address.
fn demo(pages: usize, state: &State, path: &Path) -> anyhow::Result<Demo> {
    let name = path.display();
    let mut options = DemoOptions { pages, traps: true, ..DemoOptions::default() };
    let Some(before) = state.note(DEMO)? else {
        let demo = Demo::start(options).context("the built-in site cannot start")?;
        let port = demo.start_url().port().unwrap_or_default();
        state.set_note(DEMO, &format!("{pages} pages at port {port}"))?;
        return Ok(demo);
    };
    let mut numbers = before.split(' ').filter_map(|word| word.parse::<usize>().ok());
    let (Some(count), Some(port)) =
        (numbers.next(), numbers.next().and_then(|port| u16::try_from(port).ok()))
    else {
        bail!("{name} is damaged: it says {before:?} of the built-in site");
    };
    if count != pages {
        bail!("{name} is of a built-in site with {count} pages: say --demo {count}, or name another file");
    }
    options.port = port;
    Demo::start(options).with_context(|| {
        format!("the built-in site of {name} was at port {port} and cannot be there again: name another file")
    })
}

fn fetcher(args: &CrawlArgs, is_own: bool) -> anyhow::Result<Fetcher> {
    let options = Options {
        timeout: args.timeout,
        max_bytes: args.max_bytes,
        user_agent: args.user_agent.clone(),
        proxy: args.proxy.clone(),
        allow_private: args.allow_private || is_own,
    };
    Fetcher::new(options).map_err(|error| anyhow!("{error}"))
}
