//! Helpers for the tests: a writer with a gate, and calls to the queue that check what the queue promises.

use exercises_harness::{at_once, expect, fail, step};

use super::super::exercise::{Counts, LogQueue, NotLogged, Overflow, Record};
use crate::probe::{Counter, Shared, until_others_wait};
use crate::sync::{Arc, thread};

pub const NOT_WOKEN: &str = "a logger sleeps although there is room, or the writer although there is a line. Each line that is put must \
                             wake the writer. When lines are taken, wake all loggers that wait for room, or one for each line. What the \
                             writer has taken takes no room, even while it is being written";
pub const NO_END: &str = "the queue is stopped, and a thread still waits. stop() has to end every wait, the writer's and that of each \
                          put(): set the flag under the lock, and then wake all threads";
const DOES_NOT_WAIT: &str = "only put() with Block waits for room. With the other policies put() returns at once, and so do stop() and \
                             counts(). None of these calls may wait for the writer, so hold no lock while `out` is called";

/// The entries that the writer has handed out, and a gate that can hold the writer at one line.
pub struct Paper {
    entries: Shared<Vec<Record>>,
    gate_at: &'static str,
    /// Counts the lines that were handed out.
    pub lines: Counter,
    /// This counter becomes one when the writer is at the gate.
    pub at_the_gate: Counter,
    gate: Counter,
}

/// Starts a writer without a gate.
pub fn writer(queue: &Arc<LogQueue>) -> (Arc<Paper>, thread::JoinHandle<()>) {
    start_writer(queue, "")
}

/// Starts a writer that stays in `out` with the given line until the gate is opened; returns when the writer
/// is at the gate.
pub fn writer_held_at(queue: &Arc<LogQueue>, line: &'static str) -> (Arc<Paper>, thread::JoinHandle<()>) {
    let (paper, running) = start_writer(queue, line);
    let what = format!("waiting for the writer to hand out {line}");
    expect(&what, NOT_WOKEN, || paper.at_the_gate.wait_for(1));
    step(&format!("sees the writer write {line}, which takes long"));
    (paper, running)
}

fn start_writer(queue: &Arc<LogQueue>, gate_at: &'static str) -> (Arc<Paper>, thread::JoinHandle<()>) {
    let paper = Arc::new(Paper {
        entries: Shared::default(),
        gate_at,
        lines: Counter::new("a line to be handed out"),
        at_the_gate: Counter::new("the writer to come to the gate"),
        gate: Counter::new("the disk, which is slow"),
    });
    let (queue, of_writer) = (Arc::clone(queue), Arc::clone(&paper));
    (paper, start("writer", move || queue.run(|entry| of_writer.write(entry))))
}

impl Paper {
    fn write(&self, entry: Record) {
        let line = match &entry {
            Record::Missing(0) => fail("run() handed out Missing(0)", "a gap has at least one line"),
            Record::Missing(count) => {
                step(&format!("writes that {count} lines are missing"));
                None
            }
            Record::Line(line) => {
                step(&format!("writes {line}"));
                Some(line.clone())
            }
        };
        self.entries.with(|entries| entries.push(entry));
        let Some(line) = line else { return };
        self.lines.add();
        if line == self.gate_at {
            self.at_the_gate.add();
            self.gate.wait_for(1);
        }
    }

    /// Opens the gate, so that the writer goes on.
    pub fn open_the_gate(&self) {
        step("lets the writer go on");
        self.gate.add();
    }

    /// Returns the handed-out lines, and gaps as `<n>`; gaps with no line between them are shown as one gap.
    pub fn shown(&self) -> String {
        let (mut shown, mut gap) = (Vec::new(), 0);
        let entries = self.entries.with(|entries| entries.clone());
        for entry in entries.into_iter().chain([Record::Line(String::new())]) {
            match entry {
                Record::Missing(count) => gap += count,
                Record::Line(line) => {
                    shown.extend((gap > 0).then(|| format!("<{gap}>")));
                    shown.push(line);
                    gap = 0;
                }
            }
        }
        shown.join(" ").trim_end().to_owned()
    }
}

/// Starts a thread with a name; messages can show this name.
pub fn start<R: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

/// Waits for the end of a thread. `what` is the call that the thread is in, and `cause` is the likely cause
/// if that call never ends.
pub fn join<R>(what: &str, cause: &str, handle: thread::JoinHandle<R>) -> R {
    let result = expect(what, cause, || handle.join());
    result.unwrap_or_else(|_| fail("a thread of the test panicked", "no call of a right answer panics"))
}

/// Puts a line, and fails the test if put() waits.
pub fn put_now(queue: &LogQueue, line: &str, overflow: Overflow) -> Result<(), NotLogged> {
    step(&format!("puts {line} ({overflow:?})"));
    at_once("put()", DOES_NOT_WAIT, || queue.put(line.to_owned(), overflow))
}

/// Puts lines, and checks that each is accepted at once.
pub fn accepts(queue: &LogQueue, lines: &[&str], overflow: Overflow) {
    for line in lines {
        let result = put_now(queue, line, overflow);
        if result != Ok(()) {
            fail(
                &format!("put({line:?}, {overflow:?}) returned {result:?}, but the line should be accepted"),
                "a line must be accepted if fewer than `room` lines wait for the writer, or if DropOldest can drop an older line to make \
                 room",
            );
        }
    }
}

/// Puts lines, and checks that each is dropped at once.
pub fn drops(queue: &LogQueue, lines: &[&str], overflow: Overflow) {
    for line in lines {
        let result = put_now(queue, line, overflow);
        if result != Err(NotLogged::Full) {
            fail(
                &format!("there was no room, and put({line:?}, {overflow:?}) returned {result:?}"),
                "at most `room` lines wait, whatever the policy; a line that finds no room and cannot make any is dropped, and put() \
                 returns Full",
            );
        }
    }
}

/// Puts a line, and checks that it is refused.
pub fn refuses(queue: &LogQueue, line: &str, overflow: Overflow) {
    let result = put_now(queue, line, overflow);
    is_refused(result, &format!("the queue was stopped before put({line:?}, {overflow:?})"));
}

/// Checks that put() returned `Stopped`, because put() began after stop() or waited while stop() was called.
pub fn is_refused(result: Result<(), NotLogged>, when: &str) {
    if result != Err(NotLogged::Stopped) {
        fail(
            &format!("{when}; it returned {result:?}"),
            "after the stop no line is accepted or dropped: put() must check for the stop first, and again after each wait, and returns \
             Stopped",
        );
    }
}

pub fn stop(queue: &LogQueue) {
    step("stops the queue");
    at_once("stop()", DOES_NOT_WAIT, || queue.stop());
}

pub fn counts(queue: &LogQueue) -> Counts {
    at_once("counts()", DOES_NOT_WAIT, || queue.counts())
}

/// Stops the queue, lets a writer write the waiting lines, and checks the written entries.
pub fn written_at_the_end(queue: &Arc<LogQueue>, expected: &str, cause: &str) {
    stop(queue);
    ends_with(writer(queue), expected, cause);
}

/// Waits for the writer of a stopped queue, and checks the written entries.
pub fn ends_with((paper, running): (Arc<Paper>, thread::JoinHandle<()>), expected: &str, cause: &str) {
    join("run(), whose queue is stopped,", NO_END, running);
    is_the_log(&paper, expected, cause);
}

/// Waits until the writer has written the expected number of lines, and checks the lines. A gap at the end is
/// not expected here, because the writer may hand it out later.
pub fn writes(paper: &Paper, expected: &str, cause: &str) {
    let lines = expected.split(' ').filter(|entry| !entry.starts_with('<')).count();
    let what = format!("waiting for the writer to hand out {lines} lines");
    expect(&what, cause, || paper.lines.wait_for(lines));
    is_the_log(paper, expected, cause);
}

fn is_the_log(paper: &Paper, expected: &str, cause: &str) {
    let shown = paper.shown();
    if shown != expected {
        fail(
            &format!("the log is \"{shown}\", and should be \"{expected}\" (<1> is a gap of one line)"),
            cause,
        );
    }
}

/// Checks the counts `accepted`, `written`, `dropped`, `dropped_accepted` and `refused`, in this order.
pub fn books(queue: &LogQueue, expected: [u64; 5], cause: &str) {
    let Counts { accepted, written, dropped, dropped_accepted, refused } = counts(queue);
    let names = ["accepted", "written", "dropped", "dropped_accepted", "refused"];
    let seen = [accepted, written, dropped, dropped_accepted, refused];
    let wrong: Vec<String> = (0..5)
        .filter(|count| seen[*count] != expected[*count])
        .map(|count| format!("{} is {} and should be {}", names[count], seen[count], expected[count]))
        .collect();
    if !wrong.is_empty() {
        fail(&format!("in counts(), {}", wrong.join(", ")), cause);
    }
}

/// Two threads that wait in put() for room, and the number of threads whose put() has returned.
pub struct TwoBlocked {
    pub back: Arc<Counter>,
    handles: [thread::JoinHandle<Result<(), NotLogged>>; 2],
}

impl TwoBlocked {
    /// Puts the given lines into a full queue, each line from its own thread, and waits until both threads
    /// sleep.
    pub fn start(queue: &Arc<LogQueue>, lines: [&'static str; 2]) -> Self {
        let back = Arc::new(Counter::new("put() to come back"));
        let handles = lines.map(|line| {
            let (queue, back) = (Arc::clone(queue), Arc::clone(&back));
            start(&format!("logger of {line}"), move || {
                let result = queue.put(line.to_owned(), Overflow::Block);
                back.add();
                result
            })
        });
        until_others_wait(
            "a put() with Block never sleeps while the queue is full",
            "the call looks again and again, and keeps a core busy with nothing to do: wait on a Condvar",
        );
        step("sees both loggers wait");
        if back.get() > 0 {
            fail(
                "put() with Block returned although there was no room",
                "with Block, put() waits while `room` lines wait for the writer",
            );
        }
        TwoBlocked { back, handles }
    }

    /// Returns the results of both calls.
    pub fn join(self, cause: &str) -> [Result<(), NotLogged>; 2] {
        self.handles.map(|handle| join("put(), which waits for room,", cause, handle))
    }
}
