//! Which pages there are, which of them may be fetched now, and when the crawl is over.
//!
//! ```text
//!          add                   a stripe of its site is free            done
//!   unseen ────▶ waiting ──────────────────────────────▶ under way ─────────▶ over
//!                   ▲                                        │
//!                   └──────────────── again ─────────────────┘
//! ```
//!
//! A site has some stripes. A page takes a stripe, and the stripe is free again some time *after* the page is over: that is the
//! politeness. Nobody sleeps for it; whoever has finished a page asks a timer to call [`free`](Frontier::free).
//!
//! A stripe of [`StripedExecutor`](executor::StripedExecutor) has its next task as soon as one has ended, and its tasks in the
//! order of their submission. Here the next one is a delay later, and the page that is nearest to the start comes first.
//!
//! # A site that is away
//!
//! Trouble belongs to the site, and not to its pages. After some failures in a row, or if the site asks for it, the site is closed and
//! rests; then it is asked for its rules again. If it answers, the failures count against the pages. If it does not, it rests twice as
//! long, and its pages keep their places and their tries. A site that is away for longer than the crawl has patience is left: its
//! pages still wait in the state, and the next run goes on with them.
//!
//! # Invariants
//!
//! 1. A page is seen once. So it waits, or is under way, or is over, and never two of these.
//! 2. `open` counts pages that wait or are under way. A page is counted before the page that links to it is over. So when the last
//!    one is over, nothing can come any more.
//! 3. A site has at most as many pages under way as it has stripes; a stripe that rests has none.
//! 4. A site that is closed has no stripes: one task asks it for its rules, or will, and none of its pages is fetched.
//! 5. A page of a site that is left is not open.

use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

/// So many failures in a row are the site's.
const IN_A_ROW: u32 = 3;

/// The pause before the second try, and the longest one. Each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The pause after so many tries and the one that has just failed.
pub fn pause_after(tries: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries)).min(LONGEST_PAUSE)
}

/// A page that is to be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Job {
    /// Its address, normalised.
    pub url: Arc<str>,
    /// What shares its stripes: scheme, host and port.
    pub site: Arc<str>,
    /// Links from the start.
    pub depth: u32,
    /// How often it was tried before.
    pub attempts: u32,
    /// What it is.
    pub kind: Kind,
}

/// What is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page.
    Page,
    /// The rules of a site. Its pages wait for them. If they were known before, there are `attempts`: this asks whether the site is back.
    Robots,
}

/// What became of pages that were added.
#[derive(Debug, Default)]
pub struct Added {
    /// Those that nobody had seen before.
    pub new: Vec<Job>,
    /// Pages that have a stripe and are to be fetched now. Some of them may have been added earlier.
    pub ready: Vec<Job>,
    /// How many were too many.
    pub left_out: usize,
}

/// How far a site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteNow {
    /// Scheme, host and port.
    pub name: Arc<str>,
    /// Pages that wait.
    pub waiting: usize,
    /// Stripes that have a page, or rest.
    pub taken: usize,
    /// Pages that are over, in this run.
    pub over: usize,
    /// It does not answer, for so long.
    pub away: Option<Duration>,
}

/// Why a page could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Its server is busy, and may have asked for a rest.
    Busy(Option<Duration>),
    /// There was no answer, or a broken one.
    NoAnswer,
    /// The same, as often as it is tried. Only if its site answers is it the fault of the page.
    Unanswered,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Busy(Some(rest)) => write!(f, "it asks for a rest of {} s", rest.as_secs()),
            Failure::Busy(None) => f.write_str("it is too busy"),
            Failure::NoAnswer | Failure::Unanswered => f.write_str("it does not answer"),
        }
    }
}

/// What follows when a page could not be had, or a site could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The page is to be tried [again](Frontier::again), after a pause. The others of its site go on.
    OfThePage(Retry),
    /// The site rests for so long. Then somebody has to ask it: by this job.
    OfTheSite(Duration, Job),
    /// The site rests already, or was left: somebody else takes care of it.
    Known,
    /// The site is left to the next run. So many of its pages still wait.
    Left(usize),
}

/// A page that is to be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    page: Job,
    /// Those of its site when the page failed.
    outages: u32,
}

/// The pages of a crawl.
pub struct Frontier {
    /// Pages that are taken on.
    most: usize,
    /// How long a site may be away.
    patience: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    sites: HashMap<Arc<str>, Site>,
    seen: HashSet<Arc<str>>,
    /// Pages that are not over.
    open: usize,
    /// Pages of sites that have been left.
    left: usize,
}

#[derive(Default)]
struct Site {
    /// None while it is closed.
    stripes: usize,
    /// Those that have a page, or rest.
    taken: usize,
    /// Pages that are over, in this run.
    over: usize,
    /// By depth: what is near the start comes first.
    waiting: BTreeMap<u32, VecDeque<Job>>,
    /// Failures in a row.
    failures: u32,
    /// How often it rested, in a row.
    rests: u32,
    /// How often it did not answer when it was asked.
    outages: u32,
    /// One of the failures in a row was that the server is busy. Then only a page that is had shows that the site is well.
    is_busy: bool,
    /// The first failure of those in a row.
    since: Option<Instant>,
    /// What `outages` was when it was closed.
    outages_before: u32,
    /// Pages that failed while it was being closed, and after that.
    aside: Vec<Job>,
    is_left: bool,
}

impl Frontier {
    /// Without a page. The first `most` are taken on. A site that is away for longer than `patience` is left.
    pub fn new(most: usize, patience: Duration) -> Frontier {
        Frontier { most, patience, inner: Mutex::default() }
    }

    /// Pages that are known not to be new: they were over before this run.
    pub fn remember(&self, urls: impl IntoIterator<Item = Arc<str>>) {
        self.inner().seen.extend(urls);
    }

    // ANCHOR: add
    /// Takes pages on that nobody has seen. A page may only be added before the one that links to it is [`done`](Self::done).
    pub fn add(&self, pages: impl IntoIterator<Item = Job>) -> Added {
        let mut added = Added::default();
        let mut inner = self.inner();
        for page in pages {
            if inner.seen.contains(&page.url) {
                continue;
            }
            if inner.seen.len() >= self.most {
                added.left_out += 1;
                continue;
            }
            inner.seen.insert(Arc::clone(&page.url));
            added.new.push(page.clone());
            if inner.is_left(&page.site) {
                inner.left += 1;
                continue;
            }
            inner.open += 1;
            added.ready.extend(inner.enter(page));
        }
        added
    }
    // ANCHOR_END: add

    /// The rules of a site are known: so many of its pages may be fetched at once. Those that are to be fetched now.
    pub fn open_site(&self, site: &str, stripes: usize) -> Vec<Job> {
        let mut inner = self.inner();
        let Some(site) = inner.sites.get_mut(site) else { return Vec::new() };
        if site.is_left {
            return Vec::new();
        }
        site.stripes = stripes;
        if !site.is_busy {
            site.recover();
        }
        for page in std::mem::take(&mut site.aside).into_iter().rev() {
            site.put_back(page, site.outages_before);
        }
        std::iter::from_fn(|| site.next()).collect()
    }

    // ANCHOR: failed
    /// A page could not be had, and is not over.
    pub fn failed(&self, page: Job, failure: Failure) -> Trouble {
        let inner = &mut *self.inner();
        let site = inner.sites.get_mut(&page.site).expect("the page was of this site");
        site.failures += 1;
        site.is_busy |= matches!(failure, Failure::Busy(_));
        let asked = if let Failure::Busy(asked) = failure { asked } else { None };
        let is_of_the_site = asked.is_some() || failure == Failure::Unanswered || site.failures >= IN_A_ROW;
        site.since.get_or_insert_with(Instant::now);
        if site.is_left {
            inner.open -= 1;
            inner.left += 1;
        } else if site.stripes == 0 {
            site.aside.push(page);
        } else if is_of_the_site {
            (site.stripes, site.outages_before) = (0, site.outages);
            site.aside.push(page.clone());
            return inner.rest(&Job { attempts: 1, ..page }, asked, self.patience);
        } else {
            return Trouble::OfThePage(Retry { page, outages: site.outages });
        }
        Trouble::Known
    }
    // ANCHOR_END: failed

    /// A site was asked, and does not answer. It may have `asked` for a rest.
    pub fn away(&self, asking: &Job, asked: Option<Duration>) -> Trouble {
        let inner = &mut *self.inner();
        let site = inner.sites.get_mut(&asking.site).expect("it was asked");
        site.outages += 1;
        site.since.get_or_insert_with(Instant::now);
        inner.rest(asking, asked, self.patience)
    }

    /// A page is to be tried once more. It is not over meanwhile. What is to be fetched now, if there is a stripe.
    pub fn again(&self, retry: Retry) -> Option<Job> {
        let inner = &mut *self.inner();
        let site = inner.sites.entry(Arc::clone(&retry.page.site)).or_default();
        if site.is_left {
            inner.open -= 1;
            inner.left += 1;
            return None;
        }
        site.put_back(retry.page, retry.outages);
        site.next()
    }

    // ANCHOR: done
    /// A page is over: fetched, or given up. True for the last one, and for no other: the crawl is over. The site `is_well` if it has answered as it should.
    #[must_use = "somebody has to end the crawl"]
    pub fn done(&self, site: &str, is_well: bool) -> bool {
        let mut inner = self.inner();
        let site = inner.sites.get_mut(site).expect("the page was of this site");
        site.over += 1;
        if is_well {
            site.recover();
        }
        inner.open -= 1;
        inner.open == 0
    }

    /// A page cannot be had in this run: it is no longer open, and waits for another run.
    pub fn leave(&self, site: &str) {
        let mut inner = self.inner();
        inner.sites.get_mut(site).expect("the page was of this site").over += 1;
        inner.open -= 1;
        inner.left += 1;
    }
    // ANCHOR_END: done

    // ANCHOR: free
    /// A stripe has rested. The next page of its site, which has the stripe now; or none, and the stripe is free.
    pub fn free(&self, site: &str) -> Option<Job> {
        let mut inner = self.inner();
        let site = inner.sites.get_mut(site)?;
        site.taken -= 1;
        site.next()
    }
    // ANCHOR_END: free

    /// Pages that are not over.
    pub fn open_pages(&self) -> usize {
        self.inner().open
    }

    /// Pages of sites that were left: they wait for the next run.
    pub fn left(&self) -> usize {
        self.inner().left
    }

    /// Pages that have been seen, in this run and before.
    pub fn seen(&self) -> usize {
        self.inner().seen.len()
    }

    /// Whether a page has been seen, in this run or before.
    pub fn has_seen(&self, url: &str) -> bool {
        self.inner().seen.contains(url)
    }

    /// How far each site is: the one with the most pages to do first.
    pub fn sites(&self) -> Vec<SiteNow> {
        let mut sites: Vec<_> = self.inner().sites.iter().map(|(name, site)| site.now(name)).collect();
        sites.sort_by_key(|site| (Reverse(site.waiting + site.taken), Arc::clone(&site.name)));
        sites
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn is_left(&self, site: &str) -> bool {
        self.sites.get(site).is_some_and(|site| site.is_left)
    }

    /// A site that is closed rests, or is left if that would be too long.
    fn rest(&mut self, of: &Job, asked: Option<Duration>, patience: Duration) -> Trouble {
        let site = self.sites.get_mut(&of.site).expect("it is in trouble");
        let pause = asked.unwrap_or_default().max(pause_after(site.rests));
        site.rests += 1;
        let away = site.since.map_or(Duration::ZERO, |since| since.elapsed());
        if away.saturating_add(pause) <= patience {
            return Trouble::OfTheSite(pause, Job { kind: Kind::Robots, ..of.clone() });
        }
        site.is_left = true;
        let pages = site.waiting.values().map(VecDeque::len).sum::<usize>() + site.aside.len();
        (site.waiting, site.aside) = (BTreeMap::new(), Vec::new());
        self.open -= pages;
        self.left += pages;
        Trouble::Left(pages)
    }

    /// A page waits at its site. What is to be fetched now: that page, or the rules of a site that is new.
    fn enter(&mut self, page: Job) -> Option<Job> {
        if let Some(site) = self.sites.get_mut(&page.site) {
            site.waiting.entry(page.depth).or_default().push_back(page);
            return site.next();
        }
        let rules = Job { kind: Kind::Robots, attempts: 0, ..page.clone() };
        let mut site = Site::default();
        site.waiting.entry(page.depth).or_default().push_back(page);
        self.sites.insert(Arc::clone(&rules.site), site);
        Some(rules)
    }
}

impl Site {
    fn recover(&mut self) {
        (self.failures, self.rests, self.since, self.is_busy) = (0, 0, None, false);
    }

    /// A page is the next one of its depth. The try counts if the site has answered whenever it was asked since then.
    fn put_back(&mut self, page: Job, outages: u32) {
        let attempts = page.attempts + u32::from(self.outages == outages);
        self.waiting.entry(page.depth).or_default().push_front(Job { attempts, ..page });
    }

    /// The page that is nearest to the start, if there is a stripe for it.
    fn next(&mut self) -> Option<Job> {
        if self.taken >= self.stripes {
            return None;
        }
        let mut first = self.waiting.first_entry()?;
        let page = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        self.taken += usize::from(page.is_some());
        page
    }

    fn now(&self, name: &Arc<str>) -> SiteNow {
        let waiting = self.waiting.values().map(VecDeque::len).sum::<usize>() + self.aside.len();
        let away = self.since.filter(|_| self.stripes == 0).map(|since| since.elapsed());
        SiteNow { name: Arc::clone(name), waiting, taken: self.taken, over: self.over, away }
    }
}
