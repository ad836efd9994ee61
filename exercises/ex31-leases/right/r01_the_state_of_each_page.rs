//! Right: a list has the state of each page, and every method walks through the list.
#![allow(unused)]

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

struct State {
    now: Time,
    next: u64,
    pages: Vec<(Page, u32, Is)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Waiting,
    Leased { token: u64, until: Time },
    Finished,
    Dead,
}

impl Queue {
    /// Makes a queue in which the given pages wait. The pages are all different. A lease lasts for `lasts`. A
    /// page is dead when `tries` of its leases have run out.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        let pages = pages.iter().map(|page| (*page, 0, Is::Waiting)).collect();
        Self { lasts, tries, state: Mutex::new(State { now: 0, next: u64::MAX, pages }) }
    }

    /// Takes a page that waits. Returns `None` if no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        self.at(now, |state| {
            let (token, until) = (state.next, state.now + self.lasts);
            let (page, _, is) = state.pages.iter_mut().rev().find(|(_, _, is)| *is == Is::Waiting)?;
            *is = Is::Leased { token, until };
            state.next -= 1;
            Some(Lease { page: *page, token, until })
        })
    }

    /// Finishes the page whose lease has this token. Returns true if the page is now finished. If the lease
    /// was over, changes nothing and returns false.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        self.end(token, now, Is::Finished)
    }

    /// Gives back the page whose lease has this token. Returns true if the call has ended the lease. After
    /// a call that has ended the lease, the page waits again as if the lease had never been given. If the
    /// lease was over, changes nothing and returns false.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        self.end(token, now, Is::Waiting)
    }

    /// Returns the pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        self.at(now, |state| {
            let dead = state.pages.iter().filter(|(_, _, is)| *is == Is::Dead);
            dead.map(|(page, _, _)| *page).collect()
        })
    }

    /// Returns true if each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        self.at(now, |state| state.pages.iter().all(|(_, _, is)| matches!(is, Is::Finished | Is::Dead)))
    }

    fn end(&self, ended: u64, now: Time, then: Is) -> bool {
        self.at(now, |state| {
            let mut is = state.pages.iter_mut().map(|(_, _, is)| is);
            let found = is.find(|is| matches!(is, Is::Leased { token, .. } if *token == ended));
            found.map(|is| *is = then).is_some()
        })
    }

    fn at<R>(&self, now: Time, then: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap();
        state.now = state.now.max(now);
        let now = state.now;
        for (_, ran_out, is) in &mut state.pages {
            if matches!(is, Is::Leased { until, .. } if *until <= now) {
                *ran_out += 1;
                *is = if *ran_out == self.tries { Is::Dead } else { Is::Waiting };
            }
        }
        then(&mut state)
    }
}
