//! A site: its stripes, the pages that wait at it, and whether it is well.

use super::{Job, Kind, SiteNow};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of a site")]
pub(super) struct Site {
    /// How many stripes the site has: zero while it is closed.
    pub(super) stripes: usize,
    /// How many stripes have a page, or rest.
    pub(super) taken: usize,
    /// How many pages are over, in this run.
    pub(super) over: usize,
    /// How long a stripe rests.
    pub(super) delay: Duration,
    /// Pages that wait, by depth: those near the start come first.
    pub(super) waiting: BTreeMap<u32, VecDeque<Waiting>>,
    /// The site must be asked now.
    pub(super) must_be_asked: bool,
    /// The site's rules were known before it was closed.
    pub(super) is_known: bool,
    /// When the site's rules are no longer valid.
    pub(super) rules_end: Option<Instant>,
    /// How often the process died while the site was being asked.
    pub(super) deaths: u32,
    pub(super) is_ready: bool,
    /// How many failures there were in a row.
    pub(super) failures: u32,
    /// How often the site was paused, in a row.
    pub(super) rests: u32,
    /// How often the site did not answer when it was asked.
    pub(super) outages: u32,
    /// One of the failures in a row was that the server is busy. Then only a fetched page shows that the site
    /// is well.
    pub(super) is_busy: bool,
    /// When the first of the failures in a row happened.
    pub(super) since: Option<Instant>,
    /// The value of `outages` when the site was closed.
    pub(super) outages_before: u32,
    /// Pages that failed while the site was being closed, and after that.
    pub(super) aside: Vec<Job>,
    pub(super) is_left: bool,
    /// Only links to the site are checked.
    pub(super) is_other: bool,
}

/// A page that waits. Its site and its depth are known from where it is kept.
pub(super) struct Waiting {
    pub(super) url: Arc<str>,
    pub(super) attempts: u32,
    pub(super) deaths: u32,
}

impl Site {
    pub(super) fn recover(&mut self) {
        (self.failures, self.rests, self.since, self.is_busy) = (0, 0, None, false);
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    pub(super) fn can_hand_out(&self) -> bool {
        self.must_be_asked || self.taken < self.stripes && !self.waiting.is_empty()
    }

    /// Puts a page before all others of its depth. The try counts if no question to the site was unanswered
    /// since then.
    pub(super) fn put_back(&mut self, page: Job, outages: u32) {
        let attempts = page.attempts + u32::from(self.outages == outages);
        let waiting = Waiting { url: page.url, attempts, deaths: page.deaths };
        self.waiting.entry(page.depth).or_default().push_front(waiting);
    }

    /// Takes all pages that wait.
    pub(super) fn leave(&mut self, name: &Arc<str>) -> Vec<Job> {
        self.is_left = true;
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let waiting = waiting.flat_map(|(depth, pages)| pages.into_iter().map(move |page| (depth, page)));
        let is_other = self.is_other;
        let job = |(depth, Waiting { url, attempts, deaths })| Job {
            attempts,
            deaths,
            is_other,
            ..Job::page(url, Arc::clone(name), depth)
        };
        std::mem::take(&mut self.aside).into_iter().chain(waiting.map(job)).collect()
    }

    /// Returns the question for the rules, or else the page nearest to the start, if a stripe is free for
    /// it.
    pub(super) fn next(&mut self, name: &Arc<str>, now: Instant) -> Option<Job> {
        if self.stripes > 0 && self.rules_end.is_some_and(|end| end <= now) {
            (self.stripes, self.is_known, self.must_be_asked) = (0, false, true);
            self.outages_before = self.outages;
        }
        if self.must_be_asked {
            self.must_be_asked = false;
            let url = format!("{name}/");
            let job = Job {
                attempts: u32::from(self.is_known),
                deaths: self.deaths,
                is_other: self.is_other,
                kind: Kind::Robots,
                ..Job::page(url, Arc::clone(name), 0)
            };
            return Some(job);
        }
        if self.taken >= self.stripes {
            return None;
        }
        let mut first = self.waiting.first_entry()?;
        let depth = *first.key();
        let page = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        let Waiting { url, attempts, deaths } = page?;
        self.taken += 1;
        Some(Job { attempts, deaths, is_other: self.is_other, ..Job::page(url, Arc::clone(name), depth) })
    }

    pub(super) fn now(&self, name: &Arc<str>, now: Instant) -> SiteNow {
        let away = self.since.filter(|_| self.stripes == 0).map(|since| now.saturating_duration_since(since));
        let waiting = self.waiting() + self.aside.len();
        SiteNow { name: Arc::clone(name), waiting, taken: self.taken, over: self.over, away }
    }
}
