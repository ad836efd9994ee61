//! Right: callers wait in a queue, each with a Condvar of its own. A place that becomes free is given to the
//! first caller in the queue, so no caller overtakes another.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// A caller in the queue.
struct Waiter {
    /// This flag is written and read only under the lock of the queue.
    called: AtomicBool,
    turn: Condvar,
}

/// While a caller waits, no place is free.
struct Line {
    free: usize,
    waiting: VecDeque<Arc<Waiter>>,
}

struct Door(Mutex<Line>);

impl Door {
    fn enter(self: &Arc<Self>) -> Pass {
        let mut line = self.0.lock().unwrap();
        if line.free > 0 {
            line.free -= 1;
        } else {
            let me = Arc::new(Waiter { called: AtomicBool::new(false), turn: Condvar::new() });
            line.waiting.push_back(Arc::clone(&me));
            while !me.called.load(Ordering::Acquire) {
                line = me.turn.wait(line).unwrap();
            }
        }
        Pass(Arc::new(Mutex::new(Some(Arc::clone(self)))))
    }

    fn leave(&self) {
        let mut line = self.0.lock().unwrap();
        match line.waiting.pop_front() {
            Some(first) => {
                first.called.store(true, Ordering::Release); // from here on the place belongs to this caller
                first.turn.notify_one();
            }
            None => line.free += 1,
        }
    }
}

/// The right to give one place back. All clones of a pass share this right, and only the first use of the
/// right gives the place back.
#[derive(Clone)]
struct Pass(Arc<Mutex<Option<Arc<Door>>>>);

impl Pass {
    fn use_up(&self) {
        let door = self.0.lock().unwrap().take();
        if let Some(door) = door {
            door.leave();
        }
    }
}

struct Leaving(Pass);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.use_up();
    }
}

pub struct BoundedExecutor<E> {
    inner: E,
    door: Arc<Door>,
}

impl<E: Executor> BoundedExecutor<E> {
    pub fn new(inner: E, bound: usize) -> Self {
        BoundedExecutor {
            inner,
            door: Arc::new(Door(Mutex::new(Line { free: bound, waiting: VecDeque::new() }))),
        }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let pass = self.door.enter();
        let leaving = Leaving(pass.clone());
        let handed_over = self.inner.execute(move || {
            let _leaving = leaving;
            job();
        });
        if handed_over.is_err() {
            pass.use_up();
        }
        handed_over
    }
}
