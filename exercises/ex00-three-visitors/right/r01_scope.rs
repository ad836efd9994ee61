//! Right: a scope waits for its threads.

use crate::sync::thread;

pub type Visit = Box<dyn FnOnce() + Send>;

pub fn serve_all(visits: Vec<Visit>) {
    thread::scope(|scope| {
        for visit in visits {
            scope.spawn(visit);
        }
    });
}
