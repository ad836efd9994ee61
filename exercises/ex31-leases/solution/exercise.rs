//! A queue with leases: a worker may keep a page until its lease ends, and a late worker changes nothing.
#![allow(unused)]

use std::collections::{BTreeMap, VecDeque};

use crate::sync::Mutex;

/// The number of a page. Every number is a valid page number.
pub type Page = u32;

/// A moment, in milliseconds since a fixed moment.
pub type Time = u64;

/// The permission to work on a page until a given moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The page.
    pub page: Page,
    /// The number of this lease. All leases of a queue have different numbers, even the leases of the same
    /// page.
    pub token: u64,
    /// The first moment at which the lease is over.
    pub until: Time,
}

/// A queue of pages to work on. Any number of workers share a queue.
pub struct Queue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lasts: Time,
    tries: u32,
    /// The latest time that a caller has given.
    now: Time,
    /// The waiting pages, each with the number of its leases that have run out.
    waiting: VecDeque<(Page, u32)>,
    /// The leases, sorted by token: the first lease is the first to run out. The `u32` is the number of the
    /// page's earlier leases that ran out.
    leases: BTreeMap<u64, (Lease, u32)>,
    tokens: u64,
    dead: Vec<Page>,
}

impl Queue {
    /// Makes a queue in which the given pages wait. The pages are all different. A lease lasts for `lasts`. A
    /// page is dead when `tries` of its leases have run out.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        let waiting = pages.iter().map(|page| (*page, 0)).collect();
        Self { state: Mutex::new(State { lasts, tries, waiting, ..State::default() }) }
    }

    /// Takes a page that waits. Returns `None` if no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        let (page, ran_out) = state.waiting.pop_front()?;
        state.tokens += 1;
        let lease = Lease { page, token: state.tokens, until: state.now + state.lasts };
        state.leases.insert(lease.token, (lease, ran_out));
        Some(lease)
    }

    /// Finishes the page whose lease has this token. Returns true if the page is now finished. If the lease
    /// was over, changes nothing and returns false.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.leases.remove(&token).is_some()
    }

    /// Gives back the page whose lease has this token. Returns true if the call has ended the lease. After
    /// a call that has ended the lease, the page waits again as if the lease had never been given. If the
    /// lease was over, changes nothing and returns false.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        let Some((lease, ran_out)) = state.leases.remove(&token) else { return false };
        state.waiting.push_back((lease.page, ran_out));
        true
    }

    /// Returns the pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.dead.clone()
    }

    /// Returns true if each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now);
        state.waiting.is_empty() && state.leases.is_empty()
    }
}

impl State {
    /// Sets the queue's time, and ends the leases that are over at that time.
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
