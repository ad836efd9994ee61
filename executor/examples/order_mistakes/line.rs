//! Runs jobs one after the other, as in the classic listing: at the end of each job, the next job is started.

use executor::{Latch, ThreadPoolExecutor, prelude::*};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

pub struct Line {
    pub state: Mutex<State>,
    pub is_empty: Latch,
    pub pool: ThreadPoolExecutor,
}

#[derive(Default)]
pub struct State {
    jobs: VecDeque<Job>,
    is_active: bool,
}

impl Line {
    pub fn over(pool: ThreadPoolExecutor) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), is_empty: Latch::new(1), pool })
    }

    // ANCHOR: line
    pub fn execute(self: &Arc<Self>, job: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock().unwrap();
        state.jobs.push_back(Box::new(job));
        if !state.is_active {
            self.start_next(&mut state);
        }
    }

    fn start_next(self: &Arc<Self>, state: &mut State) {
        let next = state.jobs.pop_front();
        state.is_active = next.is_some();
        let Some(job) = next else { return self.is_empty.count_down() };
        let line = Arc::clone(self);
        let wrapper = move || {
            job();
            line.start_next(&mut line.state.lock().unwrap());
        };
        self.pool.execute(wrapper).expect("the pool has no bound");
    }
    // ANCHOR_END: line

    // ANCHOR: await_end
    /// Waits until the last job has ended. No further job can be added during the wait.
    pub fn await_end(&self, timeout: Duration) -> bool {
        let _no_other = self.state.lock().unwrap();
        self.is_empty.wait_timeout(timeout).is_ok()
    }
    // ANCHOR_END: await_end
}
