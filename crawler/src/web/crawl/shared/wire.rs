//! The messages between a worker and the script, as JSON. All durations are in milliseconds.

use crate::web::crawl::frontier::{Failure, Job, Kind, Limits};
use crate::web::crawl::outcome::Effect;
use crate::web::crawl::record::Record;
use crate::web::crawl::rules::Step;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::time::Duration;

/// The number of hashes in each bucket when the crawl has seen its largest number of pages. The engine
/// stores up to 512 integers in a set without any index.
const IN_A_BUCKET: usize = 128;

/// The parameters for turning addresses into numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    /// A key that no site knows; otherwise a site could choose addresses with equal hashes.
    pub(super) secret: u64,
    /// The largest number of pages in the crawl.
    pub(super) pages: usize,
}

impl Sums {
    /// Returns the bucket of an address, and the hash of the address. The hash has 63 bits, because the
    /// engine's integers have a sign.
    pub(super) fn of(self, url: &str) -> (u64, String) {
        let mut hasher = SipHasher13::new_with_keys(self.secret, 0);
        hasher.write(url.as_bytes());
        let sum = hasher.finish() >> 1;
        (sum % self.pages.div_ceil(IN_A_BUCKET) as u64, sum.to_string())
    }

    fn link(self, page: &Job) -> Link {
        let (bucket, sum) = self.of(&page.url);
        Link(page.url.to_string(), page.site.to_string(), page.depth, bucket, sum, page.is_other)
    }

    pub(super) fn links(self, pages: &[Job]) -> Vec<Link> {
        pages.iter().map(|page| self.link(page)).collect()
    }
}

/// A page that was found: its address, its site, its depth, its bucket and its hash. The last field is true
/// if the page is on another host.
#[derive(Debug, Serialize)]
pub(super) struct Link(String, String, u32, u64, String, bool);

/// A request.
#[derive(Serialize)]
pub(super) struct Request<'r> {
    pub(super) worker: &'r str,
    /// The name of the file in which the worker records the accepted outcomes.
    pub(super) file: &'r str,
    /// The number that this worker gives to the request. A request that is sent again keeps its number.
    pub(super) number: u64,
    /// The secret of the crawl. An engine that has lost its data does not have the crawl's secret.
    pub(super) secret: String,
    pub(super) limits: Bounds,
    pub(super) lease: u64,
    pub(super) most: usize,
    pub(super) came: Vec<&'r Came>,
    /// The pages with which the crawl begins, if the worker has just joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) starts: Option<Vec<Link>>,
    /// Rules for a site at which processes died while they read the site's own rules.
    pub(super) nothing: String,
    /// The mark up to which the file has all records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    pub(super) is_leaving: bool,
}

/// The crawl's [`Limits`] in the form that the script expects.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Bounds {
    pages: usize,
    patience: u64,
    delay: u64,
    per_site: usize,
}

impl Bounds {
    pub(super) fn of(limits: Limits) -> Bounds {
        let Limits { pages, patience, delay, per_site } = limits;
        Bounds { pages, patience: ms(patience), delay: ms(delay), per_site }
    }
}

/// The outcome of a lease.
#[derive(Debug, Serialize)]
pub(super) struct Came {
    pub(super) token: String,
    #[serde(flatten)]
    pub(super) what: What,
}

/// A way in which a lease can end. The script has a function for each way in which a lease can end.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub(super) enum What {
    Over {
        record: String,
        links: Vec<Link>,
        is_well: bool,
        was_asked: bool,
    },
    Left,
    Failed {
        is_busy: bool,
        is_silence: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        rest: Option<u64>,
        why: String,
    },
    /// The work of the lease was not begun or not finished.
    Back,
    Away {
        #[serde(skip_serializing_if = "Option::is_none")]
        rest: Option<u64>,
        why: String,
    },
    Next {
        asking: String,
        pause: u64,
    },
    Known {
        #[serde(skip_serializing_if = "Option::is_none")]
        pauses: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        links: Vec<Link>,
    },
}

impl What {
    /// Returns the message to the script about a page.
    pub(super) fn of_page(effect: &Effect, sums: Sums) -> What {
        match effect {
            Effect::Over { record, links, is_well, was_asked } => What::Over {
                record: serde_json::to_string(record).expect("numbers and texts"),
                links: sums.links(links),
                is_well: *is_well,
                was_asked: *was_asked,
            },
            Effect::Left(_) => What::Left,
            Effect::Failed(failure) => What::Failed {
                is_busy: matches!(failure, Failure::Busy(_)),
                is_silence: *failure == Failure::Unanswered,
                rest: if let Failure::Busy(asked) = failure { asked.map(ms) } else { None },
                why: failure.to_string(),
            },
            Effect::Unwritten(_) => What::Back,
        }
    }

    /// Returns the message to the script about a question to a site.
    pub(super) fn of_site(step: Step, sums: Sums) -> What {
        match step {
            Step::Away(_, why, rest) => What::Away { rest: rest.map(ms), why },
            Step::Next(asking, pause) => What::Next { asking: asking.to_text(), pause: ms(pause) },
            Step::Known { rules, text, listed, .. } => What::Known {
                pauses: rules.crawl_delay().map(ms),
                text: text.map(|text| BASE64_STANDARD.encode(text)),
                links: sums.links(&listed),
            },
        }
    }
}

/// The script's answer.
#[derive(Debug, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct Answer {
    pub(super) leases: Vec<Leased>,
    /// Tokens of leases that are no longer valid.
    pub(super) stale: Vec<String>,
    /// Pages that the engine itself has given up, with their addresses and their records.
    pub(super) over: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
    /// The mark of the last record that this step wrote to the stream of the worker's file.
    pub(super) mark: Option<String>,
    pub(super) pause: Option<u64>,
    pub(super) open: usize,
    pub(super) left: usize,
    pub(super) seen: usize,
    pub(super) over_in_all: usize,
}

/// A lease in the form in which the script hands it out.
#[derive(Debug, Deserialize)]
pub(super) struct Leased {
    pub(super) token: String,
    url: String,
    pub(super) site: String,
    depth: u32,
    attempts: u32,
    deaths: u32,
    #[serde(default)]
    is_other: bool,
    #[serde(default)]
    is_site: bool,
    /// True if the answer has the rules of the site, because this worker does not have them yet.
    #[serde(default)]
    pub(super) is_told: bool,
    #[serde(default)]
    pub(super) text: Option<String>,
    /// The progress of the questions to the site.
    #[serde(default)]
    pub(super) asking: Option<String>,
}

impl Leased {
    pub(super) fn job(&self) -> Job {
        Job {
            attempts: self.attempts,
            deaths: self.deaths,
            is_other: self.is_other,
            kind: if self.is_site { Kind::Robots } else { Kind::Page },
            ..Job::page(&*self.url, &*self.site, self.depth)
        }
    }

    /// Returns the text of the rules.
    pub(super) fn rules(&self) -> Option<Vec<u8>> {
        self.text.as_ref().and_then(|text| BASE64_STANDARD.decode(text).ok())
    }
}

/// Parses a record that the script has created.
pub(super) fn record(text: &str) -> Option<Record> {
    serde_json::from_str(text).ok()
}

pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_fits_into_the_whole_numbers_of_the_engine() {
        let sums = Sums { secret: 7, pages: 1000 };
        for number in 0..1000 {
            let (bucket, sum) = sums.of(&format!("http://site/{number}"));
            assert!(bucket < 8 && sum.parse::<i64>().is_ok(), "{bucket} {sum}");
        }
        assert_ne!(sums.of("http://a/"), Sums { secret: 8, ..sums }.of("http://a/"));
    }
}
