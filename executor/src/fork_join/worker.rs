//! What a worker does: with its own queue first, then with the others'; and what it does while it waits.
//!
//! # What runs where
//!
//! | | taken from | run |
//! |---|---|---|
//! | by a worker with nothing to do | its own queue, another's, the submissions | at the bottom of its stack |
//! | a second half that was not stolen | its own queue | where the join is |
//! | a task that it waits for and that has not begun, also as one of many whose first end it waits for | wherever it is | on top of the wait |
//! | a piece of a job that it waits for | the queue of the thief of that job | on top of the wait |
//!
//! Nothing else is run on top of a wait, because nothing else has to do with it. What lies below may hold a lock; the pieces of
//! the awaited job may be run by another thread at any time, so they cannot count on that lock being free.
//!
//! # Guests
//!
//! A thread that begins a computation in a pool with a free place takes that place itself until the computation has ended. To
//! wake a worker for it, and to be woken by that one, would take longer than many computations do.
//!
//! # Invariants
//!
//! 1. A worker that has stolen a job says so to the seat that it comes from when it has ended, in whichever way.
//! 2. With [`DEPTH`] jobs on top of waits, a thread takes no more pieces: it only waits. The task itself that it waits for
//!    runs as long as half of the stack is free: no other thread need be there to run it. Mostly the depth is that of the
//!    user's own recursion; but tasks of which each waits for the one before it form a chain, too, as long as there are tasks.
//!    So deeper down it is left to the other threads, and if they all wait, the wait ends as one that starves.
//! 3. What is current for a job (its token, whether it is masked) is what was current where it was published.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use super::gate;
use super::seat::{Entry, Followed, Job, Seat, Stamp};
use super::shared::{Next, Shared, Taken};
use super::stack::Stack;
use crate::awaited::{Awaited, ComesFrom, Source};
use crate::cancel::{Context, masked};
use crate::ids::{Place, this_thread};
use crate::job::Unwinding;
use crate::outcome::Outcome;
use crate::starvation::WaitsFor;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, PATIENCE, Weak, thread, thread_local};
use crate::task::{HandleCell, Task, TaskLabel};
use crate::thread_pool::PoolState;
use crate::wait::{Deadline, Look, wait_for};
use crate::wait_graph::work_for;
use crate::worker_context::{Employment, Worker, concerns_this_thread};

/// So many jobs lie on top of a thread's waits at most.
pub(super) const DEPTH: usize = 32;

/// The body of a worker thread.
pub(super) fn run(shared: &Arc<Shared>, seat: usize) {
    let here = Here::sit_down(shared, seat);
    shared.root.above_tasks(|| here.work());
}

/// A worker, on its own thread.
pub(super) struct Here {
    pub(super) shared: Arc<Shared>,
    number: usize,
    stack: Stack,
    /// How many jobs lie on top of waits.
    depth: Cell<usize>,
    /// How many tasks it is in the middle of.
    pub(super) tasks: Cell<usize>,
    /// How many of those lie under a wait for quiet: see `quiescence`.
    pub(super) quiet: Cell<usize>,
    /// How many calls of [`blocking`](super::blocking) it is inside of.
    pub(super) blocks: Cell<usize>,
    random: Cell<u64>,
}

thread_local! {
    static HERE: RefCell<Option<Rc<Here>>> = RefCell::new(None);
}

/// The worker that the calling thread is.
pub(super) fn here() -> Option<Rc<Here>> {
    HERE.try_with(|here| here.borrow().clone()).ok().flatten()
}

/// Sits at its seat until this is dropped.
struct Sitting {
    here: Rc<Here>,
    _employment: Employment,
}

impl std::ops::Deref for Sitting {
    type Target = Here;

    fn deref(&self) -> &Here {
        &self.here
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        gate::replace(None);
        let here = HERE.try_with(|here| here.borrow_mut().take());
        drop(here);
    }
}

/// What a worker is to others.
struct AtSeat {
    shared: Weak<Shared>,
    number: usize,
}

impl Worker for AtSeat {
    fn runs(&self) -> Option<TaskLabel> {
        self.shared.upgrade()?.seats[self.number].label()
    }

    fn helps(&self) -> bool {
        true
    }

    fn help(&self, what: &Awaited, waker: &Waker) -> bool {
        here().is_some_and(|here| here.help(what, waker))
    }
}

impl Here {
    fn sit_down(shared: &Arc<Shared>, number: usize) -> Sitting {
        let seat = &shared.seats[number];
        seat.sit(Some(this_thread()));
        gate::replace(Some(seat.gate));
        let at_seat = AtSeat { shared: Arc::downgrade(shared), number };
        let employment = work_for(shared.watch.id(), Arc::new(at_seat));
        let here = Rc::new(Self {
            shared: Arc::clone(shared),
            number,
            stack: Stack::from_here(shared.settings.stack_size),
            depth: Cell::new(0),
            tasks: Cell::new(0),
            quiet: Cell::new(0),
            blocks: Cell::new(0),
            random: Cell::new(number as u64 + 1),
        });
        HERE.with(|place| *place.borrow_mut() = Some(Rc::clone(&here)));
        Sitting { here, _employment: employment }
    }

    pub(super) fn seat(&self) -> &Seat {
        &self.shared.seats[self.number]
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    // ----- with nothing on the stack -----

    fn work(&self) {
        let mut searches = true; // whoever has started it has counted it
        let mut lingered = 0;
        loop {
            if let Some(found) = self.find() {
                if std::mem::take(&mut searches) {
                    self.shared.has_found();
                }
                lingered = 0;
                self.run_at_the_bottom(found);
                if !self.shared.is_surplus() {
                    continue;
                }
            } else if !searches {
                self.shared.begins_to_search();
                searches = true;
                continue;
            } else if lingered != PATIENCE {
                lingered += 1;
                thread::yield_now();
                continue;
            }
            match self.shared.sleep(self.number, searches) {
                Next::Search => (searches, lingered) = (true, 0),
                Next::Leave => return,
            }
        }
    }

    /// A job: one's own, or another worker's, or one from outside.
    fn find(&self) -> Option<Taken> {
        let own = if self.seat().length() > 0 {
            self.seat().take_own(self.shared.settings.oldest_first)
        } else {
            None
        };
        own.map(Taken::Entry).or_else(|| self.steal().map(Taken::Entry)).or_else(|| {
            let is_any = self.shared.has_submissions();
            if is_any { self.shared.take_submission().map(Taken::Submission) } else { None }
        })
    }

    // ANCHOR: steal
    /// The oldest job of another worker. Whom it asks first is left to chance, so that not all thieves come to the same.
    fn steal(&self) -> Option<Entry> {
        let seats = &self.shared.seats;
        let first = self.next_random() % seats.len();
        let (before, from) = seats.split_at(first);
        let others = from.iter().chain(before).filter(|seat| seat.number != self.number && seat.length() > 0);
        others.into_iter().find_map(|seat| seat.steal(self.number))
    }
    // ANCHOR_END: steal

    /// Xorshift: see Marsaglia, "Xorshift RNGs", 2003.
    fn next_random(&self) -> usize {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 32) as usize
    }

    fn run_at_the_bottom(&self, found: Taken) {
        match found {
            Taken::Entry(entry) if entry.stamp.seat != self.number => self.run_stolen(entry),
            Taken::Entry(entry) => {
                self.seat().begin(None, false);
                self.run_job(entry.job, &entry.context);
                self.seat().end();
            }
            Taken::Submission(task) => {
                self.seat().begin(None, false);
                self.run_task(task, &Context::default());
                self.seat().end();
            }
        }
    }

    fn run_stolen(&self, Entry { stamp, job, context }: Entry) {
        self.seat().begin(Some(stamp), false);
        self.run_job(job, &context);
        self.seat().end();
        self.shared.seats[stamp.seat].stolen_ended(stamp);
    }

    fn run_job(&self, job: Job, context: &Context) {
        match job {
            Job::Half(half) => context.run_under(&self.shared.root, || half.run()),
            Job::Task(task) => self.run_task(task, context),
        }
    }

    fn run_task(&self, task: Task, context: &Context) {
        self.tasks.set(self.tasks.get() + 1);
        self.seat().begin_task(task.label());
        run_counted(&self.shared, task, context);
        self.seat().end_task();
        self.tasks.set(self.tasks.get() - 1);
        self.shared.task_ended();
    }

    // ----- on top of a wait -----

    /// Runs a job on top of the one that waits.
    fn on_top(&self, run: impl FnOnce()) {
        self.depth.set(self.depth.get() + 1);
        run();
        self.depth.set(self.depth.get() - 1);
    }

    pub(super) fn may_help(&self) -> bool {
        self.depth.get() < DEPTH
    }

    /// Waits until the second half of a join is done, or takes it back.
    pub(super) fn settle(&self, stamp: Stamp, Unwinding(unwinding): Unwinding) {
        match self.seat().take_back(stamp) {
            Some(entry) if unwinding => drop(entry),
            Some(Entry { job: Job::Half(half), .. }) => half.run(),
            Some(Entry { job: Job::Task(_), .. }) => unreachable!("a join publishes a half"),
            None => {
                self.seat().begin_wait(stamp);
                let helps = !unwinding && self.may_help();
                let _ = masked(|| wait_for(Deadline::NEVER, Stolen { here: self, stamp, helps }));
                self.seat().end_wait();
            }
        }
    }

    /// Does something for what the thread waits for.
    fn help(&self, what: &Awaited, waker: &Waker) -> bool {
        match what {
            Awaited::Task(cell, _) => self.help_with(&**cell, waker),
            Awaited::Other(source) => {
                source.collector().is_some_and(|collector| self.help_with_one_of(collector))
            }
        }
    }

    /// Runs one of the tasks that report to this collector: the thread waits for the first of them to end.
    fn help_with_one_of(&self, collector: usize) -> bool {
        let found = if self.may_help() { self.shared.take_one_of(collector, self.number) } else { None };
        found.map(|taken| self.run_on_top(taken)).is_some()
    }

    /// Runs a task that the thread waits for, or a piece of it.
    fn help_with(&self, cell: &dyn HandleCell, waker: &Waker) -> bool {
        let queue = cell.queue().filter(|queue| queue.of_all_lanes() == self.shared.watch.id());
        let queue = queue.filter(|_| self.stack.has_room());
        if let Some(queue) = queue
            && let Some(taken) = self.shared.take_task(queue, cell.id(), Some(self.number))
        {
            self.run_on_top(taken);
            return true;
        }
        if !self.may_help() {
            return false;
        }
        let Some((stamp, thief)) = self.seat().thief_of_task(cell.id()) else { return false };
        self.follow(stamp, thief, waker)
    }

    /// Takes a piece of a stolen job back from its thief, or from the thief of what that one waits for, and runs it. If there
    /// is none, the waker is called when there may be.
    fn follow(&self, mut stamp: Stamp, mut thief: usize, waker: &Waker) -> bool {
        for _ in &self.shared.seats {
            match self.shared.seats[thief].follow(stamp, self.number, waker) {
                Followed::Piece(entry) => {
                    self.on_top(|| self.run_stolen(entry));
                    return true;
                }
                Followed::On(next_stamp, next_thief) => (stamp, thief) = (next_stamp, next_thief),
                Followed::Nothing => return false,
            }
        }
        false
    }

    /// Runs a job that need have nothing to do with what it is in the middle of. False if there is none.
    pub(super) fn run_something(&self) -> bool {
        let found = if self.may_help() { self.find() } else { None };
        found.map(|taken| self.run_on_top(taken)).is_some()
    }

    fn run_on_top(&self, taken: Taken) {
        self.on_top(|| match taken {
            Taken::Entry(entry) if entry.stamp.seat == self.number => self.run_job(entry.job, &entry.context),
            Taken::Entry(entry) => self.run_stolen(entry),
            Taken::Submission(task) => self.run_foreign(task),
        });
    }

    /// Runs a task that is no part of what the worker is in the middle of.
    fn run_foreign(&self, task: Task) {
        self.seat().begin(None, true);
        self.run_task(task, &Context::default());
        self.seat().end();
    }
}

fn run_counted(shared: &Shared, task: Task, context: &Context) {
    task.leave_queue();
    if shared.phase() >= PoolState::Stopping {
        return drop(task);
    }
    let label = task.label();
    context.run_under(&shared.root, || {
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), shared.settings.panic_handler.clone());
                shared.panicked.fetch_add(1, Ordering::Relaxed);
            }
            shared.completed.fetch_add(1, Ordering::Relaxed);
        });
    });
}

/// Has the calling thread run a computation as a worker. None, and `f` is not called, if the pool has workers enough awake, or
/// other threads may count on this one: what it waits for as a worker has to be found in one place. The same if the thread ends
/// and has no place any more to keep what it is.
pub(super) fn run_as_guest<R>(shared: &Arc<Shared>, f: impl FnOnce() -> R) -> Option<R> {
    if HERE.try_with(|_| ()).is_err() || concerns_this_thread() {
        return None;
    }
    let seat = shared.admit_guest()?;
    let here = Here::sit_down(shared, seat);
    here.tasks.set(1);
    here.seat().begin(None, false);
    let result = shared.root.above_tasks(f);
    here.seat().end();
    shared.completed.fetch_add(1, Ordering::Relaxed);
    drop(here);
    shared.guest_leaves(seat);
    Some(result)
}

/// Runs a task of the pool, which was taken out of its queue, on a thread that waits for it.
pub(super) fn run_for(shared: &Shared, task: Task) {
    shared.task_is_back();
    if let Some(here) = here().filter(|here| std::ptr::eq(&raw const *here.shared, shared)) {
        return here.on_top(|| here.run_foreign(task));
    }
    shared.begins_to_help();
    run_counted(shared, task, &Context::default());
    shared.ends_to_help();
    shared.task_ended();
}

/// A look whether the stolen second half of a join is done. It helps the thief as long as there is a piece.
struct Stolen<'a> {
    here: &'a Here,
    stamp: Stamp,
    helps: bool,
}

impl Look for Stolen<'_> {
    type Found = ();

    fn look(&mut self, waker: &Waker) -> Option<()> {
        loop {
            if self.here.seat().has_ended(self.stamp, waker) {
                return Some(());
            }
            if !self.helps {
                return None;
            }
            let Some(thief) = self.here.seat().thief_of(self.stamp) else { continue };
            if !self.here.follow(self.stamp, thief, waker) {
                return None;
            }
        }
    }

    fn what(&self) -> Option<Awaited> {
        let pool = Arc::downgrade(&self.here.shared);
        Some(Awaited::Other(Arc::new(WithThief { pool, stamp: self.stamp })))
    }
}

/// The second half of a join, as far as it is known who runs it.
struct WithThief {
    pool: Weak<Shared>,
    stamp: Stamp,
}

impl Source for WithThief {
    fn comes_from(&self) -> ComesFrom {
        let thread = self.pool.upgrade().and_then(|pool| {
            let thief = pool.seats[self.stamp.seat].thief_of(self.stamp)?;
            pool.seats[thief].thread()
        });
        thread.map_or(ComesFrom::Elsewhere, |thread| ComesFrom::Places(vec![Place::On(thread)]))
    }

    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Borrowers
    }

    /// A join has two results, and no way to say that it has none.
    fn can_be_given_up(&self) -> bool {
        false
    }
}
