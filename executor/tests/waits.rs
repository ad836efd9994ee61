//! Checks each kind of wait in which a thread relies on other threads: the wait ends, the wait starves, or
//! the documentation says that the wait does not end.
//!
//! The table in this test is the same as the table in the documentation. The test tries each cell of the
//! table in each of the [`places`]. The test uses one thread, and then two threads that are both in the same
//! wait. The test runs both on all processors and on one processor. The result must not depend on the place:
//! a thread that runs a hook, a callback or a destructor counts as a worker. So the table needs three columns
//! instead of thirty.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;

#[cfg(feature = "channel")]
use executor::channel::{ReceiverExt, SenderExt, bounded};
use executor::fork_join::{ForkJoinPool, join};
use executor::{
    Block, BoundedExecutor, CancelToken, CutShort, DropPolicy, ExecutorCompletionService, ExecutorService,
    FifoQueue, Hooks, InvokeFailure, JoinError, Latch, Outcome, Promise, RejectReason,
    ScheduledThreadPoolExecutor, Semaphore, SerialExecutor, Series, SharedJoinError, StripedExecutor,
    TaskHandle, TaskInfo, ThreadPoolExecutor, TrackingExecutor, prelude::*,
};

/// A time that is long enough for every wait that ends by itself.
const LONG: Duration = Duration::from_secs(10);

/// The number of tasks that may wait in the queue of a thread pool.
const ROOM: usize = 8;

/// The time for which the test watches a wait that does not end.
const WHILE: Duration = Duration::from_millis(3);

/// The ways in which a wait can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The awaited event has come.
    Came,
    /// The wait failed with `Starved`, so the thread got a report.
    Told,
    /// The test cancelled the wait, because the wait had not ended before.
    Cancelled,
}

use End::{Came, Cancelled, Told};

/// The code that a thread of the pool runs: the thread waits, and then reports how the wait ended.
type Body = Box<dyn FnOnce() + Send>;

// ----- what a thread waits for -----

trait Pool: ExecutorService + Sized + 'static {
    /// Submits a task that is cancelled after a moment.
    fn submit_limited(&self) -> Option<TaskHandle<()>> {
        None
    }

    fn await_quiescence(&self) -> Option<bool> {
        None
    }

    /// Fills the queue, and then submits one more task, which must wait for room.
    fn wait_for_room(&self) -> Option<End> {
        None
    }

    /// Returns a series that never runs.
    fn series(&self) -> Option<Series> {
        None
    }
}

impl Pool for ThreadPoolExecutor {
    fn wait_for_room(&self) -> Option<End> {
        let refusal = (0..=ROOM).find_map(|_| self.execute(|| ()).err());
        Some(refusal.map_or(Came, |error| refused(error.reason)))
    }
}

impl Pool for ForkJoinPool {
    fn await_quiescence(&self) -> Option<bool> {
        self.execute(|| ()).unwrap();
        Some(ForkJoinPool::await_quiescence(self, Duration::MAX))
    }
}

/// Implements the trait for the common pool.
impl Pool for &'static ForkJoinPool {
    fn await_quiescence(&self) -> Option<bool> {
        Pool::await_quiescence(*self)
    }
}

impl Pool for ScheduledThreadPoolExecutor {
    fn submit_limited(&self) -> Option<TaskHandle<()>> {
        Some(self.submit_with_timeout(WHILE, || ()).unwrap())
    }

    fn series(&self) -> Option<Series> {
        Some(self.schedule_at_fixed_rate(Duration::MAX, Duration::MAX, |_| ()).unwrap())
    }
}

fn joined<T: Send + 'static>(handle: TaskHandle<T>) -> End {
    match handle.join() {
        Ok(_) | Err(JoinError::Cancelled(_)) => Came, // or its time limit has ended it
        Err(JoinError::Starved(_, starvation)) => told(&starvation),
        Err(JoinError::Interrupted(_)) => Cancelled,
        Err(other) => panic!("{other}"),
    }
}

fn told(starvation: &executor::Starvation) -> End {
    assert!(!starvation.to_string().is_empty()); // reading the report keeps it from the panic handler
    Told
}

fn cut_short(why: CutShort) -> End {
    match why {
        CutShort::Starved(starvation) => told(&starvation),
        _ => Cancelled,
    }
}

fn refused(why: RejectReason) -> End {
    match why {
        RejectReason::Starved(starvation) => told(&starvation),
        RejectReason::Interrupted => Cancelled,
        other => panic!("{other}"),
    }
}

/// A wait of the table; a thread of the pool calls it. Returns `None` if the pool does not have this call.
type Wait<P> = fn(&Arc<P>) -> Option<End>;

/// Returns the waits of the table; each wait has the name that it has in the table.
fn waits<P: Pool>() -> Vec<(&'static str, Wait<P>)> {
    [for_tasks(), for_other_things()].concat()
}

fn for_tasks<P: Pool>() -> Vec<(&'static str, Wait<P>)> {
    vec![
        ("a task that was not begun, of the own pool", |own| Some(joined(own.submit(|| 1).unwrap()))),
        ("such a task, by a shared handle", |own| {
            Some(match own.submit(|| 1).unwrap().shared().join() {
                Ok(_) => Came,
                Err(SharedJoinError::Starved(starvation)) => told(&starvation),
                Err(_) => Cancelled,
            })
        }),
        ("such tasks, all of them (`invoke_all`)", |own| {
            Some(match own.invoke_all([|| 1, || 2]).map_err(|error| error.reason) {
                Ok(_) => Came,
                Err(InvokeFailure::Starved(starvation)) => told(&starvation),
                Err(_) => Cancelled,
            })
        }),
        ("such tasks, one of them (`invoke_any`)", |own| {
            Some(match own.invoke_any([|| Ok::<_, ()>(1), || Ok(2)]).map_err(|error| error.reason) {
                Ok(_) => Came,
                Err(InvokeFailure::Starved(starvation)) => told(&starvation),
                Err(_) => Cancelled,
            })
        }),
        ("such tasks, the next of them (`ExecutorCompletionService::take`)", |own| {
            let service = ExecutorCompletionService::new(Arc::clone(own));
            let _ = service.submit(|| 1).unwrap();
            Some(service.take().map_or_else(cut_short, |_| Came))
        }),
        ("such a task, through a bound or a tracking executor", |own| {
            let around = TrackingExecutor::over(BoundedExecutor::over(Arc::clone(own), 8));
            Some(joined(around.submit(|| 1).unwrap()))
        }),
        ("such a task, through a serial executor", |own| {
            Some(joined(SerialExecutor::over(Arc::clone(own)).submit(|| 1).unwrap()))
        }),
        ("such a task, in a stripe", |own| {
            Some(joined(StripedExecutor::over(Arc::clone(own)).submit_in(1, || 1).unwrap()))
        }),
        ("such a task, through an executor with a bound, over a serial executor", |own| {
            let around = BoundedExecutor::over(SerialExecutor::over(Arc::clone(own)), 8);
            Some(joined(around.submit(|| 1).unwrap()))
        }),
    ]
}

fn for_other_things<P: Pool>() -> Vec<(&'static str, Wait<P>)> {
    vec![
        ("room at a bound, which such a task has", |own| {
            let bounded = BoundedExecutor::over(Arc::clone(own), 1);
            bounded.execute(|| ()).unwrap();
            Some(bounded.execute(|| ()).map_or_else(|error| refused(error.reason), |()| Came))
        }),
        ("room in the queue of the own pool (`Block`)", |own| own.wait_for_room()),
        ("a permit that the thread has itself", |_| {
            let semaphore = Semaphore::new(1);
            let _has = semaphore.acquire().unwrap();
            Some(semaphore.acquire().map_or_else(cut_short, |_| Came))
        }),
        ("the tasks of a scope", |own| {
            let ended = own.scope(|scope| {
                scope.spawn(|| ()).unwrap();
                scope.spawn(|| ()).unwrap();
            });
            Some(ended.map_or(Cancelled, |()| Came))
        }),
        ("both halves of a join", |_| {
            let ((), ()) = join(|| (), || ());
            Some(Came)
        }),
        ("quiescence of the own pool", |own| {
            own.await_quiescence().map(|is_quiet| if is_quiet { Came } else { Told })
        }),
        ("a permit without a known holder", |_| {
            Some(Semaphore::new(0).acquire().map_or_else(cut_short, |_| Came))
        }),
        ("a promise that a task in the queue would keep", |own| {
            let (promise, handle) = Promise::new();
            own.execute(move || _ = promise.complete(1)).unwrap();
            Some(joined(handle))
        }),
        ("a latch that a task in the queue would open", |own| {
            let latch = Arc::new(Latch::new(1));
            let of_the_task = Arc::clone(&latch);
            own.execute(move || of_the_task.count_down()).unwrap();
            Some(latch.wait().map_or(Cancelled, |()| Came))
        }),
        ("the end of the own pool (`await_termination`)", |own| {
            own.shutdown();
            Some(if own.await_termination(Duration::MAX) { Came } else { Cancelled })
        }),
        ("a pause (`CancelToken::sleep`)", |_| {
            Some(CancelToken::new().sleep(Duration::MAX).map_or(Cancelled, |()| Came))
        }),
        ("a task that a time limit ends (`submit_with_timeout`)", |own| own.submit_limited().map(joined)),
        #[cfg(feature = "channel")]
        ("an item that such a task would put into a channel (`take`)", |own| {
            let (sender, receiver) = bounded(1);
            own.execute(move || _ = sender.put(1)).unwrap();
            Some(receiver.take().map_or(Cancelled, |_| Came))
        }),
        #[cfg(feature = "channel")]
        ("room in a channel, which such a task would make (`put`)", |own| {
            let (sender, receiver) = bounded(0);
            own.execute(move || _ = receiver.take()).unwrap();
            Some(sender.put(1).map_or(Cancelled, |()| Came))
        }),
        ("the end of a series (`Series::join`)", |own| {
            own.series().map(|series| series.join().map_or_else(cut_short, |_| Came))
        }),
        ("the end of a serial executor, which has such a task (`close`)", |own| {
            let serial = SerialExecutor::over(Arc::clone(own));
            let task = serial.submit(|| ()).unwrap();
            serial.close();
            // If `close` is cancelled, `close` drops the tasks that have not begun.
            Some(task.join().map_or(Cancelled, |()| Came))
        }),
    ]
}

// ----- where -----

struct OnDrop(Option<Body>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(body) = self.0.take() {
            body();
        }
    }
}

/// Makes a thread of the pool run the given body in a certain situation.
type Place<P> = fn(&Arc<P>, Body);

fn places<P: Pool>() -> Vec<(&'static str, Place<P>)> {
    vec![
        ("a task", |pool, body| pool.execute(body).unwrap()),
        ("the head of a line", |pool, body| {
            SerialExecutor::over(Arc::clone(pool)).execute(body).unwrap();
        }),
        ("the head of a stripe", |pool, body| {
            StripedExecutor::over(Arc::clone(pool)).execute_in(1, body).unwrap();
        }),
        ("a task with a permit", |pool, body| {
            BoundedExecutor::over(Arc::clone(pool), 1).execute(body).unwrap();
        }),
        ("a callback of a handle", |pool, body| {
            pool.execute(move || {
                let (promise, handle) = Promise::new();
                handle.on_done(|_| body());
                let _ = promise.complete(());
            })
            .unwrap();
        }),
        ("a callback of a token", |pool, body| {
            pool.execute(move || {
                let token = CancelToken::new();
                token.on_cancel(body).keep();
                token.cancel();
            })
            .unwrap();
        }),
        ("a destructor", |pool, body| {
            let value = OnDrop(Some(body));
            pool.execute(move || drop(value)).unwrap();
        }),
        ("a destructor of an abandoned result", |pool, body| {
            let value = OnDrop(Some(body));
            let (go, gone) = channel::<()>();
            let task = move || {
                let _ = gone.recv(); // until the handle is gone, or its thread would drop the result
                value
            };
            drop(pool.submit(task).unwrap());
            drop(go);
        }),
        ("the owner of a scope", |pool, body| {
            let own = Arc::clone(pool);
            pool.execute(move || own.scope(|_| body()).unwrap()).unwrap();
        }),
    ]
}

/// Hooks that run one of the given bodies for each task with the name "hooked".
struct InAHook {
    bodies: Mutex<Vec<Body>>,
    before: bool,
}

impl InAHook {
    fn run(&self, is_it: bool, task: &TaskInfo<'_>) {
        if is_it && task.name == Some("hooked") {
            let next = self.bodies.lock().unwrap().pop();
            if let Some(body) = next {
                body();
            }
        }
    }
}

impl Hooks for InAHook {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.run(self.before, task);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, _outcome: &Outcome) {
        self.run(!self.before, task);
    }
}

// ----- the table -----

fn table() -> BTreeMap<&'static str, [&'static str; 3]> {
    let lines =
        include_str!("../src/waiting/waits.md").lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows = lines.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0], [cells[1], cells[2], cells[3]])
    });
    rows.filter(|(what, _)| cfg!(feature = "channel") || !what.contains("channel")).collect()
}

/// A gate that opens once, for all threads at the same time.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let (is_open, _) =
            self.0.1.wait_timeout_while(self.0.0.lock().unwrap(), LONG, |open| !*open).unwrap();
        assert!(*is_open, "the gate was not opened");
    }
}

/// The reports of the pool's threads; all these threads wait for the same kind of event at the same time. If
/// a thread gets a report that it starves, this thread stays busy until the test has received all reports.
struct Waiters {
    ends: Receiver<End>,
    told: Gate,
    token: CancelToken,
    threads: usize,
}

impl Waiters {
    /// Returns the waiters, and a body for each thread.
    fn new<P: Pool>(pool: &Arc<P>, threads: usize, wait: Wait<P>) -> (Self, Vec<Body>) {
        let (tell, ends) = channel();
        let (told, token, together) = (Gate::default(), CancelToken::new(), Arc::new(Barrier::new(threads)));
        let body = |_| {
            let (pool, tell, together) = (Arc::clone(pool), tell.clone(), Arc::clone(&together));
            let (told, token) = (told.clone(), token.clone());
            let body = move || {
                together.wait();
                let end = token.attach(|| wait(&pool).expect("the table has no such cell"));
                drop(pool);
                let _ = tell.send(end);
                told.wait();
            };
            Box::new(body) as Body
        };
        let bodies = (0..threads).map(body).collect();
        (Self { ends, told, token, threads }, bodies)
    }

    /// Returns the verdict: `helped` if the event of each thread has happened; `told` if one thread got a
    /// report; `waits` if all threads waited until the test cancelled them.
    fn verdict(self, expected: &str) -> Result<&'static str, String> {
        let mut ends = Vec::new();
        match expected {
            "waits" => {
                ends.extend(self.ends.recv_timeout(WHILE));
                self.token.cancel();
            }
            "told" => {
                ends.push(self.ends.recv_timeout(LONG).map_err(|_| "no end of it".to_owned())?);
                self.told.open(); // the thread with the report is free now, and runs the tasks that the others wait for
            }
            _ => self.told.open(),
        }
        while ends.len() < self.threads {
            match self.ends.recv_timeout(LONG) {
                Ok(end) => ends.push(end),
                Err(_) => return Err(format!("only {ends:?}")),
            }
        }
        self.told.open();
        let is = |wanted: End| ends.iter().all(|&end| end == wanted);
        match () {
            () if is(Came) => Ok("helped"),
            () if is(Cancelled) => Ok("waits"),
            () if ends.contains(&Told) && !ends.contains(&Cancelled) => Ok("told"),
            () => Err(format!("{ends:?}")),
        }
    }
}

/// Tests one column of the table.
fn try_all<P: Pool>(column: usize, sizes: &[usize], pool_of: fn(usize) -> P, faults: &mut Vec<String>) {
    let table = table();
    for (what, wait) in waits::<P>() {
        let expected = table[what][column];
        if expected == "–" {
            continue; // the pool has no such call
        }
        for (place, put) in places::<P>() {
            for &threads in sizes {
                let pool = Arc::new(pool_of(threads));
                let (waiters, bodies) = Waiters::new(&pool, threads, wait);
                for body in bodies {
                    put(&pool, body);
                }
                let found = waiters.verdict(expected);
                if found != Ok(expected) {
                    faults.push(format!(
                        "{what}, in {place}, {threads} threads: {expected} expected, {found:?}"
                    ));
                    std::mem::forget(pool);
                    if faults.len() == 3 {
                        return; // each fault takes as long as such a wait may last
                    }
                }
            }
        }
    }
}

fn thread_pool(threads: usize) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().threads(threads).queue(FifoQueue::bounded(ROOM));
    builder.rejection_handler(Block::new()).on_drop(DropPolicy::Detach).build().unwrap()
}

fn fork_join_pool(threads: usize) -> ForkJoinPool {
    ForkJoinPool::new(threads).unwrap()
}

fn try_everything() -> Vec<String> {
    let mut faults = Vec::new();
    try_all(0, &[1, 2], thread_pool, &mut faults);
    try_all(1, &[1, 2], fork_join_pool, &mut faults);
    try_all(2, &[1, 2], ScheduledThreadPoolExecutor::new, &mut faults);
    faults
}

#[test]
fn every_wait_ends_as_the_table_says() {
    let faults = try_everything();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// If a thread starts other threads, each new thread runs on the processors that the first thread may use.
#[cfg(target_os = "linux")]
#[test]
fn every_wait_ends_as_the_table_says_on_one_processor() {
    let on_one = || {
        let mut one = rustix::thread::CpuSet::new();
        let all = rustix::thread::sched_getaffinity(None).unwrap();
        one.set((0..rustix::thread::CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).unwrap());
        rustix::thread::sched_setaffinity(None, &one).unwrap();
        try_everything()
    };
    let faults = std::thread::spawn(on_one).join().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Each number of workers needs a separate process, because a process makes the common pool only once.
#[test]
fn a_worker_of_the_common_pool_waits_as_one_of_any_fork_join_pool() {
    const THREADS: &str = "EXECUTOR_COMMON_THREADS"; // the variable that the library reads
    if let Ok(threads) = std::env::var(THREADS) {
        let mut faults = Vec::new();
        try_all(1, &[threads.parse().unwrap()], |_| ForkJoinPool::common(), &mut faults);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        return;
    }
    for threads in ["1", "2"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "a_worker_of_the_common_pool_waits_as_one_of_any_fork_join_pool"]);
        let ended = child.env(THREADS, threads).output().unwrap();
        assert!(ended.status.success(), "{threads} threads: {}", String::from_utf8_lossy(&ended.stdout));
    }
}

#[test]
fn a_hook_waits_as_its_thread() {
    let table = table();
    for (what, wait) in waits::<ThreadPoolExecutor>() {
        let expected = table[what][0];
        for before in [true, false] {
            if expected == "–" {
                continue;
            }
            let hook = Arc::new(InAHook { bodies: Mutex::default(), before });
            let builder = ThreadPoolExecutor::builder().on_drop(DropPolicy::Detach).hooks(Arc::clone(&hook));
            let builder = builder.queue(FifoQueue::bounded(ROOM)).rejection_handler(Block::new());
            let pool = Arc::new(builder.build().unwrap());
            let (waiters, bodies) = Waiters::new(&pool, 1, wait);
            *hook.bodies.lock().unwrap() = bodies;
            pool.execute(executor::Task::new(|| ()).named("hooked")).unwrap();
            assert_eq!(waiters.verdict(expected), Ok(expected), "{what}, before: {before}");
        }
    }
}

#[test]
fn the_table_has_a_row_for_each_wait_that_is_tried() {
    let tried: Vec<_> = waits::<ThreadPoolExecutor>().into_iter().map(|(what, _)| what).collect();
    let missing: Vec<_> = table().into_keys().filter(|what| !tried.contains(what)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
