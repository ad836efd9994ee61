//! Where a run of `crawl` begins: at its command line, and where the run before was stopped.

use super::args::CrawlArgs;
use super::demo::{Demo, DemoOptions};
use super::fetch::{Fetcher, Options};
use super::frontier::{Frontier, Job};
use super::state::{Progress, Record, State, job};
use super::urls::{Refused, Scope, host_key, normalise};
use super::visit::Visitor;
use anyhow::{Context, anyhow, bail};
use std::collections::HashSet;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Pages of a site that are fetched at once, for a site of one's own.
const DEMO_STRIPES: usize = 16;

/// The note that says which built-in site a state is of.
const DEMO: &str = "built-in site";

/// What a run begins with.
pub struct Run {
    /// The pages, of which those before this run are known.
    pub frontier: Frontier,
    /// What is done with each.
    pub visitor: Visitor,
    /// Where it is written what became of them.
    pub state: Arc<State>,
    /// Threads that fetch.
    pub threads: usize,
    /// When it began.
    pub begun: Instant,
    /// Pages that wait and that this command line does not admit.
    pub beyond: usize,
    first: Mutex<Vec<Job>>,
    _demo: Option<Demo>,
}

impl Run {
    /// Opens the state of a command line, and finds out what is left to do.
    ///
    /// # Errors
    /// If the state cannot be used, or there is nothing to begin with.
    pub fn prepare(args: &CrawlArgs) -> anyhow::Result<Run> {
        let (mut starts, is_own) =
            (args.starts.iter().map(normalise).collect::<Vec<_>>(), args.demo.is_some());
        let mut scope = admitting(&starts, args)?;
        let state = State::open(&args.state)?;
        let demo = args.demo.map(|pages| demo(pages, &state, &args.state)).transpose()?;
        if let Some(demo) = &demo {
            starts = vec![demo.start_url()];
            scope = Scope::new(&starts, &args.allow, true)?;
        }
        let visitor = Visitor {
            fetcher: fetcher(args, is_own)?,
            scope,
            name: args.user_agent.split('/').next().unwrap_or_default().to_owned(),
            retries: args.retries,
            depth: args.depth,
            delay: if is_own { Duration::ZERO } else { args.delay },
            per_site: if is_own { DEMO_STRIPES } else { args.per_site.get() },
            heeds_robots: !args.ignore_robots,
            save: args.save.clone(),
            sites: Mutex::default(),
            notes: Mutex::default(),
        };
        let frontier = Frontier::new(args.pages, args.patience);
        let (mut first, beyond) = left(&state, &frontier, &visitor, args.retry_failed)?;
        if beyond > 0 {
            visitor.note(format!(
                "{beyond} pages wait for a run with other starts or flags: this one does not go there"
            ));
        }
        first.extend(starts.iter().filter_map(|start| visitor.job(start, 0)));
        Ok(Run {
            frontier,
            visitor,
            first: Mutex::new(first),
            beyond,
            state: Arc::new(state),
            threads: args.threads.get(),
            begun: Instant::now(),
            _demo: demo,
        })
    }

    /// Pages that wait: those that were left before, and those of the command line. Given out once.
    pub fn first(&self) -> Vec<Job> {
        mem::take(&mut self.first.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The pages that a command line asks for. All of its starts have to be among them.
fn admitting(starts: &[Url], args: &CrawlArgs) -> anyhow::Result<Scope> {
    let scope = Scope::new(starts, &args.allow, args.allow_private)?;
    for start in starts {
        match scope.admits(start) {
            Ok(()) => (),
            Err(Refused::Private) => {
                bail!("{start}: the address is private; --allow-private is for a site of one's own")
            }
            Err(refused) => bail!("{start}: {refused}"),
        }
    }
    Ok(scope)
}

/// The built-in site. If the state is of one, it is that one, at the same address.
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

/// What an earlier run has left to do: pages that wait, and links that were beyond its limits. What is over is remembered.
fn left(
    state: &State,
    frontier: &Frontier,
    visitor: &Visitor,
    retry_failed: bool,
) -> anyhow::Result<(Vec<Job>, usize)> {
    let (mut left, mut beyond) = (Vec::new(), 0);
    state.each(|url, record| {
        // What robots.txt forbade is asked of the rules again: they may have changed, or do not count now.
        let is_open = matches!(record.progress, Progress::Waiting | Progress::Refused)
            || retry_failed && is_worth_a_try(&record);
        match Url::parse(url) {
            Ok(parsed) if is_open && visitor.scope.admits(&parsed).is_err() => {
                beyond += usize::from(record.progress == Progress::Waiting);
                frontier.remember([Arc::from(url)]);
            }
            Ok(parsed) if is_open => left.push(job(url, &host_key(&parsed), &record)),
            _ => frontier.remember([Arc::from(url)]),
        }
        Ok(())
    })?;
    // Many pages may link to what was beyond the limits: once is enough.
    let mut known: HashSet<Arc<str>> = left.iter().map(|job| Arc::clone(&job.url)).collect();
    state.each(|_, record| {
        for link in record.links.iter().filter(|_| record.depth < visitor.depth) {
            if !frontier.has_seen(link)
                && known.insert(Arc::from(link.as_str()))
                && let Ok(url) = Url::parse(link)
            {
                left.extend(visitor.job(&url, record.depth + 1));
            }
        }
        Ok(())
    })?;
    Ok((left, beyond))
}

/// Whether a page that could not be had may be there now.
fn is_worth_a_try(record: &Record) -> bool {
    match record.progress {
        Progress::Failed => true,
        Progress::Fetched => record.status.is_some_and(|status| status == 429 || status >= 500),
        Progress::Waiting | Progress::Refused => false,
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
