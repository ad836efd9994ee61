//! The set of all pages of a crawl; it decides which pages may be fetched now, and when the crawl has
//! ended.
//!
//! ```text
//!          add                        take                      done
//!   unseen ────▶ waiting ──────────────────────────▶ under way ──────▶ over
//!                   ▲   its site has a free stripe       │
//!                   └───────── failed, give_back ────────┘
//! ```
//!
//! Each site has a number of stripes. A page takes a stripe, and the stripe is free again some time *after*
//! the page is finished: this time is the pause that politeness demands. No thread sleeps during a pause: the
//! end of each pause is in a list of times, and [`take`](Frontier::take) checks which of these times have
//! passed.
//!
//! A stripe of [`StripedExecutor`](executor::StripedExecutor) is different: it starts its next task as soon
//! as its current task has ended, and runs its tasks in the order of their submission. In the frontier, a
//! stripe gets its next page after a delay, and the page that is nearest to the start is handed out first.
//!
//! # A site that is away
//!
//! At first, a failure counts against the site, and not against the page. After some failures in a row, or if
//! the site demands this, the site is closed and paused; after the pause, the crawler asks the site for its
//! rules again. If the site answers, the failures count against the pages. If the site does not answer, the
//! pause of the site is doubled, and its pages keep their places and their tries. If a site does not answer
//! for longer than the crawl's patience, the site is left to the next run: its pages still wait in the state,
//! and the next run fetches them.
//!
//! # Invariants
//!
//! 1. A page is added only once. So each page is either waiting, or being fetched, or finished.
//! 2. `open` counts the pages that are waiting or being fetched. A page is counted before the page that links
//!    to it is finished. So after the last page is finished, no other page can be added.
//! 3. The number of pages of a site that are being fetched is at most the number of its stripes; a resting
//!    stripe has no page.
//! 4. A closed site has no stripes: it is being asked for its rules, or will be asked for them, and none of
//!    its pages is handed out.
//! 5. If a site was left to the next run, none of its pages is open.
//! 6. Among the pages in progress, at most one was also in progress at two earlier deaths of the process. So
//!    only this page can be the cause of a third death.
//!
//! The frontier has no lock and no clock: its owner passes the current time as an argument.

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

/// The number of failures in a row after which the failures count against the site.
const IN_A_ROW: u32 = 3;

/// The time for which a site may fail to answer if only links to the site are checked.
const BRIEFLY: Duration = Duration::from_secs(10);

/// The pages of a crawl.
pub struct Frontier {
    limits: Limits,
    sites: HashMap<Arc<str>, Site>,
    /// Hashes of the addresses, with 64 bits, made with a key that no site knows. If two addresses have the
    /// same hash by chance, one of them is not fetched.
    seen: HashSet<u64>,
    sum: RandomState,
    /// Sites that have a job to hand out, in the order in which they are served.
    ready: VecDeque<Arc<str>>,
    /// Jobs that wait until the suspect is finished; the suspect is being fetched.
    held_up: Vec<Job>,
    suspect: Option<(Kind, Arc<str>)>,
    /// Future events, ordered by their time, and then by the order in which they were added.
    later: BTreeMap<(Instant, u64), Later>,
    count: u64,
    /// The number of pages that are not finished.
    open: usize,
    /// The number of waiting pages of sites that were left to the next run.
    left: usize,
}

/// An event in the future.
enum Later {
    /// A stripe of the site becomes free after its rest.
    Free(Arc<str>),
    /// The site must be asked.
    Ask(Arc<str>),
    /// The page is tried again. The number is the value of the site's `outages` when the page failed.
    Again(Job, u32),
}

impl Frontier {
    /// Returns a frontier without pages.
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

    /// Records a page that was finished before this run, so that it does not count as new.
    pub fn remember(&mut self, url: &str) {
        self.seen.insert(self.sum.hash_one(url));
    }

    /// Returns true if a page was seen in this run or before.
    pub fn has_seen(&self, url: &str) -> bool {
        self.seen.contains(&self.sum.hash_one(url))
    }

    // ANCHOR: add
    /// Adds the pages that have not been seen yet. The caller must call this method before the page that
    /// links to the added pages is [`done`](Self::done).
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

    /// Adds a page to the waiting pages of its site. If the site is new, it is asked for its rules first.
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
    /// Takes up to `most` jobs that may be done now: the sites are served in rotation, and each site hands
    /// out its page that is nearest to the start. The returned jobs count as being in progress.
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

    /// Returns the time until more jobs can be taken, even if no job is finished meanwhile.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        self.later.first_key_value().map(|((at, _), _)| at.saturating_duration_since(now))
    }

    /// Records that the rules of a site are known. The site may have asked for pauses.
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

    /// Records that a site was asked just now, so one of its stripes rests.
    pub fn has_been_asked(&mut self, job: &Job, now: Instant) {
        self.is_no_suspect(job);
        self.site_of(job).taken += 1;
        self.rest(&job.site, now);
    }

    /// Records that a site must be asked for more files after a pause.
    pub fn ask_later(&mut self, job: &Job, pause: Duration, now: Instant) {
        self.is_no_suspect(job);
        self.at(now + pause, Later::Ask(Arc::clone(&job.site)));
    }

    /// Returns the time that a stripe of a site rests.
    pub fn delay(&self, site: &str) -> Duration {
        self.sites.get(site).map_or(self.limits.delay, |site| site.delay)
    }

    /// Records how many times processes have died while they asked a site.
    pub fn has_seen_deaths(&mut self, name: &Arc<str>, deaths: u32) {
        let new = || Site { must_be_asked: true, ..Site::default() };
        self.sites.entry(Arc::clone(name)).or_insert_with(new).deaths = deaths;
        self.look_at(name);
    }

    /// Records the end of a pause that a site asked for in an earlier run. Returns true if the pause ends
    /// later than the patience of this run allows; if so, the site is left to the next run.
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
    /// Records that a page could not be fetched and is not finished.
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

    /// Records that a site was asked and did not answer. The site may have asked for a pause.
    pub fn away(&mut self, job: &Job, asked: Option<Duration>, now: Instant) -> Trouble {
        self.is_no_suspect(job);
        let site = self.site_of(job);
        site.outages += 1;
        site.since.get_or_insert(now);
        self.close(&job.site, asked, now)
    }

    // ANCHOR: done
    /// Records that a page is finished: fetched, or given up. `is_well` is true if the site has answered
    /// correctly. If no request was sent to the page's server, the page's stripe is free at once.
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

    /// Leaves a page that cannot be fetched in this run: the page is no longer open, and waits for another
    /// run.
    pub fn leave(&mut self, page: &Job) {
        self.is_no_suspect(page);
        self.site_of(page).over += 1;
        (self.open, self.left) = (self.open - 1, self.left + 1);
        self.free(&page.site);
    }
    // ANCHOR_END: done

    /// Takes back a job that was not finished or not begun; the job waits again.
    pub fn give_back(&mut self, job: Job) {
        self.is_no_suspect(&job);
        if job.kind == Kind::Page {
            self.free(&job.site);
        }
        self.put_back(job);
    }

    /// Subtracts `pages` from the count of pages that wait for the next run, because no run will fetch these
    /// pages.
    pub fn give_up(&mut self, pages: usize) {
        self.left -= pages;
    }

    /// Returns the progress of the crawl.
    pub fn status(&self, now: Instant) -> Status {
        let mut sites: Vec<_> = self.sites.iter().map(|(name, site)| site.now(name, now)).collect();
        sites.sort_by_key(|site| (Reverse(site.waiting + site.taken), Arc::clone(&site.name)));
        Status { sites, open: self.open, left: self.left, seen: self.seen.len() }
    }

    /// Returns true if all pages are finished or left to the next run.
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
    /// Makes a stripe of a site rest.
    fn rest(&mut self, name: &Arc<str>, now: Instant) {
        let delay = self.sites.get(name).map_or(Duration::ZERO, |site| site.delay);
        if delay.is_zero() { self.free(name) } else { self.at(now + delay, Later::Free(Arc::clone(name))) }
    }

    /// Frees a stripe after its rest, so that the next page of its site may be taken.
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

    /// Puts a job back among the waiting jobs, as if it had not been tried.
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

    /// Adds a site to the list of ready sites if the site has a job to hand out and is not in the list yet.
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

    /// Closes a site. The site is paused; if the pause would be too long, the site is left to the next run.
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
