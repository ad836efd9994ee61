//! Where lines wait for the writer: two buffers that are swapped.
//!
//! A thread that logs copies its line, formatted already, to the end of one buffer, under a lock. The writer
//! swaps this buffer for the other one, which it has emptied, and writes without the lock. So a line costs
//! the caller a lock and a copy, and the writer one call of the system for many lines.
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
//! Unlike on the road (`logservice/road`), no reservations are counted. A line is accepted and put into the buffer
//! in one step, under the same lock under which the writer checks whether anything is left.
//!
//! # When the buffer is full
//!
//! The caller decides with an [`Overflow`] what becomes of a line then. Dropped lines leave a gap: a number,
//! kept with the line that comes after the gap, so that the writer can say there how many lines are missing.
//! A line that was accepted is dropped only if it was put with [`Overflow::DropOldest`]. It stays in the
//! buffer, marked, and takes no room any more. So the buffer has twice as much memory as room; when the
//! memory is used up, at least half of it is dropped lines, and they are squeezed out. That moves less than
//! one byte for each byte that was put.
//!
//! # When the writer is woken
//!
//! Waking a thread costs a caller more than all the rest. So the writer *lingers* after it has written: it
//! sleeps for a millisecond, and only a buffer that is half full, a flush or a stop wakes it earlier. If
//! nothing has come meanwhile it goes to *sleep*, and the next line wakes it. A steady stream of lines needs
//! no wake-up.
//!
//! # Invariants
//!
//! 1. `accepted` = the lines in the buffers + `written` + those of the `dropped` lines that had been
//!    accepted. Each line that was not accepted is counted once, in `dropped` or in `refused`.
//! 2. After `stop` no line is accepted. The writer ends only when both buffers are empty, or when it was told
//!    to give up.
//! 3. Lines come out in the order in which they were accepted; so those of one thread come in the order of
//!    its calls.
//! 4. Nothing is allocated, formatted or written under the lock: an allocator that logs would wait for
//!    itself.

mod outcome;
pub use outcome::{Counts, NotLogged, Overflow};

mod batch;
pub(crate) use batch::{Batch, Part};

use super::door::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use super::door::time::{Duration, Instant};
use std::mem;

/// How long the writer waits for more lines before it looks again.
const LINGER: Duration = Duration::from_millis(1);

/// A part of a buffer, in bytes and lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
}

#[repr(C, align(64))] // the state begins at a cache line
pub(crate) struct LineQueue {
    state: Mutex<State>,
    /// The writer has something to do.
    work: Condvar,
    /// There is room again, or there never will be.
    room: Condvar,
    /// More is written or synced, or the writer has ended.
    progress: Condvar,
}

#[repr(C)] // what each line changes comes first: two cache lines with the lock
struct State {
    phase: Phase,
    writer: Writer,
    /// A caller waits for the lines in the buffers.
    hurry: bool,
    reopen: bool,
    /// The deadline of a stop is over: the writer must end, whatever is left.
    give_up: bool,
    /// A stop has returned while lines were left, and has reported them.
    loss_is_told: bool,
    /// How many lines were dropped since the last one that was put into `filling`.
    missing: u64,
    counts: Counts,
    filling: Batch,
    /// How many callers wait for room.
    blocked: usize,
    /// Every line up to this one, in the order of acceptance, is written or dropped.
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
    /// The writer works, and will look into the buffer before it sleeps.
    Busy,
    /// The writer sleeps for a moment and then looks. Only urgent work wakes it.
    Lingers,
    /// The writer sleeps until it is woken.
    Sleeps,
}

/// Requests to put everything on the disk, numbered from 1. One round of the writer answers all requests that
/// came before it.
#[derive(Debug, Default)]
struct Syncs {
    wanted: u64,
    answered: u64,
    /// The last round that failed. Data that it did not put on the disk may still be missing after a later
    /// round.
    failed: Option<u64>,
}

/// The next work of the writer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Reopen the sink first, if `reopen`; then write the batch; then, for a round of syncs, sync and answer
    /// the round.
    Work { reopen: bool, sync: Option<u64> },
    /// Everything is written and nothing comes any more.
    End,
}

/// How a wait for the writer can end.
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
    /// Accepts the line, or says why not.
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

    /// Waits or drops lines until there is room for this one, or until a stop.
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

    /// Counts a line that was refused before it came to the buffer.
    pub(crate) fn refuse(&self) {
        self.lock().counts.refused += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Waits until everything that was accepted before is written; if `sync`, until it is on the disk, too.
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

    /// Makes the writer open the sink anew before it writes again.
    pub(crate) fn reopen(&self) {
        let mut state = self.lock();
        state.reopen = true;
        self.hurry(&mut state);
    }

    // ANCHOR: stop
    /// Accepts nothing from now on, wakes the callers that wait for room, and waits until the writer has
    /// ended. At the deadline it tells the writer to give up; then no other stop waits any longer, either.
    /// Returns how many lines are lost, to one caller only.
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

    /// The part of a stop that does not wait; the writer's own thread must not do more.
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

/// The calls of the writer.
impl LineQueue {
    // ANCHOR: next
    /// Waits for something to do. `batch` is empty and comes back with the lines to write.
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

    /// Notes that the sink has taken the whole batch, and empties it.
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

    /// Waits before the next try after the sink failed. A stop ends the wait when it begins, and again when
    /// it gives up. Returns whether the writer must try again.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        let state = self.lock();
        let phase = state.phase;
        let rests = |state: &mut State| state.phase == phase && !state.give_up;
        let waited = self.work.wait_timeout_while(state, pause, rests);
        !waited.unwrap_or_else(PoisonError::into_inner).0.give_up
    }

    /// The writer's last step, whatever happens to it. No line is accepted any more, and all waiting threads
    /// are woken.
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
