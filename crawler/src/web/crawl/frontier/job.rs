//! What a frontier takes and returns: jobs, limits, and trouble.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A page that was under way at this many deaths of the process is not fetched again.
pub const DEADLY: u32 = 3;

/// The rules of a site are valid for this long (RFC 9309, section 2.4).
pub const RULES_COUNT: Duration = Duration::from_hours(24);

/// The pause before the second try, and the longest pause; each pause is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The pause after a failed try, with `tries` failed tries before it.
pub fn pause_after(tries: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries)).min(LONGEST_PAUSE)
}

/// A piece of work: a page to fetch, or a site to ask.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Job {
    /// The page's address, normalised.
    pub url: Arc<str>,
    /// The site whose stripes the job uses: scheme, host and port.
    pub site: Arc<str>,
    /// How many links lead from the start to the page.
    pub depth: u32,
    /// How often the page was tried before.
    pub attempts: u32,
    /// How often the process died while the page was under way.
    pub deaths: u32,
    /// Whether the page is on another host and is asked for only to check that it exists.
    pub is_other: bool,
    /// What is fetched.
    pub kind: Kind,
}

/// What is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A page.
    Page,
    /// The rules of a site. The pages of the site wait for them. If the rules were known before, `attempts`
    /// is not zero, and the job asks whether the site is back.
    Robots,
}

impl Job {
    /// The job of a page that was found.
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

/// The limits that a crawl keeps.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many pages are taken on.
    pub pages: usize,
    /// How long a site may fail to answer.
    pub patience: Duration,
    /// How long a stripe rests after each page; a site may ask for more.
    pub delay: Duration,
    /// How many pages of a site are fetched at once. If a site asks for pauses, there is a pause between any
    /// two of its pages.
    pub per_site: usize,
}

/// What became of pages that were added.
#[derive(Debug, Default)]
pub struct Added {
    /// Pages that had not been seen before.
    pub new: Vec<Job>,
    /// How many pages were beyond the limit.
    pub left_out: usize,
}

/// Why a page could not be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The server is busy, and may have asked for a pause.
    Busy(Option<Duration>),
    /// There was no answer, or a broken answer.
    NoAnswer,
    /// There was no answer to the last try. The page is at fault only if its site answers.
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

/// What follows when a page could not be fetched, or a site could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The page is tried again after a pause. Other pages of its site go on.
    OfThePage,
    /// The site is paused for this long, and then asked.
    OfTheSite(Duration),
    /// The site is already paused, or was left to the next run.
    Known,
    /// The site is left to the next run. These pages of the site still wait.
    Left(Vec<Job>),
}
