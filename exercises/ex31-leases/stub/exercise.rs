//! A queue with leases: a worker may keep a page until a moment, and a late worker changes nothing.
//!
//! This is the only file to edit. `cargo test -p ex31-leases` checks it.
#![allow(unused)]

use std::collections::VecDeque;

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

/// A queue of pages to work on. Any number of workers share it. Its fields are yours.
pub struct Queue {
    waiting: Mutex<VecDeque<Page>>,
}

impl Queue {
    /// Makes a queue in which these pages wait. The pages are all different. A lease lasts for `lasts`. A
    /// page of which `tries` leases have run out is dead.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        todo!("a queue in which these pages wait")
    }

    /// Takes a page that waits. `None`: no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        todo!("the lease of a page that waits")
    }

    /// Says that the work on a page is done, under the lease with this token. `true`: that counts, and the
    /// page is finished. `false`: the lease is over, and nothing has changed.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        todo!("end the lease and finish its page, if the lease is not over")
    }

    /// Gives back a page that the worker does not want. `true`: the lease is over, and the page waits again,
    /// as if there had been no such lease. `false`: the lease was over before, and nothing has changed.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        todo!("end the lease and let its page wait again, if the lease is not over")
    }

    /// The pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        todo!("the pages of which as many leases have run out as there are tries")
    }

    /// Whether each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        todo!("whether no page waits and no lease is out")
    }
}
