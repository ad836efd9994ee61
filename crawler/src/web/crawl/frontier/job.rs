//! The inputs and outputs of a frontier: jobs, limits, and failures.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The number of deaths after which a page is given up: the process died this many times while it fetched the
/// page.
pub const DEADLY: u32 = 3;

/// The time for which the rules of a site are valid (RFC 9309, section 2.4).
pub const RULES_COUNT: Duration = Duration::from_hours(24);

/// The pause before the second try, and the longest pause; each pause is twice the previous pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Returns the pause after a failed try; `tries` is the number of failed tries before that try.
pub fn pause_after(tries: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries)).min(LONGEST_PAUSE)
}

/// A unit of work: a page to fetch, or a site to ask for its rules or lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Job {
    /// The page's address in normalised form.
    pub url: Arc<str>,
    /// The site whose stripes the job uses, as scheme, host and port.
    pub site: Arc<str>,
    /// The number of links that lead from the start to the page.
    pub depth: u32,
    /// The number of earlier tries of the page.
    pub attempts: u32,
    /// The number of times that the process died while it fetched the page.
    pub deaths: u32,
    /// True if the page is on another host and is requested only to check that it exists.
    pub is_other: bool,
    /// The kind of document that the job fetches.
    pub kind: Kind,
}

/// The kind of document that a job fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page.
    Page,
    /// The rules of a site. The pages of the site wait until the rules are known. If the rules were known
    /// before, `attempts` is not zero, and the job checks whether the site answers again.
    Robots,
}

impl Job {
    /// Returns the job of a page that was found.
    pub fn page(url: impl Into<Arc<str>>, site: impl Into<Arc<str>>, depth: u32) -> Job {
        Job {
            url: url.into(),
            site: site.into(),
            depth,
            attempts: 0,
            deaths: 0,
            is_other: false,
            kind: Kind::Page,
        }
    }
}

/// The limits that a crawl obeys.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest number of pages in the crawl.
    pub pages: usize,
    /// The time for which a site may fail to answer.
    pub patience: Duration,
    /// The time that a stripe rests after each page; a site may ask for a longer rest.
    pub delay: Duration,
    /// How many pages of a site are fetched at the same time. If a site asks for pauses, the crawler pauses
    /// between any two pages of the site.
    pub per_site: usize,
}

/// The result of adding pages.
#[derive(Debug, Default)]
pub struct Added {
    /// Pages that had not been seen before.
    pub new: Vec<Job>,
    /// The number of pages that were not added because they are beyond the limit.
    pub left_out: usize,
}

/// The reason why a page could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The server is busy, and may have asked for a pause.
    Busy(Option<Duration>),
    /// There was no answer, or the answer was broken.
    NoAnswer,
    /// There was no answer to the last try. A page without an answer counts as failed only if the site of the
    /// page answers.
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

/// The consequence of a failure to fetch a page or to ask a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The page is tried again after a pause. During the pause, other pages of the site are fetched.
    OfThePage,
    /// The site is paused for this time, and is then asked for its rules again.
    OfTheSite(Duration),
    /// The site is already paused, or was already left to the next run.
    Known,
    /// The site is left to the next run. The variant contains the waiting pages of the site.
    Left(Vec<Job>),
}
