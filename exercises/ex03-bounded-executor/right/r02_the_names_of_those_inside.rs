//! Right: no semaphore. Each job has a number, and a set behind a lock contains the numbers of all jobs that
//! were let in and have not ended. Removing a number twice does no harm.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use std::collections::BTreeSet;

use crate::sync::{Arc, Condvar, Mutex};

struct House {
    bound: usize,
    book: Mutex<Book>,
    left: Condvar,
}

struct Book {
    inside: BTreeSet<u64>,
    next: u64,
}

impl House {
    fn enter(&self) -> u64 {
        let mut book = self.book.lock().unwrap();
        while book.inside.len() >= self.bound {
            book = self.left.wait(book).unwrap();
        }
        let number = book.next;
        book.next += 1;
        book.inside.insert(number);
        number
    }

    fn leave(&self, number: u64) {
        let was_inside = self.book.lock().unwrap().inside.remove(&number);
        if was_inside {
            self.left.notify_one(); // one place is free, so one caller may look
        }
    }
}

/// A guard that its job owns; the drop of the guard removes the job's number from the set.
struct Guest {
    house: Arc<House>,
    number: u64,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.house.leave(self.number);
    }
}

pub struct BoundedExecutor<E> {
    inner: E,
    house: Arc<House>,
}

impl<E: Executor> BoundedExecutor<E> {
    pub fn new(inner: E, bound: usize) -> Self {
        let book = Book { inside: BTreeSet::new(), next: 0 };
        BoundedExecutor {
            inner,
            house: Arc::new(House { bound, book: Mutex::new(book), left: Condvar::new() }),
        }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let number = self.house.enter();
        let guest = Guest { house: Arc::clone(&self.house), number };
        let handed_over = self.inner.execute(move || {
            let _guest = guest;
            job();
        });
        if handed_over.is_err() {
            self.house.leave(number);
        }
        handed_over
    }
}
