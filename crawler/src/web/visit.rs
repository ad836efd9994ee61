//! What is done with one page: asked for, read, and what it says of itself and of others.

use super::fetch::{FetchError, Fetched, Fetcher};
use super::frontier::{Job, Kind};
use super::links::{Links, links};
use super::robots::Robots;
use super::save;
use super::sitemap;
use super::state::{Progress, Record};
use super::urls::{Scope, host_key, normalise};
use executor::{CancelToken, Cancelled};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// Links of one page that are taken.
const MOST_LINKS: usize = 10_000;

/// Lists of pages that a site may have.
const MOST_LISTS: usize = 20;

/// The pause before the second try, and the longest one. Each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Visits pages. Shared by all threads.
pub struct Visitor {
    /// Fetches them.
    pub fetcher: Fetcher,
    /// Which pages belong to the crawl.
    pub scope: Scope,
    /// The name by which sites address the crawler.
    pub name: String,
    /// How often a page is tried again.
    pub retries: u32,
    /// Links from the start that are followed.
    pub depth: u32,
    /// Between two pages of a site; a site may ask for more.
    pub delay: Duration,
    /// Whether `robots.txt` counts.
    pub heeds_robots: bool,
    /// Where pages are written.
    pub save: Option<PathBuf>,
    /// The rules of each site.
    pub sites: Mutex<HashMap<Arc<str>, Arc<Robots>>>,
}

/// What became of a visit.
#[derive(Debug)]
pub enum Visit {
    /// The page is over. It leads to these.
    Over(Box<Record>, Vec<Job>),
    /// It is to be visited again, after this time.
    Again(Duration),
}

impl Visitor {
    /// Visits a page, and waits for its server. A page at which the program panics has failed, as others do.
    ///
    /// # Errors
    /// If `token` was cancelled: nothing is known of the page then.
    pub fn visit(&self, job: &Job, token: &CancelToken) -> Result<Visit, Cancelled> {
        catch_unwind(AssertUnwindSafe(|| self.try_to_visit(job, token))).unwrap_or_else(|_| {
            let why = "reading it panicked, which is a bug of this program";
            Ok(failed(Record::waiting(job.depth, None), why.to_owned()))
        })
    }

    fn try_to_visit(&self, job: &Job, token: &CancelToken) -> Result<Visit, Cancelled> {
        let mut record = Record::waiting(job.depth, None);
        let Ok(url) = Url::parse(&job.url) else { return Ok(failed(record, "it is no address".to_owned())) };
        if let Err(refused) = self.scope.admits(&url) {
            return Ok(failed(record, refused.to_string()));
        }
        if self.heeds_robots && !self.rules(&job.site).allows(&url) {
            record.progress = Progress::Refused;
            return Ok(Visit::Over(Box::new(record), Vec::new()));
        }
        let fetched = match self.fetcher.fetch(&url, token) {
            Err(FetchError::Cancelled(cancelled)) => return Err(cancelled),
            Err(error) if error.is_transient() && job.attempts < self.retries => return Ok(again(job, None)),
            Err(error) => return Ok(failed(record, error.to_string())),
            Ok(fetched) if is_busy(&fetched) && job.attempts < self.retries => {
                return Ok(again(job, fetched.retry_after));
            }
            Ok(fetched) => fetched,
        };
        record.progress = Progress::Fetched;
        record.status = Some(fetched.status);
        let found = self.read(job, &url, &fetched, &mut record);
        Ok(match self.save(&url, &fetched, &record) {
            Ok(()) => Visit::Over(Box::new(record), found),
            Err(error) => failed(record, format!("it cannot be written: {error}")),
        })
    }

    /// Asks a site for its rules, and for the pages that it lists. If the program panics at them, nothing is allowed.
    ///
    /// # Errors
    /// If `token` was cancelled.
    pub fn ask_for_rules(&self, job: &Job, token: &CancelToken) -> Result<Vec<Job>, Cancelled> {
        catch_unwind(AssertUnwindSafe(|| self.try_to_ask(job, token))).unwrap_or_else(|_| {
            self.note(job, Robots::none());
            Ok(Vec::new())
        })
    }

    fn try_to_ask(&self, job: &Job, token: &CancelToken) -> Result<Vec<Job>, Cancelled> {
        let robots = match Url::parse(&job.url).and_then(|url| url.join("/robots.txt")) {
            Ok(url) if self.heeds_robots => match self.fetcher.fetch(&url, token) {
                Err(FetchError::Cancelled(cancelled)) => return Err(cancelled),
                Ok(answer) if answer.status == 200 => Robots::parse(&answer.body, &self.name),
                Ok(answer) if answer.status < 500 && answer.status != 429 => Robots::all(),
                Ok(_) | Err(_) => Robots::none(),
            },
            _ => Robots::all(),
        };
        let listed = self.listed(robots.sitemaps(), token)?;
        self.note(job, robots);
        Ok(listed)
    }

    fn note(&self, job: &Job, robots: Robots) {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.insert(Arc::clone(&job.site), Arc::new(robots));
    }

    /// The pages of these lists, and of the lists that they have.
    fn listed(&self, lists: &[Url], token: &CancelToken) -> Result<Vec<Job>, Cancelled> {
        let (mut waiting, mut pages) = (lists.iter().cloned().collect::<VecDeque<_>>(), Vec::new());
        for _ in 0..MOST_LISTS {
            let Some(list) = waiting.pop_front() else { break };
            if self.scope.admits(&list).is_err() {
                continue;
            }
            match self.fetcher.fetch(&list, token) {
                Err(FetchError::Cancelled(cancelled)) => return Err(cancelled),
                Ok(answer) if answer.status == 200 => {
                    let sitemap = sitemap::parse(&answer.body, sitemap::MOST);
                    pages.extend(sitemap.pages.iter().filter_map(|page| self.job(page, 0)));
                    waiting.extend(sitemap.indexes);
                }
                Ok(_) | Err(_) => (), // a list more or less
            }
        }
        Ok(pages)
    }

    /// The rules of a site that has been asked; nothing is forbidden before.
    pub fn rules(&self, site: &str) -> Arc<Robots> {
        self.sites
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(site)
            .cloned()
            .unwrap_or_else(|| Arc::new(Robots::all()))
    }

    /// How long a lane of a site cools down.
    pub fn delay(&self, site: &str) -> Duration {
        self.delay.max(self.rules(site).crawl_delay().unwrap_or_default())
    }

    /// Notes where a page leads, and says which of these pages belong to the crawl.
    fn read(&self, job: &Job, url: &Url, fetched: &Fetched, record: &mut Record) -> Vec<Job> {
        if let Some(location) = &fetched.location {
            let location = normalise(location);
            record.links = vec![location.to_string()];
            if let Err(refused) = self.scope.admits(&location) {
                record.why = Some(format!("it leads to {location}: {refused}"));
            }
            return self.job(&location, job.depth).into_iter().collect(); // the same page at another address
        }
        let is_html =
            fetched.content_type.as_ref().is_none_or(|kind| kind.to_ascii_lowercase().contains("html"));
        if fetched.status != 200 || !is_html {
            return Vec::new();
        }
        // A page that asks for it has no links here.
        let Links { links, canonical, .. } =
            links(&fetched.body, fetched.content_type.as_deref(), url, MOST_LINKS);
        record.links = links.iter().map(Url::to_string).collect();
        let canonical =
            canonical.filter(|canonical| canonical != url && self.scope.admits(canonical).is_ok());
        record.copy_of = canonical.as_ref().map(Url::to_string);
        let original = canonical.iter().filter_map(|canonical| self.job(canonical, job.depth));
        let followed = links.iter().filter(|_| job.depth < self.depth);
        original.chain(followed.filter_map(|link| self.job(link, job.depth + 1))).collect()
    }

    /// A page of the crawl, if it is one.
    pub fn job(&self, url: &Url, depth: u32) -> Option<Job> {
        self.scope.admits(url).ok()?;
        let site = Arc::from(host_key(url));
        Some(Job { url: Arc::from(url.as_str()), site, depth, attempts: 0, kind: Kind::Page })
    }

    /// Before the state says that the page was fetched: a file that is there twice is better than one that is missing.
    fn save(&self, url: &Url, fetched: &Fetched, record: &Record) -> std::io::Result<()> {
        match &self.save {
            Some(directory) if fetched.status == 200 && record.copy_of.is_none() => {
                save::write(directory, url, &fetched.body)
            }
            _ => Ok(()),
        }
    }
}

/// The server may answer later.
fn is_busy(fetched: &Fetched) -> bool {
    fetched.status == 429 || fetched.status >= 500
}

fn failed(record: Record, why: String) -> Visit {
    Visit::Over(Box::new(Record { progress: Progress::Failed, why: Some(why), ..record }), Vec::new())
}

fn again(job: &Job, asked: Option<Duration>) -> Visit {
    let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(job.attempts)).min(LONGEST_PAUSE);
    Visit::Again(asked.map_or(pause, |asked| asked.min(LONGEST_PAUSE)))
}
