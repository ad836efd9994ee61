//! A small protocol of a program: threads send lines through a channel to a thread that writes them. A flush
//! waits until all earlier lines are written.
//!
//! The protocol names neither std nor a model. `executor/tests/channel.rs` compiles this protocol for real
//! threads, and `main.rs` compiles it for shuttle.

use executor::channel::{PutError, ReceiverExt, Sender, SenderExt, bounded};

use super::door::sync::{Arc, Condvar, Mutex};
use super::door::thread::{self, JoinHandle};
use super::door::time::{Duration, Instant};

/// The thread that writes the lines, one after the other. `CAREFUL` is false in the broken variant, which a
/// model must reject.
pub(crate) struct Writer<const CAREFUL: bool = true> {
    lines: Sender<String>,
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Progress {
    written: Mutex<Vec<String>>,
    one_more: Condvar,
}

impl<const CAREFUL: bool> Writer<CAREFUL> {
    pub(crate) fn new(capacity: usize) -> Self {
        let (lines, to_write) = bounded::<String>(capacity);
        let progress = Arc::new(Progress::default());
        let own = Arc::clone(&progress);
        let write = move || to_write.take_iter().for_each(|line| own.write::<CAREFUL>(line));
        Self { lines, progress, thread: thread::spawn(write) }
    }

    pub(crate) fn put(&self, line: &str) -> Result<(), PutError<String>> {
        self.lines.put(line.to_owned())
    }

    /// Waits until `lines` lines are written.
    pub(crate) fn flush(&self, lines: usize) {
        let written = self.progress.written.lock().unwrap();
        drop(self.progress.one_more.wait_while(written, |written| written.len() < lines).unwrap());
    }

    /// Waits until `lines` lines are written, or until `timeout` has passed. Returns the number of lines that
    /// are written, and the duration of the wait.
    pub(crate) fn flush_timeout(&self, lines: usize, timeout: Duration) -> (usize, Duration) {
        let began = Instant::now();
        let written = self.progress.written.lock().unwrap();
        let unwritten = |written: &mut Vec<String>| written.len() < lines;
        let (written, _) = self.progress.one_more.wait_timeout_while(written, timeout, unwritten).unwrap();
        (written.len(), began.elapsed())
    }

    /// Writes all lines that still wait, ends the thread and returns all written lines.
    pub(crate) fn close(self) -> Vec<String> {
        drop(self.lines);
        self.thread.join().unwrap();
        let written = self.progress.written.lock().unwrap();
        written.clone()
    }
}

impl Progress {
    fn write<const CAREFUL: bool>(&self, line: String) {
        if !CAREFUL {
            self.one_more.notify_all(); // too early: a thread that looks now sees no progress, and waits on
        }
        self.written.lock().unwrap().push(line);
        if CAREFUL {
            self.one_more.notify_all();
        }
    }
}
