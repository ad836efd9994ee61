//! The store of a crawl that has many processes; the store is in a Redis or Valkey server that all processes
//! use.
//!
//! ```text
//!   process A ──┐   what came of leases    ┌───────────────────────────────┐
//!   process B ──┼────────────────────────▶ │ engine: one script, one step  │
//!   process C ──┘ ◀──────────────────────  │ at a time, by one clock       │
//!                      new leases          └───────────────────────────────┘
//! ```
//!
//! A call of [`exchange`](Store::exchange) takes one round trip. The script does the work of
//! [`Frontier`](super::frontier::Frontier), and keeps the data of the crawl: the pages that are waiting,
//! paused, being fetched, or finished. So the engine has all data of a process that died, and a new process
//! needs only the name of the crawl.
//!
//! # Leases
//!
//! A process cannot know whether another process is dead or only slow. So each lease has a deadline, and
//! the first worker that sends a request after this deadline puts the page back. Each lease has a *token*
//! that is higher than all earlier tokens. A worker that reports an outcome also sends the token; if the
//! lease has expired, the outcome changes nothing. So a page is *recorded* only once. A page may be
//! *fetched* again, at most once more for each expired lease, because web servers do not know tokens.
//!
//! # When the engine is away
//!
//! While the engine does not answer, outcomes are kept and sent later. A request without an answer may
//! still have arrived, so the process sends the request again with the same number, and the engine repeats
//! its answer. No thread waits for the engine to answer again, because `exchange` hands out no leases
//! during an outage.

mod engine;
mod join;
mod marks;
mod member;
mod outage;
mod status;
mod wire;

pub use status::print;

use super::frontier::Limits;
use super::outcome::{Lease, Outcome};
use super::results::Results;
use super::state::State;
use super::store::{SiteNow, Status, Store, Taken};
use super::visitor::Visitor;
use anyhow::anyhow;
use engine::{Engine, Trouble};
use executor::CancelToken;
use join::{agree, check_state, recall, refuse_others};
use member::{Brought, Member};
use outage::until_it_answers;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use url::Url;
use wire::{Answer, Sums};

/// The parameters with which a process joins a crawl.
pub struct Joining<'j> {
    /// The address of the engine.
    pub engine: &'j str,
    /// The name of the crawl.
    pub crawl: &'j str,
    /// The settings that determine the set of pages and the requests to sites; they must be the same in each
    /// process.
    pub settings: Value,
    /// The duration of a lease.
    pub lease: Duration,
}

/// A lease, and the token that proves that the lease is the latest lease of its page.
#[derive(Debug, Clone)]
pub struct Fenced {
    token: String,
    lease: Lease,
}

impl AsRef<Lease> for Fenced {
    fn as_ref(&self) -> &Lease {
        &self.lease
    }
}

/// The pages of a crawl, as seen by one process of the crawl.
pub struct Shared {
    /// The pages that this process has recorded.
    state: Arc<State>,
    crawl: String,
    patience: Duration,
    member: Mutex<Member>,
}

impl Shared {
    /// Joins a crawl, or begins a crawl with the given pages. The records of this process are written to
    /// `state`.
    ///
    /// # Errors
    /// Fails if the engine does not answer within the patience, if `stop` is cancelled, if the crawl has
    /// other settings, or if the state belongs to another crawl.
    pub fn join(
        how: &Joining,
        state: State,
        visitor: Arc<Visitor>,
        limits: Limits,
        starts: &[Url],
        stop: &CancelToken,
    ) -> anyhow::Result<Shared> {
        let mut engine = Engine::at(how.engine, how.crawl)?;
        refuse_others(&state, how.crawl)?; // first: a refused process creates no crawl in the engine
        let patience = limits.patience;
        let secret = until_it_answers(&mut engine, patience, stop, |engine| agree(engine, how))??;
        let (file, is_new) = check_state(&state, how.crawl, secret)?;
        if !is_new {
            until_it_answers(&mut engine, patience, stop, |engine| recall(engine, &state, &file))??;
        }
        let state = Arc::new(state);
        let sums = Sums { secret, pages: limits.pages };
        let mut member = Member::new(engine, visitor, &state, sums, limits, how.lease, file);
        let starts: Vec<_> = starts.iter().filter_map(|start| member.visitor.job(start, 0)).collect();
        let request = member.request(0, &[], Some(&starts), false);
        let answer = until_it_answers(&mut member.engine, patience, stop, |engine| engine.step(&request))?;
        member.last = serde_json::from_str(&answer)?;
        Ok(Shared { state, crawl: how.crawl.to_owned(), patience, member: Mutex::new(member) })
    }

    fn member(&self) -> MutexGuard<'_, Member> {
        self.member.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Shared {
    type Lease = Fenced;
    type Outcome = Outcome;
    type Error = anyhow::Error;

    fn exchange(&self, finished: Vec<(Fenced, Outcome)>, most: usize) -> anyhow::Result<Taken<Fenced>> {
        let mut member = self.member();
        let mut unwritten = Ok(());
        for (lease, outcome) in finished {
            unwritten = unwritten.and(member.keep(lease, outcome));
        }
        let nothing = |pause| Ok(Taken { leases: Vec::new(), pause, is_over: false });
        let left = member.outage.left();
        if left.is_some_and(|left| !left.is_zero()) && unwritten.is_ok() {
            return nothing(left);
        }
        if member.waiting.is_empty() && member.unsent.is_none() && most == 0 {
            return nothing(None);
        }
        let brought = member.bring(if unwritten.is_ok() { most } else { 0 });
        unwritten?;
        match brought {
            Ok(leases) => {
                member.outage.is_over();
                let pause = member.last.pause.map(Duration::from_millis);
                let is_over = member.last.open == 0 && leases.is_empty();
                Ok(Taken { leases, pause, is_over })
            }
            Err(Trouble::Lasting(sentence)) => Err(anyhow!(sentence)),
            Err(trouble) => nothing(Some(member.outage.goes_on(&trouble, self.patience)?)),
        }
    }

    /// Tries to report the outcomes until their leases have expired; after that time, the engine would ignore
    /// the outcomes.
    fn finish(&self) -> anyhow::Result<()> {
        let mut member = self.member();
        let patience = self.patience.min(member.lease);
        while !member.waiting.is_empty() || member.unsent.is_some() {
            match member.bring(0) {
                Ok(_) => member.outage.is_over(),
                Err(Trouble::Lasting(sentence)) => return Err(anyhow!(sentence)),
                Err(trouble) => {
                    let pause = member.outage.goes_on(&trouble, patience)?;
                    thread::sleep(pause);
                }
            }
        }
        member.keeper.flush()
    }

    /// Gives leases back to the engine. If the engine does not receive this request, the leases expire.
    fn give_back(&self, leases: Vec<Fenced>) -> anyhow::Result<()> {
        let mut member = self.member();
        let brought: Vec<_> = leases.into_iter().map(Brought::back).collect();
        let request = member.request(0, &brought, None, true);
        match member.engine.step(&request).and_then(|answer| member.hear(&answer, brought)) {
            Ok(_) => (),
            Err(trouble) => {
                member.visitor.note(format!("{}: what was leased runs out by itself", trouble.sentence()));
            }
        }
        if member.late > 0 {
            let late = member.late;
            member
                .visitor
                .note(format!("{late} outcomes came when their leases had run out: they do not count"));
        }
        member.keeper.flush()
    }

    /// Returns the progress of the whole crawl from the engine's last answer.
    fn status(&self) -> Status {
        let member = self.member();
        let Answer { open, left, seen, over_in_all, .. } = member.last;
        let all = SiteNow {
            name: self.crawl.as_str().into(),
            waiting: open,
            taken: 0,
            over: over_in_all,
            away: None,
        };
        Status { sites: vec![all], open, left, seen }
    }
}

impl Results for Shared {
    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    fn unchanged(&self) -> usize {
        self.member().unchanged
    }

    fn elsewhere(&self) -> usize {
        let member = self.member();
        member.last.open + member.last.left
    }

    fn has_seen(&self, url: &str) -> bool {
        let mut member = self.member();
        let (bucket, sum) = member.sums.of(url);
        member.engine.ask("SISMEMBER", &format!("s:{bucket}"), &[&sum]).unwrap_or(true)
    }

    /// Returns the pages that the engine has not seen, or no pages if the engine no longer answers.
    fn unseen(&self, urls: HashSet<String>) -> Vec<String> {
        let mut member = self.member();
        let sums: Vec<_> = urls.iter().map(|url| member.sums.of(url)).collect();
        let members: Vec<_> = sums.into_iter().map(|(bucket, sum)| (format!("s:{bucket}"), sum)).collect();
        let seen = member.engine.are_members(&members).unwrap_or_else(|_| vec![true; urls.len()]);
        urls.into_iter().zip(seen).filter(|(_, is_seen)| !is_seen).map(|(url, _)| url).collect()
    }
}
