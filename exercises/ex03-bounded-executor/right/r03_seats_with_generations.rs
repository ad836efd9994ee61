//! Right: numbered seats, each with a generation that goes up when the seat is given back. A ticket of an older
//! generation gives nothing back.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::{Arc, Condvar, Mutex};

/// A seat, and how often it had been given back before.
#[derive(Clone, Copy)]
struct Ticket {
    seat: usize,
    generation: u64,
}

struct Plan {
    /// Of each seat that there is; seats are made when they are needed first, up to the bound.
    generations: Vec<u64>,
    free: Vec<usize>,
}

struct Hall {
    bound: usize,
    plan: Mutex<Plan>,
    freed: Condvar,
}

impl Hall {
    fn take(&self) -> Ticket {
        let mut plan = self.plan.lock().unwrap();
        loop {
            if let Some(seat) = plan.free.pop() {
                return Ticket { seat, generation: plan.generations[seat] };
            }
            if plan.generations.len() < self.bound {
                plan.generations.push(0);
                return Ticket { seat: plan.generations.len() - 1, generation: 0 };
            }
            plan = self.freed.wait(plan).unwrap();
        }
    }

    fn give_back(&self, ticket: Ticket) {
        let mut plan = self.plan.lock().unwrap();
        if plan.generations[ticket.seat] == ticket.generation {
            plan.generations[ticket.seat] += 1;
            plan.free.push(ticket.seat);
            drop(plan);
            self.freed.notify_one();
        }
    }
}

struct Seated {
    hall: Arc<Hall>,
    ticket: Ticket,
}

impl Seated {
    fn run(self, job: impl FnOnce()) {
        job(); // and `self` is dropped behind it, on every way out
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.hall.give_back(self.ticket);
    }
}

pub struct BoundedExecutor<E> {
    inner: E,
    hall: Arc<Hall>,
}

impl<E: Executor> BoundedExecutor<E> {
    pub fn new(inner: E, bound: usize) -> Self {
        let plan = Plan { generations: Vec::new(), free: Vec::new() };
        BoundedExecutor {
            inner,
            hall: Arc::new(Hall { bound, plan: Mutex::new(plan), freed: Condvar::new() }),
        }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let ticket = self.hall.take();
        let seated = Seated { hall: Arc::clone(&self.hall), ticket };
        self.inner.execute(move || seated.run(job)).inspect_err(|_| self.hall.give_back(ticket))
    }
}
