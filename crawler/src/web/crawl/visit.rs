//! Visits one page: requests it, reads it, and records its content and its links.

use super::frontier::{Failure, Job};
use super::record::{Progress, Record};
use super::rules::Rules;
use super::visitor::Visitor;
use crate::web::sites::links::{Links, links, of_head};
use crate::web::sites::urls::{Refused, normalise};
use executor::{CancelToken, Cancelled};
use hypertext_http::{FetchError, Fetched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use url::Url;

/// The largest number of links that are taken from one page.
const MOST_LINKS: usize = 10_000;

/// The outcome of a visit.
#[derive(Debug)]
pub enum Visit {
    /// The page is finished. The page links to the given pages.
    Over(Box<Record>, Vec<Job>),
    /// The page was visited before and has not changed since. The value is the record of the page.
    Unchanged(Box<Record>),
    /// The page must be visited again.
    Again(Failure),
    /// The page is finished, but no request was sent to its server, because `robots.txt` forbids the page or
    /// because the page does not belong to this crawl.
    Forbidden(Box<Record>),
    /// The page cannot be fetched in this run, for the given reason, and waits for another run.
    Waits(String),
    /// The page was fetched, but its file cannot be written. The page is not finished, and the crawl must
    /// end.
    Unwritten(anyhow::Error),
}

impl Visitor {
    /// Visits a page unless the `rules` of its site forbid it, and waits for the page's server. If reading a
    /// page panics, the page counts as failed. If the page was visited before, `before` is the record of the
    /// page.
    ///
    /// # Errors
    /// Fails if `token` was cancelled; then the visit has no result.
    pub fn visit(
        &self,
        job: &Job,
        rules: &Rules,
        before: Option<&Record>,
        token: &CancelToken,
    ) -> Result<Visit, Cancelled> {
        catch_unwind(AssertUnwindSafe(|| self.try_to_visit(job, rules, before, token))).unwrap_or_else(|_| {
            let why = "reading it panicked, which is a bug of this program";
            Ok(failed(Record::waiting(job.depth), why.to_owned()))
        })
    }

    fn try_to_visit(
        &self,
        job: &Job,
        rules: &Rules,
        before: Option<&Record>,
        token: &CancelToken,
    ) -> Result<Visit, Cancelled> {
        let mut record = Record::waiting(job.depth);
        let Ok(url) = Url::parse(&job.url) else { return Ok(failed(record, "it is no address".to_owned())) };
        match self.scope.admits(&url) {
            Ok(()) => (),
            Err(Refused::Host) if self.checks => record.is_other = true,
            Err(refused) => return Ok(Visit::Waits(refused.to_string())),
        }
        if !rules.allow(&url) {
            record.progress = Progress::Refused;
            return Ok(Visit::Forbidden(Box::new(record)));
        }
        let before = before.filter(|before| self.has_all_of(&url, before));
        let condition = before.and_then(condition);
        let fetched = match self.fetcher.fetch_with(&url, condition.as_slice(), token) {
            Ok(Fetched { status: 304, .. }) if condition.is_some() => {
                return Ok(Visit::Unchanged(Box::new(before.cloned().unwrap_or(record))));
            }
            Err(FetchError::Cancelled(cancelled)) => return Err(cancelled),
            answer => match self.readable(job, &record, answer) {
                Ok(fetched) => fetched,
                Err(visit) => return Ok(visit),
            },
        };
        record.progress = Progress::Fetched;
        record.status = Some(fetched.status);
        record.is_truncated = fetched.is_truncated;
        if matches!(fetched.status, 200 | 203) {
            record.etag.clone_from(&fetched.etag);
            record.modified = fetched.modified.clone().filter(|_| record.etag.is_none());
        }
        let found = self.read(job, &url, &fetched, &mut record, token)?;
        Ok(match self.save(&url, &fetched, &record) {
            Ok(()) => Visit::Over(Box::new(record), found),
            Err(error) => Visit::Unwritten(error.context(format!("{url} cannot be written"))),
        })
    }

    /// Returns a readable answer, or the result of the visit if there is no readable answer.
    fn readable(
        &self,
        job: &Job,
        record: &Record,
        answer: Result<Fetched, FetchError>,
    ) -> Result<Fetched, Visit> {
        let failed = |status, why| failed(Record { status, ..record.clone() }, why);
        match answer {
            Err(error) if error.is_transient() && job.attempts < self.retries => {
                Err(Visit::Again(Failure::NoAnswer))
            }
            // If the site answers afterwards, the page is tried once more.
            Err(error) if error.is_silence() && job.attempts == self.retries && !job.is_other => {
                Err(Visit::Again(Failure::Unanswered))
            }
            Err(FetchError::Unusable(why)) => Err(Visit::Waits(why)),
            Err(error) => Err(failed(None, error.to_string())),
            Ok(fetched)
                if fetched.is_busy()
                    && job.attempts < self.retries
                    && !self.accepted.contains(&fetched.status) =>
            {
                Err(Visit::Again(Failure::Busy(fetched.retry_after)))
            }
            Ok(Fetched { status, unread: Some(why), .. }) => Err(failed(Some(status), why)),
            Ok(fetched) => Ok(fetched),
        }
    }

    /// Records the links of a page, and returns the linked pages that belong to the crawl.
    fn read(
        &self,
        job: &Job,
        url: &Url,
        fetched: &Fetched,
        record: &mut Record,
        token: &CancelToken,
    ) -> Result<Vec<Job>, Cancelled> {
        if let Some(location) = &fetched.location {
            let location = normalise(location.clone());
            record.links = vec![location.to_string()];
            return Ok(self.moved(&location, job).into_iter().collect());
        }
        if (300..400).contains(&fetched.status) {
            record.why = Some(format!("status {}, and no address that it leads to", fetched.status));
        }
        let is_html =
            fetched.content_type.as_ref().is_none_or(|kind| kind.to_ascii_lowercase().contains("html"));
        if !matches!(fetched.status, 200..=203) {
            return Ok(Vec::new());
        }
        // If a page asks crawlers not to follow its links, the page counts as a page without links.
        let content_type = fetched.content_type.as_deref();
        let read = if is_html {
            links(&fetched.body, content_type, url, MOST_LINKS, token)?
        } else {
            Links::default()
        };
        let Links { mut links, canonical, left_out, parts, fragments, nofollow } = read;
        let head = of_head(&fetched.link, fetched.refresh.as_deref(), url);
        let more: Vec<_> = head.links.into_iter().filter(|link| !links.contains(link)).collect();
        links.extend(more);
        let canonical = canonical.or(head.canonical);
        if self.looks_for_parts {
            record.parts = Some(parts).filter(|_| is_html && !fetched.is_truncated);
            record.fragments = fragments;
        }
        if record.is_other {
            record.fragments.clear();
            return Ok(Vec::new());
        }
        if fetched.is_nofollow || nofollow {
            links.clear();
        }
        record.left_out = if fetched.is_nofollow { 0 } else { left_out };
        record.links = links.iter().map(Url::to_string).collect();
        let canonical =
            canonical.filter(|canonical| canonical != url && self.scope.admits(canonical).is_ok());
        record.copy_of = canonical.as_ref().map(Url::to_string);
        let original = canonical.iter().filter_map(|canonical| self.moved(canonical, job));
        let followed = links.iter().filter(|_| job.depth < self.depth);
        Ok(original.chain(followed.filter_map(|link| self.job(link, job.depth + 1))).collect())
    }

    /// If a page has moved, returns the job for its new address. The redirect counts as a link, because
    /// otherwise a chain of redirects might have no end. One redirect is followed even at the last depth.
    fn moved(&self, url: &Url, job: &Job) -> Option<Job> {
        (job.depth <= self.depth).then(|| self.job(url, job.depth + 1)).flatten()
    }

    /// Returns true if the record of a page has all data that this run needs, so that an unchanged page
    /// need not be read.
    fn has_all_of(&self, url: &Url, before: &Record) -> bool {
        let is_whole = before.progress == Progress::Fetched && !before.is_truncated;
        let has_parts = !self.looks_for_parts || before.parts.is_some();
        let file = self.save.as_ref().filter(|_| !before.is_other && before.copy_of.is_none());
        is_whole && has_parts && file.is_none_or(|saver| saver.has(url))
    }

    /// Writes the file of a page before the state records the page as fetched: a file that is written twice
    /// is better than a file that is missing.
    fn save(&self, url: &Url, fetched: &Fetched, record: &Record) -> anyhow::Result<()> {
        match &self.save {
            Some(saver)
                if !record.is_other && matches!(fetched.status, 200 | 203) && record.copy_of.is_none() =>
            {
                saver.write(url, &fetched.body)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the header field that tells a server which version of a page is known. A server ignores a date
/// if there is an `ETag` (RFC 9110, section 13.1.3).
fn condition(before: &Record) -> Option<(&str, &str)> {
    let etag = before.etag.as_deref().map(|etag| ("if-none-match", etag));
    etag.or(before.modified.as_deref().map(|modified| ("if-modified-since", modified)))
}

fn failed(record: Record, why: String) -> Visit {
    let is_other = record.is_other;
    Visit::Over(
        Box::new(Record { status: record.status, is_other, ..Record::failed(record.depth, why) }),
        Vec::new(),
    )
}
