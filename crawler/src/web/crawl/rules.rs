//! Asks a site for its rules and its lists, with one request at a time, before any of its pages is fetched.
//!
//! ```text
//!             ┌── moved ──┐        ┌─ one list more ─┐
//!             ▼           │        ▼                 │
//!   begin ─▶ robots.txt ──┴────▶ lists ──────────────┴──▶ known
//!             ▲           │        ▲                 │
//!             └── later ──┘        └───── later ─────┘
//! ```
//!
//! Each step requests one file, and returns the time to wait before the next request. So there is a pause
//! between two requests to a site, and no thread waits during the pause.

use super::frontier::{Job, pause_after};
use super::visitor::Visitor;
use crate::web::sites::robots::{self, Robots};
use crate::web::sites::sitemap;
#[cfg(feature = "redis")]
use base64::prelude::{BASE64_STANDARD, Engine as _};
use executor::{CancelToken, Cancelled};
use hypertext_http::{FetchError, Fetched};
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use url::Url;

/// The largest number of lists of pages of a site.
const MOST_LISTS: usize = 20;

/// The number of redirects of `robots.txt` that are followed (RFC 9309, section 2.3.1.2).
const MOST_MOVES: usize = 5;

/// The reason that is recorded if fetching or reading a file panicked.
const PANICKED: &str = "reading it panicked, which is a bug of this program";

/// The rules of a site for the crawler.
#[derive(Debug, Clone)]
pub struct Rules {
    robots: Robots,
}

impl Rules {
    /// Returns the rules of a parsed file.
    pub(super) fn of(robots: Robots) -> Rules {
        Rules { robots }
    }

    /// Returns the rules of a text that another process has read. If the other process could not read the
    /// text, the rules allow nothing.
    #[cfg(feature = "redis")]
    pub(super) fn of_text(text: Option<&[u8]>, visitor: &Visitor) -> Rules {
        Rules::of(match text {
            _ if !visitor.heeds_robots => Robots::all(),
            Some(text) => Robots::parse(text, &visitor.name),
            None => Robots::none(),
        })
    }

    /// Returns rules that forbid nothing.
    pub fn none() -> Rules {
        Rules { robots: Robots::all() }
    }

    /// Returns true if the page may be fetched.
    pub fn allow(&self, url: &Url) -> bool {
        self.robots.allows(url)
    }

    /// Returns the pause for which the site asks.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.robots.crawl_delay()
    }
}

/// A site that is being asked for its rules and lists.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The job that represents the site.
    pub site: Job,
    rules: Option<Rules>,
    /// The text of the rules, if it was read. The text is empty if the site has no `robots.txt`.
    text: Option<Vec<u8>>,
    /// The files that are still to be requested. The first file is `robots.txt`, and the lists follow. The
    /// file at the front of the queue is the next to be requested.
    next: VecDeque<Url>,
    /// Every address that was ever in `next`; the crawler needs these addresses because a list may name
    /// itself.
    seen: HashSet<Url>,
    /// The number of earlier tries of the file that is next.
    attempts: u32,
    pages: Vec<Job>,
}

/// A site that is being asked for its rules or lists, in the form that is sent to other processes.
#[cfg(feature = "redis")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Asked {
    is_read: bool,
    text: Option<String>,
    next: Vec<String>,
    seen: Vec<String>,
    attempts: u32,
    pages: Vec<String>,
}

/// The result of a request to a site.
#[derive(Debug)]
pub enum Step {
    /// There are more files to request, but only after the given pause.
    Next(Asking, Duration),
    /// The site's rules and lists are known.
    Known {
        /// The job that represents the site.
        site: Job,
        /// The rules of the site.
        rules: Rules,
        /// The text of the `robots.txt` that contains the rules, if the file was read.
        text: Option<Vec<u8>>,
        /// The pages that the site lists.
        listed: Vec<Job>,
    },
    /// The site does not answer. The variant contains the reason of the failure; if the site has asked for a
    /// pause, it also contains the pause. The rules of the site could forbid anything, so the site must be
    /// asked again (RFC 9309, section 2.3.1.4).
    Away(Job, String, Option<Duration>),
}

impl Asking {
    /// Returns the state of a site that has not been asked yet.
    pub fn begin(site: Job) -> Asking {
        let robots = Url::parse(&site.url).and_then(|url| url.join("/robots.txt"));
        let mut asking = Asking {
            site,
            rules: None,
            text: None,
            next: VecDeque::new(),
            seen: HashSet::new(),
            attempts: 0,
            pages: Vec::new(),
        };
        if let Ok(robots) = robots {
            asking.ask(robots);
        }
        asking
    }

    /// Returns everything that another process needs to continue from this state.
    #[cfg(feature = "redis")]
    pub(super) fn to_text(&self) -> String {
        let urls = |urls: &mut dyn Iterator<Item = &Url>| urls.map(Url::to_string).collect();
        let pages = self.pages.iter().map(|page| page.url.to_string());
        let asked = Asked {
            is_read: self.rules.is_some(),
            text: self.text.as_ref().map(|text| BASE64_STANDARD.encode(text)),
            next: urls(&mut self.next.iter()),
            seen: urls(&mut self.seen.iter()),
            attempts: self.attempts,
            pages: pages.collect(),
        };
        serde_json::to_string(&asked).expect("numbers and texts")
    }

    /// Returns the state of a site that another process has partly asked. If the text cannot be parsed, the
    /// site is asked from the beginning.
    #[cfg(feature = "redis")]
    pub(super) fn from_text(site: Job, text: &str, visitor: &Visitor) -> Asking {
        let Ok(asked) = serde_json::from_str::<Asked>(text) else { return Asking::begin(site) };
        let parsed = |urls: Vec<String>| urls.into_iter().filter_map(|url| Url::parse(&url).ok());
        let text = asked.text.and_then(|text| BASE64_STANDARD.decode(text).ok());
        Asking {
            site,
            rules: asked.is_read.then(|| Rules::of_text(text.as_deref(), visitor)),
            text,
            next: parsed(asked.next).collect(),
            seen: parsed(asked.seen).collect(),
            attempts: asked.attempts,
            pages: parsed(asked.pages).filter_map(|page| visitor.job(&page, 0)).collect(),
        }
    }

    /// Returns true if this request only checks whether the site answers again.
    fn is_again(&self) -> bool {
        self.site.attempts > 0
    }

    fn ask(&mut self, url: Url) {
        if self.seen.insert(url.clone()) {
            self.next.push_back(url);
        }
    }

    // ANCHOR: step
    /// Requests the next file. If reading an answer panics, there is no answer.
    ///
    /// # Errors
    /// Fails if `token` was cancelled.
    pub fn step(mut self, visitor: &Visitor, token: &CancelToken) -> Result<Step, Cancelled> {
        let is_wanted = visitor.heeds_robots || self.is_again();
        let Some(url) = self.next.front().filter(|_| is_wanted) else { return Ok(self.known()) };
        // The limit is increased by one byte, so that a longer file is recognised as cut off.
        let most = if self.rules.is_none() { robots::LOOKED_AT } else { sitemap::LARGEST } as u64 + 1;
        let answer = match catch_unwind(AssertUnwindSafe(|| visitor.fetcher.fetch_up_to(url, most, token))) {
            Ok(Err(FetchError::Cancelled(cancelled))) => return Err(cancelled),
            Ok(Ok(_)) if !visitor.heeds_robots => Answer::Nowhere(String::new()), // the site answers
            Ok(answer) => Answer::of(answer),
            Err(_) => Answer::Later(PANICKED.to_owned(), None),
        };
        match answer {
            Answer::Later(why, asked) if self.rules.is_none() => {
                return Ok(Step::Away(self.site, why, asked));
            }
            Answer::Later(_, asked) if self.attempts < visitor.retries => {
                let pause = asked.unwrap_or_default().max(pause_after(self.attempts));
                self.attempts += 1;
                return Ok(Step::Next(self, pause));
            }
            answer => self.read(visitor, answer),
        }
        if self.next.is_empty() {
            return Ok(self.known());
        }
        let pause = self.rules.as_ref().and_then(Rules::crawl_delay).unwrap_or_default();
        Ok(Step::Next(self, pause.max(visitor.delay)))
    }
    // ANCHOR_END: step

    fn read(&mut self, visitor: &Visitor, answer: Answer) {
        let Some(url) = self.next.pop_front() else { return };
        self.attempts = 0;
        let is_robots = self.rules.is_none();
        let read = catch_unwind(AssertUnwindSafe(|| {
            if is_robots { self.robots(visitor, &url, answer) } else { self.list(visitor, &url, answer) }
        }));
        let trouble = read.unwrap_or_else(|_| Err(PANICKED.to_owned()));
        if let Err(why) = trouble {
            if is_robots {
                visitor.note(format!(
                    "{url}, the rules of a site, cannot be read, so nothing is allowed: {why}"
                ));
                self.rules = Some(Rules { robots: Robots::none() });
            } else {
                visitor.note(format!("{url}, a list of pages, cannot be had, or not all of it: {why}"));
            }
        }
    }

    fn robots(&mut self, visitor: &Visitor, url: &Url, answer: Answer) -> Result<(), String> {
        let robots = match answer {
            Answer::Here(body) => {
                let robots = Robots::parse(&body, &visitor.name);
                if body.len() > robots::LOOKED_AT && !self.is_again() {
                    visitor.note(format!(
                        "{url}, the rules of a site, is longer than 512 KiB: the rest was not read"
                    ));
                }
                self.text = Some(body);
                robots
            }
            Answer::Elsewhere(location) if self.seen.len() <= MOST_MOVES => {
                self.ask(location);
                if !self.next.is_empty() {
                    return Ok(());
                }
                self.text = Some(Vec::new());
                Robots::all() // it leads back to itself
            }
            // The file does not exist, or it is at an address that the crawler does not visit. The pages of
            // the site may be at an excluded address, too; then the visit of each page reports the reason.
            Answer::Nowhere(_) | Answer::Elsewhere(_) => {
                self.text = Some(Vec::new());
                Robots::all()
            }
            Answer::Later(why, _) => return Err(why),
        };
        if self.is_again() || !visitor.heeds_robots {
            self.next.clear(); // its lists are known
        } else {
            robots.sitemaps(url).into_iter().for_each(|list| self.ask_for_list(visitor, list));
        }
        if visitor.heeds_robots {
            self.rules = Some(Rules { robots });
        } else {
            (self.rules, self.text) = (Some(Rules::none()), None);
        }
        Ok(())
    }

    fn list(&mut self, visitor: &Visitor, url: &Url, answer: Answer) -> Result<(), String> {
        let body = match answer {
            Answer::Here(body) => body,
            Answer::Elsewhere(location) => {
                self.ask_for_list(visitor, location);
                return Ok(());
            }
            Answer::Nowhere(why) | Answer::Later(why, _) => return Err(why),
        };
        let list = sitemap::parse(&body, sitemap::MOST, url);
        let trouble = list.trouble();
        self.pages.extend(list.pages.iter().filter_map(|page| visitor.job(page, 0)));
        list.indexes.into_iter().for_each(|list| self.ask_for_list(visitor, list));
        trouble.map_or(Ok(()), Err)
    }

    fn ask_for_list(&mut self, visitor: &Visitor, list: Url) {
        if visitor.scope.admits(&list).is_err() || self.seen.contains(&list) {
            return;
        }
        if self.seen.len() < MOST_MOVES + MOST_LISTS {
            self.ask(list);
        } else {
            visitor.note(format!("{list}, a list of pages, was left out: the site has too many"));
        }
    }

    fn known(self) -> Step {
        let rules = self.rules.unwrap_or_else(Rules::none);
        Step::Known { site: self.site, rules, text: self.text, listed: self.pages }
    }
}

/// The part of an answer that is needed for rules and lists.
enum Answer {
    Here(Vec<u8>),
    Elsewhere(Url),
    /// The file does not exist, or this crawler must not fetch it, for the given reason.
    Nowhere(String),
    /// The file may exist later: the variant has the reason, and the pause that the server asks for.
    Later(String, Option<Duration>),
}

impl Answer {
    fn of(answer: Result<Fetched, FetchError>) -> Answer {
        match answer {
            Ok(fetched) if fetched.is_busy() => {
                Answer::Later(format!("status {}", fetched.status), fetched.retry_after)
            }
            Ok(Fetched { unread: Some(why), .. }) => Answer::Later(why, None),
            Ok(Fetched { status: 200, body, .. }) => Answer::Here(body),
            Ok(Fetched { location: Some(location), .. }) => Answer::Elsewhere(location),
            Ok(fetched) => Answer::Nowhere(format!("status {}", fetched.status)),
            Err(error) if error.is_transient() => Answer::Later(error.to_string(), None),
            Err(error) => Answer::Nowhere(error.to_string()),
        }
    }
}
