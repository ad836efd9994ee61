//! Right: the calling thread starts a thread for each visitor except the last one, and serves the last visitor
//! itself.

use crate::sync::thread;

pub type Visit = Box<dyn FnOnce() + Send>;

pub fn serve_all(mut visits: Vec<Visit>) {
    let last = visits.pop();
    let threads: Vec<_> = visits.into_iter().map(thread::spawn).collect();
    if let Some(visit) = last {
        visit();
    }
    threads.into_iter().for_each(|thread| thread.join().expect("no visit panics"));
}
