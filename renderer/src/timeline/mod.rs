//! The timeline of the threads: a lane for each thread, and a bar for each activity.
//!
//! A bar is recorded when it ends. The lock is held only for one push, so the timeline does not
//! disturb the threads that it shows. A thread gets its lane when its first bar is recorded.

mod drawing; // bars to SVG

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How many bars are kept. Further bars are only counted.
const MOST_BARS: usize = 20_000;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activity {
    /// The thread waits for another thread.
    Waiting,
    /// The thread waits for a server or a disk.
    Fetching,
    /// The thread decodes an image.
    Decoding,
    /// The thread paints.
    Painting,
    /// The thread writes a file.
    Writing,
}

/// Records the activities of a program's threads. All clones share one timeline, and any thread may
/// write to it.
#[derive(Debug, Clone)]
pub struct Timeline {
    started: Instant,
    noted: Arc<Mutex<Noted>>,
}

#[derive(Debug, Default)]
struct Noted {
    lanes: Vec<(ThreadId, String)>,
    bars: Vec<Drawn>,
    /// How many bars were not kept.
    left_out: usize,
    marks: Vec<(Duration, &'static str)>,
}

/// A bar that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Drawn {
    lane: usize,
    activity: Activity,
    what: String,
    from: Duration,
    to: Duration,
}

/// A bar that has begun and has not ended yet. Dropping this value ends the bar.
#[derive(Debug)]
pub struct Bar {
    timeline: Timeline,
    lane: usize,
    activity: Activity,
    what: String,
    from: Duration,
}

impl Timeline {
    /// Starts a timeline at the present time.
    pub fn start() -> Timeline {
        Timeline { started: Instant::now(), noted: Arc::default() }
    }

    /// Returns the time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Begins a bar on the lane of the calling thread; dropping the returned value ends the bar. `what` is a
    /// description for human readers.
    #[must_use = "the bar ends when it is dropped"]
    pub fn bar(&self, activity: Activity, what: impl Into<String>) -> Bar {
        let lane = self.lock().lane();
        Bar { timeline: self.clone(), lane, activity, what: what.into(), from: self.now() }
    }

    /// Marks the current time across all lanes.
    pub fn mark(&self, what: &'static str) {
        let now = self.now();
        self.lock().marks.push((now, what));
    }

    /// Returns the timeline as a drawing in SVG.
    pub fn svg(&self, title: &str) -> String {
        drawing::svg(&self.lock(), title)
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    /// Returns the lane of the calling thread.
    fn lane(&mut self) -> usize {
        let thread = thread::current();
        self.lanes.iter().position(|(id, _)| *id == thread.id()).unwrap_or_else(|| {
            let number = self.lanes.len();
            let name = thread.name().map_or_else(|| format!("thread {}", number + 1), str::to_owned);
            self.lanes.push((thread.id(), name));
            number
        })
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let to = self.timeline.now();
        let what = std::mem::take(&mut self.what);
        let bar = Drawn { lane: self.lane, activity: self.activity, what, from: self.from, to };
        let mut noted = self.timeline.lock();
        if noted.bars.len() < MOST_BARS {
            noted.bars.push(bar);
        } else {
            noted.left_out += 1;
        }
    }
}
