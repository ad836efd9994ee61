//! Which threads wait for what, and whether any of it can still come.
//!
//! A thread of an executor that is about to sleep in a wait without a deadline says here what it waits for, and looks
//! whether that could ever come. From a wait one gets to what could end it, from there to what holds *that* up, and so on:
//!
//! ```text
//!   thread ──waits for──▶ a task that runs ──on──▶ thread …
//!          ──waits for──▶ a task in a queue ──▶ pool ──its threads──▶ thread …
//!          ──waits for──▶ room in a queue ───▶ pool …
//!          ──waits for──▶ permits ──held by──▶ thread …
//! ```
//!
//! One way that leads to something that can go on is enough: a thread that does not wait, or waits with a deadline, or is no
//! executor's; a pool with an idle thread; a task that is in nobody's queue, which its owner may run at any time. If there is
//! none, every thread that could help sleeps already, and this one would be the last: nothing goes on without help from
//! outside. That is a *starvation deadlock*. The wait ends with a [`Starvation`], or with [relief](OnStarvation).
//!
//! # Nothing is reported that was not true
//!
//! While the lock of [`Waiting`] is held, no thread is entered and none taken out. What is read one after the other under it
//! can change in between only by an act from outside, and only one way: a task that has not ended now had not ended before.
//! So what is found is looked at twice. All that held in both looks held at the moment between them.
//!
//! # Nothing that is true is missed
//!
//! A wait can come to be without end in four ways, and after each of them a thread that waits looks again:
//!
//! | what happens | who looks |
//! |---|---|
//! | a thread that could go on falls asleep | that thread, before it does |
//! | a thread leaves its pool or does not come, and tasks are left to those that wait | they: their pool [wakes](look_again) them |
//! | a task or a submission comes to a pool whose threads all wait | they, likewise |
//! | permits come back and serve nobody, a handle goes to another taker | those that wait for more: the [source](Source) wakes them |
//!
//! The third needs no look at each submission: a pool that was found to have only waiting threads closes the short way in.
//!
//! # Invariants
//!
//! 1. A thread is entered from before its look until after its sleep. A thread that is entered and was woken counts as one
//!    that can go on: it looks again before it sleeps.
//! 2. The lock here comes before those of pools and tasks, and no user code runs under it. What is dropped is dropped when it is
//!    free. (Under it, a user's own queue may be asked how long it is.)

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Wake;

use crate::cancel::{RunningTask, runs_a_task, tasks_of_this_thread};
use crate::ids::{TaskId, WatcherId};
use crate::parker::Parker;
use crate::starvation::{OnStarvation, Starvation, StarvedWait, TaskRef, WaitsFor};
use crate::sync::ids::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lazy_static, thread, thread_local};
use crate::task::{HandleCell, TaskLabel, TaskState};
use crate::watcher::QueueWatcher;

// ----- what a thread can wait for -----

/// What a thread waits for.
pub(crate) enum Awaited {
    /// The end of a task, with its name.
    Task(Arc<dyn HandleCell>, Option<Arc<String>>),
    /// Something else that knows what could bring it about.
    Other(Arc<dyn Source>),
}

/// What a thread waits for that is not one task.
pub(crate) trait Source: Send + Sync {
    /// What could bring it about. From here on, whoever changes that has the threads that wait look again.
    fn comes_from(&self) -> ComesFrom;
}

/// What could end a wait.
pub(crate) enum ComesFrom {
    /// Something that is not known here, or that is there already.
    Elsewhere,
    /// The end of one of so many tasks, those which report to this address.
    TasksOf { collector: usize, tasks: usize },
    /// A thread that takes a task out of this queue.
    Room(WatcherId),
    /// What happens at one of these places.
    Places(Vec<Place>),
}

/// Where a task is, or whoever holds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it may be run at any time.
    Elsewhere,
    /// In a queue.
    In(WatcherId),
    /// On a thread.
    On(ThreadKey),
}

// ----- threads -----

/// Tells threads apart. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadKey(u64);

/// A worker, as far as a report says something of it.
pub(crate) trait Worker: Send + Sync {
    /// The task that it runs.
    fn runs(&self) -> Option<TaskLabel>;
}

/// The pool that a thread works for.
#[derive(Clone)]
struct Job {
    pool: WatcherId,
    worker: Arc<dyn Worker>,
    /// It is a line of tasks within another pool's task.
    is_line: bool,
}

thread_local! {
    static KEY: Cell<u64> = Cell::new(0);
    /// The pools whose threads this is. More than one if a task of one pool runs the worker of another.
    static JOBS: RefCell<Vec<Job>> = RefCell::new(Vec::new());
    /// How many tasks it runs on top of those that wait for them.
    static HELPING: Cell<usize> = Cell::new(0);
}

/// The calling thread.
pub(crate) fn this_thread() -> ThreadKey {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let new = || LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let key = KEY.try_with(|key| {
        if key.get() == 0 {
            key.set(new());
        }
        key.get()
    });
    ThreadKey(key.unwrap_or_else(|_| new()))
}

/// The calling thread is one of a pool's until this is dropped.
#[must_use]
pub(crate) struct Employment(());

pub(crate) fn work_for(pool: WatcherId, worker: Arc<dyn Worker>) -> Employment {
    begin(Job { pool, worker, is_line: false })
}

/// The same, for a thread that sees to the tasks of a line, on behalf of whatever executor.
pub(crate) fn see_to_line(line: WatcherId, worker: Arc<dyn Worker>) -> Employment {
    begin(Job { pool: line, worker, is_line: true })
}

fn begin(job: Job) -> Employment {
    let _ = JOBS.try_with(|jobs| jobs.borrow_mut().push(job));
    Employment(())
}

impl Drop for Employment {
    fn drop(&mut self) {
        let job = JOBS.try_with(|jobs| jobs.borrow_mut().pop());
        drop(job);
    }
}

/// Whether somebody may count on the calling thread: it is a pool's, or runs a task.
pub(crate) fn concerns_this_thread() -> bool {
    JOBS.try_with(|jobs| !jobs.borrow().is_empty()).unwrap_or(false) || runs_a_task()
}

// ----- those who wait -----

/// A thread that sleeps, or is about to.
struct Wait {
    thread: thread::Thread,
    jobs: Vec<Job>,
    tasks: Vec<Arc<dyn RunningTask>>,
    what: Awaited,
    parker: Arc<Parker>,
}

#[derive(Default)]
struct Waiting {
    threads: BTreeMap<ThreadKey, Wait>,
}

lazy_static! {
    static ref WAITING: Mutex<Waiting> = Mutex::new(Waiting::default());
}

/// What a thread that is about to sleep is to do.
pub(crate) enum Verdict {
    /// With what is to be kept until after the sleep.
    Sleep(Known),
    LookAgain,
    Starved(Starvation),
}

/// The calling thread is known to wait. Dropped when it does so no more.
pub(crate) struct Known(ThreadKey);

impl Drop for Known {
    fn drop(&mut self) {
        let wait = WAITING.lock().leave(self.0);
        drop(wait); // when the lock is free: what it waited for may end with this
    }
}

/// What was done so that a wait can end, for as long as it lasts.
#[derive(Default)]
pub(crate) struct Relief(Vec<Spare>);

/// A thread beyond the maximum of a pool.
struct Spare(Arc<dyn QueueWatcher>);

impl Drop for Spare {
    fn drop(&mut self) {
        self.0.dismiss_spare();
    }
}

/// To be called by a thread that would sleep until `what` comes.
pub(crate) fn about_to_sleep(what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Verdict {
    let key = this_thread();
    let jobs = JOBS.try_with(|jobs| jobs.borrow().clone()).unwrap_or_default();
    let tasks = tasks_of_this_thread();
    let mut wait = Wait { thread: thread::current(), jobs, tasks, what, parker: Arc::clone(parker) };
    let mut tried = false;
    loop {
        let mut used = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut waiting = WAITING.lock();
        waiting.threads.insert(key, wait);
        waiting.note_full_pools(key, &mut used);
        let first_look = waiting.closed_from(key, &mut used);
        let second_look = first_look.and_then(|_| waiting.closed_from(key, &mut used));
        let Some(closed) = second_look else { return Verdict::Sleep(Known(key)) };
        // Another thread may have been relieved since this one tried, and that may relieve this one, too.
        let is_hopeless = !closed.may_grow() && (tried || !waiting.may_be_relieved(key, &closed));
        let found = is_hopeless.then(|| waiting.report(&closed));
        wait = waiting.threads.remove(&key).expect("it was entered above");
        drop(waiting);
        if let Some(found) = found {
            return starved(&wait, found);
        }
        if relieve(&wait, &closed, relief) {
            return Verdict::LookAgain;
        }
        tried = true;
    }
}

/// Has the threads of a pool that wait look again: something has changed that they may have relied on.
pub(crate) fn look_again(pool: WatcherId) {
    let waiting = WAITING.lock();
    let concerned = waiting.threads.values().filter(|wait| wait.works_for(pool));
    concerned.for_each(|wait| wait.parker.wake_by_ref());
}

// ----- the search -----

/// Waits that only each other could end, in the order in which the search came to them.
struct Closed {
    threads: Vec<ThreadKey>,
    pools: Vec<(WatcherId, Arc<dyn QueueWatcher>)>,
}

impl Waiting {
    /// Whether the pool of this thread, or one that the search came to, was told to do something about it.
    fn may_be_relieved(&self, key: ThreadKey, closed: &Closed) -> bool {
        let own = self.threads[&key].pool().map(|pool| pool.on_starvation());
        let helps = matches!(own, Some(OnStarvation::Help { .. } | OnStarvation::HelpOthers { .. }));
        let spares = |what| matches!(what, OnStarvation::Spare { .. });
        helps || closed.pools.iter().any(|(_, pool)| spares(pool.on_starvation()))
    }
}

impl Closed {
    /// Whether a pool could start a thread.
    fn may_grow(&self) -> bool {
        self.pools.iter().any(|(_, pool)| pool.may_grow())
    }
}

impl Wait {
    fn works_for(&self, pool: WatcherId) -> bool {
        self.jobs.iter().any(|job| job.pool == pool)
    }
}

impl Waiting {
    /// Takes a thread out, and keeps no memory when nobody waits.
    fn leave(&mut self, key: ThreadKey) -> Option<Wait> {
        let wait = self.threads.remove(&key);
        if self.threads.is_empty() {
            self.threads = BTreeMap::new();
        }
        wait
    }

    fn working_for(&self, pool: WatcherId) -> impl Iterator<Item = ThreadKey> {
        self.threads.iter().filter(move |(_, wait)| wait.works_for(pool)).map(|(&key, _)| key)
    }

    /// The thread that waits and has this task on its stack.
    fn running(&self, task: TaskId) -> Option<ThreadKey> {
        let runs = |wait: &Wait| wait.tasks.iter().any(|own| own.id() == task);
        self.threads.iter().find(|(_, wait)| runs(wait)).map(|(&key, _)| key)
    }

    /// The pools whose threads all wait, as far as they have any that do.
    fn pools(&self) -> BTreeSet<WatcherId> {
        self.threads.values().flat_map(|wait| wait.jobs.iter().map(|job| job.pool)).collect()
    }

    /// Has the pools of a thread know if all their threads wait now, so that they tell when a task comes.
    fn note_full_pools(&self, key: ThreadKey, used: &mut Vec<Arc<dyn QueueWatcher>>) {
        for job in &self.threads[&key].jobs {
            if let Some(pool) = job.pool.watcher() {
                pool.waits_for_threads(self.working_for(job.pool).count());
                used.push(pool);
            }
        }
    }

    /// What can be reached from a thread's wait, if nothing of it can go on. The pools that were asked go to `used`, to be
    /// dropped without the lock.
    fn closed_from(&self, key: ThreadKey, used: &mut Vec<Arc<dyn QueueWatcher>>) -> Option<Closed> {
        let mut search = Search {
            waiting: self,
            to_visit: VecDeque::from([Node::Thread(key)]),
            closed: Closed { threads: Vec::new(), pools: Vec::new() },
            used,
        };
        while let Some(node) = search.to_visit.pop_front() {
            search.visit(node)?;
        }
        Some(search.closed)
    }
}

enum Node {
    Thread(ThreadKey),
    Pool(WatcherId),
}

impl Node {
    fn at(place: Place) -> Option<Self> {
        match place {
            Place::Elsewhere => None,
            Place::In(pool) => Some(Self::Pool(pool)),
            Place::On(thread) => Some(Self::Thread(thread)),
        }
    }
}

struct Search<'a> {
    waiting: &'a Waiting,
    to_visit: VecDeque<Node>,
    closed: Closed,
    used: &'a mut Vec<Arc<dyn QueueWatcher>>,
}

impl Search<'_> {
    /// Goes on from a node. `None` if something there can go on.
    fn visit(&mut self, node: Node) -> Option<()> {
        match node {
            Node::Thread(key) if self.closed.threads.contains(&key) => Some(()),
            Node::Thread(key) => {
                let wait = self.waiting.threads.get(&key).filter(|wait| !wait.parker.is_woken())?;
                self.closed.threads.push(key);
                match &wait.what {
                    Awaited::Task(task, _) => self.visit_task(&**task),
                    Awaited::Other(source) => self.visit_source(&source.comes_from()),
                }
            }
            Node::Pool(id) if self.closed.pools.iter().any(|(known, _)| *known == id) => Some(()),
            Node::Pool(id) => {
                let pool = id.watcher()?;
                self.used.push(Arc::clone(&pool));
                let threads: Vec<_> = self.waiting.working_for(id).collect();
                if !pool.waits_for_threads(threads.len()) {
                    return None;
                }
                self.to_visit.extend(threads.into_iter().map(Node::Thread));
                self.to_visit.extend(pool.waits_in().map(Node::Pool));
                self.closed.pools.push((id, pool));
                Some(())
            }
        }
    }

    fn visit_task(&mut self, task: &dyn HandleCell) -> Option<()> {
        self.to_visit.push_back(match task.state() {
            TaskState::Pending => Node::Pool(task.queue()?),
            TaskState::Running => Node::Thread(self.waiting.running(task.id())?),
            _ => return None,
        });
        Some(())
    }

    fn visit_source(&mut self, from: &ComesFrom) -> Option<()> {
        match from {
            ComesFrom::Elsewhere => None,
            ComesFrom::TasksOf { collector, tasks } => self.visit_tasks_of(*collector, *tasks),
            ComesFrom::Room(pool) => {
                let watcher = pool.watcher()?;
                let is_full = !watcher.has_room();
                self.used.push(watcher);
                self.to_visit.push_back(Node::Pool(*pool));
                is_full.then_some(())
            }
            ComesFrom::Places(places) => {
                self.to_visit.extend(places.iter().copied().filter_map(Node::at));
                (!places.is_empty() && !places.contains(&Place::Elsewhere)).then_some(())
            }
        }
    }

    /// The tasks are counted where nothing goes on. One that is not among them is somewhere where it may.
    fn visit_tasks_of(&mut self, collector: usize, tasks: usize) -> Option<()> {
        let mut found = 0;
        for (&key, wait) in &self.waiting.threads {
            let own = wait.tasks.iter().filter(|task| task.collector() == collector).count();
            if own > 0 {
                found += own;
                self.to_visit.push_back(Node::Thread(key));
            }
        }
        for id in self.waiting.pools() {
            let Some(pool) = id.watcher() else { continue };
            self.used.push(Arc::clone(&pool));
            if !pool.waits_for_threads(self.waiting.working_for(id).count()) {
                continue;
            }
            let queued = pool.queued_of(collector);
            if queued > 0 {
                found += queued;
                self.to_visit.push_back(Node::Pool(id));
            }
        }
        (found >= tasks).then_some(())
    }
}

// ----- the report -----

/// What is said of waits that only each other could end.
struct Found {
    chain: Vec<StarvedWait>,
    closes_at: usize,
    others: Vec<StarvedWait>,
}

impl Waiting {
    fn report(&self, closed: &Closed) -> Found {
        let mut chain = vec![closed.threads[0]];
        let closes_at = loop {
            let next = self.held_up_by(&chain);
            match chain.iter().position(|&known| Some(known) == next) {
                Some(place) => break place,
                None => chain.extend(next),
            }
            if next.is_none() {
                break chain.len() - 1; // cannot be: each of them is held up by one that was found
            }
        };
        let others = closed.threads.iter().filter(|key| !chain.contains(key));
        let others = others.map(|&key| self.describe(key)).collect();
        Found { chain: chain.iter().map(|&key| self.describe(key)).collect(), closes_at, others }
    }

    /// One of the threads that would have to go on for the last of these to go on: one of them if possible.
    fn held_up_by(&self, chain: &[ThreadKey]) -> Option<ThreadKey> {
        let wait = self.threads.get(chain.last()?)?;
        let (mut threads, pool) = match &wait.what {
            Awaited::Task(task, _) => (Vec::from_iter(self.running(task.id())), task.queue()),
            Awaited::Other(source) => match source.comes_from() {
                ComesFrom::Elsewhere => (Vec::new(), None),
                ComesFrom::Places(places) => {
                    let pool = places
                        .iter()
                        .find_map(|place| if let Place::In(id) = place { Some(*id) } else { None });
                    let on = |place: &Place| if let Place::On(key) = place { Some(*key) } else { None };
                    (places.iter().filter_map(on).collect(), pool)
                }
                ComesFrom::Room(pool) => (Vec::new(), Some(pool)),
                ComesFrom::TasksOf { collector, .. } => {
                    let runs = |wait: &Wait| wait.tasks.iter().any(|task| task.collector() == collector);
                    let running = self.threads.iter().filter(|(_, wait)| runs(wait)).map(|(&key, _)| key);
                    (running.collect(), self.pools_of(collector).first().copied())
                }
            },
        };
        let behind = pool.and_then(WatcherId::watcher).and_then(|pool| pool.waits_in());
        threads.extend(pool.into_iter().chain(behind).flat_map(|pool| self.working_for(pool)));
        threads.iter().find(|key| chain.contains(key)).or(threads.first()).copied()
    }

    fn pools_of(&self, collector: usize) -> Vec<WatcherId> {
        let has_some = |id: &WatcherId| id.watcher().is_some_and(|pool| pool.queued_of(collector) > 0);
        self.pools().into_iter().filter(has_some).collect()
    }

    fn describe(&self, key: ThreadKey) -> StarvedWait {
        let wait = &self.threads[&key];
        let label = wait.jobs.last().and_then(|job| job.worker.runs());
        let task = label.map(|label| TaskRef::new(label.id(), label.name()));
        let innermost = wait.tasks.last().map(|task| TaskRef::new(task.id(), None));
        StarvedWait {
            task: task.or(innermost),
            thread: wait.thread.name().map(str::to_owned),
            pool: wait.job().map(|job| name_of(job.pool)),
            waits_for: self.describe_what(&wait.what),
        }
    }

    fn describe_what(&self, what: &Awaited) -> WaitsFor {
        match what {
            Awaited::Task(task, name) => {
                let task_ref = TaskRef::new(task.id(), name.as_deref().map(String::as_str));
                match task.queue() {
                    Some(pool) => WaitsFor::Queued { task: task_ref, pool: name_of(pool) },
                    None => WaitsFor::Running { task: task_ref },
                }
            }
            Awaited::Other(source) => match source.comes_from() {
                ComesFrom::TasksOf { collector, tasks } => {
                    let pools = self.pools_of(collector).into_iter().map(name_of).collect();
                    WaitsFor::OneOf { tasks, pools }
                }
                ComesFrom::Room(pool) => WaitsFor::Room { pool: name_of(pool) },
                ComesFrom::Places(_) | ComesFrom::Elsewhere => WaitsFor::Permits,
            },
        }
    }
}

impl Wait {
    /// As one of which pool's threads it waits.
    fn job(&self) -> Option<&Job> {
        self.jobs.iter().rfind(|job| !job.is_line)
    }

    fn pool(&self) -> Option<Arc<dyn QueueWatcher>> {
        self.job()?.pool.watcher()
    }
}

fn name_of(pool: WatcherId) -> String {
    pool.watcher().map_or_else(|| "a pool that is gone".to_owned(), |pool| pool.name())
}

// ----- relief -----

/// Does what there is to be done about a wait that could never end. False if there is nothing.
fn relieve(wait: &Wait, closed: &Closed, relief: &mut Relief) -> bool {
    let mut pools = closed.pools.iter().map(|(_, pool)| pool);
    if pools.clone().any(|pool| pool.start_another()) || help(wait) {
        return true;
    }
    let spare = pools.find(|pool| pool.start_spare());
    relief.0.extend(spare.map(|pool| Spare(Arc::clone(pool))));
    spare.is_some()
}

/// Runs the task that the thread waits for, or another one, if its pool says so and there is one.
fn help(wait: &Wait) -> bool {
    let Some(own) = wait.pool() else { return false };
    let (depth, others) = match own.on_starvation() {
        OnStarvation::Help { depth } => (depth, false),
        OnStarvation::HelpOthers { depth } => (depth, true),
        _ => return false,
    };
    let Some(_on_top) = OnTop::begin(depth) else { return false };
    let awaited = match &wait.what {
        Awaited::Task(task, _) => task.queue().and_then(WatcherId::watcher).zip(Some(task.id())),
        Awaited::Other(_) => None,
    };
    let awaited = awaited.filter(|(pool, _)| pool.lends_tasks());
    let awaited = awaited.and_then(|(pool, id)| pool.take_out(id).map(|task| (pool, task)));
    let next = || if others { Some((Arc::clone(&own), own.take_next()?)) } else { None };
    let Some((pool, task)) = awaited.or_else(next) else { return false };
    pool.help(task);
    true
}

/// The thread runs a task on top of one that waits, until this is dropped.
struct OnTop;

impl OnTop {
    fn begin(most: usize) -> Option<Self> {
        HELPING.with(|helping| {
            let is_allowed = helping.get() < most;
            is_allowed.then(|| {
                helping.set(helping.get() + 1);
                Self
            })
        })
    }
}

impl Drop for OnTop {
    fn drop(&mut self) {
        HELPING.with(|helping| helping.set(helping.get() - 1));
    }
}

fn starved(wait: &Wait, found: Found) -> Verdict {
    let pool = wait.pool();
    if let Some(pool) = &pool {
        pool.has_starved();
    }
    let handler = pool.and_then(|pool| pool.panic_handler());
    let starvation = Starvation::new(found.chain, found.closes_at, found.others, handler);
    events::starved(&starvation);
    Verdict::Starved(starvation)
}

/// What is said of starvation in the log, by the thread that waited, outside all locks.
#[cfg(feature = "tracing")]
mod events {
    use crate::starvation::Starvation;

    pub(super) fn starved(starvation: &Starvation) {
        tracing::warn!(target: "executor::starvation", "{}", starvation.line());
    }
}
#[cfg(not(feature = "tracing"))]
mod events {
    use crate::starvation::Starvation;

    pub(super) fn starved(_starvation: &Starvation) {}
}
