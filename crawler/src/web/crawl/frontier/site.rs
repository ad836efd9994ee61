//! A site: its stripes, its waiting pages, and its recent failures.

use super::{Job, Kind, SiteNow};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of a site")]
pub(super) struct Site {
    /// The number of the site's stripes, which is zero while the site is closed.
    pub(super) stripes: usize,
    /// The number of stripes that have a page or are resting.
    pub(super) taken: usize,
    /// The number of pages that were finished in this run.
    pub(super) over: usize,
    /// The time that a stripe rests.
    pub(super) delay: Duration,
    /// The waiting pages, by depth: pages near the start come first.
    pub(super) waiting: BTreeMap<u32, VecDeque<Waiting>>,
    /// True if the site must be asked now.
    pub(super) must_be_asked: bool,
    /// True if the site's rules were known before the site was closed.
    pub(super) is_known: bool,
    /// The time at which the site's rules become invalid.
    pub(super) rules_end: Option<Instant>,
    /// The number of times that the process died while it asked the site.
    pub(super) deaths: u32,
    pub(super) is_ready: bool,
    /// The number of failures in a row.
    pub(super) failures: u32,
    /// The number of pauses of the site in a row.
    pub(super) rests: u32,
    /// The number of times that the site was asked and did not answer.
    pub(super) outages: u32,
    /// True if the server has said, in one of the answers that count as failures in a row, that it is busy.
    /// After an answer that said that the server is busy, only a fetched page shows that the site works.
    pub(super) is_busy: bool,
    /// The time of the first of the failures in a row.
    pub(super) since: Option<Instant>,
    /// The value of `outages` when the site was closed.
    pub(super) outages_before: u32,
    /// Pages whose try failed and closed the site, or failed while the site was closed.
    pub(super) aside: Vec<Job>,
    pub(super) is_left: bool,
    /// True if only links to the site are checked.
    pub(super) is_other: bool,
}

/// A page that waits to be fetched. The page's site and depth are determined by the collection that contains
/// the page.
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

    /// Puts a page in front of all other pages of its depth. The last try of the page counts, unless a
    /// question to the site has stayed unanswered (see `outages`) since this try.
    pub(super) fn put_back(&mut self, page: Job, outages: u32) {
        let attempts = page.attempts + u32::from(self.outages == outages);
        let waiting = Waiting { url: page.url, attempts, deaths: page.deaths };
        self.waiting.entry(page.depth).or_default().push_front(waiting);
    }

    /// Removes and returns all waiting pages.
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
