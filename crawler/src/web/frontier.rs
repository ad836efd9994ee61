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
//! # Invariants
//!
//! 1. A page is seen once. So it waits, or is under way, or is over, and never two of these.
//! 2. `open` counts pages that wait or are under way. A page is counted before the page that links to it is over. So when the last
//!    one is over, nothing can come any more.
//! 3. A site has at most as many pages under way as it has stripes; a stripe that rests has none.
//! 4. A site that is closed has no stripes: one task asks it for its rules and its lists, and none of its pages is fetched.

use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

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
    /// The rules of a site. Its pages wait for them.
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
}

/// The pages of a crawl.
pub struct Frontier {
    /// Pages that are taken on.
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    sites: HashMap<Arc<str>, Site>,
    seen: HashSet<Arc<str>>,
    /// Pages that are not over.
    open: usize,
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
}

impl Frontier {
    /// Without a page. The first `most` are taken on.
    pub fn new(most: usize) -> Frontier {
        Frontier { most, inner: Mutex::default() }
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
            inner.open += 1;
            added.new.push(page.clone());
            added.ready.extend(inner.enter(page));
        }
        added
    }
    // ANCHOR_END: add

    /// The rules of a site are known: so many of its pages may be fetched at once. Those that are to be fetched now.
    pub fn open_site(&self, site: &str, stripes: usize) -> Vec<Job> {
        let mut inner = self.inner();
        let Some(site) = inner.sites.get_mut(site) else { return Vec::new() };
        site.stripes = stripes;
        std::iter::from_fn(|| site.next()).collect()
    }

    /// A page is to be tried once more. It is not over meanwhile. What is to be fetched now, if there is a stripe.
    pub fn again(&self, page: Job) -> Option<Job> {
        let page = Job { attempts: page.attempts + 1, ..page };
        let mut inner = self.inner();
        let site = inner.sites.entry(Arc::clone(&page.site)).or_default();
        site.waiting.entry(page.depth).or_default().push_front(page);
        site.next()
    }

    // ANCHOR: done
    /// A page is over: fetched, or given up. True for the last one, and for no other: the crawl is over.
    #[must_use = "somebody has to end the crawl"]
    pub fn done(&self, site: &str) -> bool {
        let mut inner = self.inner();
        inner.sites.get_mut(site).expect("the page was of this site").over += 1;
        inner.open -= 1;
        inner.open == 0
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
        let waiting = self.waiting.values().map(VecDeque::len).sum();
        SiteNow { name: Arc::clone(name), waiting, taken: self.taken, over: self.over }
    }
}
