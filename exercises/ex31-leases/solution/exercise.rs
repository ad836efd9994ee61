//! A queue with leases: a worker may keep a page until a moment, and a late worker changes nothing.
#![allow(unused)]

use std::collections::{BTreeMap, VecDeque};

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lasts: Time,
    tries: u32,
    /// The latest moment that the queue was told.
    now: Time,
    /// Pages that no worker has, each with the number of its leases that ran out.
    waiting: VecDeque<(Page, u32)>,
    /// Leases by their tokens: the one that runs out first comes first. The number is that of earlier leases that ran out.
    leases: BTreeMap<u64, (Lease, u32)>,
    tokens: u64,
    dead: Vec<Page>,
}

impl Queue {
    /// A queue in which these pages wait. Each of them is there once. A lease lasts for `lasts`. A page of which `tries` leases have
    /// run out is dead.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        let waiting = pages.iter().map(|page| (*page, 0)).collect();
        Self { state: Mutex::new(State { lasts, tries, waiting, ..State::default() }) }
    }

    /// Takes a page that waits. `None`: no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        let (page, ran_out) = state.waiting.pop_front()?;
        state.tokens += 1;
        let lease = Lease { page, token: state.tokens, until: state.now + state.lasts };
        state.leases.insert(lease.token, (lease, ran_out));
        Some(lease)
    }

    /// The work on a page is done, under the lease with this token. `true`: that counts, and the page is finished. `false`: the lease
    /// is over, and nothing has changed.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.leases.remove(&token).is_some()
    }

    /// The worker does not want the page. `true`: the lease is over, and the page waits again, as if there had been no such lease.
    /// `false`: the lease was over before, and nothing has changed.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        let Some((lease, ran_out)) = state.leases.remove(&token) else { return false };
        state.waiting.push_back((lease.page, ran_out));
        true
    }

    /// The pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.dead.clone()
    }

    /// Whether each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.waiting.is_empty() && state.leases.is_empty()
    }
}

impl State {
    /// It is this moment. Leases that are over by now have run out.
    fn run_out(&mut self, now: Time) {
        self.now = self.now.max(now);
        while let Some((lease, ran_out)) = self.leases.values().next().copied() {
            if lease.until > self.now {
                break;
            }
            self.leases.remove(&lease.token);
            if ran_out + 1 < self.tries {
                self.waiting.push_back((lease.page, ran_out + 1));
            } else {
                self.dead.push(lease.page);
            }
        }
    }
}
