//! Counts how many tasks run at the same time.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The largest number of tasks that ran at the same time.
#[derive(Default)]
pub struct Most(Arc<Mutex<Running>>, Arc<Condvar>);

#[derive(Default)]
struct Running {
    now: usize,
    most: usize,
}

impl Most {
    /// Runs until another task runs at the same time, but for at most one second.
    pub fn work(&self) -> impl FnOnce() + Send + use<> {
        let (running, changed) = (Arc::clone(&self.0), Arc::clone(&self.1));
        move || {
            let mut state = running.lock().unwrap();
            state.now += 1;
            state.most = state.most.max(state.now);
            changed.notify_all();
            let (mut state, _) =
                changed.wait_timeout_while(state, Duration::from_secs(1), |state| state.most < 2).unwrap();
            state.now -= 1;
        }
    }

    pub fn at_once(&self) -> usize {
        self.0.lock().unwrap().most
    }
}
