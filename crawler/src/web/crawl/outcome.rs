//! A worker's lease, its outcome, and what follows from that for a page, in any store.

use super::frontier::{Failure, Job};
use super::record::Record;
use super::rules::{Asking, Rules, Step};
use super::visit::Visit;
use std::sync::Arc;

/// A page to fetch, or a site to ask.
#[derive(Debug, Clone)]
pub enum Lease {
    /// A page, the rules of its site, and what an earlier run knows of the page if it is visited again.
    Page(Job, Arc<Rules>, Option<Box<Record>>),
    /// A site, and the next question to it.
    Site(Box<Asking>),
}

impl Lease {
    /// The job to do.
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

/// What follows from a visit.
#[derive(Debug)]
pub enum Effect {
    /// The page is over.
    Over {
        /// What is known of the page now.
        record: Box<Record>,
        /// The pages that it links to. These pages are taken on before this page is over.
        links: Vec<Job>,
        /// The site has answered as it should.
        is_well: bool,
        /// The server was asked, and must be left alone for a while.
        was_asked: bool,
    },
    /// The page waits for another run, for this reason.
    Left(String),
    /// The page could not be fetched, and is not over.
    Failed(Failure),
    /// The file of the page cannot be written: the crawl cannot go on.
    Unwritten(anyhow::Error),
}

impl Effect {
    /// The effect of a visit.
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

/// The record of a page whose site does not answer, if only links to it are checked: then this is the answer.
pub fn of_a_site_that_is_away(depth: u32, why: &str) -> Record {
    Record::failed(depth, format!("its site is away ({why})")).over_now()
}
