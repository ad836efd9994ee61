//! The loop of a worker: how it finds jobs, and which jobs it runs while it waits. A worker looks for
//! jobs first in its own queue and then in other queues.
//!
//! # What runs where
//!
//! | what the worker runs | taken from | run |
//! |---|---|---|
//! | any job, while it has nothing to do | its own queue, another's, the submissions | at the bottom of its stack |
//! | a second half that was not stolen | its own queue | where the join is |
//! | an awaited task that has not begun, also if the worker awaits the first of many tasks | any queue of the pool | on top of the wait |
//! | a piece of an awaited job | the queue of the thief of that job | on top of the wait |
//!
//! A worker runs unrelated jobs, too, but only while it waits for the pool to be [quiet](super::quiescence).
//! The task that waits may hold a lock, and an unrelated job could want that lock. In any case, the pieces of
//! the awaited job must not use that lock, because another thread may run them while the task waits.
//!
//! # Guests
//!
//! If a thread begins a computation and the pool has a free place, the thread itself works as a worker until
//! the computation has ended. A thread that does not work itself must wake a worker, and that worker must
//! later wake the thread. Many computations take less time than two wake-ups.
//!
//! # Invariants
//!
//! 1. When a stolen job has ended, even by a panic, its thief reports the end to the worker queue from which
//!    the job was stolen.
//! 2. If [`DEPTH`] jobs lie on top of a thread's waits, the thread takes no more pieces. But while half of
//!    its stack is free, the thread still runs a task for which it waits: perhaps no other thread can run
//!    that task. When less than half of the stack is free, the thread leaves the task to other threads.
//!    Running the task could overflow the stack, because tasks can form a long chain, in which each task
//!    waits for the previous task. If all other threads wait, too, the thread's wait ends as starved.
//! 3. A job has the context (the current token, and whether this token is masked) of the code that published
//!    the job.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use super::demand;
use super::registry::Registry;
use super::stack::Stack;
use super::worker_queue::{Followed, JobId, QueueEntry, QueuedJob, WorkerQueue};
use crate::cancel::{Context, masked};
use crate::executor::PoolState;
use crate::ids::{Location, this_thread};
use crate::panics::OnDrop;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, PATIENCE, Weak, thread, thread_local};
use crate::task::outcome::Outcome;
use crate::task::{HandleCell, Task, TaskLabel};
use crate::wait_graph::work_for;
use crate::waiting::awaited::{Awaited, ComesFrom, Source};
use crate::waiting::starvation::WaitsFor;
use crate::waiting::wait::{Deadline, wait_for};
use crate::waiting::worker_context::{PoolWorker, concerns_this_thread};

/// The upper limit for the number of jobs on top of a thread's waits.
pub(super) const DEPTH: usize = 32;

/// The body of a worker's thread: runs jobs until the worker leaves the pool.
pub(super) fn run(registry: &Arc<Registry>, number: usize) {
    WorkerThread::sit_at(registry, number, |here| registry.root.above_tasks(|| here.work()));
}

/// A worker's own state, which only the worker's thread uses.
pub(super) struct WorkerThread {
    pub(super) registry: Arc<Registry>,
    pub(super) queue: Arc<WorkerQueue>,
    stack: Stack,
    /// The number of jobs that lie on top of the worker's waits.
    depth: Cell<usize>,
    /// The number of tasks that the worker has begun and not ended.
    pub(super) tasks: Cell<usize>,
    /// The number of the worker's tasks that lie on the stack below a call that waits until the pool is
    /// quiet: see `quiescence`.
    pub(super) quiet: Cell<usize>,
    /// The number of calls of [`blocking`](super::blocking()) that are on the worker's stack.
    pub(super) blocks: Cell<usize>,
    random: Cell<u64>,
}

thread_local! {
    static WORKER_THREAD: RefCell<Option<Rc<WorkerThread>>> = RefCell::new(None);
}

/// Returns the worker state of the calling thread; `None` outside any pool.
pub(super) fn here() -> Option<Rc<WorkerThread>> {
    WORKER_THREAD.try_with(|here| here.borrow().clone()).ok().flatten()
}

impl PoolWorker for WorkerQueue {
    fn runs(&self) -> Option<TaskLabel> {
        self.label()
    }

    fn helps(&self) -> bool {
        true
    }

    fn help(&self, what: &Awaited, waker: &Waker) -> bool {
        here().is_some_and(|here| here.help(what, waker))
    }
}

impl WorkerThread {
    /// Makes the calling thread the worker of a queue until `f` has ended.
    fn sit_at<R>(registry: &Arc<Registry>, number: usize, f: impl FnOnce(&Self) -> R) -> R {
        let queue = &registry.queues[number];
        queue.sit(Some((this_thread(), thread::current())));
        demand::replace(Some(queue.demand));
        let _role = work_for(registry.registration.id(), Arc::clone(queue) as Arc<dyn PoolWorker>);
        let here = Rc::new(Self {
            registry: Arc::clone(registry),
            queue: Arc::clone(queue),
            stack: Stack::from_here(registry.settings.stack_size),
            depth: Cell::new(0),
            tasks: Cell::new(0),
            quiet: Cell::new(0),
            blocks: Cell::new(0),
            random: Cell::new(number as u64 + 1),
        });
        WORKER_THREAD.with(|place| *place.borrow_mut() = Some(Rc::clone(&here)));
        let _stands_up = OnDrop(|| {
            demand::replace(None);
            drop(WORKER_THREAD.try_with(|here| here.borrow_mut().take()));
        });
        f(&here)
    }

    // ----- with nothing on the stack -----

    fn work(&self) {
        let mut searches = true; // the thread that started the worker has counted it
        let mut lingered = 0;
        loop {
            if let Some(found) = self.find() {
                if std::mem::take(&mut searches) {
                    self.registry.has_found();
                }
                lingered = 0;
                self.run_at_the_bottom(found);
                if !self.registry.is_surplus() {
                    continue;
                }
            } else if !searches {
                self.registry.begins_to_search();
                searches = true;
                continue;
            } else if lingered != PATIENCE {
                lingered += 1;
                thread::yield_now();
                continue;
            }
            if !self.registry.sleep(self.queue.number, searches) {
                return;
            }
            (searches, lingered) = (true, 0);
        }
    }

    /// Takes a job from the worker's own queue, from another worker's queue, or from the submissions.
    fn find(&self) -> Option<QueueEntry> {
        let own = if self.queue.length() > 0 {
            self.queue.take_own(self.registry.settings.oldest_first)
        } else {
            None
        };
        own.or_else(|| self.steal()).or_else(|| {
            let is_any = self.registry.has_submissions();
            if is_any { self.registry.take_submission() } else { None }
        })
    }

    // ANCHOR: steal
    /// Steals the oldest job of another worker. The search begins at a random worker, so that not all thieves
    /// search the same worker first.
    fn steal(&self) -> Option<QueueEntry> {
        let queues = &self.registry.queues;
        let first = self.next_random() % queues.len();
        let (before, from) = queues.split_at(first);
        let others =
            from.iter().chain(before).filter(|queue| queue.number != self.queue.number && queue.length() > 0);
        others.into_iter().find_map(|queue| queue.steal(self.queue.number))
    }
    // ANCHOR_END: steal

    /// Returns the next number of a xorshift generator: see Marsaglia, "Xorshift RNGs", 2003.
    fn next_random(&self) -> usize {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 32) as usize
    }

    fn run_at_the_bottom(&self, found: QueueEntry) {
        if found.job_id == JobId::OF_SUBMISSION || found.job_id.worker == self.queue.number {
            self.queue.begin(None, false);
            self.run_job(found.job, &found.context);
            self.queue.end();
        } else {
            self.run_stolen(found);
        }
    }

    fn run_stolen(&self, QueueEntry { job_id, job, context }: QueueEntry) {
        self.queue.begin(Some(job_id), false);
        self.run_job(job, &context);
        self.queue.end();
        self.registry.queues[job_id.worker].stolen_ended(job_id);
    }

    fn run_job(&self, job: QueuedJob, context: &Context) {
        match job {
            QueuedJob::Half(half) => context.run_under(&self.registry.root, || half.run()),
            QueuedJob::Task(task) => self.run_task(task, context),
        }
    }

    fn run_task(&self, task: Task, context: &Context) {
        self.tasks.set(self.tasks.get() + 1);
        self.queue.begin_task(task.label());
        run_counted(&self.registry, task, context);
        self.queue.end_task();
        self.tasks.set(self.tasks.get() - 1);
        self.registry.task_ended();
    }

    // ----- on top of a wait -----

    /// Runs a job on top of the job that waits.
    fn on_top(&self, run: impl FnOnce()) {
        self.depth.set(self.depth.get() + 1);
        run();
        self.depth.set(self.depth.get() - 1);
    }

    pub(super) fn may_help(&self) -> bool {
        self.depth.get() < DEPTH
    }

    /// Takes back the second half of a join and runs it, or waits until the thief has run it. If the join
    /// unwinds, a half that was taken back is dropped.
    pub(super) fn settle(&self, job_id: JobId, unwinding: bool) {
        match self.queue.take_back(job_id) {
            Some(entry) if unwinding => drop(entry),
            Some(QueueEntry { job: QueuedJob::Half(half), .. }) => half.run(),
            Some(QueueEntry { job: QueuedJob::Task(_), .. }) => unreachable!("a join publishes a half"),
            None => {
                self.queue.begin_wait(job_id);
                self.wait_for_thief(job_id, !unwinding && self.may_help());
                self.queue.end_wait();
            }
        }
    }

    /// Waits until a stolen second half has ended. If `helps` is true, the worker runs pieces of the half
    /// while there are pieces.
    fn wait_for_thief(&self, job_id: JobId, helps: bool) {
        let look = |waker: &Waker| {
            loop {
                if self.queue.has_ended(job_id, waker) {
                    return Some(());
                }
                if !helps {
                    return None;
                }
                let Some(thief) = self.queue.thief_of(job_id) else { continue };
                if !self.follow(job_id, thief, waker) {
                    return None;
                }
            }
        };
        let pool = &self.registry;
        let what = || Some(Awaited::Other(Arc::new(WithThief { pool: Arc::downgrade(pool), job_id })));
        let _ = masked(|| wait_for(Deadline::NEVER, (look, what)));
    }

    /// Runs a job that the thread waits for, or a piece of that job. Returns false if there is no such job.
    fn help(&self, what: &Awaited, waker: &Waker) -> bool {
        match what {
            Awaited::Task(cell, _) => self.help_with(&**cell, waker),
            Awaited::Other(source) => {
                source.collector().is_some_and(|collector| self.help_with_one_of(collector))
            }
        }
    }

    /// Runs one of the tasks that report to this collector: the thread waits for the first of these tasks to
    /// end.
    fn help_with_one_of(&self, collector: usize) -> bool {
        let found =
            if self.may_help() { self.registry.take_one_of(collector, self.queue.number) } else { None };
        found.map(|taken| self.run_on_top(taken)).is_some()
    }

    /// Runs a task that the thread waits for, or a piece of that task.
    fn help_with(&self, cell: &dyn HandleCell, waker: &Waker) -> bool {
        let queue = cell.queue().filter(|queue| queue.of_all_lanes() == self.registry.registration.id());
        let queue = queue.filter(|_| self.stack.has_room());
        if let Some(queue) = queue
            && let Some(taken) = self.registry.take_task(queue, cell.id(), Some(self.queue.number))
        {
            self.run_on_top(taken);
            return true;
        }
        if !self.may_help() {
            return false;
        }
        let Some((job_id, thief)) = self.queue.thief_of_task(cell.id()) else { return false };
        self.follow(job_id, thief, waker)
    }

    /// Takes a piece of a stolen job back from the thief of that job, and runs the piece. If the thief itself
    /// waits for another stolen job, the worker tries the same with that job and that job's thief. If there
    /// is no piece, `waker` is called as soon as there may be a piece again.
    fn follow(&self, mut job_id: JobId, mut thief: usize, waker: &Waker) -> bool {
        for _ in &self.registry.queues {
            match self.registry.queues[thief].follow(job_id, self.queue.number, waker) {
                Followed::Piece(entry) => {
                    self.on_top(|| self.run_stolen(entry));
                    return true;
                }
                Followed::On(next_job_id, next_thief) => (job_id, thief) = (next_job_id, next_thief),
                Followed::Nothing => return false,
            }
        }
        false
    }

    /// Runs any job of the pool, even a job that is not a piece of the worker's present job. Returns false if
    /// there is no such job.
    pub(super) fn run_something(&self) -> bool {
        let found = if self.may_help() { self.find() } else { None };
        found.map(|taken| self.run_on_top(taken)).is_some()
    }

    fn run_on_top(&self, taken: QueueEntry) {
        self.on_top(|| match taken {
            QueueEntry { job_id: JobId::OF_SUBMISSION, .. } => self.run_foreign(taken),
            QueueEntry { job_id, job, context } if job_id.worker == self.queue.number => {
                self.run_job(job, &context);
            }
            stolen => self.run_stolen(stolen),
        });
    }

    /// Runs a task that is not a piece of the worker's present job.
    fn run_foreign(&self, QueueEntry { job, context, .. }: QueueEntry) {
        self.queue.begin(None, true);
        self.run_job(job, &context);
        self.queue.end();
    }
}

fn run_counted(registry: &Registry, task: Task, context: &Context) {
    task.leave_queue();
    if registry.phase() >= PoolState::Stopping {
        return drop(task);
    }
    let label = task.label();
    context.run_under(&registry.root, || {
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), registry.settings.panic_handler.clone());
                registry.panicked.fetch_add(1, Ordering::Relaxed);
            }
            registry.completed.fetch_add(1, Ordering::Relaxed);
        });
    });
}

/// Runs a computation on the calling thread, which is a worker of the pool during the computation. Returns
/// `None` without calling `f` in three cases. The first case: the pool does not admit a guest now. The second
/// case: the calling thread is a worker already or runs a task, because no thread must work for two pools.
/// The third case: the thread is ending, and its thread-locals are gone.
pub(super) fn run_as_guest<R>(registry: &Arc<Registry>, f: impl FnOnce() -> R) -> Option<R> {
    if WORKER_THREAD.try_with(|_| ()).is_err() || concerns_this_thread() {
        return None;
    }
    let number = registry.admit_guest()?;
    let result = WorkerThread::sit_at(registry, number, |here| {
        here.tasks.set(1);
        here.queue.begin(None, false);
        let result = registry.root.above_tasks(f);
        here.queue.end();
        registry.completed.fetch_add(1, Ordering::Relaxed);
        result
    });
    registry.guest_leaves(number);
    Some(result)
}

/// Runs a task of the pool on the calling thread, which waits for that task. The caller must have taken the
/// task out of its queue.
pub(super) fn run_for(registry: &Registry, task: Task) {
    registry.task_is_back();
    if let Some(here) = here().filter(|here| std::ptr::eq(&raw const *here.registry, registry)) {
        return here.on_top(|| here.run_foreign(QueueEntry::of_submission(task)));
    }
    registry.begins_to_help();
    run_counted(registry, task, &Context::default());
    registry.ends_to_help();
    registry.task_ended();
}

/// Tells the deadlock detector that a join waits for the thief of its second half.
struct WithThief {
    pool: Weak<Registry>,
    job_id: JobId,
}

impl Source for WithThief {
    fn comes_from(&self) -> ComesFrom {
        let thread = self.pool.upgrade().and_then(|pool| {
            let thief = pool.queues[self.job_id.worker].thief_of(self.job_id)?;
            pool.queues[thief].thread()
        });
        thread.map_or(ComesFrom::Elsewhere, |thread| ComesFrom::Places(vec![Location::On(thread)]))
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// Returns false, because a join must return two results, and cannot report that a result is missing.
    fn can_be_given_up(&self) -> bool {
        false
    }
}
