//! The state that a worker shares with thieves: its queue, and the jobs that it has begun and not
//! ended.
//!
//! # The queue
//!
//! The owner of a queue puts second halves and forked tasks at the back, and takes them from the back. So the
//! owner works depth first, on data that is still in its cache. Thieves take pieces from the front, where the
//! oldest and therefore largest pieces are. One lock protects the whole queue. The owner seldom needs the
//! lock: when the queue offers *enough* pieces, the queue shuts its owner's [demand flag](super::demand).
//! While the flag is shut, the owner's joins do not touch the queue at all. How many pieces are enough
//! depends on the *granularity* of the job, the time that its pieces take:
//!
//! | granularity | enough pieces | while |
//! |---|---|---|
//! | coarse | no number is enough | a job begins, or pieces are so large that a lock does not matter |
//! | fine | [`ENOUGH`] pieces | the last [`ROUND`] pieces took less than [`FINE`] each |
//!
//! A thief that takes a piece opens the demand flag. So the owner offers another piece at its next join.
//!
//! # Who follows whom
//!
//! A worker whose second half was stolen waits for the thief. Meanwhile the worker *follows* the thief: the
//! worker takes *pieces of the stolen half* back from the thief, and runs them. The worker runs no unrelated
//! job, because that job could want a lock that the waiting job holds. For the followers of its owner, each
//! worker queue records which stolen jobs the owner runs ([`Running`]). For each of these jobs, the queue
//! also records the first place that can hold a piece of the job. In addition, the queue records for which
//! stolen job the owner itself waits. From this record, a follower learns the number of the next thief.
//!
//! # Invariants
//!
//! 1. No two jobs get the same id. An id consists of two numbers: the number of the worker queue, and the
//!    *place*, which is the number of jobs that were put into that queue before. So the places in a queue
//!    increase from front to back, even after a thread has taken a job from the middle.
//! 2. A queued job is in exactly one queue. A stolen job is in `taken` of the worker queue from which it was stolen,
//!    until it has ended.
//! 3. A follower that finds no piece registers its waker with the queue before it releases the queue's lock.
//!    All followers are woken when a job is put into the queue, when [`WorkerQueue::begin`] or
//!    [`WorkerQueue::end`] is called, and when the owner begins to wait.
//! 4. No user code runs while the lock is held.

use std::collections::VecDeque;
use std::task::Waker;

use super::demand::{self, Demand, FINE, ROUND};
use crate::cancel::{CancelToken, Context};
use crate::ids::{TaskId, ThreadKey};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Duration, Instant, Mutex, MutexGuard, thread};
use crate::task::borrowed::JobRef;
use crate::task::observer::TaskObserver;
use crate::task::{Task, TaskLabel};
use crate::time::RunKey;
use crate::waiting::pool_dump::{QueuedDump, RunDump};
use crate::waiting::starvation::TaskRef;

/// While pieces are fine-grained, this number of pieces in a queue is enough.
const ENOUGH: usize = 3;
/// If the owner takes back its only piece this number of times in a round of fine-grained pieces, the owner
/// then works alone.
const SHORT: u32 = ROUND / 8;
/// The upper limit for the number of rounds in which the owner works alone.
const ALONE: u32 = 256;
/// A piece that takes more than this time is coarse. If a piece takes a time between [`FINE`] and [`COARSE`],
/// the granularity does not change.
const COARSE: Duration = Duration::from_micros(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobId {
    pub(super) worker: usize,
    /// The number of jobs that were put into that worker queue before this job.
    place: u64,
}

impl JobId {
    /// The id of all tasks that were submitted from outside the pool, because these tasks were in no worker
    /// queue.
    pub(super) const OF_SUBMISSION: Self = Self { worker: usize::MAX, place: 0 };
}

/// A job in a worker queue.
pub(super) enum QueuedJob {
    /// The second half of a join.
    Half(JobRef),
    /// A task that a worker has forked or submitted.
    Task(Task),
}

pub(super) struct QueueEntry {
    pub(super) job_id: JobId,
    pub(super) job: QueuedJob,
    /// The context of the code that published the job: the current token, and whether this token was masked.
    pub(super) context: Context,
}

impl QueueEntry {
    pub(super) fn of_submission(task: Task) -> Self {
        Self { job_id: JobId::OF_SUBMISSION, job: QueuedJob::Task(task), context: Context::default() }
    }

    /// Returns the task, if the entry is a task. The task keeps the token that was current at the
    /// fork.
    pub(super) fn into_task(self) -> Option<Task> {
        match self.job {
            QueuedJob::Task(task) => Some(of_context(task, self.context)),
            QueuedJob::Half(_) => None,
        }
    }

    fn task(&self) -> Option<&Task> {
        match &self.job {
            QueuedJob::Task(task) => Some(task),
            QueuedJob::Half(_) => None,
        }
    }

    fn reports_to(&self, collector: usize) -> bool {
        self.task().is_some_and(|task| task.collector() == collector)
    }
}

/// The observer of a forked task, which holds the token that was current at the fork. If this token is
/// cancelled, the task is stopped, no matter where it runs.
impl TaskObserver for CancelToken {
    fn root(&self) -> Option<&CancelToken> {
        Some(self)
    }
}

/// Makes the task stop, too, when the token of the context is cancelled.
pub(super) fn of_context(task: Task, context: Context) -> Task {
    match context.into_token_above() {
        Some(token) => task.accompanied(token),
        None => task,
    }
}

/// A job that the owner has begun and not ended: see [`WorkerQueue::begin`].
struct Running {
    job_id: Option<JobId>,
    /// Entries of the queue with this place or a higher place are pieces of this job.
    from: u64,
    /// True if this job is not part of the job below it on the stack. So the job below does not wait for any
    /// piece of this job.
    is_foreign: bool,
    granularity_below: Granularity,
}

/// A job that was stolen from this queue and has not ended.
struct StolenJob {
    job_id: JobId,
    thief: usize,
    task: Option<TaskId>,
    waiter: Option<Waker>,
}

#[derive(Clone, Copy)]
struct Granularity {
    enough: usize,
    pieces: u32,
    since: Option<Instant>,
    /// How often the owner took back the only piece of its job in this round.
    emptied: u32,
    /// The number of rounds in which the owner works alone, if this round is fine-grained and its joins are
    /// short.
    alone: u32,
}

impl Granularity {
    const COARSE: Self = Self { enough: usize::MAX, pieces: 0, since: None, emptied: 0, alone: 1 };

    /// Counts a piece. After each [`ROUND`] pieces, reads the clock, and perhaps changes `enough`, or makes
    /// the owner [work alone](demand).
    fn count(&mut self) {
        self.pieces += 1;
        if self.pieces < ROUND {
            return;
        }
        self.pieces = 0;
        let is_short = std::mem::take(&mut self.emptied) >= SHORT;
        let Some(since) = self.since.replace(Instant::now()) else { return };
        let round = since.elapsed();
        if round < FINE * ROUND {
            self.enough = ENOUGH;
        } else if round > COARSE * ROUND {
            self.enough = usize::MAX;
        }
        if is_short && round < FINE * ROUND {
            demand::work_alone(self.alone);
            self.alone = ALONE.min(self.alone * 2);
            self.since = None;
        } else {
            self.alone = 1;
        }
    }
}

/// The queue of one worker of a pool. At any time, at most one thread owns the queue.
pub(super) struct WorkerQueue {
    pub(super) number: usize,
    pub(super) demand: &'static Demand,
    /// The length of the queue, for threads that read it without the lock.
    length: AtomicUsize,
    state: Mutex<WorkerQueueState>,
}

struct WorkerQueueState {
    queue: VecDeque<QueueEntry>,
    next_place: u64,
    granularity: Granularity,
    running: Vec<Running>,
    taken: Vec<StolenJob>,
    /// The stolen jobs for which the owner waits, each with the length that `running` had when the wait
    /// began.
    waits: Vec<(JobId, usize)>,
    followers: Vec<Waker>,
    /// The labels of the tasks that the owner has begun and not ended. Each label has the number of its task
    /// among all tasks that were begun at this queue.
    labels: Vec<(u64, TaskLabel)>,
    begun: u64,
    thread: Option<(ThreadKey, thread::Thread)>,
    steals: u64,
}

impl WorkerQueue {
    pub(super) fn new(number: usize) -> Self {
        let state = WorkerQueueState {
            queue: VecDeque::new(),
            next_place: 0,
            granularity: Granularity::COARSE,
            running: Vec::new(),
            taken: Vec::new(),
            waits: Vec::new(),
            followers: Vec::new(),
            labels: Vec::new(),
            begun: 0,
            thread: None,
            steals: 0,
        };
        Self { number, demand: demand::take_one(), length: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    /// Returns the length of the queue; the length may already have changed.
    pub(super) fn length(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Returns whether there is a job in the queue. Takes the lock, so that everything that the calling
    /// thread did before is visible to the thread that announces a later job.
    pub(super) fn has_jobs(&self) -> bool {
        !self.state.lock().queue.is_empty()
    }

    /// Updates the values that other threads read without the lock.
    fn changed(&self, state: &WorkerQueueState) {
        // Relaxed is enough: the length is only a hint. A worker that must not miss a job calls `has_jobs`.
        self.length.store(state.queue.len(), Ordering::Relaxed);
        self.demand.set_shut(state.offers_enough());
    }

    // ----- the owner -----

    /// Puts a job at the back of the queue.
    pub(super) fn push(&self, job: QueuedJob, context: Context) -> JobId {
        let mut state = self.state.lock();
        let job_id = JobId { worker: self.number, place: state.next_place };
        state.next_place += 1;
        state.granularity.count();
        state.queue.push_back(QueueEntry { job_id, job, context });
        self.changed(&state);
        wake_followers(state);
        job_id
    }

    /// Takes back one of the owner's jobs, unless a thief has taken it.
    pub(super) fn take_back(&self, job_id: JobId) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let entry = if state.queue.back()?.job_id == job_id {
            state.queue.pop_back() // nearly always: later jobs were taken back before
        } else {
            let place = state.queue.iter().rposition(|entry| entry.job_id == job_id)?;
            state.queue.remove(place)
        };
        if !state.offers_a_piece() {
            state.granularity.emptied += 1;
        }
        self.changed(&state);
        entry
    }

    /// Takes a task out of the queue. If there is a `thief`, the thief must report when the task has ended.
    pub(super) fn take_task(&self, id: TaskId, thief: Option<usize>) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let is_it = |entry: &QueueEntry| entry.task().map(Task::id) == Some(id);
        // Forked tasks are usually joined in the order of forking, or in the opposite order.
        let is_oldest = state.queue.front().is_some_and(is_it);
        let place = if is_oldest { 0 } else { state.queue.iter().rposition(is_it)? };
        let entry = match thief {
            Some(thief) => Some(state.steal(place, thief)),
            None => state.queue.remove(place),
        };
        self.changed(&state);
        entry
    }

    /// Takes out the oldest task that reports to this collector.
    pub(super) fn take_one_of(&self, collector: usize, thief: usize) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let place = state.queue.iter().position(|entry| entry.reports_to(collector))?;
        let entry =
            if thief == self.number { state.queue.remove(place) } else { Some(state.steal(place, thief)) };
        self.changed(&state);
        entry
    }

    /// Takes the owner's next job: the oldest job if `oldest_first` is true, or else the youngest job.
    pub(super) fn take_own(&self, oldest_first: bool) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let entry = if oldest_first { state.queue.pop_front() } else { state.queue.pop_back() };
        self.changed(&state);
        entry
    }

    /// Records that the owner begins a job that does not come from its own queue. The owner also calls this
    /// method for a job of its own queue, if it runs no other job.
    pub(super) fn begin(&self, job_id: Option<JobId>, is_foreign: bool) {
        let mut state = self.state.lock();
        let granularity_below = std::mem::replace(&mut state.granularity, Granularity::COARSE);
        let from = state.next_place;
        state.running.push(Running { job_id, from, is_foreign, granularity_below });
        demand::work_alone(0);
        self.changed(&state);
        wake_followers(state);
    }

    /// Records the end of the job that the owner began last.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        let ended = state.running.pop().expect("it was begun");
        state.granularity = ended.granularity_below;
        demand::work_alone(0);
        self.changed(&state);
        wake_followers(state);
    }

    pub(super) fn begin_wait(&self, job_id: JobId) {
        let mut state = self.state.lock();
        let depth = state.running.len();
        state.waits.push((job_id, depth));
        wake_followers(state);
    }

    pub(super) fn end_wait(&self) {
        self.state.lock().waits.pop();
    }

    /// Returns whether a job that was stolen from this queue has ended. If the job has not ended, `waker`
    /// is called when it ends.
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

    /// Returns the number of the thief that has stolen a job from this queue, if the job has not ended.
    pub(super) fn thief_of(&self, job_id: JobId) -> Option<usize> {
        self.state.lock().thief_of(job_id)
    }

    /// Returns the job id and the thief of a task that was stolen from this queue and has not ended.
    pub(super) fn thief_of_task(&self, id: TaskId) -> Option<(JobId, usize)> {
        let state = self.state.lock();
        let taken = state.taken.iter().find(|taken| taken.task == Some(id))?;
        Some((taken.job_id, taken.thief))
    }

    // ----- thieves -----

    /// Steals the oldest job.
    pub(super) fn steal(&self, thief: usize) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        if state.queue.is_empty() {
            return None;
        }
        let entry = state.steal(0, thief);
        self.changed(&state);
        Some(entry)
    }

    /// Records the end of a job that was stolen from this queue, and wakes the waiter of the job.
    pub(super) fn stolen_ended(&self, job_id: JobId) {
        let mut state = self.state.lock();
        let place = state.taken.iter().position(|taken| taken.job_id == job_id).expect("it was stolen");
        let waiter = state.taken.swap_remove(place).waiter;
        drop(state);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }

    /// Steals a piece of a job that the owner has begun and not ended. If there is no piece, `waker` is
    /// called as soon as there may be a piece.
    pub(super) fn follow(&self, job_id: JobId, thief: usize, waker: &Waker) -> Followed {
        let mut state = self.state.lock();
        let followed = state.follow(job_id, thief);
        match followed {
            Followed::Piece(_) => self.changed(&state),
            Followed::On(..) | Followed::Nothing => state.follow_later(waker),
        }
        followed
    }

    // ----- reports -----

    pub(super) fn sit(&self, thread: Option<(ThreadKey, thread::Thread)>) {
        self.state.lock().thread = thread;
    }

    pub(super) fn thread(&self) -> Option<ThreadKey> {
        self.state.lock().thread.as_ref().map(|(key, _)| *key)
    }

    pub(super) fn begin_task(&self, label: TaskLabel) {
        let mut state = self.state.lock();
        state.begun += 1;
        let number = state.begun;
        state.labels.push((number, label));
    }

    pub(super) fn end_task(&self) {
        let label = self.state.lock().labels.pop();
        drop(label);
    }

    pub(super) fn label(&self) -> Option<TaskLabel> {
        self.state.lock().labels.last().map(|(_, label)| label.clone())
    }

    /// Returns the number of tasks that the owner has begun and not ended, and the owner's thread.
    pub(super) fn tasks_of_the_owner(&self) -> (usize, Option<ThreadKey>) {
        let state = self.state.lock();
        (state.labels.len(), state.thread.as_ref().map(|(key, _)| *key))
    }

    /// Returns the tasks that the owner has begun and not ended, the youngest last, for a dump. A computation
    /// that has no task gives one entry without a task. Adds the waiting tasks to `queued`.
    pub(super) fn describe(&self, queued: &mut QueuedDump) -> Vec<(Option<RunKey>, RunDump)> {
        let state = self.state.lock();
        state.queue.iter().filter_map(QueueEntry::task).for_each(|task| queued.add(task));
        let thread = || state.thread.as_ref().map(|(key, thread)| (*key, thread.name().map(str::to_owned)));
        let run = |task| RunDump { task, thread: thread(), age: Duration::ZERO };
        let begun = state
            .labels
            .iter()
            .map(|(number, label)| (Some((self.number, *number, label.id())), run(Some(TaskRef::of(label)))));
        let without = (state.labels.is_empty() && !state.running.is_empty()).then(|| (None, run(None)));
        begun.chain(without).collect()
    }

    pub(super) fn queued_tasks(&self) -> usize {
        self.state.lock().queue.iter().filter_map(QueueEntry::task).count()
    }

    /// Returns the number of queued jobs, the number of stolen jobs, and whether the owner runs a
    /// job.
    pub(super) fn counts(&self) -> (usize, u64, bool) {
        let state = self.state.lock();
        (state.queue.len(), state.steals, !state.running.is_empty())
    }

    pub(super) fn queued_of(&self, collector: usize) -> usize {
        self.state.lock().queue.iter().filter(|entry| entry.reports_to(collector)).count()
    }

    /// Takes out the tasks for which `wanted` is true.
    pub(super) fn take_tasks(&self, wanted: impl Fn(&Task) -> bool) -> Vec<Task> {
        let mut state = self.state.lock();
        let is_wanted = |entry: &QueueEntry| entry.task().is_some_and(&wanted);
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

/// The result of [`WorkerQueue::follow`].
pub(super) enum Followed {
    Piece(QueueEntry),
    /// The thief itself waits for this stolen job. The number identifies the next thief.
    On(JobId, usize),
    Nothing,
}

/// Releases the lock and wakes the followers, so that they look for a piece again.
#[inline] // called by every join that offers its half
fn wake_followers(mut state: MutexGuard<'_, WorkerQueueState>) {
    let followers = std::mem::take(&mut state.followers);
    drop(state);
    followers.into_iter().for_each(Waker::wake);
}

impl WorkerQueueState {
    /// Returns whether the queue offers enough pieces of the owner's present job to thieves. Older pieces are
    /// not counted: they may be small, and a worker that follows the present job cannot take them.
    fn offers_enough(&self) -> bool {
        let from = self.first_place();
        let Some(first) = self.queue.len().checked_sub(self.granularity.enough) else { return false };
        self.queue.get(first).is_none_or(|entry| entry.job_id.place >= from)
    }

    /// Returns whether the queue has a piece of the owner's present job.
    fn offers_a_piece(&self) -> bool {
        self.queue.back().is_some_and(|entry| entry.job_id.place >= self.first_place())
    }

    /// Returns the first place in the queue that a piece of the owner's present job can have.
    fn first_place(&self) -> u64 {
        self.running.last().map_or(0, |running| running.from)
    }

    fn steal(&mut self, place: usize, thief: usize) -> QueueEntry {
        let entry = self.queue.remove(place).expect("the place is there");
        let task = entry.task().map(Task::id);
        self.taken.push(StolenJob { job_id: entry.job_id, thief, task, waiter: None });
        self.steals += 1;
        entry
    }

    fn thief_of(&self, job_id: JobId) -> Option<usize> {
        self.taken.iter().find(|taken| taken.job_id == job_id).map(|taken| taken.thief)
    }

    fn follow_later(&mut self, waker: &Waker) {
        if !self.followers.iter().any(|other| other.will_wake(waker)) {
            self.followers.push(waker.clone());
        }
    }

    fn follow(&mut self, job_id: JobId, thief: usize) -> Followed {
        let Some(depth) = self.running.iter().position(|running| running.job_id == Some(job_id)) else {
            return Followed::Nothing; // the owner has not begun the job, or has just ended it
        };
        let from = self.running[depth].from;
        let foreign = self.running[depth + 1..].iter().find(|running| running.is_foreign);
        let below = foreign.map_or(u64::MAX, |running| running.from);
        // A follower takes only halves: a half must end before the job ends. A forked task may end later than
        // the job, and may want a lock that the follower holds.
        let is_piece =
            |entry: &QueueEntry| (from..below).contains(&entry.job_id.place) && entry.task().is_none();
        if let Some(place) = self.queue.iter().position(is_piece) {
            return Followed::Piece(self.steal(place, thief));
        }
        match self.waits.last() {
            Some(&(awaited, depth_of_wait)) if depth_of_wait > depth && foreign.is_none() => {
                self.thief_of(awaited).map_or(Followed::Nothing, |thief| Followed::On(awaited, thief))
            }
            _ => Followed::Nothing,
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_come_quickly_are_fine_until_they_take_long() {
        let mut granularity = Granularity::COARSE;
        let mut come = |pieces: u32| {
            (0..pieces).for_each(|_| granularity.count());
            granularity.enough
        };
        assert!((0..10_000).any(|_| come(ROUND) == ENOUGH), "a busy machine may disturb some rounds");
        come(ROUND - 1);
        thread::sleep(2 * COARSE * ROUND);
        assert_eq!(come(1), usize::MAX);
    }

    /// Pushes a task and takes it back, again and again, until the owner works alone or a time limit has
    /// passed. Returns whether the owner works alone.
    fn join_until_alone(queue: &WorkerQueue, tasks_below: u32) -> bool {
        let mut task = Some(QueuedJob::Task(Task::new(|| ())));
        (0..tasks_below).for_each(|_| {
            queue.push(QueuedJob::Task(Task::new(|| ())), Context::default());
        });
        (0..50_000).any(|_| {
            let job_id = queue.push(task.take().unwrap(), Context::default());
            task = queue.take_back(job_id).map(|entry| entry.job);
            // In a debug build, a round of so many pushes might not be fine-grained.
            let mut state = queue.state.lock();
            (1..ROUND / SHORT).for_each(|_| state.granularity.count());
            demand::counts_alone()
        })
    }

    #[test]
    fn an_owner_that_takes_its_only_piece_back_at_once_works_alone() {
        assert!(join_until_alone(&WorkerQueue::new(0), 0), "a busy machine may disturb some rounds");
    }

    #[test]
    fn an_owner_with_other_pieces_in_its_queue_does_not_work_alone() {
        assert!(!join_until_alone(&WorkerQueue::new(0), 1));
    }

    #[test]
    fn a_job_from_elsewhere_begins_and_ends_with_offers() {
        let queue = WorkerQueue::new(0);
        assert!(join_until_alone(&queue, 0));
        queue.begin(None, true);
        assert!(!demand::counts_alone() && !demand::stays_alone());
        assert!(join_until_alone(&queue, 0));
        queue.end();
        assert!(!demand::counts_alone() && !demand::stays_alone());
    }
}
