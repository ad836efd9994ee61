//! A worker's lease, its outcome, and the effect of the outcome on a page, in any store.

use super::frontier::{Failure, Job};
use super::record::Record;
use super::rules::{Asking, Rules, Step};
use super::visit::Visit;
use std::sync::Arc;

/// A page to fetch, or a site to ask for its rules or lists.
#[derive(Debug, Clone)]
pub enum Lease {
    /// A page, the rules of its site, and the record of an earlier run if the page is visited again.
    Page(Job, Arc<Rules>, Option<Box<Record>>),
    /// A site, and the next question to it.
    Site(Box<Asking>),
}

impl Lease {
    /// Returns the job to do.
    pub fn job(&self) -> &Job {
        match self {
            Lease::Page(job, ..) => job,
            Lease::Site(asking) => &asking.site,
        }
    }
}

impl AsRef<Lease> for Lease {
    fn as_ref(&self) -> &Lease {
        self
    }
}

/// The outcome of a lease.
#[derive(Debug)]
pub enum Outcome {
    /// The outcome of a page.
    Page(Visit),
    /// The outcome of a question to a site.
    Site(Box<Step>),
}

/// The effect of a visit on its page.
#[derive(Debug)]
pub enum Effect {
    /// The page is finished.
    Over {
        /// The new record of the page.
        record: Box<Record>,
        /// The pages to which this page links. The linked pages are added before this page is finished.
        links: Vec<Job>,
        /// True if the site has answered correctly.
        is_well: bool,
        /// True if a request was sent to the server, so that the next request must wait.
        was_asked: bool,
    },
    /// The page waits for another run; the variant has the reason.
    Left(String),
    /// The page could not be fetched, and is not finished.
    Failed(Failure),
    /// The file of the page cannot be written, so the crawl must end.
    Unwritten(anyhow::Error),
}

impl Effect {
    /// Returns the effect of a visit.
    pub fn of(visit: Visit) -> Effect {
        match visit {
            Visit::Over(record, links) => {
                let is_well = record.status.is_some_and(|status| status != 429 && status < 500);
                Effect::Over { record: Box::new(record.over_now()), links, is_well, was_asked: true }
            }
            Visit::Unchanged(record) => Effect::of(Visit::Over(record, Vec::new())),
            Visit::Forbidden(record) => {
                Effect::Over { record, links: Vec::new(), is_well: false, was_asked: false }
            }
            Visit::Waits(why) => Effect::Left(why),
            Visit::Again(failure) => Effect::Failed(failure),
            Visit::Unwritten(error) => Effect::Unwritten(error),
        }
    }
}

/// Returns the record of a page that is only checked, if its site does not answer: the missing answer is the
/// result of the check.
pub fn of_a_site_that_is_away(depth: u32, why: &str) -> Record {
    Record::failed(depth, format!("its site is away ({why})")).over_now()
}
