//! What is known of a page, as the state and the graph have it.

use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is known of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How far the work on the page is.
    pub progress: Progress,
    /// How many links lead from the start to the page.
    pub depth: u32,
    /// What the server said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The pages to which it links, in the order of the links, including pages that are not crawled.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links: Vec<String>,
    /// How many links were not kept because they were too many or too long.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: usize,
    /// The page is longer than the part that was read.
    #[serde(skip_serializing_if = "is_no", default)]
    pub is_truncated: bool,
    /// Why the page could not be fetched, or why its redirect is not followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// The page that this page names as its original.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy_of: Option<String>,
    /// The page is on another host, and was asked for only to check that it exists.
    #[serde(skip_serializing_if = "is_no", default)]
    pub is_other: bool,
    /// The names of the page's parts, if they were looked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parts: Option<Vec<String>>,
    /// Links to parts of pages: the page, and the name of the part.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fragments: Vec<(String, String)>,
    /// When the page was over, in seconds since 1970. `None` if the page was fetched by a version that
    /// did not note this, or if the process died while fetching it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<u64>,
    /// The field `ETag`, by which its server tells whether the page has changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub etag: Option<String>,
    /// The field `Last-Modified`, which tells this if there is no `ETag`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modified: Option<String>,
}

/// How far the work on a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// The page has not been fetched yet.
    Waiting,
    /// The server has answered, perhaps only that the page does not exist.
    Fetched,
    /// No try had an answer that can be read.
    Failed,
    /// `robots.txt` forbids the page.
    Refused,
}

impl Record {
    /// The record of a page that was found.
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

    /// The record of a page that could not be fetched.
    pub fn failed(depth: u32, why: String) -> Record {
        Record { progress: Progress::Failed, why: Some(why), ..Record::waiting(depth) }
    }

    /// The record of a page that is over from now on.
    #[must_use]
    pub fn over_now(self) -> Record {
        Record { at: Some(since_1970().as_secs()), ..self }
    }

    /// Whether the page has been over for `age`, and no process has died at it.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let is_old = |at| since_1970().as_secs().saturating_sub(at) >= age.as_secs();
        match self.progress {
            Progress::Fetched => self.at.is_none_or(is_old),
            Progress::Failed => self.at.is_some_and(is_old),
            Progress::Waiting | Progress::Refused => false,
        }
    }
}

/// The time now, as records and other notes in the state have it.
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
