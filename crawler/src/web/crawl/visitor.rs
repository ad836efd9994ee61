//! The data that all threads of a run share: how pages are fetched, which pages belong to the crawl, and the
//! command-line flags that concern sites.

use super::frontier::Job;
use super::save::Saver;
use crate::web::sites::urls::{Refused, Scope, host_key};
use hypertext_http::Fetcher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// The largest number of notes that are kept for the report.
const MOST_NOTES: usize = 100;

/// Asks [sites](super::rules) and visits [pages](super::visit); all threads of a run share one visitor.
pub struct Visitor {
    /// The client that fetches pages.
    pub fetcher: Fetcher,
    /// The rules that decide which pages belong to the crawl.
    pub scope: Scope,
    /// The name by which sites address the crawler.
    pub name: String,
    /// The number of times that a page is tried again.
    pub retries: u32,
    /// The largest depth: the number of links from the start that the crawl follows.
    pub depth: u32,
    /// The pause between two pages of a site; a site may ask for a longer pause.
    pub delay: Duration,
    /// True if links to other hosts are checked.
    pub checks: bool,
    /// True if the crawl collects the parts of pages.
    pub looks_for_parts: bool,
    /// Statuses that count as a good answer.
    pub accepted: Vec<u16>,
    /// True if the crawl obeys `robots.txt`.
    pub heeds_robots: bool,
    /// The saver that writes pages to files.
    pub save: Option<Saver>,
    /// Notes on addresses that could not be fetched and are not pages.
    pub notes: Mutex<Vec<String>>,
}

impl Visitor {
    /// Returns the job for an address: a page of the crawl, or a page of another host if pages of other
    /// hosts are checked.
    pub fn job(&self, url: &Url, depth: u32) -> Option<Job> {
        let is_other = match self.scope.admits(url) {
            Ok(()) => false,
            Err(Refused::Host) if self.checks && !self.scope.excludes(url) => true,
            Err(_) => return None,
        };
        Some(Job { is_other, ..Job::page(url.as_str(), host_key(url), depth) })
    }

    /// Returns the notes on addresses that could not be fetched and are not pages.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Records a sentence for the report.
    pub fn note(&self, sentence: String) {
        let mut notes = lock(&self.notes);
        if notes.len() < MOST_NOTES {
            notes.push(sentence);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
