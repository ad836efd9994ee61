use crate::sync::thread::{self, JoinHandle};

/// The request of one visitor. Calling this closure serves the visitor, and may take a long time.
pub type Visit = Box<dyn FnOnce() + Send>;

/// Serves all visitors at once, and returns when the last one has been served.
pub fn serve_all(visits: Vec<Visit>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for visit in visits {
        threads.push(thread::spawn(visit));
    }
    for thread in threads {
        thread.join().expect("no visit panics");
    }
}
