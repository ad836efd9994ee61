//! The store of a crawl that has only one process: the order of the pages is in memory, and the records of
//! the pages are in a file.
//!
//! The store changes its pages both in memory and in the file, and only in one place,
//! [`exchange`](Store::exchange). The data in memory can be restored from the file at any time, and each run
//! restores this data at its start. The file lacks the pages that are [in flight](super::keeper), which are
//! only in memory; but all records in the file are true.

use super::frontier::{Added, Failure, Frontier, Job, Kind, Limits, RULES_COUNT, Trouble};
use super::keeper::Keeper;
use super::outcome::{Effect, Lease, Outcome, of_a_site_that_is_away};
use super::results::Results;
use super::rules::{Asking, Rules, Step};
use super::state::{Changes, Progress, Record, State, is_site, key};
use super::store::{Status, Store, Taken};
use super::under_way::UnderWay;
use super::visit::Visit;
use super::visitor::Visitor;
use crate::web::sites::robots::Robots;
use crate::web::sites::urls::host_key;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use url::Url;

/// The pages of a crawl.
pub struct Disk {
    /// The file.
    state: Arc<State>,
    /// The number of waiting pages that this run's command line excludes.
    pub beyond: usize,
    /// The number of pages that were requested again and had not changed.
    unchanged: usize,
    /// Pages that were finished at least this long ago are visited again.
    again: Option<Duration>,
    frontier: Frontier,
    visitor: Arc<Visitor>,
    rules: HashMap<Arc<str>, Arc<Rules>>,
    /// For each job, the numbers of failed tries and of deaths of the process in earlier runs.
    tries: HashMap<String, (u32, u32)>,
    /// Sites that still have to be asked for rules or lists.
    asking: HashMap<Arc<str>, Box<Asking>>,
    changes: Changes,
    keeper: Keeper,
    /// For each lease that is handed out, the key of the lease's job.
    out: Vec<Arc<str>>,
    under_way: UnderWay,
}

impl Disk {
    /// Opens a store with the given pages and the pages that earlier runs have left in a file. If the flags
    /// say so, pages that could not be fetched are tried again. Pages that were finished at least `again`
    /// ago are visited again.
    ///
    /// # Errors
    /// Fails if the file is damaged.
    pub fn open(
        state: State,
        visitor: Arc<Visitor>,
        limits: Limits,
        starts: &[Url],
        retries_failed: bool,
        again: Option<Duration>,
    ) -> anyhow::Result<Disk> {
        let frontier = Frontier::new(limits);
        let under_way = UnderWay::beside(state.path());
        let state = Arc::new(state);
        let mut disk = Disk {
            keeper: Keeper::of(Arc::clone(&state)),
            state,
            beyond: 0,
            unchanged: 0,
            again,
            frontier,
            visitor,
            rules: HashMap::new(),
            tries: HashMap::new(),
            asking: HashMap::new(),
            changes: Changes::default(),
            out: Vec::new(),
            under_way,
        };
        disk.recall(retries_failed)?;
        let starts: Vec<_> = starts.iter().filter_map(|start| disk.visitor.job(start, 0)).collect();
        disk.add(starts);
        Ok(disk)
    }

    /// Locks the store, which many threads share.
    fn of(store: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
        store.lock().expect("nothing panics under it")
    }

    /// Adds the work that earlier runs have left: waiting pages, and links that were beyond the limits of
    /// those runs.
    fn recall(&mut self, retries_failed: bool) -> anyhow::Result<()> {
        let (known, mut refusing, mut left) = (self.state.known()?, HashSet::new(), Vec::new());
        self.tries = known.tries;
        self.state.each(|url, record| {
            let parsed = Url::parse(url).ok();
            let site = parsed.as_ref().map(host_key).unwrap_or_default();
            let is_open = match record.progress {
                Progress::Waiting => true,
                // The site is asked for its rules again, because the rules may have changed or may no
                // longer be valid.
                Progress::Refused => {
                    refusing.insert(site.clone());
                    true
                }
                Progress::Failed | Progress::Fetched => {
                    self.again.is_some_and(|age| record.is_older_than(age))
                        || (retries_failed && is_worth_a_try(&record))
                }
            };
            match parsed.and_then(|parsed| self.visitor.job(&parsed, record.depth)) {
                Some(page) if is_open => left.push(page),
                _ => {
                    self.beyond += usize::from(record.progress == Progress::Waiting);
                    self.frontier.remember(url);
                }
            }
            Ok(())
        })?;
        let now = Instant::now();
        if self.visitor.heeds_robots {
            for (site, text, age) in known.rules {
                let left = RULES_COUNT.saturating_sub(age);
                if !left.is_zero() && !refusing.contains(&site) {
                    let rules = Rules::of(Robots::parse(&text, &self.visitor.name));
                    self.heed(&site.into(), rules, now + left);
                }
            }
        }
        for (site, (_, deaths)) in self.tries.iter().filter(|(key, _)| is_site(key)) {
            self.frontier.has_seen_deaths(&Arc::from(&**site), *deaths);
        }
        for (site, rest) in known.rests {
            if self.frontier.leave_alone(&Arc::from(&*site), now + rest, now) {
                let seconds = rest.as_secs();
                self.visitor.note(format!(
                    "{site} has asked for a rest of {seconds} s more: its pages wait for another run"
                ));
            }
        }
        let known = left.into_iter().map(|page| tried(page, &self.tries));
        self.frontier.add(known);
        self.recall_links()
    }

    /// Adds links that were beyond the limits of an earlier run. Many pages may have the same link, but the
    /// link is added only once.
    fn recall_links(&mut self) -> anyhow::Result<()> {
        let mut found = Vec::new();
        self.state.each(|_, record| {
            let is_moved = record.status.is_some_and(|status| (300..400).contains(&status));
            let most = self.visitor.depth + u32::from(is_moved);
            let original = record.copy_of.iter().filter(|_| record.depth <= self.visitor.depth);
            for link in record.links.iter().filter(|_| record.depth < most).chain(original) {
                if !self.frontier.has_seen(link)
                    && let Ok(url) = Url::parse(link)
                {
                    let page = self.visitor.job(&url, record.depth + 1).map(|page| tried(page, &self.tries));
                    found.extend(self.frontier.add(page).new);
                }
            }
            Ok(())
        })?;
        self.changes.found.extend(found);
        Ok(())
    }

    fn add(&mut self, pages: Vec<Job>) -> usize {
        // A page of an earlier run may be found again, because the page that links to it was not durable
        // when the process died.
        let pages = pages.into_iter().map(|page| tried(page, &self.tries));
        let Added { new, left_out } = self.frontier.add(pages);
        self.changes.found.extend(new);
        left_out
    }

    /// Records the rules of a site. The site is not asked again while the recorded rules are valid.
    fn heed(&mut self, site: &Arc<str>, rules: Rules, until: Instant) {
        self.frontier.open_site(site, rules.crawl_delay(), until);
        self.rules.insert(Arc::clone(site), Arc::new(rules));
    }

    /// Records the outcome of a page. The linked pages are added before the page is finished.
    fn page(&mut self, job: Job, visit: Visit, now: Instant) -> anyhow::Result<()> {
        self.unchanged += usize::from(matches!(visit, Visit::Unchanged(_)));
        match Effect::of(visit) {
            Effect::Over { record, links, is_well, was_asked } => {
                self.add(links);
                self.frontier.done(&job, is_well, was_asked, now);
                if was_asked {
                    self.rest(&job.site, self.frontier.delay(&job.site));
                }
                self.changes.over.push((job.url, *record));
            }
            Effect::Left(why) => {
                self.visitor.note(format!("{} waits for another run: {why}", job.url));
                self.frontier.leave(&job);
                self.changes.tried.push(job);
            }
            Effect::Failed(failure) => {
                self.changes.tried.push(job.clone());
                let asked = if let Failure::Busy(asked) = failure { asked } else { None };
                let site = Arc::clone(&job.site);
                let trouble = self.frontier.failed(job, failure, now);
                self.trouble(&site, trouble, &failure.to_string(), asked);
            }
            Effect::Unwritten(error) => {
                self.frontier.give_back(job.clone());
                self.changes.tried.push(job);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Records the answer of a site.
    fn site(&mut self, step: Step, now: Instant) {
        match step {
            Step::Away(job, why, asked) => {
                let trouble = self.frontier.away(&job, asked, now);
                self.trouble(&job.site, trouble, &why, asked);
                self.changes.tried.push(job);
            }
            Step::Next(asking, pause) => {
                self.frontier.ask_later(&asking.site, pause, now);
                self.changes.tried.push(asking.site.clone());
                self.asking.insert(Arc::clone(&asking.site.site), Box::new(asking));
            }
            Step::Known { site: job, rules, text, listed } => {
                let left_out = self.add(listed);
                if left_out > 0 {
                    let site = &job.site;
                    self.visitor.note(format!("{site} lists {left_out} pages more than --pages takes on"));
                }
                self.heed(&job.site, rules, now + RULES_COUNT);
                self.frontier.has_been_asked(&job, now);
                self.changes.rules.push((job.site, text));
            }
        }
    }

    /// Records that a question to a site has failed. A pause that the site has asked for also counts in the
    /// next run. Pauses that the crawler itself has chosen do not count in the next run, because a user who
    /// starts a new run may have a reason to try the site again.
    fn trouble(&mut self, site: &Arc<str>, trouble: Trouble, why: &str, asked: Option<Duration>) {
        self.rest(site, asked.unwrap_or_default());
        let Trouble::Left(pages) = trouble else { return };
        if pages.iter().any(|page| page.is_other) {
            // The missing answer is the result of the check: the link leads to a site that does not answer.
            self.frontier.give_up(pages.len());
            let failed = |page: Job| (page.url, of_a_site_that_is_away(page.depth, why));
            self.changes.over.extend(pages.into_iter().map(failed));
        } else {
            let count = pages.len();
            self.visitor.note(format!("{site} is away ({why}): {count} of its pages wait for another run"));
        }
    }

    fn rest(&mut self, site: &Arc<str>, rest: Duration) {
        if !rest.is_zero() {
            self.changes.rests.push((Arc::clone(site), rest));
        }
    }

    fn lease(&mut self, job: Job) -> anyhow::Result<Lease> {
        Ok(match job.kind {
            Kind::Robots => {
                Lease::Site(self.asking.remove(&job.site).unwrap_or_else(|| Box::new(Asking::begin(job))))
            }
            Kind::Page => {
                let rules = self.rules.get(&job.site).cloned();
                let before = if self.again.is_some() { self.state.record(&job.url)? } else { None };
                Lease::Page(job, rules.unwrap_or_else(|| Arc::new(Rules::none())), before.map(Box::new))
            }
        })
    }

    /// Removes the job's lease from the list of leases that are handed out.
    fn has_come_back(&mut self, job: &Job) {
        let name = key(job);
        self.out.retain(|out| **out != *name);
    }

    fn write(&mut self, permits: usize) -> anyhow::Result<()> {
        let changes = mem::take(&mut self.changes);
        self.keeper.write(changes, permits)
    }

    // ANCHOR: exchange
    fn exchange(&mut self, finished: Vec<(Lease, Outcome)>, most: usize) -> anyhow::Result<Taken<Lease>> {
        let (now, permits, mut unwritten) = (Instant::now(), finished.len(), None);
        for (lease, outcome) in finished {
            self.has_come_back(lease.job());
            match outcome {
                Outcome::Page(visit) => {
                    unwritten = self.page(lease.job().clone(), visit, now).err().or(unwritten);
                }
                Outcome::Site(step) => self.site(*step, now),
            }
        }
        self.write(permits)?;
        if let Some(error) = unwritten {
            self.keeper.flush()?; // makes the other pages durable
            return Err(error);
        }
        let most = self.keeper.take(if self.frontier.is_over() { 0 } else { most }, self.out.len())?;
        let jobs = self.frontier.take(most, now);
        self.keeper.give_back(most - jobs.len());
        self.out.extend(jobs.iter().map(|job| Arc::from(key(job))));
        if permits + jobs.len() > 0 {
            self.under_way.note(self.out.iter().map(|name| &**name))?;
        }
        let leases = jobs.into_iter().map(|job| self.lease(job)).collect::<anyhow::Result<_>>()?;
        Ok(Taken { leases, pause: self.frontier.pause(now), is_over: self.frontier.is_over() })
    }
    // ANCHOR_END: exchange

    fn give_back(&mut self, leases: Vec<Lease>) -> anyhow::Result<()> {
        self.keeper.give_back(leases.len());
        for lease in leases {
            self.has_come_back(lease.job());
            self.frontier.give_back(lease.job().clone());
        }
        Ok(self.under_way.note(self.out.iter().map(|name| &**name))?)
    }
}

impl Store for Mutex<Disk> {
    type Lease = Lease;
    type Outcome = Outcome;
    type Error = anyhow::Error;

    fn exchange(&self, finished: Vec<(Lease, Outcome)>, most: usize) -> anyhow::Result<Taken<Lease>> {
        Disk::of(self).exchange(finished, most)
    }

    fn finish(&self) -> anyhow::Result<()> {
        Disk::of(self).keeper.flush()
    }

    fn give_back(&self, leases: Vec<Lease>) -> anyhow::Result<()> {
        Disk::of(self).give_back(leases)
    }

    fn status(&self) -> Status {
        Disk::of(self).frontier.status(Instant::now())
    }
}

impl Results for Mutex<Disk> {
    fn state(&self) -> Arc<State> {
        Arc::clone(&Disk::of(self).state)
    }

    fn unchanged(&self) -> usize {
        Disk::of(self).unchanged
    }

    fn beyond(&self) -> usize {
        Disk::of(self).beyond
    }

    fn has_seen(&self, url: &str) -> bool {
        Disk::of(self).frontier.has_seen(url)
    }
}

/// Returns the page together with the numbers of its tries and deaths in earlier runs.
fn tried(page: Job, tries: &HashMap<String, (u32, u32)>) -> Job {
    let (attempts, deaths) = tries.get(&*page.url).copied().unwrap_or_default();
    Job { attempts, deaths, ..page }
}

/// Returns true if a page that could not be fetched may be available now.
fn is_worth_a_try(record: &Record) -> bool {
    match record.progress {
        Progress::Failed => true,
        Progress::Fetched => record.status.is_some_and(|status| status == 429 || status >= 500),
        Progress::Waiting | Progress::Refused => false,
    }
}
