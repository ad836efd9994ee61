//! The queue of lines that wait for the writer: two buffers that are swapped.
//!
//! A thread that logs copies its formatted line to the end of one buffer, under a lock. The writer swaps this buffer
//! with the other buffer, which is empty, and then writes the lines without holding the lock. So a line costs the
//! caller a lock and a copy, and the writer needs one system call for many lines.
//!
//! ```text
//!   callers ──put──▶ ┌──────────────┐   take    ┌──────────────┐
//!                    │ what fills   │ ◀──swap──▶│ what is being│ ──▶ sink
//!                    └──────────────┘           │ written      │
//!                                               └──────────────┘
//!
//!   Open ───stop───▶ Stopping ───the last line is written, or the writer gave up───▶ Ended
//! ```
//!
//! This queue counts no reservations, unlike the lesson in `logservice/road`. A caller's line is accepted and
//! put into the buffer in one step, under a lock. The writer uses the same lock to check whether any line is
//! left.
//!
//! # When the buffer is full
//!
//! The caller's [`Overflow`] policy decides what happens to a line if the buffer is full. Dropped lines leave
//! a gap. The line after the gap keeps the number of missing lines, so that the writer can report this number
//! at the gap. An accepted line is dropped only if it was put with [`Overflow::DropOldest`]. A dropped line
//! stays in the buffer with a mark, but no longer counts as used room. To hold these marked lines too, the
//! memory of the buffer is twice as large as its room. When the memory is used up, at least half of it holds
//! dropped lines, and the queue removes them. For each byte that was put, this removal moves less than one
//! byte.
//!
//! # When the writer is woken
//!
//! Waking a thread is the largest part of a caller's cost. So the writer *lingers* after it has written: it
//! sleeps for a millisecond, and only a half-full buffer, a flush or a stop wakes it earlier. If no line
//! has come while the writer lingered, the writer goes to *sleep*, and the next line wakes it. A steady
//! stream of lines needs no wake-up.
//!
//! # Invariants
//!
//! 1. `accepted` is the sum of three numbers: the lines in the buffers, the `written` lines, and the `dropped`
//!    lines that had been accepted. Each line that was not accepted is counted once, in `dropped` or in `refused`.
//! 2. After `stop` no line is accepted. The writer ends only when both buffers are empty, or when a stop
//!    tells it to give up.
//! 3. Lines are written in the order of their acceptance, so the lines of one thread are in the order of its
//!    calls.
//! 4. Under the lock, nothing is allocated, formatted or written. If the queue allocated memory under the
//!    lock, an allocator that logs would wait for itself.

mod outcome;
pub use outcome::{Counts, NotLogged, Overflow};

mod batch;
pub(crate) use batch::{Batch, Part};

use super::door::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use super::door::time::{Duration, Instant};
use std::mem;

/// The time that the writer waits for more lines before it checks the buffer again.
const LINGER: Duration = Duration::from_millis(1);

/// An amount of buffer space, in bytes and lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
}

#[repr(C, align(64))] // the state begins at a cache line
pub(crate) struct LineQueue {
    state: Mutex<State>,
    /// Signals that the writer has work to do.
    work: Condvar,
    /// Signals that there is room again, or that there will be no more room.
    room: Condvar,
    /// Signals that more lines are written or synced, or that the writer has ended.
    progress: Condvar,
}

#[repr(C)] // the fields that each line changes come first: with the lock, they fill two cache lines
struct State {
    phase: Phase,
    writer: Writer,
    /// True if a caller waits for the lines in the buffers.
    hurry: bool,
    reopen: bool,
    /// True after the deadline of a stop: the writer must end, even if lines are left.
    give_up: bool,
    /// True if a stop has returned while lines were left, and has reported the loss.
    loss_is_told: bool,
    /// The number of lines that were dropped since the last line was put into `filling`.
    missing: u64,
    counts: Counts,
    filling: Batch,
    /// The number of callers that wait for room.
    blocked: usize,
    /// The first `done` accepted lines have all been written or dropped.
    done: u64,
    syncs: Syncs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    Stopping,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// The writer works, and will check the buffer before it sleeps.
    Busy,
    /// The writer sleeps for a millisecond and then checks the buffer. Only urgent work wakes the writer
    /// earlier.
    Lingers,
    /// The writer sleeps until it is woken.
    Sleeps,
}

/// Requests to put all lines on the disk, numbered from 1. In one round, the writer answers all requests that
/// came before the round.
#[derive(Debug, Default)]
struct Syncs {
    wanted: u64,
    answered: u64,
    /// The number of the last round that failed. Data that a failed round did not put on the disk may still be
    /// missing after a later round has succeeded.
    failed: Option<u64>,
}

/// The next work of the writer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// If `reopen` is true, the writer must first reopen the sink. Then the writer must write the batch. If
    /// `sync` has a round, the writer must afterwards sync and answer this round.
    Work { reopen: bool, sync: Option<u64> },
    /// All lines are written, and no more lines come.
    End,
}

/// The result of a wait for the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flushed {
    Done,
    /// The writer has ended before the lines were written.
    Ended,
    SyncFailed,
    TimedOut,
}

impl LineQueue {
    pub(crate) fn new(room: Room) -> LineQueue {
        LineQueue {
            state: Mutex::new(State {
                phase: Phase::Open,
                writer: Writer::Busy,
                filling: Batch::new(room),
                missing: 0,
                counts: Counts::default(),
                blocked: 0,
                done: 0,
                hurry: false,
                reopen: false,
                syncs: Syncs::default(),
                give_up: false,
                loss_is_told: false,
            }),
            work: Condvar::new(),
            room: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    // ANCHOR: put
    /// Accepts the line, or returns why the line is not accepted.
    pub(crate) fn put(&self, line: &[u8], overflow: Overflow) -> Result<(), NotLogged> {
        let mut state = self.lock();
        if state.phase == Phase::Open && !state.filling.has_room(line.len()) {
            state = self.make_room(state, line.len(), overflow)?;
        }
        if state.phase != Phase::Open {
            state.counts.refused += 1;
            return Err(NotLogged::Stopped);
        }
        state.counts.accepted += 1;
        let gap = mem::take(&mut state.missing);
        state.missing = state.filling.push(line, overflow == Overflow::DropOldest, gap);
        let wake = match state.writer {
            Writer::Busy => false,
            Writer::Lingers => state.filling.is_half_full(),
            Writer::Sleeps => true,
        };
        if wake {
            state.writer = Writer::Busy;
        }
        drop(state);
        if wake {
            self.work.notify_one();
        }
        Ok(())
    }
    // ANCHOR_END: put

    /// Waits, or drops lines, until there is room for the given line, or until a stop.
    #[cold]
    fn make_room<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        bytes: usize,
        overflow: Overflow,
    ) -> Result<MutexGuard<'a, State>, NotLogged> {
        let is_waiting = |state: &mut State| state.phase == Phase::Open && !state.filling.has_room(bytes);
        match overflow {
            Overflow::Block => {
                state.blocked += 1;
                self.hurry(&mut state);
                state = self.room.wait_while(state, is_waiting).unwrap_or_else(PoisonError::into_inner);
                state.blocked -= 1;
            }
            Overflow::BlockFor(at_most) => {
                state.blocked += 1;
                self.hurry(&mut state);
                let waited = self.room.wait_timeout_while(state, at_most, is_waiting);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                state.blocked -= 1;
            }
            Overflow::DropNewest => {}
            Overflow::DropOldest => {
                let dropped = state.filling.drop_oldest(bytes);
                state.counts.dropped += dropped;
                state.counts.dropped_accepted += dropped;
            }
        }
        if state.phase == Phase::Open && !state.filling.has_room(bytes) {
            state.counts.dropped += 1;
            state.missing += 1;
            return Err(NotLogged::Full);
        }
        Ok(state)
    }

    /// Counts a line that was refused before it reached the buffer.
    pub(crate) fn refuse(&self) {
        self.lock().counts.refused += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Waits until all earlier accepted lines are written; if `sync` is true, waits until they are on the
    /// disk.
    pub(crate) fn flush(&self, sync: bool, deadline: Option<Instant>) -> Flushed {
        let mut state = self.lock();
        let ticket = state.counts.accepted;
        let round = if sync {
            state.syncs.wanted += 1;
            state.syncs.wanted
        } else {
            0
        };
        let is_pending = |state: &State| state.done < ticket || state.syncs.answered < round;
        if is_pending(&state) {
            self.hurry(&mut state);
        }
        let may_come = |state: &State| is_pending(state) && state.phase != Phase::Ended;
        let state = self.wait_for_progress(state, deadline, may_come);
        if is_pending(&state) {
            return if state.phase == Phase::Ended { Flushed::Ended } else { Flushed::TimedOut };
        }
        if sync && state.syncs.failed >= Some(round) { Flushed::SyncFailed } else { Flushed::Done }
    }

    /// Makes the writer reopen the sink before it writes again.
    pub(crate) fn reopen(&self) {
        let mut state = self.lock();
        state.reopen = true;
        self.hurry(&mut state);
    }

    // ANCHOR: stop
    /// Refuses lines from now on, wakes the callers that wait for room, and waits until the writer has ended.
    /// At the deadline, this call tells the writer to give up; then all other calls of `stop` also end their
    /// waits. Returns the number of lost lines; if several threads stop the queue, only one of these threads
    /// gets this number.
    pub(crate) fn stop(&self, deadline: Option<Instant>) -> Option<u64> {
        self.begin_to_stop();
        let is_awaited = |state: &State| state.phase != Phase::Ended && !state.give_up;
        let mut state = self.wait_for_progress(self.lock(), deadline, is_awaited);
        if is_awaited(&state) {
            state.give_up = true;
            self.work.notify_one();
            self.progress.notify_all();
        }
        let lost = state.counts.waiting();
        (lost > 0 && !mem::replace(&mut state.loss_is_told, true)).then_some(lost)
    }

    /// Begins a stop without waiting; on the writer's own thread, a stop must do no more than this.
    pub(crate) fn begin_to_stop(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Stopping;
        }
        self.room.notify_all();
        self.work.notify_one();
    }
    // ANCHOR_END: stop

    fn wait_for_progress<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        deadline: Option<Instant>,
        is_pending: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        while is_pending(&state) {
            let Some(deadline) = deadline else {
                state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.progress.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    fn hurry(&self, state: &mut State) {
        state.hurry = true;
        if state.writer != Writer::Busy {
            state.writer = Writer::Busy;
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The methods that the writer calls.
impl LineQueue {
    // ANCHOR: next
    /// Waits until there is work for the writer. `batch` must be empty; when this call returns, it contains the
    /// lines to write.
    pub(crate) fn next(&self, batch: &mut Batch) -> Next {
        let mut state = self.lock();
        if !state.is_urgent() {
            state.writer = Writer::Lingers;
            let lingers = |state: &mut State| state.writer == Writer::Lingers && !state.is_urgent();
            let waited = self.work.wait_timeout_while(state, LINGER, lingers);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        while !state.has_work() {
            if state.phase != Phase::Open {
                return Next::End;
            }
            state.writer = Writer::Sleeps;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.writer = Writer::Busy;
        state.hurry = false;
        mem::swap(&mut state.filling, batch);
        batch.missing_after = mem::take(&mut state.missing);
        batch.up_to = state.counts.accepted;
        if state.blocked > 0 {
            self.room.notify_all();
        }
        let is_wanted = state.syncs.wanted > state.syncs.answered;
        Next::Work { reopen: mem::take(&mut state.reopen), sync: is_wanted.then_some(state.syncs.wanted) }
    }
    // ANCHOR_END: next

    /// Counts lines that the sink has taken.
    pub(crate) fn written(&self, lines: u64) {
        self.lock().counts.written += lines;
    }

    /// Remembers that the sink has taken the whole batch, and empties the batch.
    pub(crate) fn done(&self, batch: &mut Batch) {
        self.lock().done = batch.up_to;
        batch.clear();
        self.progress.notify_all();
    }

    pub(crate) fn synced(&self, round: u64, is_done: bool) {
        let mut state = self.lock();
        state.syncs.answered = round;
        if !is_done {
            state.syncs.failed = Some(round);
        }
        self.progress.notify_all();
    }

    /// Waits before the next try after a failure of the sink. A stop ends the wait at two moments: when the
    /// stop begins, and when it gives up. Returns true if the writer must try again.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let state = self.lock();
        let phase = state.phase;
        let rests = |state: &mut State| state.phase == phase && !state.give_up;
        let waited = self.work.wait_timeout_while(state, pause, rests);
        !waited.unwrap_or_else(PoisonError::into_inner).0.give_up
    }

    /// Ends the queue; the writer calls this method last, even after a panic. After the end of the queue, no
    /// line is accepted, and all waiting threads are woken.
    pub(crate) fn end(&self) {
        self.lock().phase = Phase::Ended;
        self.room.notify_all();
        self.progress.notify_all();
    }
}

impl State {
    fn has_work(&self) -> bool {
        let has_lines = !self.filling.is_empty() || self.missing > 0;
        has_lines || self.reopen || self.syncs.wanted > self.syncs.answered
    }

    fn is_urgent(&self) -> bool {
        self.hurry || self.phase != Phase::Open || self.filling.is_half_full()
    }
}
