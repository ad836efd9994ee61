//! Right: each sleeping worker has a slot and a Condvar of its own. If a worker sleeps, execute() hands it
//! the job; otherwise execute() puts the job into the queue.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

/// The command that a sleeping worker gets when it is woken: to run a job, or to end.
enum Order {
    Run(Job),
    GoHome,
}

/// The place where one worker sleeps. Each place is used for one sleep, so the worker is woken once.
struct Bed {
    order: Mutex<Option<Order>>,
    bell: Condvar,
}

impl Bed {
    fn wake_with(&self, order: Order) {
        *self.order.lock().unwrap() = Some(order);
        self.bell.notify_one();
    }

    fn sleep(&self) -> Order {
        let mut order = self.order.lock().unwrap();
        loop {
            match order.take() {
                Some(order) => return order,
                None => order = self.bell.wait(order).unwrap(),
            }
        }
    }
}

/// If `sleepers` has a worker, `waiting` has no job. When the pool has ended, `sleepers` is empty.
struct State {
    waiting: VecDeque<Job>,
    sleepers: Vec<Arc<Bed>>,
    ended: bool,
}

pub struct WorkerPool {
    state: Arc<Mutex<State>>,
    handles: Vec<thread::JoinHandle<()>>,
}

fn next(state: &Mutex<State>) -> Order {
    let bed = {
        let mut state = state.lock().unwrap();
        if let Some(job) = state.waiting.pop_front() {
            return Order::Run(job);
        }
        if state.ended {
            return Order::GoHome;
        }
        let bed = Arc::new(Bed { order: Mutex::new(None), bell: Condvar::new() });
        state.sleepers.push(Arc::clone(&bed));
        bed
    };
    bed.sleep()
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let state =
            Arc::new(Mutex::new(State { waiting: VecDeque::new(), sleepers: Vec::new(), ended: false }));
        let handles = (0..threads)
            .map(|_| {
                let state = Arc::clone(&state);
                thread::spawn(move || {
                    while let Order::Run(job) = next(&state) {
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
            })
            .collect();
        WorkerPool { state, handles }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        let mut state = self.state.lock().unwrap();
        match state.sleepers.pop() {
            // The worker is removed from the list and gets its command under the same lock.
            Some(bed) => bed.wake_with(Order::Run(job)),
            None => state.waiting.push_back(job),
        }
    }

    pub fn shutdown(self) {
        let sleepers = {
            let mut state = self.state.lock().unwrap();
            state.ended = true;
            std::mem::take(&mut state.sleepers)
        };
        for bed in sleepers {
            bed.wake_with(Order::GoHome);
        }
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
