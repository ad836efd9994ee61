//! Right: the line is a channel. One atomic contains the number of jobs in the channel, and another atomic
//! tells whether an entry runs the line.
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use crate::sync::{Arc, Mutex, mpsc};

// ----- Given. -----

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that `execute` returns when it refuses a job. The error contains the refused job, which was not
/// called.
pub struct Refused(pub Job);

/// Takes jobs and calls them.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. If the executor takes the job, it calls the job once, either later or
    /// before `execute` returns, on a thread of the executor or on the thread that calls `execute`. The
    /// executor catches a panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

// ----- Yours. -----

/// Runs jobs one at a time and in the order of their submission, no matter on which thread the underlying
/// executor calls them.
pub struct SerialExecutor<E> {
    below: E,
    line: Arc<Line>,
    join: Mutex<mpsc::Sender<Place>>,
}

type Place = Arc<Mutex<Option<Job>>>;

struct Line {
    places: Mutex<mpsc::Receiver<Place>>,
    /// The number of places in the line; a place is empty if its job was taken back.
    waiting: AtomicUsize,
    moves: AtomicBool,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs that uses the given executor.
    pub fn new(below: E) -> Self {
        let (join, places) = mpsc::channel();
        let line =
            Line { places: Mutex::new(places), waiting: AtomicUsize::new(0), moves: AtomicBool::new(false) };
        Self { below, line: Arc::new(line), join: Mutex::new(join) }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let place = Place::new(Mutex::new(Some(job)));
        let _ = self.join.lock().unwrap().send(Arc::clone(&place));
        self.line.waiting.fetch_add(1, SeqCst);
        let line = Arc::clone(&self.line);
        if self.below.execute(Box::new(move || line.run())).is_ok() {
            return Ok(());
        }
        let own = place.lock().unwrap().take();
        own.map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl Line {
    fn run(&self) {
        // If a submitter adds a place while the flag is still set, the submitter's entry returns without
        // running a job. So this thread checks the number again after it has cleared the flag.
        while self.waiting.load(SeqCst) > 0 {
            if self.moves.swap(true, SeqCst) {
                return;
            }
            while let Some(place) = self.next() {
                let job = place.lock().unwrap().take();
                if let Some(job) = job {
                    drop(catch_unwind(AssertUnwindSafe(job)));
                }
            }
            self.moves.store(false, SeqCst);
        }
    }

    /// Takes the first place out of the line; returns `None` if the line has no place.
    fn next(&self) -> Option<Place> {
        if self.waiting.load(SeqCst) == 0 {
            return None;
        }
        self.waiting.fetch_sub(1, SeqCst);
        self.places.lock().unwrap().try_recv().ok()
    }
}
