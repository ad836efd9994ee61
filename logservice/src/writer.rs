//! The writer's thread: it takes the waiting lines from the queue, and passes them to the sink until the sink
//! has taken all of them.
//!
//! ```text
//!            ┌──────────────────────────────────────────────────────────────────────────┐
//!            ▼                                                                          │
//!   wait for lines ──▶ write them ──the sink has them──▶ sync, if a caller asked for it ┘
//!        │                │   ▲
//!        │ stopped        │   └───────── pause ◀──┐
//!        ▼                └─ the sink failed ─────┴── told to give up ──▶ the end
//!     the end
//! ```
//!
//! If a sink fails, the writer tries again, after pauses that grow from [`SHORTEST`] to [`LONGEST`]. The writer
//! reports the first failure and the end of the failures on standard error, but reports no failure between the two.

use super::queue::{Batch, LineQueue, Next, Part};
use super::sink::Sink;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::door::sync::Arc;
use super::door::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// Creates the writer's own messages: reports to the operator, and the log line about missing lines.
pub(crate) trait Voice {
    /// Reports a message without using the log.
    fn say(&self, what: &str);

    /// Appends the log line that reports that `count` lines are missing.
    fn missing(&self, count: u64, out: &mut Vec<u8>);
}

pub(crate) struct Writer<S, V> {
    queue: Arc<LineQueue>,
    sink: S,
    voice: V,
    /// The time at which the sink began to fail.
    fails_since: Option<Instant>,
}

/// Tells the queue that the writer has ended, even after a panic.
struct EndsTheQueue<'q>(&'q LineQueue);

impl Drop for EndsTheQueue<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<S: Sink, V: Voice> Writer<S, V> {
    pub(crate) fn new(queue: Arc<LineQueue>, sink: S, voice: V) -> Self {
        Writer { queue, sink, voice, fails_since: None }
    }

    // ANCHOR: run
    /// Writes lines until the queue is stopped and empty. `batch` is the second of the two buffers.
    pub(crate) fn run(mut self, mut batch: Batch) {
        let queue = Arc::clone(&self.queue);
        let _end = EndsTheQueue(&queue);
        while let Next::Work { reopen, sync } = queue.next(&mut batch) {
            if reopen {
                let _ = self.attempt(S::reopen).inspect_err(|error| self.fails(error));
            }
            if !self.write(&batch) {
                return;
            }
            queue.done(&mut batch);
            if let Some(round) = sync {
                queue.synced(round, self.sync());
            }
        }
    }
    // ANCHOR_END: run

    /// Writes the whole batch, or returns false if the writer was told to give up.
    fn write(&mut self, batch: &Batch) -> bool {
        if let Some(whole) = batch.whole() {
            return self.write_pieces(whole, batch.lengths().map(|length| (length, true)));
        }
        let (mut bytes, mut pieces) = (Vec::new(), Vec::new());
        for part in batch.parts() {
            let before = bytes.len();
            match part {
                Part::Line(line) => bytes.extend_from_slice(line),
                Part::Missing(count) => self.voice.missing(count, &mut bytes),
            }
            pieces.push((bytes.len() - before, matches!(part, Part::Line(_))));
        }
        self.write_pieces(&bytes, pieces.into_iter())
    }

    /// Writes `bytes`. `pieces` has the lengths of the parts, and whether each part counts as a line.
    fn write_pieces(&mut self, bytes: &[u8], pieces: impl Iterator<Item = (usize, bool)>) -> bool {
        let mut pieces = pieces.peekable();
        let (mut written, mut counted, mut pause) = (0, 0, SHORTEST);
        while written < bytes.len() {
            match self.attempt(|sink| sink.write(&bytes[written..])) {
                Ok(taken) if taken > 0 => {
                    self.works();
                    self.warns();
                    pause = SHORTEST;
                    written = bytes.len().min(written + taken);
                    let mut lines = 0;
                    while let Some((length, counts)) =
                        pieces.next_if(|(length, _)| counted + length <= written)
                    {
                        counted += length;
                        lines += u64::from(counts);
                    }
                    self.queue.written(lines);
                }
                failed => {
                    self.fails(&failed.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
                    if !self.queue.pause(pause) {
                        return false;
                    }
                    pause = LONGEST.min(2 * pause);
                }
            }
        }
        true
    }

    /// Syncs only once: after a failure, the system may have discarded data, and a second sync could succeed
    /// without the data.
    fn sync(&mut self) -> bool {
        self.attempt(S::sync).inspect_err(|error| self.complain("cannot sync", error)).is_ok()
    }

    /// Calls a method of the sink. A panic counts as a failure of the sink.
    fn attempt<T>(&mut self, call: impl FnOnce(&mut S) -> io::Result<T>) -> io::Result<T> {
        catch_unwind(AssertUnwindSafe(|| call(&mut self.sink))).unwrap_or_else(|payload| {
            std::mem::forget(payload); // the payload's own destructor might panic
            Err(io::Error::other("the sink panicked"))
        })
    }

    fn fails(&mut self, error: &io::Error) {
        if self.fails_since.is_none() {
            self.fails_since = Some(Instant::now());
            self.complain("cannot write, and will try again and again", error);
        }
    }

    fn works(&mut self) {
        if let Some(since) = self.fails_since.take() {
            let name = self.sink.name();
            self.voice
                .say(&format!("log: {name}: writes again, after {:.1} s", since.elapsed().as_secs_f64()));
        }
    }

    fn warns(&mut self) {
        if let Ok(Some(warning)) = self.attempt(|sink| Ok(sink.warning())) {
            self.voice.say(&format!("log: {}: {warning}", self.sink.name()));
        }
    }

    fn complain(&self, what: &str, error: &io::Error) {
        self.voice.say(&format!("log: {}: {what}: {error}", self.sink.name()));
    }
}
