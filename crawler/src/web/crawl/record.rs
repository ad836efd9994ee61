//! The record of a page in the state and in the graph.

use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The stored information about a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The progress of the work on the page.
    pub progress: Progress,
    /// The number of links that lead from the start to the page.
    pub depth: u32,
    /// The HTTP status of the server's answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The targets of the page's links, in the order of the links, including pages that are not crawled.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links: Vec<String>,
    /// The number of links that were not kept because they were too many or too long.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: usize,
    /// True if the page is longer than the part that was read.
    #[serde(skip_serializing_if = "is_no", default)]
    pub is_truncated: bool,
    /// The reason why the page could not be fetched, or why its redirect is not followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The address that the page names as its original.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy_of: Option<String>,
    /// True if the page is on another host and was requested only to check that it exists.
    #[serde(skip_serializing_if = "is_no", default)]
    pub is_other: bool,
    /// The names of the page's parts, if the crawl collects them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parts: Option<Vec<String>>,
    /// Links to parts of pages, each with the page and the name of the part.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fragments: Vec<(String, String)>,
    /// The time at which the page was finished, in seconds since 1970. The time is `None` if an earlier
    /// version of the program fetched the page without recording the time, or if the process died while it
    /// fetched the page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<u64>,
    /// The header field `ETag`, with which the page's server tells whether the page has changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub etag: Option<String>,
    /// The header field `Last-Modified`, which tells whether the page has changed if there is no `ETag`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modified: Option<String>,
}

/// The progress of the work on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// The page has not been fetched yet.
    Waiting,
    /// The server has answered, possibly with an error status.
    Fetched,
    /// The page was tried, but no try got a readable answer.
    Failed,
    /// `robots.txt` forbids the page.
    Refused,
}

impl Record {
    /// Returns the record of a page that was found but not fetched.
    pub fn waiting(depth: u32) -> Record {
        Record {
            progress: Progress::Waiting,
            depth,
            status: None,
            links: Vec::new(),
            left_out: 0,
            is_truncated: false,
            why: None,
            copy_of: None,
            is_other: false,
            parts: None,
            fragments: Vec::new(),
            at: None,
            etag: None,
            modified: None,
        }
    }

    /// Returns the record of a page that could not be fetched.
    pub fn failed(depth: u32, why: String) -> Record {
        Record { progress: Progress::Failed, why: Some(why), ..Record::waiting(depth) }
    }

    /// Returns the record with the current time as the time at which the page was finished.
    #[must_use]
    pub fn over_now(self) -> Record {
        Record { at: Some(since_1970().as_secs()), ..self }
    }

    /// Returns true if the page was finished at least `age` ago, and if no process died during its fetch.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let is_old = |at| since_1970().as_secs().saturating_sub(at) >= age.as_secs();
        match self.progress {
            Progress::Fetched => self.at.is_none_or(is_old),
            Progress::Failed => self.at.is_some_and(is_old),
            Progress::Waiting | Progress::Refused => false,
        }
    }
}

/// Returns the current time in the form that records in the state use.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_no(value: &bool) -> bool {
    !*value
}
