//! Plays a scenario and checks its result.

use std::cmp::Ordering as Order;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex as Plain, OnceLock, PoisonError, Weak};
use std::time::Duration;

use executor_model::panics::{PanicHandler, PanicReport};
use executor_model::{
    Abort, Block, CallerRuns, Canceller, Discard, DiscardOldest, DropPolicy, FifoQueue, FutureTask,
    HandOffQueue, Hooks, JoinError, Latch, LifoQueue, Outcome, PoolState, PoolStats, PriorityQueue,
    RejectReason, Task, TaskHandle, TaskId, TaskInfo, ThreadFactory, ThreadPoolBuilder, ThreadPoolExecutor,
    WorkQueue, Worker, prelude::*,
};
use shuttle::sync::{Condvar, Mutex};

use super::scenario::{Body, Call, End, Policy, Queue, Scenario, Step, Which};
use crate::thread;

/// Plays the scenario once, under the current schedule, and panics if anything is wrong.
pub(super) fn play(scenario: &Scenario) {
    let world = Arc::new(World::new(scenario.clone()));
    let pool = Arc::new(world.build_pool());
    let (main, others) = scenario.scripts.split_last().expect("there is a main thread");
    let others: Vec<_> = others
        .iter()
        .map(|script| {
            let (world, pool, script) = (Arc::clone(&world), Arc::clone(&pool), script.clone());
            thread::spawn(move || script.iter().for_each(|&step| world.take(step, &pool)))
        })
        .collect();
    let opener = scenario.opens_early().then(|| {
        let world = Arc::clone(&world);
        thread::spawn(move || world.gate.count_down())
    });
    for &step in main {
        world.take(step, &pool);
    }
    for thread in others.into_iter().chain(opener) {
        thread.join().unwrap(); // otherwise shuttle reports a deadlock: a submitter was not let in
    }
    world.look_at_the_quiet_pool(&pool);
    world.end(pool);
    world.judge();
}

// ----- the record of each task -----

struct Record {
    number: usize,
    body: Body,
    id: TaskId,
    canceller: OnceLock<Canceller>,
    handle: Plain<Option<TaskHandle<usize>>>,
    /// True if the task was accepted. The flag is set when the submitter learns that the task was accepted.
    accepted: OnceLock<bool>,
    /// Three counts: how often the body has run, how often a worker has taken the task, and how often the
    /// pool has handed the task back.
    runs: AtomicUsize,
    taken: AtomicUsize,
    came_back: AtomicUsize,
    /// True if a call of `cancel` for the task has returned true.
    cancelled: AtomicBool,
    /// A latch that opens when the body begins, or when it is certain that the body never begins.
    begun: Latch,
    /// A latch that opens when the body is dropped, whether or not the body has run.
    over: Latch,
}

impl Record {
    fn is_over(&self) -> bool {
        self.over.count() == 0
    }

    /// Returns true if the pool must still end the task: the pool has accepted the task, and no thread has
    /// taken the task out.
    fn is_the_pools(&self) -> bool {
        self.accepted.get() == Some(&true) && self.came_back.load(SeqCst) == 0
    }
}

/// Each body contains this value, which records the body's drop.
struct Gone(Arc<OnceLock<Arc<Record>>>);

impl Drop for Gone {
    fn drop(&mut self) {
        let record = self.0.get().expect("set before the task is submitted");
        record.begun.count_down();
        record.over.count_down();
    }
}

// ----- the world around the pool -----

struct World {
    scenario: Scenario,
    // This mutex is a mutex of std, not of the model, so an operation under the mutex is not a step of a
    // schedule.
    records: Plain<Vec<Arc<Record>>>,
    /// The pool, for tasks that submit other tasks.
    pool: OnceLock<Weak<ThreadPoolExecutor>>,
    gate: Latch,
    at_the_gate: Mutex<usize>,
    one_more_at_the_gate: Condvar,
    shut_down: AtomicBool,
    completed: AtomicUsize,
    panicked: AtomicUsize,
    terminated: Latch,
    terminations: AtomicUsize,
}

fn plain<T>(mutex: &Plain<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            records: Plain::default(),
            pool: OnceLock::new(),
            gate: Latch::new(1),
            at_the_gate: Mutex::new(0),
            one_more_at_the_gate: Condvar::new(),
            shut_down: AtomicBool::new(false),
            completed: AtomicUsize::new(0),
            panicked: AtomicUsize::new(0),
            terminated: Latch::new(1),
            terminations: AtomicUsize::new(0),
        }
    }

    fn build_pool(self: &Arc<Self>) -> ThreadPoolExecutor {
        let Scenario { queue, core, maximum, core_timeout, threads_first, policy, end, .. } = self.scenario;
        let builder = ThreadPoolExecutor::builder()
            .core_threads(core)
            .maximum_threads(maximum)
            .core_timeout(core_timeout);
        let builder = builder.keep_alive(Duration::from_secs(1)).hooks(Watching(Arc::clone(self)));
        let builder = builder.panic_handler(Deaf);
        let builder = builder.thread_factory(Script(AtomicUsize::new(0), self.scenario.factory.clone()));
        let builder = with_queue(builder, queue);
        let builder = if threads_first { builder.threads_first() } else { builder };
        let builder = match policy {
            Policy::Abort => builder.rejection_handler(Abort),
            Policy::Block => builder.rejection_handler(Block::new()),
            Policy::BlockAWhile => builder.rejection_handler(Block::for_at_most(Duration::from_secs(1))),
            Policy::CallerRuns => builder.rejection_handler(CallerRuns),
            Policy::Discard => builder.rejection_handler(Discard),
            Policy::DiscardOldest => builder.rejection_handler(DiscardOldest),
        };
        let builder = match end {
            End::DropCancelling => builder.on_drop(DropPolicy::Cancel),
            End::DropDetached => builder.on_drop(DropPolicy::Detach),
            End::Close | End::ShutdownNow | End::Drop => builder,
        };
        builder.build().unwrap()
    }

    fn records(&self) -> Vec<Arc<Record>> {
        plain(&self.records).clone()
    }

    /// Returns all tasks, including tasks that are submitted while the caller still uses the iterator.
    fn all(&self) -> impl Iterator<Item = Arc<Record>> {
        (0..).map_while(|number| plain(&self.records).get(number).cloned())
    }

    fn find(&self, which: Which) -> Option<Arc<Record>> {
        let records = plain(&self.records);
        match which {
            Which::Oldest => records.first().cloned(),
            Which::Newest => records.last().cloned(),
        }
    }

    // ----- the steps -----

    fn take(self: &Arc<Self>, step: Step, pool: &Arc<ThreadPoolExecutor>) {
        match step {
            Step::Submit(body) => self.submit(pool, body, true),
            Step::Execute(body) => self.submit(pool, body, false),
            Step::Forget => {
                let handle = self.find(Which::Newest).and_then(|record| plain(&record.handle).take());
                drop(handle);
            }
            Step::Cancel(which) => {
                if let Some(record) = self.find(which)
                    && let Some(canceller) = record.canceller.get()
                    && canceller.cancel()
                {
                    record.cancelled.store(true, SeqCst);
                }
            }
            Step::Remove(which) => {
                if let Some(record) = self.find(which)
                    && let Some(task) = pool.remove(record.id)
                {
                    assert_eq!(task.id(), record.id);
                    self.comes_back(task);
                }
            }
            Step::RemoveByHandle(which) => {
                let Some(record) = self.find(which) else { return };
                let handle = plain(&record.handle).take();
                let Some(handle) = handle else { return };
                let task = handle.remove();
                *plain(&record.handle) = Some(handle);
                if let Some(task) = task {
                    assert_eq!(task.id(), record.id);
                    self.comes_back(task);
                }
            }
            Step::Purge => pool.purge(),
            Step::Look => self.look(pool),
            // Some new settings contradict the other settings, and the pool refuses these new settings. A
            // step may be a change of settings that the pool refuses.
            Step::Maximum(threads) => drop(pool.set_maximum_threads(threads)),
            Step::Core(threads) => drop(pool.set_core_threads(threads)),
            Step::Threads(threads) => drop(pool.set_threads(threads)),
            Step::CoreTimeout(allowed) => drop(pool.set_core_timeout(allowed)),
            Step::Prestart => _ = pool.prestart_core_thread(),
            Step::Join => {
                let Some(record) = self.find(Which::Newest) else { return };
                let handle = plain(&record.handle).take();
                if let Some(handle) = handle {
                    record.check_outcome(handle);
                }
            }
            Step::Shutdown => {
                self.shut_down.store(true, SeqCst);
                pool.shutdown();
            }
            Step::ShutdownNow => {
                self.shut_down.store(true, SeqCst);
                pool.shutdown_now().into_iter().for_each(|task| self.comes_back(task));
            }
            Step::Close => {
                self.shut_down.store(true, SeqCst);
                pool.close();
                Self::nothing_is_left(pool);
            }
        }
    }

    fn submit(self: &Arc<Self>, pool: &Arc<ThreadPoolExecutor>, body: Body, with_handle: bool) {
        self.pool.get_or_init(|| Arc::downgrade(pool));
        let slot = Arc::new(OnceLock::new());
        let (world, gone) = (Arc::clone(self), Gone(Arc::clone(&slot)));
        let run = move || world.run(gone);
        let (task, handle) = if with_handle {
            let FutureTask { task, handle } = FutureTask::new(run);
            (task, Some(handle))
        } else {
            (Task::new(move || _ = run()), None)
        };
        let record = {
            let mut records = plain(&self.records);
            let record = Arc::new(Record {
                number: records.len(),
                body,
                id: task.id(),
                canceller: OnceLock::new(),
                handle: Plain::new(None),
                accepted: OnceLock::new(),
                runs: AtomicUsize::new(0),
                taken: AtomicUsize::new(0),
                came_back: AtomicUsize::new(0),
                cancelled: AtomicBool::new(false),
                begun: Latch::new(1),
                over: Latch::new(1),
            });
            _ = slot.set(Arc::clone(&record));
            if let Some(handle) = &handle {
                // The canceller is stored early, so that another thread can cancel the task while this thread
                // still submits the task.
                _ = record.canceller.set(handle.canceller());
            }
            *plain(&record.handle) = handle;
            records.push(Arc::clone(&record));
            record
        };
        // Some tasks have a higher priority, which matters only to some queues.
        let task = task.prioritized(i32::try_from(record.number % 2).expect("0 or 1"));
        let result = pool.execute(task);
        record.accepted.set(result.is_ok()).expect("submitted once");
        if let Err(refused) = result {
            assert_eq!(refused.task.id(), record.id);
            self.check_reason(&refused.reason);
            assert_eq!((record.runs.load(SeqCst), record.taken.load(SeqCst)), (0, 0), "refused and run");
            self.comes_back(refused.task);
        }
    }

    fn check_reason(&self, reason: &RejectReason) {
        let Scenario { policy, queue, ref factory, .. } = self.scenario;
        let fits = match reason {
            RejectReason::Shutdown => self.shut_down.load(SeqCst),
            RejectReason::Saturated => {
                matches!(policy, Policy::Abort | Policy::DiscardOldest)
                    && (queue.capacity().is_some() || queue == Queue::HandOff)
            }
            RejectReason::TimedOut => policy == Policy::BlockAWhile,
            RejectReason::Interrupted => policy == Policy::BlockAWhile && self.scenario.has_children(),
            RejectReason::NoThread(_) => factory.iter().any(|call| *call != Call::Starts),
            _ => false,
        };
        assert!(fits, "refused because: {reason}");
    }

    /// Runs a task's body.
    fn run(self: &Arc<Self>, gone: Gone) -> usize {
        let record = Arc::clone(gone.0.get().expect("set before the task is submitted"));
        record.runs.fetch_add(1, SeqCst);
        record.begun.count_down();
        match record.body {
            Body::Quick => {}
            Body::Gate => {
                *self.at_the_gate.lock().unwrap() += 1;
                self.one_more_at_the_gate.notify_all();
                _ = self.gate.wait();
                *self.at_the_gate.lock().unwrap() -= 1;
            }
            Body::Panics => {
                drop(gone); // dropped here, because shuttle takes no step while a thread unwinds
                resume_unwind(Box::new("on purpose"));
            }
            Body::Submits => {
                if let Some(pool) = self.pool.get().and_then(Weak::upgrade) {
                    self.submit(&pool, Body::Quick, record.number.is_multiple_of(2));
                }
            }
        }
        record.number
    }

    /// Drops or runs a task that the pool has given back.
    fn comes_back(&self, task: Task) {
        let record = self.records().into_iter().find(|record| record.id == task.id());
        let record = record.expect("one of ours");
        record.came_back.fetch_add(1, SeqCst);
        // The thread that must open the gate must not run a task that waits at the gate.
        if record.number.is_multiple_of(2) && record.body != Body::Gate {
            task.run();
        }
    }

    /// Checks those counts that are certain at any time.
    fn look(&self, pool: &ThreadPoolExecutor) {
        let stats = pool.stats();
        assert!(stats.peak_threads <= self.scenario.highest_maximum(), "{stats}");
        assert!(self.scenario.queue.capacity().is_none_or(|capacity| stats.queued <= capacity), "{stats}");
    }

    // ----- the judgement -----

    /// Checks the pool when all threads have done their steps. While the gate is shut, each remaining task
    /// waits only for the gate. Nothing is certain in two cases: the start of a thread can still fail, or the
    /// pool may drop an accepted task.
    fn look_at_the_quiet_pool(&self, pool: &ThreadPoolExecutor) {
        self.look(pool);
        let snapshot = pool.snapshot(); // no cancel is under way, so the count of waiting tasks is exact
        assert_eq!(snapshot.queued.len(), snapshot.stats.queued, "queued: {snapshot}");
        let Scenario { queue, ref factory, .. } = self.scenario;
        if self.gate.count() == 0
            || pool.stats().state != PoolState::Running
            || self.scenario.factory_lies()
            || self.scenario.has_children() && (!factory.is_empty() || self.may_be_discarded())
        {
            return;
        }
        let owed = || self.all().filter(|record| record.is_the_pools());
        // A cancelled task no longer waits at the gate.
        owed().filter(|record| record.cancelled.load(SeqCst)).for_each(|record| record.over.wait().unwrap());
        if queue == Queue::HandOff {
            // A task that was handed to a thread runs at once, even if all other tasks wait.
            owed().for_each(|record| record.begun.wait().unwrap()); // otherwise shuttle reports a deadlock
        }
        loop {
            let stats = pool.stats();
            let gates = owed().filter(|record| record.body == Body::Gate && !record.is_over());
            if gates.count() < stats.threads.min(stats.maximum_threads) {
                // Each task that does not wait at the gate has a thread of the pool.
                for record in owed() {
                    let end = if record.body == Body::Gate { &record.begun } else { &record.over };
                    end.wait().unwrap(); // otherwise shuttle reports a deadlock
                }
                assert_eq!(pool.queued(), 0);
                return;
            }
            if stats.threads > stats.maximum_threads {
                return; // the number of leaving threads is unknown
            }
            let mut there = self.at_the_gate.lock().unwrap();
            while *there < stats.threads {
                // If one of these waits never ends, shuttle reports a deadlock.
                there = self.one_more_at_the_gate.wait(there).unwrap();
            }
            let there = *there;
            if pool.stats().threads == there {
                let stats = pool.stats();
                let waiting = owed().filter(|record| record.begun.count() > 0).count();
                assert_eq!((stats.queued, stats.active), (waiting, there), "queued and active: {stats}");
                assert_eq!(pool.snapshot().queued.len(), waiting);
                return;
            }
        }
    }

    /// Ends the pool in the way that the scenario names, and checks the result.
    fn end(&self, pool: Arc<ThreadPoolExecutor>) {
        let Scenario { end, patient, .. } = self.scenario;
        if patient || !matches!(end, End::ShutdownNow | End::DropCancelling) {
            self.gate.count_down();
        }
        if patient {
            // Each task must end before the pool ends; if a task does not end, shuttle reports a deadlock.
            for record in self.all() {
                let handle = plain(&record.handle).take();
                if let Some(handle) = handle {
                    record.check_outcome(handle);
                }
                record.over.wait().unwrap();
            }
        }
        self.shut_down.store(true, SeqCst);
        match end {
            End::Close => pool.close(),
            End::ShutdownNow => {
                pool.shutdown_now().into_iter().for_each(|task| self.comes_back(task));
                assert!(pool.await_termination(Duration::MAX));
            }
            End::Drop | End::DropCancelling | End::DropDetached => {
                drop(pool);
                // If an owner is the last to drop a pool, the drop waits for the pool's end. The main thread
                // is that owner, unless one of the pool's tasks owns the pool, too.
                if end == End::DropDetached || self.scenario.has_children() {
                    self.terminated.wait().unwrap();
                }
                assert_eq!(self.terminated.count(), 0, "dropped, and not at its end");
                return;
            }
        }
        let stats = Self::nothing_is_left(&pool);
        let (completed, panicked) = (self.completed.load(SeqCst), self.panicked.load(SeqCst));
        assert_eq!((stats.completed, stats.panicked), (completed as u64, panicked as u64), "{stats}");
        assert!(stats.peak_threads <= self.scenario.highest_maximum(), "{stats}");
    }

    fn nothing_is_left(pool: &ThreadPoolExecutor) -> PoolStats {
        let stats = pool.stats();
        assert_eq!(stats.state, PoolState::Terminated);
        assert_eq!((stats.threads, stats.active, stats.queued), (0, 0, 0), "{stats}");
        assert_eq!(stats.task_count(), stats.completed, "{stats}");
        stats
    }

    /// Checks an ended pool: each task has had one fate, and the task's handle reports this fate.
    fn judge(&self) {
        assert_eq!(self.terminations.load(SeqCst), 1);
        let records = self.records();
        let taken: usize = records.iter().map(|record| record.taken.load(SeqCst)).sum();
        assert_eq!(taken, self.completed.load(SeqCst), "each that was taken was counted");
        for record in records {
            let number = record.number;
            assert!(record.is_over(), "task {number} is left over at the pool's end");
            let accepted = *record.accepted.get().expect("its submitter has gone on");
            let [runs, taken, came_back] =
                [&record.runs, &record.taken, &record.came_back].map(|count| count.load(SeqCst));
            let cancelled = record.cancelled.load(SeqCst);
            let fate = format!(
                "task {number}, {:?}: accepted {accepted}, runs {runs}, taken {taken}, came back {came_back}, \
                 cancelled {cancelled}",
                record.body
            );
            assert!(runs <= 1 && taken + came_back <= 1, "more than one fate: {fate}");
            if !accepted {
                assert_eq!(came_back, 1, "refused and not given back: {fate}");
            } else if taken == 1 {
                assert!(runs == 1 || cancelled, "taken and not run: {fate}");
            } else if came_back == 0 && runs == 1 {
                assert_eq!(self.scenario.policy, Policy::CallerRuns, "run, but not by a worker: {fate}");
            } else if came_back == 0 {
                assert!(cancelled || self.may_be_discarded(), "lost: {fate}");
            }
            let handle = plain(&record.handle).take();
            if let Some(handle) = handle {
                record.check_outcome(handle);
            }
        }
    }

    /// Returns true if the pool may drop an accepted task that was not cancelled.
    fn may_be_discarded(&self) -> bool {
        let Scenario { queue, policy, end, .. } = self.scenario;
        matches!(queue, Queue::Ring(_))
            || matches!(policy, Policy::Discard | Policy::DiscardOldest)
            || policy == Policy::CallerRuns && self.shut_down.load(SeqCst)
            || end == End::DropCancelling
            || self.scenario.factory_lies()
    }
}

impl Record {
    /// Waits for the outcome, and checks that the outcome fits the record of the task.
    fn check_outcome(&self, handle: TaskHandle<usize>) {
        let outcome = handle.join(); // otherwise shuttle reports a deadlock
        let (ran, cancelled) = (self.runs.load(SeqCst) == 1, self.cancelled.load(SeqCst));
        match outcome {
            Ok(number) => assert!(number == self.number && ran && !cancelled && self.body != Body::Panics),
            Err(JoinError::Panicked(_)) => assert!(ran && !cancelled && self.body == Body::Panics),
            // The thread that cancelled the task may not have recorded the cancellation yet.
            Err(JoinError::Cancelled(_)) => {
                assert!(!ran || cancelled || self.canceller.get().is_some(), "{}", self.number);
            }
            Err(other) => panic!("{other}"),
        }
    }
}

// ----- the parts of the pool -----

fn with_queue(builder: ThreadPoolBuilder, queue: Queue) -> ThreadPoolBuilder {
    match queue {
        Queue::Unbounded => builder.queue(FifoQueue::unbounded()),
        Queue::Bounded(capacity) => builder.queue(FifoQueue::bounded(capacity)),
        Queue::HandOff => builder.queue(HandOffQueue::new()),
        Queue::Priority => builder.queue(PriorityQueue::new()),
        Queue::PriorityBounded(capacity) => builder.queue(PriorityQueue::new().bounded(capacity)),
        Queue::Compared => builder
            .queue(PriorityQueue::by(|a: &Task, b: &Task| -> Order { a.priority().cmp(&b.priority()) })),
        Queue::Lifo => builder.queue(LifoQueue::unbounded()),
        Queue::LifoBounded(capacity) => builder.queue(LifoQueue::bounded(capacity)),
        Queue::Ring(capacity) => builder.queue(Ring(VecDeque::new(), capacity)),
    }
}

struct Ring(VecDeque<Task>, usize);

impl WorkQueue for Ring {
    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        if self.0.len() == self.1 {
            drop(self.0.pop_front());
        }
        self.0.push_back(task);
        Ok(())
    }

    fn pop(&mut self) -> Option<Task> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.1)
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.0.iter().for_each(look);
    }

    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let (removed, kept): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|task| unwanted(task));
        self.0 = kept.into();
        removed
    }
}

struct Script(AtomicUsize, Vec<Call>);

impl ThreadFactory for Script {
    fn start(&self, worker: Worker) -> io::Result<()> {
        match self.1.get(self.0.fetch_add(1, SeqCst)) {
            None | Some(Call::Starts) => drop(thread::spawn(move || worker.run())),
            Some(Call::Fails) => return Err(io::ErrorKind::WouldBlock.into()),
            Some(Call::Panics) => {
                drop(worker); // dropped here, because shuttle takes no step while a thread unwinds
                resume_unwind(Box::new("on purpose"));
            }
            Some(Call::Drops) => drop(worker),
            Some(Call::DropsLater) => drop(thread::spawn(move || drop(worker))),
        }
        Ok(())
    }
}

/// Hooks that record which tasks workers have taken.
struct Watching(Arc<World>);

impl Watching {
    fn panic_if_told(&self) {
        if self.0.scenario.hooks_panic {
            resume_unwind(Box::new("on purpose"));
        }
    }
}

impl Hooks for Watching {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let record = self.0.records().into_iter().find(|record| record.id == task.id).expect("one of ours");
        record.taken.fetch_add(1, SeqCst);
        drop(record);
        self.panic_if_told();
    }

    fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
        self.0.completed.fetch_add(1, SeqCst);
        self.0.panicked.fetch_add(usize::from(matches!(outcome, Outcome::Panicked(_))), SeqCst);
        self.panic_if_told();
    }

    fn worker_started(&self) {
        self.panic_if_told();
    }

    fn worker_ended(&self) {
        self.panic_if_told();
    }

    fn terminated(&self) {
        self.0.terminations.fetch_add(1, SeqCst);
        self.0.terminated.count_down();
        self.panic_if_told();
    }
}

/// A handler that ignores reports, because panics are part of the scenario.
struct Deaf;

impl PanicHandler for Deaf {
    fn panicked(&self, _: &PanicReport<'_>) {}
}

/// Runs `body`. Prints the scenario if the body panics.
pub(super) fn told(what: impl FnOnce() -> String, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        eprintln!("{}", what());
        resume_unwind(panic);
    }
}
