//! The part of one process in a crawl: the outcomes that the process has not sent yet, and its data about the
//! engine.

use super::Fenced;
use super::engine::{Engine, Trouble};
use super::marks::Marks;
use super::outage::Outage;
use super::wire::{self, Answer, Bounds, Came, Leased, Request, Sums, What, ms};
use crate::web::crawl::frontier::{Job, Kind, Limits};
use crate::web::crawl::keeper::Keeper;
use crate::web::crawl::outcome::{Effect, Lease, Outcome};
use crate::web::crawl::record::Record;
use crate::web::crawl::rules::{Asking, Rules};
use crate::web::crawl::state::{Changes, State};
use crate::web::crawl::visit::Visit;
use crate::web::crawl::visitor::Visitor;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, mem, process};

/// Rules that allow nothing, for a site at which processes died while they read the site's own rules.
const NOTHING: &[u8] = b"User-agent: *\nDisallow: /\n";

pub(super) struct Member {
    pub(super) engine: Engine,
    pub(super) worker: String,
    pub(super) file: String,
    pub(super) visitor: Arc<Visitor>,
    pub(super) keeper: Keeper,
    pub(super) marks: Marks,
    pub(super) sums: Sums,
    pub(super) bounds: Bounds,
    pub(super) lease: Duration,
    /// The number of the last request.
    pub(super) number: u64,
    /// A request that was sent but has no answer; the next call sends the request again unchanged.
    pub(super) unsent: Option<Sent>,
    /// Outcomes that the next request sends.
    pub(super) waiting: Vec<Brought>,
    pub(super) rules: HashMap<Arc<str>, Arc<Rules>>,
    pub(super) unchanged: usize,
    /// The number of outcomes that arrived too late.
    pub(super) late: usize,
    /// The engine's counts, from its last answer.
    pub(super) last: Answer,
    pub(super) outage: Outage,
}

pub(super) struct Sent {
    pub(super) request: String,
    pub(super) brought: Vec<Brought>,
    pub(super) at: Instant,
}

/// The outcome of a lease, and the record of the page if the page is finished.
pub(super) struct Brought {
    pub(super) came: Came,
    pub(super) record: Option<(Arc<str>, Record)>,
}

impl Brought {
    /// Creates the outcome that gives a lease back without a result.
    pub(super) fn back(lease: Fenced) -> Brought {
        Brought { came: Came { token: lease.token, what: What::Back }, record: None }
    }
}

impl Member {
    pub(super) fn new(
        engine: Engine,
        visitor: Arc<Visitor>,
        state: &Arc<State>,
        sums: Sums,
        limits: Limits,
        lease: Duration,
        file: String,
    ) -> Member {
        Member {
            engine,
            worker: worker(),
            file,
            visitor,
            keeper: Keeper::of(Arc::clone(state)),
            marks: Marks::default(),
            sums,
            bounds: Bounds::of(limits),
            lease,
            number: 0,
            unsent: None,
            waiting: Vec::new(),
            rules: HashMap::new(),
            unchanged: 0,
            late: 0,
            last: Answer::default(),
            outage: Outage::default(),
        }
    }

    pub(super) fn request(
        &mut self,
        most: usize,
        brought: &[Brought],
        starts: Option<&[Job]>,
        leaves: bool,
    ) -> String {
        self.number += 1;
        let request = Request {
            worker: &self.worker,
            file: &self.file,
            number: self.number,
            secret: self.sums.secret.to_string(),
            limits: self.bounds,
            lease: ms(self.lease),
            most,
            came: brought.iter().map(|brought| &brought.came).collect(),
            starts: starts.map(|starts| self.sums.links(starts)),
            nothing: BASE64_STANDARD.encode(NOTHING),
            written: self.marks.take(self.keeper.durable(), leaves),
            is_leaving: leaves,
        };
        serde_json::to_string(&request).expect("numbers and texts")
    }

    /// Keeps the outcome of a lease for the next request.
    pub(super) fn keep(&mut self, lease: Fenced, outcome: Outcome) -> anyhow::Result<()> {
        let (mut record, mut unwritten) = (None, Ok(()));
        let what = match outcome {
            Outcome::Page(visit) => {
                self.unchanged += usize::from(matches!(visit, Visit::Unchanged(_)));
                let (effect, url) = (Effect::of(visit), &lease.lease.job().url);
                let what = What::of_page(&effect, self.sums);
                match effect {
                    Effect::Over { record: over, .. } => record = Some((Arc::clone(url), *over)),
                    Effect::Left(why) => self.visitor.note(format!("{url} waits for another run: {why}")),
                    Effect::Unwritten(error) => unwritten = Err(error),
                    Effect::Failed(_) => (),
                }
                what
            }
            Outcome::Site(step) => What::of_site(*step, self.sums),
        };
        self.waiting.push(Brought { came: Came { token: lease.token, what }, record });
        unwritten
    }

    /// Sends the waiting outcomes to the engine, and takes up to `most` leases. Before any other request, a
    /// request without an answer is sent again unchanged.
    pub(super) fn bring(&mut self, most: usize) -> Result<Vec<Fenced>, Trouble> {
        let mut leases = Vec::new();
        loop {
            let sent = if let Some(sent) = self.unsent.take() {
                sent
            } else {
                let brought = mem::take(&mut self.waiting);
                let request = self.request(most.saturating_sub(leases.len()), &brought, None, false);
                Sent { request, brought, at: Instant::now() }
            };
            let answer = match self.engine.step(&sent.request) {
                Ok(answer) => answer,
                Err(trouble) => {
                    self.unsent = Some(sent);
                    return Err(trouble);
                }
            };
            let is_old = sent.at.elapsed() > self.lease / 2;
            for lease in self.hear(&answer, sent.brought)? {
                if is_old || leases.len() >= most {
                    // If the answer took a long time, a lease in the answer may expire before its work is
                    // done.
                    self.waiting.push(Brought::back(lease));
                } else {
                    leases.push(lease);
                }
            }
            if self.waiting.is_empty() {
                return Ok(leases);
            }
        }
    }

    /// Parses the engine's answer, and records the outcomes that the engine has accepted.
    pub(super) fn hear(&mut self, answer: &str, brought: Vec<Brought>) -> Result<Vec<Fenced>, Trouble> {
        let mut answer: Answer = serde_json::from_str(answer)
            .map_err(|error| Trouble::Lasting(format!("the engine has answered what is none: {error}")))?;
        let stale: HashSet<_> = answer.stale.iter().map(String::as_str).collect();
        let given_back = |brought: &Brought| matches!(brought.came.what, What::Back);
        let (late, counts): (Vec<_>, Vec<_>) =
            brought.into_iter().partition(|brought| stale.contains(&*brought.came.token));
        self.late += late.iter().filter(|late| !given_back(late)).count();
        let mut changes = Changes::default();
        changes.over.extend(counts.into_iter().filter_map(|brought| brought.record));
        let given_up =
            answer.over.iter().filter_map(|(url, record)| Some((Arc::from(&**url), wire::record(record)?)));
        changes.over.extend(given_up);
        answer.notes.drain(..).for_each(|note| self.visitor.note(note));
        self.keeper.write(changes, 0).map_err(|error| Trouble::Lasting(format!("{error:#}")))?;
        if let Some(mark) = answer.mark.take() {
            self.marks.add(self.keeper.writes(), mark);
        }
        let leased = mem::take(&mut answer.leases);
        self.last = answer;
        Ok(leased.into_iter().map(|leased| self.fenced(leased)).collect())
    }

    pub(super) fn fenced(&mut self, leased: Leased) -> Fenced {
        let job = leased.job();
        let lease = if let Kind::Robots = job.kind {
            let asking = leased.asking.as_deref();
            Lease::Site(Box::new(match asking {
                Some(text) => Asking::from_text(job, text, &self.visitor),
                None => Asking::begin(job),
            }))
        } else {
            if leased.is_told {
                let rules = Rules::of_text(leased.rules().as_deref(), &self.visitor);
                self.rules.insert(Arc::clone(&job.site), Arc::new(rules));
            }
            let rules = self.rules.get(&job.site).cloned();
            Lease::Page(job, rules.unwrap_or_else(|| Arc::new(Rules::none())), None)
        };
        Fenced { token: leased.token, lease }
    }
}

/// Returns a name that no other process has.
fn worker() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.split_whitespace().next().unwrap_or("host").to_owned();
    format!("{host}:{}:{:08x}", process::id(), fastrand::u32(..))
}
