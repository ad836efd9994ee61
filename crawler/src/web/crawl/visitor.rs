//! What all threads of a run have in common: how pages are fetched, which of them belong to the crawl, and
//! what the command line says of sites.

use super::frontier::Job;
use super::save::Saver;
use crate::web::sites::urls::{Refused, Scope, host_key};
use hypertext_http::Fetcher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// How many notes are kept for the report.
const MOST_NOTES: usize = 100;

/// Asks [sites](super::rules) and visits [pages](super::visit). All threads share it.
pub struct Visitor {
    /// Fetches them.
    pub fetcher: Fetcher,
    /// Which pages belong to the crawl.
    pub scope: Scope,
    /// The name by which sites address the crawler.
    pub name: String,
    /// How often a page is tried again.
    pub retries: u32,
    /// How many links from the start are followed.
    pub depth: u32,
    /// The pause between two pages of a site; a site may ask for more.
    pub delay: Duration,
    /// Whether links to other hosts are checked.
    pub checks: bool,
    /// Whether the parts of pages are looked for.
    pub looks_for_parts: bool,
    /// Statuses that count as a good answer.
    pub accepted: Vec<u16>,
    /// Whether `robots.txt` is obeyed.
    pub heeds_robots: bool,
    /// Where pages are written.
    pub save: Option<Saver>,
    /// Notes on addresses that could not be fetched and are not pages.
    pub notes: Mutex<Vec<String>>,
}

impl Visitor {
    /// Returns the job for an address: a page of the crawl, or a page of another host if those are checked.
    pub fn job(&self, url: &Url, depth: u32) -> Option<Job> {
        let is_other = match self.scope.admits(url) {
            Ok(()) => false,
            Err(Refused::Host) if self.checks && !self.scope.excludes(url) => true,
            Err(_) => return None,
        };
        Some(Job { is_other, ..Job::page(url.as_str(), host_key(url), depth) })
    }

    /// Notes on addresses that could not be fetched and are not pages.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Keeps a sentence for the report.
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
