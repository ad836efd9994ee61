//! Right: a token has the page and the number of its lease. What runs out next is the first of a sorted set.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::sync::Mutex;

/// A page, by its number. Any number may be a page.
pub type Page = u32;

/// A moment, in milliseconds since some beginning.
pub type Time = u64;

/// The right to a page, until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The page.
    pub page: Page,
    /// The number of this lease. No other lease of the queue has it, also no other lease of this page.
    pub token: u64,
    /// From this moment on the lease is over.
    pub until: Time,
}

/// The pages that are to be worked on. Any number of workers share it.
pub struct Queue {
    lasts: Time,
    tries: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: Time,
    waiting: VecDeque<Page>,
    ends: BTreeSet<(Time, Page)>,
    /// For each page: how many leases it had, and how many of them ran out.
    counts: BTreeMap<Page, (u32, u32)>,
    dead: Vec<Page>,
}

impl Queue {
    /// A queue in which these pages wait. Each of them is there once. A lease lasts for `lasts`. A page of which `tries` leases have
    /// run out is dead.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        let counts = pages.iter().map(|page| (*page, (0, 0))).collect();
        let waiting = pages.iter().copied().collect();
        Self { lasts, tries, state: Mutex::new(State { counts, waiting, ..State::default() }) }
    }

    /// Takes a page that waits. `None`: no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        let page = state.waiting.pop_back()?;
        let until = state.now + self.lasts;
        state.ends.insert((until, page));
        let (leases, _) = state.counts.get_mut(&page)?;
        *leases += 1;
        Some(Lease { page, token: u64::from(page) << 32 | u64::from(*leases), until })
    }

    /// The work on a page is done, under the lease with this token. `true`: that counts, and the page is finished. `false`: the lease
    /// is over, and nothing has changed.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        state.end(token).is_some()
    }

    /// The worker does not want the page. `true`: the lease is over, and the page waits again, as if there had been no such lease.
    /// `false`: the lease was over before, and nothing has changed.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        let page = state.end(token);
        state.waiting.extend(page);
        page.is_some()
    }

    /// The pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        state.dead.clone()
    }

    /// Whether each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        state.waiting.is_empty() && state.ends.is_empty()
    }
}

impl State {
    fn run_out(&mut self, now: Time, tries: u32) {
        self.now = self.now.max(now);
        while let Some(end) = self.ends.first().copied().filter(|(until, _)| *until <= self.now) {
            self.ends.remove(&end);
            let (_, page) = end;
            let Some((_, ran_out)) = self.counts.get_mut(&page) else { continue };
            *ran_out += 1;
            if *ran_out == tries { self.dead.push(page) } else { self.waiting.push_back(page) }
        }
    }

    /// The page of this lease, if it is not over.
    fn end(&mut self, token: u64) -> Option<Page> {
        let page = Page::try_from(token >> 32).ok()?;
        let (leases, _) = self.counts.get(&page)?;
        let end = self.ends.iter().copied().find(|(_, other)| *other == page)?;
        (u64::from(*leases) == token & u64::from(u32::MAX)).then(|| self.ends.remove(&end)).map(|_| page)
    }
}
