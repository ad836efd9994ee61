//! A queue with leases: a worker may keep a page until its lease ends, and a late worker changes nothing.
//!
//! This file is the only file to edit. `cargo test -p ex31-leases` checks it.
#![allow(unused)]

use std::collections::VecDeque;

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

/// A queue of pages to work on. Any number of workers share a queue. You choose the fields of this struct.
pub struct Queue {
    waiting: Mutex<VecDeque<Page>>,
}

impl Queue {
    /// Makes a queue in which the given pages wait. The pages are all different. A lease lasts for `lasts`. A
    /// page is dead when `tries` of its leases have run out.
    pub fn new(pages: &[Page], lasts: Time, tries: u32) -> Self {
        todo!("a queue in which these pages wait")
    }

    /// Takes a page that waits. Returns `None` if no page waits now.
    pub fn take(&self, now: Time) -> Option<Lease> {
        todo!("the lease of a page that waits")
    }

    /// Finishes the page whose lease has this token. Returns true if the page is now finished. If the lease
    /// was over, changes nothing and returns false.
    pub fn finish(&self, token: u64, now: Time) -> bool {
        todo!("end the lease and finish its page, if the lease is not over")
    }

    /// Gives back the page whose lease has this token. Returns true if the call has ended the lease. After
    /// a call that has ended the lease, the page waits again as if the lease had never been given. If the
    /// lease was over, changes nothing and returns false.
    pub fn give_back(&self, token: u64, now: Time) -> bool {
        todo!("end the lease and let its page wait again, if the lease is not over")
    }

    /// Returns the pages that are dead, each once, in any order.
    pub fn dead(&self, now: Time) -> Vec<Page> {
        todo!("the pages of which as many leases have run out as there are tries")
    }

    /// Returns true if each page is finished or dead.
    pub fn is_over(&self, now: Time) -> bool {
        todo!("whether no page waits and no lease is out")
    }
}
