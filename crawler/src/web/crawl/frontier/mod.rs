//! Which pages there are, which of them may be fetched now, and when the crawl is over.
//!
//! ```text
//!          add                        take                      done
//!   unseen ────▶ waiting ──────────────────────────▶ under way ──────▶ over
//!                   ▲   its site has a free stripe       │
//!                   └───────── failed, give_back ────────┘
//! ```
//!
//! A site has some stripes. A page takes a stripe, and the stripe is free again some time *after* the page is
//! over: this time is the politeness. No thread sleeps for it: the end of each rest is in a list of times,
//! and [`take`](Frontier::take) looks which of these times have come.
//!
//! A stripe of [`StripedExecutor`](executor::StripedExecutor) begins its next task as soon as one has ended,
//! and runs its tasks in the order of their submission. Here the next task comes a delay later, and the page
//! that is nearest to the start comes first.
//!
//! # A site that is away
//!
//! Trouble belongs to the site, and not to its pages. After some failures in a row, or if the site asks for
//! it, the site is closed and paused; then it is asked for its rules again. If the site answers, the failures
//! count against the pages. If the site does not answer, it is paused twice as long, and its pages keep their
//! places and their tries. A site that is away for longer than the crawl has patience is left: its pages
//! still wait in the state, and the next run goes on with them.
//!
//! # Invariants
//!
//! 1. A page is seen once. So a page waits, or is under way, or is over, and is never in two of these states
//!    at once.
//! 2. `open` counts pages that wait or are under way. A page is counted before the page that links to it is
//!    over. So when the last page is over, no other page can come.
//! 3. A site has at most as many pages under way as it has stripes; a stripe that rests has none.
//! 4. A site that is closed has no stripes: it is being asked for its rules, or will be, and none of its
//!    pages is taken.
//! 5. A page of a site that is left is not open.
//! 6. Of the pages under way, one at most has been under way at two deaths of the process. So a third death
//!    has only one suspect.
//!
//! The frontier has no lock and no clock: its owner says what time it is.

mod job;
mod site;

pub use job::{Added, DEADLY, Failure, Job, Kind, Limits, RULES_COUNT, Trouble, pause_after};

use super::store::{SiteNow, Status};
use site::{Site, Waiting};
use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After this many failures in a row, the site is at fault.
const IN_A_ROW: u32 = 3;

/// How long a site may fail to answer if only links to it are checked.
const BRIEFLY: Duration = Duration::from_secs(10);

/// The pages of a crawl.
pub struct Frontier {
    limits: Limits,
    sites: HashMap<Arc<str>, Site>,
    /// Hashes of the addresses: 64 bits, with a key that no site knows. If two addresses have the same hash
    /// by chance, one of them is not fetched.
    seen: HashSet<u64>,
    sum: RandomState,
    /// Sites that have a job to hand out, in the order of their turns.
    ready: VecDeque<Arc<str>>,
    /// Jobs that wait until the suspect, which is under way, is over.
    held_up: Vec<Job>,
    suspect: Option<(Kind, Arc<str>)>,
    /// Events that come later, by their time, and in the order in which they were asked for.
    later: BTreeMap<(Instant, u64), Later>,
    count: u64,
    /// How many pages are not over.
    open: usize,
    /// How many pages of sites that have been left still wait.
    left: usize,
}

/// An event that comes later.
enum Later {
    /// A stripe of the site becomes free after its rest.
    Free(Arc<str>),
    /// The site must be asked.
    Ask(Arc<str>),
    /// The page is tried again. The number says how many outages the site had when the page failed.
    Again(Job, u32),
}

impl Frontier {
    /// A frontier without pages.
    pub fn new(limits: Limits) -> Frontier {
        Frontier {
            limits,
            sites: HashMap::new(),
            seen: HashSet::new(),
            sum: RandomState::new(),
            ready: VecDeque::new(),
            held_up: Vec::new(),
            suspect: None,
            later: BTreeMap::new(),
            count: 0,
            open: 0,
            left: 0,
        }
    }

    /// Notes a page that was over before this run, so that it does not count as new.
    pub fn remember(&mut self, url: &str) {
        self.seen.insert(self.sum.hash_one(url));
    }

    /// Whether a page has been seen, in this run or before.
    pub fn has_seen(&self, url: &str) -> bool {
        self.seen.contains(&self.sum.hash_one(url))
    }

    // ANCHOR: add
    /// Takes on the pages that have not been seen. Pages must be added before the page that links to them is
    /// [`done`](Self::done).
    pub fn add(&mut self, pages: impl IntoIterator<Item = Job>) -> Added {
        let mut added = Added::default();
        for page in pages {
            let sum = self.sum.hash_one(&*page.url);
            if self.seen.contains(&sum) {
                continue;
            }
            if self.seen.len() >= self.limits.pages {
                added.left_out += 1;
                continue;
            }
            self.seen.insert(sum);
            added.new.push(page.clone());
            self.enter(page);
        }
        added
    }

    /// Lets a page wait at its site. A new site is asked for its rules first.
    fn enter(&mut self, page: Job) {
        let name = Arc::clone(&page.site);
        let new = || Site { must_be_asked: true, ..Site::default() };
        let site = self.sites.entry(Arc::clone(&name)).or_insert_with(new);
        if site.is_left {
            self.left += 1;
            return;
        }
        site.is_other = page.is_other;
        self.open += 1;
        let at = site.waiting.entry(page.depth).or_default();
        at.push_back(Waiting { url: page.url, attempts: page.attempts, deaths: page.deaths });
        self.look_at(&name);
    }
    // ANCHOR_END: add

    // ANCHOR: take
    /// Takes up to `most` jobs that may be done now: from one site after the other, the page that is nearest
    /// to the start. These jobs are then under way.
    pub fn take(&mut self, most: usize, now: Instant) -> Vec<Job> {
        while let Some(first) = self.later.first_entry().filter(|first| first.key().0 <= now) {
            match first.remove() {
                Later::Free(site) => self.free(&site),
                Later::Ask(site) => self.ask(&site),
                Later::Again(page, outages) => self.again(page, outages),
            }
        }
        let mut jobs = Vec::new();
        while jobs.len() < most
            && let Some(name) = self.ready.pop_front()
        {
            let site = self.sites.get_mut(&name).expect("it is one of them");
            site.is_ready = false;
            if let Some(job) = site.next(&name, now) {
                let is_suspect = job.deaths + 1 >= DEADLY;
                if is_suspect && self.suspect.is_some() {
                    site.taken -= usize::from(job.kind == Kind::Page);
                    self.held_up.push(job);
                } else {
                    self.suspect =
                        self.suspect.take().or(is_suspect.then(|| (job.kind, Arc::clone(&job.url))));
                    jobs.push(job);
                }
            }
            self.look_at(&name);
        }
        jobs
    }
    // ANCHOR_END: take

    /// The time until more can be taken, even if nothing is finished meanwhile.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        self.later.first_key_value().map(|((at, _), _)| at.saturating_duration_since(now))
    }

    /// Notes that the rules of a site are known. The site may have asked for pauses.
    pub fn open_site(&mut self, name: &Arc<str>, pauses: Option<Duration>, rules_end: Instant) {
        let Limits { delay, per_site, .. } = self.limits;
        let site = self.sites.entry(Arc::clone(name)).or_default();
        if site.is_left {
            return;
        }
        site.stripes = if pauses.is_some_and(|pause| !pause.is_zero()) { 1 } else { per_site };
        site.delay = delay.max(pauses.unwrap_or_default());
        (site.is_known, site.rules_end) = (true, Some(rules_end));
        if !site.is_busy {
            site.recover();
        }
        for page in std::mem::take(&mut site.aside).into_iter().rev() {
            site.put_back(page, site.outages_before);
        }
        self.look_at(name);
    }

    /// Notes that a site was asked just now: one of its stripes rests.
    pub fn has_been_asked(&mut self, job: &Job, now: Instant) {
        self.is_no_suspect(job);
        self.site_of(job).taken += 1;
        self.rest(&job.site, now);
    }

    /// Notes that a site must be asked for more after a pause.
    pub fn ask_later(&mut self, job: &Job, pause: Duration, now: Instant) {
        self.is_no_suspect(job);
        self.at(now + pause, Later::Ask(Arc::clone(&job.site)));
    }

    /// How long a stripe of a site rests.
    pub fn delay(&self, site: &str) -> Duration {
        self.sites.get(site).map_or(self.limits.delay, |site| site.delay)
    }

    /// Notes how often processes have died at a site.
    pub fn has_seen_deaths(&mut self, name: &Arc<str>, deaths: u32) {
        let new = || Site { must_be_asked: true, ..Site::default() };
        self.sites.entry(Arc::clone(name)).or_insert_with(new).deaths = deaths;
        self.look_at(name);
    }

    /// Notes until when a site asked an earlier run to leave it alone. Returns true if that is beyond the
    /// patience of this run: then the site is left.
    pub fn leave_alone(&mut self, name: &Arc<str>, until: Instant, now: Instant) -> bool {
        let new = || Site::default();
        let site = self.sites.entry(Arc::clone(name)).or_insert_with(new);
        if until.saturating_duration_since(now) > self.limits.patience {
            site.is_left = true;
        } else if site.stripes == 0 {
            site.must_be_asked = false;
            self.at(until, Later::Ask(Arc::clone(name)));
        } else {
            site.taken = site.stripes;
            for _ in 0..site.stripes {
                self.at(until, Later::Free(Arc::clone(name)));
            }
        }
        self.sites.get(name).is_some_and(|site| site.is_left)
    }

    // ANCHOR: failed
    /// Notes that a page could not be fetched, and is not over.
    pub fn failed(&mut self, page: Job, failure: Failure, now: Instant) -> Trouble {
        self.is_no_suspect(&page);
        self.rest(&page.site, now);
        let site = self.sites.get_mut(&page.site).expect("the page was of this site");
        site.failures += 1;
        site.is_busy |= matches!(failure, Failure::Busy(_));
        let asked = if let Failure::Busy(asked) = failure { asked } else { None };
        let is_of_the_site = asked.is_some() || failure == Failure::Unanswered || site.failures >= IN_A_ROW;
        site.since.get_or_insert(now);
        if site.is_left {
            self.open -= 1;
            self.left += 1;
        } else if site.stripes == 0 {
            site.aside.push(page);
        } else if is_of_the_site {
            (site.stripes, site.outages_before) = (0, site.outages);
            let name = Arc::clone(&page.site);
            site.aside.push(page);
            return self.close(&name, asked, now);
        } else {
            let outages = site.outages;
            self.at(now + pause_after(page.attempts), Later::Again(page, outages));
            return Trouble::OfThePage;
        }
        Trouble::Known
    }
    // ANCHOR_END: failed

    /// Notes that a site was asked and does not answer. The site may have asked for a pause.
    pub fn away(&mut self, job: &Job, asked: Option<Duration>, now: Instant) -> Trouble {
        self.is_no_suspect(job);
        let site = self.site_of(job);
        site.outages += 1;
        site.since.get_or_insert(now);
        self.close(&job.site, asked, now)
    }

    // ANCHOR: done
    /// Notes that a page is over: fetched, or given up. The site `is_well` if it has answered as it should.
    /// If its server was not asked, its stripe is free at once.
    pub fn done(&mut self, page: &Job, is_well: bool, was_asked: bool, now: Instant) {
        self.is_no_suspect(page);
        let site = self.site_of(page);
        site.over += 1;
        if is_well {
            site.recover();
        }
        self.open -= 1;
        if was_asked { self.rest(&page.site, now) } else { self.free(&page.site) }
    }

    /// Leaves a page that cannot be fetched in this run: it is no longer open, and waits for another run.
    pub fn leave(&mut self, page: &Job) {
        self.is_no_suspect(page);
        self.site_of(page).over += 1;
        (self.open, self.left) = (self.open - 1, self.left + 1);
        self.free(&page.site);
    }
    // ANCHOR_END: done

    /// Takes back a job that was not done, or not begun; the job waits again.
    pub fn give_back(&mut self, job: Job) {
        self.is_no_suspect(&job);
        if job.kind == Kind::Page {
            self.free(&job.site);
        }
        self.put_back(job);
    }

    /// Takes pages that were left from the count of pages that wait for the next run, because no run will
    /// fetch them.
    pub fn give_up(&mut self, pages: usize) {
        self.left -= pages;
    }

    /// Returns how far the crawl is.
    pub fn status(&self, now: Instant) -> Status {
        let mut sites: Vec<_> = self.sites.iter().map(|(name, site)| site.now(name, now)).collect();
        sites.sort_by_key(|site| (Reverse(site.waiting + site.taken), Arc::clone(&site.name)));
        Status { sites, open: self.open, left: self.left, seen: self.seen.len() }
    }

    /// Every page is over, or left.
    pub fn is_over(&self) -> bool {
        self.open == 0
    }

    fn site_of(&mut self, job: &Job) -> &mut Site {
        self.sites.get_mut(&job.site).expect("a job is of a site")
    }

    fn at(&mut self, time: Instant, what: Later) {
        self.count += 1;
        self.later.insert((time, self.count), what);
    }

    // ANCHOR: rest
    /// Makes a stripe rest.
    fn rest(&mut self, name: &Arc<str>, now: Instant) {
        let delay = self.sites.get(name).map_or(Duration::ZERO, |site| site.delay);
        if delay.is_zero() { self.free(name) } else { self.at(now + delay, Later::Free(Arc::clone(name))) }
    }

    /// Frees a stripe after its rest: the next page of its site may be taken.
    fn free(&mut self, name: &Arc<str>) {
        if let Some(site) = self.sites.get_mut(name) {
            site.taken -= 1;
            self.look_at(name);
        }
    }
    // ANCHOR_END: rest

    fn ask(&mut self, name: &Arc<str>) {
        if let Some(site) = self.sites.get_mut(name) {
            site.must_be_asked = !site.is_left;
            self.look_at(name);
        }
    }

    /// Lets a job wait again, as if it had not been tried.
    fn put_back(&mut self, job: Job) {
        match job.kind {
            Kind::Robots => self.ask(&job.site),
            Kind::Page => self.again(job, u32::MAX),
        }
    }

    fn again(&mut self, page: Job, outages: u32) {
        let (name, site) = (Arc::clone(&page.site), self.site_of(&page));
        if site.is_left {
            (self.open, self.left) = (self.open - 1, self.left + 1);
        } else {
            site.put_back(page, outages);
            self.look_at(&name);
        }
    }

    /// Gives a site its turn if it has a job to hand out and no turn yet.
    fn look_at(&mut self, name: &Arc<str>) {
        let site = self.sites.get_mut(name).expect("it is one of them");
        if !site.is_ready && site.can_hand_out() {
            site.is_ready = true;
            self.ready.push_back(Arc::clone(name));
        }
    }

    fn is_no_suspect(&mut self, job: &Job) {
        if self.suspect.as_ref().is_some_and(|(kind, url)| (*kind, url) == (job.kind, &job.url)) {
            self.suspect = None;
            for job in std::mem::take(&mut self.held_up) {
                self.put_back(job);
            }
        }
    }

    /// Closes a site. The site is paused, or is left if the pause would be too long.
    fn close(&mut self, name: &Arc<str>, asked: Option<Duration>, now: Instant) -> Trouble {
        let site = self.sites.get_mut(name).expect("it is in trouble");
        let pause = asked.unwrap_or_default().max(pause_after(site.rests));
        site.rests += 1;
        let away = site.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let patience = if site.is_other { self.limits.patience.min(BRIEFLY) } else { self.limits.patience };
        if away.saturating_add(pause) <= patience {
            self.at(now + pause, Later::Ask(Arc::clone(name)));
            return Trouble::OfTheSite(pause);
        }
        let pages = site.leave(name);
        (self.open, self.left) = (self.open - pages.len(), self.left + pages.len());
        Trouble::Left(pages)
    }
}
