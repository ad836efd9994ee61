//! Three pages, which two threads fetch.

use executor::{CancelToken, Cancelled, Latch, masked};
use std::sync::Arc;
use std::time::Duration;

pub struct Pages {
    two_run: Arc<Latch>,
    stopped: Arc<Latch>,
}

impl Default for Pages {
    fn default() -> Self {
        Self { two_run: Arc::new(Latch::new(2)), stopped: Arc::new(Latch::new(1)) }
    }
}

impl Pages {
    // ANCHOR: pages
    /// This page is fetched completely. The request to stop comes when the page is fetched, but before its
    /// task has returned.
    pub fn done(&self) -> impl FnOnce(&CancelToken) -> Result<(), Cancelled> + Send + use<> {
        let (two_run, stopped) = (Arc::clone(&self.two_run), Arc::clone(&self.stopped));
        move |_token| {
            two_run.count_down(); // its last byte has come
            masked(|| stopped.wait())
        }
    }

    /// The task that fetches this page ends early when it is asked to stop.
    pub fn half(&self) -> impl FnOnce(&CancelToken) -> Result<(), Cancelled> + Send + use<> {
        let two_run = Arc::clone(&self.two_run);
        move |token| {
            two_run.count_down();
            token.sleep(Duration::from_secs(3600))
        }
    }

    /// This page waits in the queue.
    pub fn later(token: &CancelToken) -> Result<(), Cancelled> {
        token.check()
    }
    // ANCHOR_END: pages

    pub fn wait_until_two_run(&self) {
        self.two_run.wait().expect("main is not cancelled");
    }

    /// Lets the task that has fetched its page return. Before the caller calls this function, it has asked
    /// the task to stop.
    pub fn go_on(&self) {
        self.stopped.count_down();
    }
}
