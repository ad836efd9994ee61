#![allow(unused)]

use crate::sync::thread::{self, JoinHandle};

/// The request of one visitor. Calling this closure serves the visitor, and may take a long time.
pub type Visit = Box<dyn FnOnce() + Send>;

/// Serves all visitors at once, and returns when the last one has been served.
pub fn serve_all(visits: Vec<Visit>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for visit in visits {
        todo!("start a thread that serves this visitor, and keep its handle in `threads`");
    }
    for thread in threads {
        todo!("wait for this thread to end");
    }
}
