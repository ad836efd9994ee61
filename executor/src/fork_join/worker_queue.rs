//! What a worker shares with those who steal from it: its queue, and what it is in the middle of.
//!
//! # The queue
//!
//! Its owner puts second halves and forked tasks at the back, and takes them from there: it works depth
//! first, on what is still in its cache. Thieves take from the front, where the oldest and therefore largest
//! pieces are. One lock protects all of it. That is affordable because a queue that offers *enough* shuts its
//! owner's [demand flag](super::demand), and then the owner does not come here at all:
//!
//! | gear | enough is | while |
//! |---|---|---|
//! | coarse | never | pieces are so large that a lock does not matter. Every job begins so. |
//! | fine | [`ENOUGH`] pieces | the last [`ROUND`] pieces took less than [`FINE`] each |
//!
//! A thief that takes a piece opens the demand flag, so the owner offers another one at its next join.
//!
//! # Who follows whom
//!
//! A worker whose second half was stolen waits for the thief. What it may do meanwhile is take pieces *of
//! that half* back from the thief: it helps the one that it waits for, and nothing unrelated ever lies on top
//! of its frame, where it could want a lock that the frame holds. For that, each worker queue says which
//! stolen jobs it runs ([`Running`]), from which place in its queue on there are pieces of each, and what it
//! waits for itself, so that one can follow on to the next thief.
//!
//! # Invariants
//!
//! 1. A job id is never given twice: it is the number of the worker queue, and how many pieces came there
//!    before. So places in a queue rise from front to back, whatever is taken from the middle.
//! 2. A job is in one queue, or in the `taken` of the worker queue from which it was stolen until it has
//!    ended.
//! 3. A follower that finds nothing to take leaves its waker under the same lock. All followers are woken
//!    when a piece comes, when a stolen job begins or ends here, and when the owner begins to wait.
//! 4. No user's code runs under the lock.

use std::collections::VecDeque;
use std::task::Waker;

use super::demand::{self, Demand};
use crate::cancel::{CancelToken, Context};
use crate::ids::{TaskId, ThreadKey};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Duration, Instant, Mutex};
use crate::task::borrowed::JobRef;
use crate::task::observer::TaskObserver;
use crate::task::{Task, TaskLabel};

/// So many pieces in a queue are enough, while they are fine.
const ENOUGH: usize = 3;
/// After so many pieces the clock is read.
const ROUND: u32 = 64;
/// Below this time for a piece, they are fine; a lock for each would be a large part of it.
const FINE: Duration = Duration::from_nanos(400);
/// Above it, they are coarse. Between the two, all stays as it is.
const COARSE: Duration = Duration::from_micros(50);

/// Tells jobs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobId {
    pub(super) worker: usize,
    /// Its place in that worker queue's queue.
    place: u64,
}

/// What is in a queue.
pub(super) enum QueuedJob {
    /// The second half of a join.
    Half(JobRef),
    /// A task of its own.
    Task(Task),
}

pub(super) struct QueueEntry {
    pub(super) job_id: JobId,
    pub(super) job: QueuedJob,
    /// What was current where it was published.
    pub(super) context: Context,
}

impl QueueEntry {
    /// The task, to be run elsewhere. What was current where it was forked goes along with it.
    pub(super) fn into_task(self) -> Option<Task> {
        match self.job {
            QueuedJob::Task(task) => Some(of_context(task, self.context)),
            QueuedJob::Half(_) => None,
        }
    }

    fn task(&self) -> Option<TaskId> {
        match &self.job {
            QueuedJob::Task(task) => Some(task.id()),
            QueuedJob::Half(_) => None,
        }
    }
}

/// Goes along with a task that was forked, wherever it is run: the token that was current there is above its
/// own.
struct Forked(CancelToken);

impl TaskObserver for Forked {
    fn root(&self) -> Option<&CancelToken> {
        Some(&self.0)
    }
}

/// Has a task be one of this context, on whichever way it goes.
pub(super) fn of_context(task: Task, context: Context) -> Task {
    match context.into_token_above() {
        Some(token) => task.accompanied(Forked(token)),
        None => task,
    }
}

/// A job from elsewhere that the owner is in the middle of.
struct Running {
    job_id: Option<JobId>,
    /// Pieces of it are from here on in the queue.
    from: u64,
    /// It is no part of the one below. That waits for nothing of it.
    is_foreign: bool,
    gear_below: Gear,
}

/// A job that was stolen from here and has not ended.
struct StolenJob {
    job_id: JobId,
    thief: usize,
    task: Option<TaskId>,
    waiter: Option<Waker>,
}

/// What the owner waits for.
struct OwnerWait {
    job_id: JobId,
    /// How many jobs from elsewhere it was in the middle of.
    depth: usize,
}

#[derive(Clone, Copy)]
struct Gear {
    enough: usize,
    pieces: u32,
    since: Option<Instant>,
}

impl Gear {
    const COARSE: Self = Self { enough: usize::MAX, pieces: 0, since: None };

    /// Another piece has come.
    fn count(&mut self) {
        self.pieces += 1;
        if self.pieces < ROUND {
            return;
        }
        self.pieces = 0;
        let Some(since) = self.since.replace(Instant::now()) else { return };
        match since.elapsed() {
            round if round < FINE * ROUND => self.enough = ENOUGH,
            round if round > COARSE * ROUND => self.enough = usize::MAX,
            _ => {}
        }
    }
}

/// A worker's place in the pool. A thread sits there, or none.
pub(super) struct WorkerQueue {
    pub(super) number: usize,
    pub(super) demand: &'static Demand,
    /// How long the queue is, for those who look without the lock.
    length: AtomicUsize,
    state: Mutex<WorkerQueueState>,
}

struct WorkerQueueState {
    queue: VecDeque<QueueEntry>,
    next_place: u64,
    gear: Gear,
    running: Vec<Running>,
    taken: Vec<StolenJob>,
    waits: Vec<OwnerWait>,
    followers: Vec<Waker>,
    /// The tasks that the owner is in the middle of.
    labels: Vec<TaskLabel>,
    thread: Option<ThreadKey>,
    steals: u64,
}

/// Wakers to be called without the lock.
#[must_use]
pub(super) struct ToWake(Vec<Waker>);

impl ToWake {
    pub(super) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

impl WorkerQueue {
    pub(super) fn new(number: usize) -> Self {
        let state = WorkerQueueState {
            queue: VecDeque::new(),
            next_place: 0,
            gear: Gear::COARSE,
            running: Vec::new(),
            taken: Vec::new(),
            waits: Vec::new(),
            followers: Vec::new(),
            labels: Vec::new(),
            thread: None,
            steals: 0,
        };
        Self { number, demand: demand::take_one(), length: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// How long the queue is, or was a moment ago.
    pub(super) fn length(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Whether there is a job in the queue; asked under the lock, so that a job which comes later is
    /// announced by a thread that sees what this one did before.
    pub(super) fn has_jobs(&self) -> bool {
        !self.state.lock().queue.is_empty()
    }

    /// Brings what is looked at without the lock up to date.
    fn changed(&self, state: &WorkerQueueState) {
        // Relaxed: it is a hint. A worker that must not miss a job asks for it under the lock: see
        // `has_jobs`.
        self.length.store(state.queue.len(), Ordering::Relaxed);
        self.demand.set_shut(state.offers_enough());
    }

    // ----- the owner -----

    /// Puts a job at the back.
    pub(super) fn push(&self, job: QueuedJob, context: Context) -> JobId {
        let mut state = self.state.lock();
        let job_id = JobId { worker: self.number, place: state.next_place };
        state.next_place += 1;
        state.gear.count();
        state.queue.push_back(QueueEntry { job_id, job, context });
        self.changed(&state);
        let followers = state.take_followers();
        drop(state);
        followers.wake();
        job_id
    }

    /// Takes the owner's own job back, if no thief has it.
    pub(super) fn take_back(&self, job_id: JobId) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let entry = if state.queue.back()?.job_id == job_id {
            state.queue.pop_back() // nearly always: what was pushed later was taken back before
        } else {
            let place = state.queue.iter().rposition(|entry| entry.job_id == job_id)?;
            state.queue.remove(place)
        };
        self.changed(&state);
        entry
    }

    /// Takes a task out. For a `thief`, who says when it has ended; or else for good.
    pub(super) fn take_task(&self, id: TaskId, thief: Option<usize>) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let is_it = |entry: &QueueEntry| entry.task() == Some(id);
        // Forks are joined in the order of forking, or in the opposite one.
        let is_oldest = state.queue.front().is_some_and(is_it);
        let place = if is_oldest { 0 } else { state.queue.iter().rposition(is_it)? };
        let entry = match thief {
            Some(thief) => Some(state.steal(place, thief)),
            None => state.queue.remove(place),
        };
        self.changed(&state);
        entry
    }

    /// Takes the oldest task out that reports to this collector.
    pub(super) fn take_one_of(&self, collector: usize, thief: usize) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let of_it =
            |entry: &QueueEntry| matches!(&entry.job, QueuedJob::Task(task) if task.collector() == collector);
        let place = state.queue.iter().position(of_it)?;
        let entry =
            if thief == self.number { state.queue.remove(place) } else { Some(state.steal(place, thief)) };
        self.changed(&state);
        entry
    }

    /// The next one for the owner, when it is in the middle of nothing: the youngest, or the oldest.
    pub(super) fn take_own(&self, oldest_first: bool) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let entry = if oldest_first { state.queue.pop_front() } else { state.queue.pop_back() };
        self.changed(&state);
        entry
    }

    /// The owner begins a job that came from elsewhere, or one of its own that is no part of what it is in
    /// the middle of.
    pub(super) fn begin(&self, job_id: Option<JobId>, is_foreign: bool) {
        let mut state = self.state.lock();
        let gear_below = std::mem::replace(&mut state.gear, Gear::COARSE);
        let from = state.next_place;
        state.running.push(Running { job_id, from, is_foreign, gear_below });
        self.changed(&state);
        let followers = state.take_followers();
        drop(state);
        followers.wake();
    }

    /// It has ended.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        let ended = state.running.pop().expect("it was begun");
        state.gear = ended.gear_below;
        self.changed(&state);
        let followers = state.take_followers();
        drop(state);
        followers.wake();
    }

    pub(super) fn begin_wait(&self, job_id: JobId) {
        let mut state = self.state.lock();
        let depth = state.running.len();
        state.waits.push(OwnerWait { job_id, depth });
        let followers = state.take_followers();
        drop(state);
        followers.wake();
    }

    pub(super) fn end_wait(&self) {
        self.state.lock().waits.pop();
    }

    /// Whether a job that was stolen from here has ended. If not, the waker is called when it has.
    pub(super) fn has_ended(&self, job_id: JobId, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        match state.taken.iter_mut().find(|taken| taken.job_id == job_id) {
            Some(taken) => {
                taken.waiter = Some(waker.clone());
                false
            }
            None => true,
        }
    }

    /// Which worker queue's owner has stolen a job from here that has not ended.
    pub(super) fn thief_of(&self, job_id: JobId) -> Option<usize> {
        let state = self.state.lock();
        state.taken.iter().find(|taken| taken.job_id == job_id).map(|taken| taken.thief)
    }

    /// The same for a task.
    pub(super) fn thief_of_task(&self, id: TaskId) -> Option<(JobId, usize)> {
        let state = self.state.lock();
        let taken = state.taken.iter().find(|taken| taken.task == Some(id))?;
        Some((taken.job_id, taken.thief))
    }

    // ----- thieves -----

    /// Takes the oldest job.
    pub(super) fn steal(&self, thief: usize) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        if state.queue.is_empty() {
            return None;
        }
        let entry = state.steal(0, thief);
        self.changed(&state);
        Some(entry)
    }

    /// A job that was stolen from here has ended.
    pub(super) fn stolen_ended(&self, job_id: JobId) {
        let mut state = self.state.lock();
        let place = state.taken.iter().position(|taken| taken.job_id == job_id).expect("it was stolen");
        let waiter = state.taken.swap_remove(place).waiter;
        drop(state);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Takes a piece of a job that the owner is in the middle of.
    pub(super) fn follow(&self, job_id: JobId, thief: usize, waker: &Waker) -> Followed {
        let mut state = self.state.lock();
        let found = state.piece_of(job_id);
        match found {
            PieceOf::InQueue(place) => {
                let entry = state.steal(place, thief);
                self.changed(&state);
                Followed::Piece(entry)
            }
            PieceOf::Elsewhere(job_id) => {
                let next = state.taken.iter().find(|taken| taken.job_id == job_id).map(|taken| taken.thief);
                state.follow_later(waker);
                next.map_or(Followed::Nothing, |thief| Followed::On(job_id, thief))
            }
            PieceOf::Nowhere => {
                state.follow_later(waker);
                Followed::Nothing
            }
        }
    }

    // ----- reports -----

    pub(super) fn sit(&self, thread: Option<ThreadKey>) {
        self.state.lock().thread = thread;
    }

    pub(super) fn thread(&self) -> Option<ThreadKey> {
        self.state.lock().thread
    }

    pub(super) fn begin_task(&self, label: TaskLabel) {
        self.state.lock().labels.push(label);
    }

    pub(super) fn end_task(&self) {
        let label = self.state.lock().labels.pop();
        drop(label);
    }

    pub(super) fn label(&self) -> Option<TaskLabel> {
        self.state.lock().labels.last().cloned()
    }

    /// How many tasks the owner is in the middle of, and who that is.
    pub(super) fn tasks_of_the_owner(&self) -> (usize, Option<ThreadKey>) {
        let state = self.state.lock();
        (state.labels.len(), state.thread)
    }

    pub(super) fn queued_tasks(&self) -> usize {
        let is_task = |entry: &&QueueEntry| matches!(entry.job, QueuedJob::Task(_));
        self.state.lock().queue.iter().filter(is_task).count()
    }

    /// How many tasks are in the queue, how many jobs were stolen from it, and whether the owner is in the
    /// middle of one.
    pub(super) fn counts(&self) -> (usize, u64, bool) {
        let state = self.state.lock();
        (state.queue.len(), state.steals, !state.running.is_empty())
    }

    pub(super) fn queued_of(&self, collector: usize) -> usize {
        let of_it = |entry: &&QueueEntry| matches!(&entry.job, QueuedJob::Task(task) if task.collector() == collector);
        self.state.lock().queue.iter().filter(of_it).count()
    }

    /// Takes the tasks out that are wanted.
    pub(super) fn take_tasks(&self, wanted: impl Fn(&Task) -> bool) -> Vec<Task> {
        let mut state = self.state.lock();
        let is_wanted = |entry: &QueueEntry| matches!(&entry.job, QueuedJob::Task(task) if wanted(task));
        let (taken, kept): (VecDeque<_>, _) = state.queue.drain(..).partition(is_wanted);
        state.queue = kept;
        self.changed(&state);
        let to_task =
            |entry: QueueEntry| if let QueuedJob::Task(task) = entry.job { Some(task) } else { None };
        taken.into_iter().filter_map(to_task).collect()
    }
}

impl Drop for WorkerQueue {
    fn drop(&mut self) {
        demand::give_back(self.demand);
    }
}

/// What came of following a job.
pub(super) enum Followed {
    Piece(QueueEntry),
    /// Its thief waits for this job, which that one has.
    On(JobId, usize),
    Nothing,
}

enum PieceOf {
    InQueue(usize),
    Elsewhere(JobId),
    Nowhere,
}

impl WorkerQueueState {
    /// Whether the queue has enough for thieves of what the owner is in the middle of. Older pieces do not
    /// count: they may be small, and those who follow the owner's present job cannot take them.
    fn offers_enough(&self) -> bool {
        let from = self.running.last().map_or(0, |running| running.from);
        let Some(first) = self.queue.len().checked_sub(self.gear.enough) else { return false };
        self.queue.get(first).is_none_or(|entry| entry.job_id.place >= from)
    }

    fn steal(&mut self, place: usize, thief: usize) -> QueueEntry {
        let entry = self.queue.remove(place).expect("the place is there");
        self.taken.push(StolenJob { job_id: entry.job_id, thief, task: entry.task(), waiter: None });
        self.steals += 1;
        entry
    }

    fn take_followers(&mut self) -> ToWake {
        ToWake(std::mem::take(&mut self.followers))
    }

    fn follow_later(&mut self, waker: &Waker) {
        if !self.followers.iter().any(|other| other.will_wake(waker)) {
            self.followers.push(waker.clone());
        }
    }

    fn piece_of(&self, job_id: JobId) -> PieceOf {
        let Some(depth) = self.running.iter().position(|running| running.job_id == Some(job_id)) else {
            return PieceOf::Nowhere; // the thief has not begun, or has just ended it
        };
        let from = self.running[depth].from;
        let foreign = self.running[depth + 1..].iter().find(|running| running.is_foreign);
        let below = foreign.map_or(u64::MAX, |running| running.from);
        // A half has to end before the job does. That is not known of a task, and it may want a lock that the
        // follower holds.
        let is_half = |entry: &QueueEntry| matches!(entry.job, QueuedJob::Half(_));
        let is_piece = |entry: &QueueEntry| (from..below).contains(&entry.job_id.place) && is_half(entry);
        if let Some(place) = self.queue.iter().position(is_piece) {
            return PieceOf::InQueue(place);
        }
        match self.waits.last() {
            Some(wait) if wait.depth > depth && foreign.is_none() => PieceOf::Elsewhere(wait.job_id),
            _ => PieceOf::Nowhere,
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::sync::thread;

    #[test]
    fn pieces_that_come_quickly_are_fine_until_they_take_long() {
        let mut gear = Gear::COARSE;
        let mut come = |pieces: u32| {
            (0..pieces).for_each(|_| gear.count());
            gear.enough
        };
        assert!((0..10_000).any(|_| come(ROUND) == ENOUGH), "a busy machine may disturb some rounds");
        come(ROUND - 1);
        thread::sleep(2 * COARSE * ROUND);
        assert_eq!(come(1), usize::MAX);
    }
}
