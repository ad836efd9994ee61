//! Right: a token contains the page and the number of the lease. The leases are in a sorted set, and the
//! lease that runs out next is the first.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    lasts: Time,
    tries: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: Time,
    waiting: VecDeque<Page>,
    ends: BTreeSet<(Time, Page)>,
    /// For each page, the number of its leases and the number of its leases that ran out.
    counts: BTreeMap<Page, (u32, u32)>,
    dead: Vec<Page>,
}

impl Queue {
    /// Makes a queue in which the given pages wait. The pages are all different. A lease lasts for `lasts`. A
    /// page is dead when `tries` of its leases have run out.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        let counts = pages.iter().map(|page| (*page, (0, 0))).collect();
        let waiting = pages.iter().copied().collect();
        Self { lasts, tries, state: Mutex::new(State { counts, waiting, ..State::default() }) }
    }

    /// Takes a page that waits. Returns `None` if no page waits now.
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

    /// Finishes the page whose lease has this token. Returns true if the page is now finished. If the lease
    /// was over, changes nothing and returns false.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        state.end(token).is_some()
    }

    /// Gives back the page whose lease has this token. Returns true if the call has ended the lease. After
    /// a call that has ended the lease, the page waits again as if the lease had never been given. If the
    /// lease was over, changes nothing and returns false.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        let page = state.end(token);
        state.waiting.extend(page);
        page.is_some()
    }

    /// Returns the pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        let mut state = self.state.lock().unwrap();
        state.run_out(now, self.tries);
        state.dead.clone()
    }

    /// Returns true if each page is finished or dead.
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

    /// Returns the page whose lease has this token, if the lease is not over.
    fn end(&mut self, token: u64) -> Option<Page> {
        let page = Page::try_from(token >> 32).ok()?;
        let (leases, _) = self.counts.get(&page)?;
        let end = self.ends.iter().copied().find(|(_, other)| *other == page)?;
        (u64::from(*leases) == token & u64::from(u32::MAX)).then(|| self.ends.remove(&end)).map(|_| page)
    }
}
