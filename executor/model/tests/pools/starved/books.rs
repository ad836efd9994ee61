//! The test's own records: for each thread, the event that the thread waits for. The test's tasks and threads
//! report each step before or after the step, under one lock. The records never get their information from
//! the library.
//!
//! A thread records some kinds of events just before the event, and other kinds of events just after the
//! event. So the test can be sure of its answer to each of these two questions:
//!
//! * *Could a thread of the pools still have ended the wait?* ([`State::closed`] with
//!   [`Sure::ThatItWasOpen`].) An event that opens a wait is recorded after the event, and an event that
//!   closes a wait is recorded before the event. So if a wait was closed at any moment, then the records,
//!   too, showed the wait as closed at some moment between the beginning and the end of the wait. The end of
//!   a body is recorded while the thread of the body is still busy, so this record opens no closed wait.
//! * *Is there a wait that nothing will end?* ([`Sure::ThatItIsClosed`].) Here the records use only certain
//!   facts: that a pool has accepted a task, and that a thread is in a body and waits there. The library may
//!   be just about to find the wait. For this reason the test asks again until the answer is no.

use std::collections::HashMap;
use std::sync::{Mutex as Plain, MutexGuard, PoisonError};

use shuttle::thread::{self, ThreadId};

/// The records of the test, and the faults that these records show.
#[derive(Default)]
pub(super) struct Books(Plain<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) pools: Vec<PoolBook>,
    threads: Vec<ThreadBook>,
    numbers: HashMap<ThreadId, usize>,
    tasks: Vec<TaskBook>,
    /// The number of permits of each semaphore.
    pub(super) semaphores: Vec<usize>,
    /// The permits that are held; each entry has the semaphore, the holder and the number of permits.
    held: Vec<(usize, usize, usize)>,
    pub(super) services: Vec<ServiceBook>,
    waits: usize,
    pub(super) faults: Vec<String>,
}

#[derive(Debug)]
pub(super) struct PoolBook {
    pub(super) most: usize,
    pub(super) bound: Option<usize>,
    /// True if a worker may end although there is work.
    pub(super) shrinks: bool,
    pub(super) is_shut_down: bool,
    /// True if the pool was stopped, so that the tasks on its threads are cancelled.
    pub(super) is_stopped: bool,
}

#[derive(Debug)]
struct ThreadBook {
    works_for: Option<usize>,
    is_there: bool,
    /// The bodies and waits in which the thread is at present. The last entry is the innermost body or wait.
    frames: Vec<Frame>,
}

#[derive(Debug)]
enum Frame {
    Body(usize),
    Wait(Wait),
}

#[derive(Debug)]
struct Wait {
    what: What,
    number: usize,
    /// True if at some moment since the beginning of the wait, no event inside the pools could have ended the
    /// wait.
    was_closed: bool,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// An event that happens by itself, such as a deadline.
    Open,
    Task(usize),
    /// A wait for all of the given tasks.
    All(Vec<usize>, usize),
    /// A wait for the first task that comes out of a service.
    First(usize),
    /// A wait for the given number of permits of a semaphore.
    Permits(usize, usize),
    /// A wait until a pool has room for a task.
    Room(usize, usize),
}

#[derive(Debug)]
struct TaskBook {
    place: Place,
    is_done: bool,
    is_cancelled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    /// The task is on its way into the given pool, or already inside.
    Going(usize),
    Queued(usize),
    Running(usize),
    Over,
}

#[derive(Debug, Default)]
pub(super) struct ServiceBook {
    /// The tasks that were submitted to the service, and that no taker has received yet.
    pub(super) tasks: Vec<usize>,
    /// The number of threads that are about to take a task, or that have taken a task but have not recorded
    /// this yet.
    pub(super) takers: usize,
    /// The pool to which the tasks of a race are submitted. A cancelled task cannot win the race, so another
    /// task must win.
    pub(super) race_in: Option<usize>,
}

/// The answer that the records may give only if they are certain of it. If the records are not certain of
/// this answer, they give the other answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    ThatItWasOpen,
    ThatItIsClosed,
}

impl Books {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the records.
    pub(super) fn write<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state();
        let result = change(&mut state);
        state.note_closed();
        result
    }

    /// Records a step of the calling thread.
    fn write_here<R>(&self, change: impl FnOnce(&mut State, usize) -> R) -> R {
        let id = thread::current().id();
        self.write(|state| {
            let me = state.numbers[&id];
            change(state, me)
        })
    }

    // ----- threads -----

    /// Records that a thread is about to be started. `works_for` is the pool to which the thread belongs, if
    /// there is one.
    pub(super) fn thread_comes(&self, works_for: Option<usize>) -> usize {
        self.write(|state| {
            state.threads.push(ThreadBook { works_for, is_there: true, frames: Vec::new() });
            state.threads.len() - 1
        })
    }

    pub(super) fn thread_begins(&self, number: usize) {
        let id = thread::current().id();
        self.state().numbers.insert(id, number);
    }

    pub(super) fn thread_ends(&self, number: usize) {
        self.write(|state| state.threads[number].is_there = false);
    }

    // ----- tasks -----

    pub(super) fn new_task(&self) -> usize {
        self.write(|state| {
            state.tasks.push(TaskBook { place: Place::Nowhere, is_done: false, is_cancelled: false });
            state.tasks.len() - 1
        })
    }

    pub(super) fn goes_to(&self, task: usize, pool: usize) {
        self.write(|state| state.tasks[task].place = Place::Going(pool));
    }

    pub(super) fn was_accepted(&self, task: usize) {
        self.write(|state| {
            if let Place::Going(pool) = state.tasks[task].place {
                state.tasks[task].place = Place::Queued(pool);
            }
        });
    }

    pub(super) fn came_back(&self, task: usize) {
        self.write(|state| {
            if matches!(state.tasks[task].place, Place::Going(_) | Place::Queued(_)) {
                state.tasks[task].place = Place::Nowhere;
            }
        });
    }

    pub(super) fn begins(&self, task: usize) {
        self.write_here(|state, me| {
            state.tasks[task].place = Place::Running(me);
            let stopped = state.threads[me].works_for.is_some_and(|pool| state.pools[pool].is_stopped);
            state.tasks[task].is_cancelled |= stopped;
            state.threads[me].frames.push(Frame::Body(task));
        });
    }

    pub(super) fn ends(&self, task: usize) {
        self.write_here(|state, me| {
            let top = state.threads[me].frames.pop();
            state.check(
                matches!(top, Some(Frame::Body(own)) if own == task),
                "a body ends that is not the innermost",
            );
            (state.tasks[task].place, state.tasks[task].is_done) = (Place::Over, true);
        });
    }

    pub(super) fn is_gone(&self, task: usize) {
        self.write(|state| {
            state.tasks[task].is_cancelled |= !state.tasks[task].is_done;
            state.tasks[task].is_done = true;
        });
    }

    pub(super) fn was_cancelled(&self, task: usize) {
        self.is_gone(task);
    }

    pub(super) fn was_stopped(&self, pool: usize) {
        self.write(|state| {
            state.pools[pool].is_stopped = true;
            let State { threads, tasks, .. } = state;
            for thread in threads.iter().filter(|thread| thread.works_for == Some(pool)) {
                for frame in &thread.frames {
                    if let Frame::Body(task) = frame {
                        tasks[*task].is_cancelled = true;
                    }
                }
            }
        });
    }

    // ----- waits -----

    /// Calls a function that may wait. If the called function reports starvation, the records judge the
    /// report.
    pub(super) fn wait<R>(
        &self,
        what: What,
        call: impl FnOnce() -> R,
        starved: impl FnOnce(&R) -> bool,
    ) -> R {
        self.write_here(|state, me| {
            state.waits += 1;
            let wait = Wait { what, number: state.waits, was_closed: false };
            state.threads[me].frames.push(Frame::Wait(wait));
        });
        let result = call();
        let starved = starved(&result);
        self.write_here(|state, me| {
            let Some(Frame::Wait(wait)) = state.threads[me].frames.pop() else {
                return state.check(false, "a wait ends that is not the innermost");
            };
            if starved && !wait.was_closed {
                let fault =
                    format!("a false alarm: thread {me} waits for {:?}, and\n{}", wait.what, state.show());
                state.faults.push(fault);
            }
        });
        result
    }

    pub(super) fn has(&self, semaphore: usize, permits: usize) {
        self.write_here(|state, me| state.held.push((semaphore, me, permits)));
    }

    pub(super) fn has_no_more(&self, semaphore: usize, permits: usize) {
        self.write_here(|state, me| {
            let held = state.held.iter().position(|&held| held == (semaphore, me, permits));
            state.held.swap_remove(held.expect("it was written down"));
        });
    }

    // ----- questions -----

    /// Returns a wait that no event inside the pools can end, if the records are sure of such a wait.
    pub(super) fn without_end(&self) -> Option<String> {
        let state = self.state();
        let closed = state.closed(Sure::ThatItIsClosed);
        let thread = closed.iter().position(|&closed| closed)?;
        Some(format!("thread {thread} waits for {:?}, and\n{}", state.wait_of(thread)?.what, state.show()))
    }

    pub(super) fn show(&self) -> String {
        self.state().show()
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }

    pub(super) fn all_is_over(&self) -> bool {
        let state = self.state();
        state.tasks.iter().all(|task| task.is_done) && state.held.is_empty()
    }
}

impl State {
    /// Describes all unfinished waits and tasks, for the reader of a failure.
    fn show(&self) -> String {
        let threads = self.threads.iter().enumerate().filter(|(_, thread)| thread.is_there);
        let threads = threads
            .map(|(n, thread)| format!("thread {n} of pool {:?}: {:?}\n", thread.works_for, thread.frames));
        let tasks = self.tasks.iter().enumerate().filter(|(_, task)| task.place != Place::Over);
        let tasks = tasks.map(|(n, task)| format!("task {n}: {task:?}\n"));
        let others = format!("held {:?}, services {:?}, pools {:?}\n", self.held, self.services, self.pools);
        threads.chain(tasks).chain([others]).collect()
    }

    fn check(&mut self, is_so: bool, otherwise: &str) {
        if !is_so {
            self.faults.push(otherwise.to_owned());
        }
    }

    fn note_closed(&mut self) {
        let closed = self.closed(Sure::ThatItWasOpen);
        for (thread, closed) in self.threads.iter_mut().zip(closed) {
            if let Some(Frame::Wait(wait)) = thread.frames.last_mut() {
                wait.was_closed |= closed;
            }
        }
    }

    fn wait_of(&self, thread: usize) -> Option<&Wait> {
        match self.threads[thread].frames.last() {
            Some(Frame::Wait(wait)) => Some(wait),
            _ => None,
        }
    }

    /// Finds threads that only each other can release, and returns the largest set of such threads. At first
    /// the set contains all waiting threads. Then the function repeatedly removes a thread that can be
    /// released by a thread outside the set, until the set contains no such thread.
    pub(super) fn closed(&self, sure: Sure) -> Vec<bool> {
        let mut view = View { state: self, sure, closed: vec![true; self.threads.len()] };
        loop {
            let opens =
                (0..view.closed.len()).find(|&thread| view.closed[thread] && !view.stays_closed(thread));
            let Some(thread) = opens else { return view.closed };
            view.closed[thread] = false;
        }
    }
}

struct View<'a> {
    state: &'a State,
    sure: Sure,
    closed: Vec<bool>,
}

impl View<'_> {
    fn must_be_sure(&self) -> bool {
        self.sure == Sure::ThatItIsClosed
    }

    fn stays_closed(&self, thread: usize) -> bool {
        let Some(wait) = self.state.wait_of(thread) else { return false };
        let frames = &self.state.threads[thread].frames;
        let cancelled =
            |frame: &Frame| matches!(frame, Frame::Body(task) if self.state.tasks[*task].is_cancelled);
        !frames.iter().any(cancelled)
            && match &wait.what {
                What::Open => false,
                What::Task(task) => self.task(*task),
                What::All(tasks, pool) => self.all(tasks, *pool),
                What::First(service) => self.first(*service),
                What::Permits(kind, wanted) => self.permits(thread, wait.number, *kind, *wanted),
                What::Room(pool, task) => self.room(*pool, *task),
            }
    }

    fn task(&self, task: usize) -> bool {
        let TaskBook { place, is_done, .. } = &self.state.tasks[task];
        !is_done
            && match *place {
                Place::Nowhere | Place::Over => false,
                Place::Going(pool) => !self.must_be_sure() && self.pool(pool),
                Place::Queued(pool) => self.pool(pool),
                Place::Running(thread) => self.closed[thread],
            }
    }

    /// Returns true if no thread of the pool can continue, and the pool cannot start another thread.
    fn pool(&self, number: usize) -> bool {
        let pool = &self.state.pools[number];
        let workers = self.state.threads.iter().enumerate();
        let workers: Vec<_> = workers
            .filter(|(_, thread)| thread.is_there && thread.works_for == Some(number))
            .filter(|(_, thread)| {
                let may_have_left = pool.shrinks && thread.frames.is_empty();
                self.must_be_sure() || !may_have_left
            })
            .collect();
        let may_grow = workers.len() < pool.most && !pool.is_shut_down && !pool.shrinks;
        !workers.is_empty()
            && workers.iter().all(|(worker, _)| self.closed[*worker])
            && (self.must_be_sure() || !may_grow)
    }

    /// Returns true if a waiter for the given tasks can never continue. The waiter waits for one task after
    /// the other, in the given order.
    fn all(&self, tasks: &[usize], pool: usize) -> bool {
        let first = tasks.iter().find(|&&task| !self.state.tasks[task].is_done);
        first.is_some_and(|&task| self.task(task)) || self.still_submits(tasks, pool)
    }

    fn first(&self, service: usize) -> bool {
        let ServiceBook { tasks, takers, race_in } = &self.state.services[service];
        if race_in.is_some_and(|pool| self.still_submits(tasks, pool)) {
            return true;
        }
        // The records do not know which tasks of a race were refused. The waiter does not wait for the
        // refused tasks.
        let may_be_refused = |task: usize| {
            let is_on_its_way = matches!(self.state.tasks[task].place, Place::Going(_));
            race_in.is_some() && is_on_its_way && !self.must_be_sure()
        };
        let waited_for = tasks.iter().filter(|&&task| !may_be_refused(task));
        let (done, open): (Vec<_>, Vec<_>) = waited_for.partition(|&&task| self.state.tasks[task].is_done);
        let counts = |task: usize| race_in.is_none() || !self.state.tasks[task].is_cancelled;
        let to_come = done.iter().filter(|&&&task| counts(task)).count();
        let may_be_taken = if self.must_be_sure() { 0 } else { takers - 1 };
        to_come <= may_be_taken && !open.is_empty() && open.into_iter().all(|&task| self.task(task))
    }

    /// Returns true if some of the given tasks are on their way into a pool, and this pool may have no room
    /// for them.
    fn still_submits(&self, tasks: &[usize], pool: usize) -> bool {
        let is_on_its_way = |task: &usize| matches!(self.state.tasks[*task].place, Place::Going(_));
        !self.must_be_sure() && tasks.iter().any(is_on_its_way) && self.pool(pool)
    }

    /// Returns true if no event inside the pools can end a waiter's wait for permits. Waiters for permits get
    /// the permits in the order in which the waiters came.
    fn permits(&self, thread: usize, number: usize, kind: usize, wanted: usize) -> bool {
        let held = self.state.held.iter().filter(|held| held.0 == kind);
        let (mut in_hands, mut all_wait) = (0, true);
        for &(_, holder, permits) in held {
            in_hands += permits;
            all_wait &= self.closed[holder];
        }
        let there = self.state.semaphores[kind] - in_hands;
        let stands_in_the_way = |other: usize| {
            let Some(wait) = self.state.wait_of(other) else { return false };
            let came_before = !self.must_be_sure() || wait.number < number;
            let What::Permits(its_kind, its_wanted) = wait.what else { return false };
            came_before && its_kind == kind && its_wanted > there && self.closed[other]
        };
        let others = (0..self.closed.len()).filter(|&other| other != thread);
        in_hands > 0 && all_wait && (wanted > there || others.into_iter().any(stands_in_the_way))
    }

    fn room(&self, number: usize, own: usize) -> bool {
        let pool = &self.state.pools[number];
        let waits = |task: &TaskBook| match task.place {
            Place::Queued(queue) => queue == number && !task.is_done,
            Place::Going(queue) => queue == number && !task.is_done && !self.must_be_sure(),
            _ => false,
        };
        let tasks = self.state.tasks.iter().enumerate();
        let queued = tasks.filter(|(task, book)| *task != own && waits(book)).count();
        let is_full = pool.bound.is_some_and(|bound| queued >= bound);
        is_full && !pool.is_shut_down && self.pool(number)
    }
}
