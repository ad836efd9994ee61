//! Runs properties under the model: one thread runs at a time, and a scheduler decides which thread runs.
//!
//! [shuttle](https://docs.rs/shuttle) does the work: it runs each thread as a coroutine and asks our
//! [`Scheduler`] at every step which thread is next. The scheduler prefers the running thread, at first
//! strongly, and later less and less. So a failure that needs two switches is found on a schedule with two
//! switches and not with forty, and the picture of the failure is short. If many schedules repeat earlier
//! ones, with the same choices, a repeated schedule counts as tried and is not run: see [`tried`].

use std::time::Duration;

use exercises_protocol::Mode;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use crate::report::{report_and_exit, round};
use crate::watch::progressed;
use crate::{child, isolate, recorder, verdict};

mod chance;
mod tried;

use backend::pick;
use chance::{Chance, Question};

/// The locks of the model; the library uses the same locks when it is compiled for the exercises.
#[path = "../../../../executor/model/primitives/locks.rs"]
mod locks;

/// The threads and locks of this mode come from shuttle.
mod backend {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::sync::LockResult;

    use shuttle::current::{TaskId, try_get_current_task};
    pub(super) use shuttle::sync::{Barrier, atomic};
    pub(super) use shuttle::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
    pub(super) use shuttle::thread;
    // The learner gets these items of shuttle unchanged.
    pub use shuttle::sync::BarrierWaitResult;
    pub use shuttle::thread_local;

    use super::chance::{Chance, Question};
    use super::locks::Sleepers;
    pub(super) use super::locks::{Condvar, Mutex, MutexGuard, others_may_come_first};
    use super::tried::Tried;
    use crate::recorder::{self, ThreadKey};

    pub(super) const LOCKS_POISON: bool = false;
    pub(super) const ONE_AT_A_TIME: bool = true;

    // All threads of the model are coroutines on one operating-system thread, so this thread-local serves all
    // of them.
    std::thread_local! {
        static THREADS: RefCell<Vec<Option<ThreadKey>>> = const { RefCell::new(Vec::new()) };
        static CHANCE: RefCell<Chance> = RefCell::new(Chance::of(0, 0));
        static TRIED: RefCell<Tried> = const { RefCell::new(Tried::new()) };
        static CAN_RUN: Cell<usize> = const { Cell::new(0) };
        static TRIES_LOCKS: Cell<bool> = const { Cell::new(false) };
        static ANSWERS: Cell<fn(Question) -> usize> = const { Cell::new(by_chance) };
    }

    /// Marks a point at which other threads may notice that the calling thread holds its lock. Only an answer
    /// with a `try_lock` can notice such a point.
    pub(super) fn others_may_find_it_taken() {
        if TRIES_LOCKS.get() {
            others_may_come_first();
        }
    }

    /// Records how many threads could run when the scheduler was last asked.
    pub(super) fn can_run(threads: usize) {
        CAN_RUN.set(threads);
    }

    /// Returns true if every other thread was waiting when the scheduler chose the calling thread.
    pub(super) fn others_wait() -> bool {
        CAN_RUN.get() == 1
    }

    /// Begins another property, for the answer whose text is `source`.
    pub(super) fn begin(source: &str) {
        TRIED.with_borrow_mut(Tried::clear);
        TRIES_LOCKS.set(source.contains("try_lock"));
    }

    /// Returns true if a run with these random choices has been tried.
    pub(super) fn is_tried(chance: Chance) -> bool {
        TRIED.with_borrow_mut(|tried| tried.counts(chance))
    }

    pub(super) fn begin_run(chance: Chance) {
        THREADS.with_borrow_mut(Vec::clear);
        CHANCE.set(chance);
        TRIED.with_borrow_mut(Tried::begins);
    }

    pub(super) fn end_run() {
        TRIED.with_borrow_mut(Tried::has_ended);
    }

    /// Sets the function that answers all questions of chance from now on.
    pub(super) fn is_answered_by(answers: fn(Question) -> usize) {
        ANSWERS.set(answers);
    }

    pub(super) fn ask(question: Question) -> usize {
        ANSWERS.get()(question)
    }

    /// Answers a question with the random choices of this run.
    pub(super) fn by_chance(question: Question) -> usize {
        let answer = CHANCE.with_borrow_mut(|chance| chance.answer(question));
        TRIED.with_borrow_mut(|tried| tried.was_told(question, answer));
        answer
    }

    pub(super) fn set_me(key: ThreadKey) {
        let number = number(try_get_current_task());
        THREADS.with_borrow_mut(|threads| {
            if threads.len() <= number {
                threads.resize(number + 1, None);
            }
            threads[number] = Some(key);
        });
    }

    pub(super) fn me() -> ThreadKey {
        let number = number(try_get_current_task());
        if let Some(key) = known(number) {
            return key;
        }
        let key = recorder::register(thread::current().name().map(str::to_owned), false);
        set_me(key);
        key
    }

    fn known(number: usize) -> Option<ThreadKey> {
        THREADS.with_borrow(|threads| threads.get(number).copied().flatten())
    }

    /// Returns the index of the thread in `THREADS`. The first index is used while no thread of the model
    /// runs.
    fn number(task: Option<TaskId>) -> usize {
        task.map_or(0, |task| usize::from(task) + 1)
    }

    /// Starts a thread. All stacks have the same size. The closure is in a box, because shuttle's whole
    /// `spawn` is compiled again for every type of `f`.
    pub(super) fn spawn<T: Send + 'static>(
        _stack: Option<usize>,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<thread::JoinHandle<T>> {
        let f: Box<dyn FnOnce() -> T + Send> = Box::new(f);
        thread::Builder::new().spawn(f)
    }

    /// Starts a thread in a scope.
    #[expect(clippy::unnecessary_wraps, reason = "on real threads it can fail")]
    pub(super) fn spawn_scoped<'scope, T: Send + 'scope>(
        _stack: Option<usize>,
        scope: &'scope thread::Scope<'scope, '_>,
        f: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<thread::ScopedJoinHandle<'scope, T>> {
        let f: Box<dyn FnOnce() -> T + Send + 'scope> = Box::new(f);
        Ok(scope.spawn(f))
    }

    /// Chooses which sleeper is woken; `sleepers` is the number of sleepers.
    pub(super) fn pick(sleepers: usize) -> usize {
        ask(Question::is_woken(sleepers))
    }

    /// The part of a `Condvar` in `sync` that makes threads wait, and that wakes these threads. The learner
    /// may use the `Condvar` in any way, so there is a scheduling point before each wait and each
    /// notification.
    #[derive(Debug, Default)]
    pub(super) struct WaitSet(Sleepers);

    impl WaitSet {
        /// `waits` is called when the lock is free and the wait begins; `wants_the_lock` is called when a
        /// notification has ended the wait.
        pub(super) fn wait<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            mutex: &'a Mutex<T>,
            waits: impl FnOnce(),
            wants_the_lock: impl FnOnce(),
        ) -> LockResult<MutexGuard<'a, T>> {
            others_may_come_first(); // and no other thread runs from here to the sleep
            drop(guard);
            waits();
            self.0.sleep();
            wants_the_lock();
            mutex.lock_next()
        }

        pub(super) fn notify(&self, all: bool, notifies: impl FnOnce()) {
            others_may_come_first();
            let woken = if all { self.0.wake_all() } else { self.0.wake_one().into_iter().collect() };
            notifies();
            let keys: Vec<_> = woken.into_iter().filter_map(|task| known(number(Some(task)))).collect();
            recorder::woke(&keys);
        }
    }

    /// Returns true if the wait that begins now ends without a notification.
    pub(super) fn wakes_up_by_itself() -> bool {
        ask(Question::WAKES_UP) == 1
    }
}

#[path = "../../../sync/src/sync/mod.rs"]
pub mod sync;

#[path = "../probe.rs"]
pub mod probe;

#[path = "../below.rs"]
pub mod below;

pub mod graph;

/// The number of schedules that are tried.
pub const SCHEDULES: usize = 2_000;

/// The number of schedules that are run even if they repeat an earlier schedule: only a repeated run can show
/// whether chance alone decides.
const ALWAYS: u64 = 10;

/// The largest number of steps of a schedule: many times the steps of the longest schedule of a right answer.
const MOST_STEPS: usize = 50_000;

/// The deadline for an answer that computes for ever without using `crate::sync`; the model notices every
/// other hang. The deadline limits the processor time, and the time in which nothing happens.
const DEADLINE: Duration = Duration::from_secs(12);

/// Checks a property of the learner's file, and panics if the property fails. The property runs in its own
/// process, and `source` is the text of the file.
pub fn check(source: &str, name: &str, promise: &str, property: fn()) {
    isolate::check(name, promise, Mode::Model, DEADLINE, || {
        run_here(source, promise, SCHEDULES, property);
        report_and_exit(&Ok(SCHEDULES))
    });
}

/// Runs a property in this process on the given number of schedules. If the property fails, the process ends
/// with a report.
pub fn run_here(source: &str, promise: &str, times: usize, property: fn()) {
    recorder::begin(source, promise, backend::me);
    child::begin(source, DEADLINE, recognises);
    backend::begin(source);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(MOST_STEPS);
    config.silence_warnings = true;
    config.stack_size = 1 << 20; // failures are reported from a coroutine, too
    let scheduler = Sticky { schedule: 0, last: times as u64, round: round() };
    Runner::new(scheduler, config).run(move || {
        child::install_hook(); // once more: shuttle puts its own hook, which prints, in front of ours
        backend::set_me(recorder::register(None, false));
        child::run_once(property);
        crate::step("is done");
    });
    if let Some(failure) = recorder::never_failed() {
        report_and_exit(&Err(Box::new(failure)));
    }
}

/// Ends the property if shuttle uses this panic to report a run that does not end.
fn recognises(panic: &str) {
    if panic.starts_with("deadlock! blocked tasks") {
        verdict::fail_deadlocked();
    }
    if panic.starts_with("exceeded max_steps bound") {
        verdict::fail_endless();
    }
}

/// A scheduler that lets the running thread go on with some probability, which shrinks from one schedule to
/// the next.
struct Sticky {
    schedule: u64,
    last: u64,
    round: u64,
}

impl Scheduler for Sticky {
    fn new_execution(&mut self) -> Option<Schedule> {
        backend::end_run();
        // A test that must fail may be run on all schedules, even if other properties get only few schedules.
        let last = if recorder::has_still_to_fail() { SCHEDULES as u64 } else { self.last };
        while self.schedule < last {
            self.schedule += 1;
            recorder::begin_run();
            let chance = Chance::of(self.round, self.schedule);
            if self.schedule <= ALWAYS || !backend::is_tried(chance) {
                backend::begin_run(chance);
                return Some(Schedule::new(self.schedule));
            }
        }
        None
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        progressed();
        let (mut can_run, mut place, mut who) = (0, None, 0);
        for (n, task) in runnable.iter().enumerate() {
            can_run += usize::from(task.runnable()); // not threads that could wake up by themselves
            place = if Some(task.id()) == current { Some(n) } else { place };
            who ^= 1 << (usize::from(task.id()) % 64);
        }
        backend::can_run(can_run);
        let next = backend::ask(Question::goes_on(runnable.len(), place, is_yielding, who));
        runnable.get(next).map(|task| task.id())
    }

    /// Returns a random number, with which the library's model chooses the thread to wake.
    fn next_u64(&mut self) -> u64 {
        backend::ask(Question::NUMBER) as u64
    }
}
