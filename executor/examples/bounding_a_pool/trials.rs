//! Shows what can happen to a task in a bounded executor if the task does not run normally.

use executor::{BoundedExecutor, ManualExecutor, RejectReason, prelude::*};
use std::sync::{Arc, mpsc};
use std::{thread, time::Duration};

/// An executor with a bound: its inner executor has at most two of its tasks at a time. Each trial decides
/// what the inner executor does with the two tasks.
pub trait Bounded: Send + Sync + 'static {
    fn submit(&self) -> Result<(), String>;
    fn below(&self) -> &ManualExecutor;
    fn free(&self) -> usize;
}

// ANCHOR: trials
pub fn all(bounded: impl Bounded) {
    let bounded = Arc::new(bounded);
    let (below, free) = (bounded.below(), || bounded.free());
    below.refuse_next(RejectReason::Saturated);
    println!("one is refused:     {}; free permits: {}", submit(&bounded), free());
    println!("one is accepted:    {}; free permits: {}", submit(&bounded), free());
    below.discard_next();
    println!("it is discarded:    free permits: {}", free());
    println!("one is accepted:    {}; free permits: {}", submit(&bounded), free());
    drop(below.shutdown_now());
    println!("the end:            free permits: {}", free());
    println!("one more:           {}", submit(&bounded));
}
// ANCHOR_END: trials

/// Returns the answer that the submitter gets, if the answer comes within a second.
fn submit(bounded: &Arc<impl Bounded>) -> String {
    let (tell, answer) = mpsc::channel();
    let bounded = Arc::clone(bounded);
    thread::spawn(move || tell.send(bounded.submit()));
    match answer.recv_timeout(Duration::from_secs(1)) {
        Ok(Ok(())) => "told nothing".into(),
        Ok(Err(reason)) => format!("told: {reason}"),
        Err(_) => "still waits after 1 s".into(),
    }
}

impl Bounded for BoundedExecutor<ManualExecutor> {
    fn submit(&self) -> Result<(), String> {
        self.execute(|| ()).map_err(|refused| refused.reason.to_string())
    }
    fn below(&self) -> &ManualExecutor {
        self.executor()
    }
    fn free(&self) -> usize {
        self.bound() - self.under_way()
    }
}
