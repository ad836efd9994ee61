//! A run of `crawl`: where it begins, and what it says at its end.

use super::args::CrawlArgs;
use super::demo::{Demo, DemoOptions};
use super::fetch::{Fetcher, Options};
use super::frontier::{Frontier, Job};
use super::graph;
use super::state::{Progress, State, job};
use super::urls::{Scope, host_key, normalise};
use super::visit::Visitor;
use crate::stage::INTERRUPTED;
use anyhow::{Context, anyhow, bail};
use serde_json::json;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use url::Url;

/// The exit status of a crawl that found broken links.
const BROKEN: u8 = 3;

/// Pages of a site that are fetched at once, for a site of one's own.
const DEMO_LANES: usize = 16;

/// What a run begins with.
pub struct Run {
    /// The pages, of which those before this run are known.
    pub frontier: Frontier,
    /// What is done with each.
    pub visitor: Visitor,
    /// Pages that wait: those of the command line, and those that were left before.
    pub first: Vec<Job>,
    /// Where it is written what became of them.
    pub state: Arc<State>,
    /// Threads that fetch.
    pub threads: usize,
    begun: Instant,
    _demo: Option<Demo>,
}

impl Run {
    /// Opens the state of a command line, and finds out what is left to do.
    ///
    /// # Errors
    /// If the state cannot be used, or there is nothing to begin with.
    pub fn prepare(args: &CrawlArgs) -> anyhow::Result<Run> {
        let demo =
            args.demo.map(|pages| Demo::start(DemoOptions { pages, traps: true, ..DemoOptions::default() }));
        let demo = demo.transpose().context("the built-in site cannot start")?;
        let starts: Vec<_> = match &demo {
            Some(demo) => vec![demo.start_url()],
            None => args.starts.iter().map(normalise).collect(),
        };
        let is_own = demo.is_some();
        let scope = Scope::new(&starts, &args.allow, args.allow_private || is_own)?;
        for start in &starts {
            if let Err(refused) = scope.admits(start) {
                bail!("{start}: {refused}; --allow-private is for a site of one's own");
            }
        }
        let state = State::open(&args.state)?;
        let lanes = if is_own { DEMO_LANES } else { args.per_site.get() };
        let frontier = Frontier::new(lanes, args.pages);
        let visitor = Visitor {
            fetcher: fetcher(args, is_own)?,
            scope,
            name: args.user_agent.split('/').next().unwrap_or_default().to_owned(),
            retries: args.retries,
            depth: args.depth,
            delay: if is_own { Duration::ZERO } else { args.delay },
            heeds_robots: !args.ignore_robots,
            save: args.save.clone(),
            sites: Mutex::default(),
        };
        let mut first = Vec::new();
        state.each(|url, record| {
            match Url::parse(url) {
                Ok(parsed) if record.progress == Progress::Waiting => {
                    first.push(job(url, &host_key(&parsed), &record));
                }
                _ => frontier.remember([Arc::from(url)]),
            }
            Ok(())
        })?;
        first.extend(starts.iter().filter_map(|start| visitor.job(start, 0)));
        let threads = args.threads.get();
        Ok(Run {
            frontier,
            visitor,
            first,
            state: Arc::new(state),
            threads,
            begun: Instant::now(),
            _demo: demo,
        })
    }
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

/// How a crawl ended.
pub struct Ended {
    /// All pages are over.
    pub is_whole: bool,
    /// Pages that were being fetched when it was stopped.
    pub cut_off: usize,
}

/// Writes what is asked for, says what came of the crawl, and by which exit status.
///
/// # Errors
/// If a file cannot be written, or the state is damaged.
pub fn finish(args: &CrawlArgs, state: &State, begun: Instant, ended: &Ended) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.graph {
        graph::write_lines(state, path).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    if let Some(path) = &args.dot {
        graph::write_dot(state, path).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let (counts, broken) = (state.counts()?, graph::broken(state)?);
    let get = |name| counts.get(name).copied().unwrap_or_default();
    let seconds = begun.elapsed().as_secs_f64();
    if args.json {
        let broken = broken
            .iter()
            .map(|broken| json!({ "url": broken.url, "why": broken.why, "linked_from": broken.linked_from }));
        let report = json!({
            "fetched": get("fetched"), "failed": get("failed"), "refused": get("refused"), "waiting": get("waiting"),
            "cut_off": ended.cut_off, "complete": ended.is_whole, "broken": broken.collect::<Vec<_>>(), "seconds": seconds,
        });
        println!("{report}");
    } else {
        for broken in &broken {
            println!("{}: {}", broken.url, broken.why);
            broken.linked_from.iter().take(5).for_each(|from| println!("  on {from}"));
            if broken.linked_from.len() > 5 {
                println!("  and {} more", broken.linked_from.len() - 5);
            }
        }
        let (fetched, failed, refused) = (get("fetched"), get("failed"), get("refused"));
        println!(
            "{fetched} pages fetched, {failed} failed, {refused} not allowed by robots.txt, {} broken, in {seconds:.1} s",
            broken.len()
        );
        if !ended.is_whole {
            println!(
                "Incomplete: {} pages wait, {} of them were being fetched. The same command goes on from here.",
                get("waiting"),
                ended.cut_off
            );
        }
    }
    Ok(match (ended.is_whole, broken.is_empty()) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(BROKEN),
    })
}

impl Run {
    /// When it began.
    pub fn begun(&self) -> Instant {
        self.begun
    }
}
