//! A table of wrappers and attributes. The table shows which attributes of a task are kept by an executor
//! over another executor.
//!
//! *Kept* means that the executor below gets the attribute exactly as the task's user has set it. If the
//! table does not say *kept*, a page of the library describes the behaviour, and the table quotes the words
//! of this page.

use std::sync::Arc;
use std::time::Duration;

use executor::panics::PanicReport;
use executor::{
    BoundedExecutor, CancelToken, CancellingExecutor, CutShort, Executor, ExecutorCompletionService,
    ExecutorService, FutureTask, Hooks, Outcome, PriorityQueue, ScheduledThreadPoolExecutor, SerialExecutor,
    Stripe, StripedExecutor, Task, TaskId, TaskInfo, TaskState, ThreadPoolExecutor, TrackingExecutor,
    prelude::*,
};

use crate::support::{LONG, Record, Signal, eventually, occupy, on_thread, within_deadline};

/// An executor, and the facts that the test can observe when a task of the executor reaches the pool below.
struct World {
    executor: Arc<dyn Executor>,
    below: Arc<dyn ExecutorService>,
    /// The pool below the executor, for the tests that need the pool.
    pool: Option<Arc<ThreadPoolExecutor>>,
    hooks: Told,
    panics: Record<String>,
}

/// A record of the data that the hooks receive: the id of the task, and how the task has ended.
#[derive(Clone)]
struct Told(Record<(TaskId, Option<String>, Option<&'static str>)>);

impl Hooks for Told {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.0.add((task.id, task.name.map(str::to_owned), None));
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let how = match outcome {
            Outcome::Panicked(_) => "panicked",
            _ => "completed",
        };
        self.0.add((task.id, task.name.map(str::to_owned), Some(how)));
    }
}

impl World {
    /// An executor over a pool that has one thread and a priority queue.
    fn over(wrap: fn(Arc<ThreadPoolExecutor>) -> Arc<dyn Executor>) -> Self {
        let (hooks, panics) = (Told(Record::new()), Record::new());
        let heard = panics.clone();
        let handler = move |report: &PanicReport<'_>| heard.add(report.message.to_owned());
        let builder =
            ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new()).hooks(hooks.clone());
        let pool = Arc::new(builder.panic_handler(handler).build().unwrap());
        let below = Arc::clone(&pool) as Arc<dyn ExecutorService>;
        Self { executor: wrap(Arc::clone(&pool)), below, pool: Some(pool), hooks, panics }
    }

    fn scheduled() -> Self {
        let (hooks, panics) = (Told(Record::new()), Record::new());
        let heard = panics.clone();
        let handler = move |report: &PanicReport<'_>| heard.add(report.message.to_owned());
        let builder = ScheduledThreadPoolExecutor::builder().hooks(hooks.clone()).panic_handler(handler);
        let pool = Arc::new(builder.build().unwrap());
        Self { executor: Arc::clone(&pool) as _, below: pool as _, pool: None, hooks, panics }
    }

    fn pool(&self) -> &ThreadPoolExecutor {
        self.pool.as_ref().expect("it can be seen")
    }

    fn submit<T: Send + 'static>(&self, task: FutureTask<T>) -> executor::TaskHandle<T> {
        self.executor.submit(task).unwrap()
    }
}

// ----- attributes -----

/// A check whether an attribute arrives unchanged at the pool below the executor.
type Attribute = fn(&World) -> bool;

fn priority(world: &World) -> bool {
    let log = Record::new();
    let busy = occupy(&world.below);
    for (executor, priority) in [(&world.below as &dyn Executor, 1), (&*world.executor, 5), (&world.below, 9)]
    {
        let log = log.clone();
        executor.execute(Task::new(move || log.add(priority)).prioritized(priority)).unwrap();
    }
    drop(busy);
    eventually("all have run", || log.len() == 3);
    log.so_far() == [9, 5, 1]
}

fn name_in_the_queue(world: &World) -> bool {
    let pool = world.pool();
    let _busy = occupy(&world.below);
    let _handle = world.submit(FutureTask::new(|| ()).named("name"));
    pool.snapshot().queued == ["name"]
}

fn name_of_what_runs(world: &World) -> bool {
    let pool = world.pool();
    let (begun, end) = (Signal::new(), Signal::new());
    let (is_begun, until) = (begun.clone(), end.clone());
    let task = FutureTask::new(move || {
        is_begun.set();
        until.wait();
    });
    let _handle = world.submit(task.named("name"));
    begun.wait();
    let running = pool.snapshot().running;
    end.set();
    running == ["name"]
}

fn id_and_name_in_hooks(world: &World) -> bool {
    let handle = world.submit(FutureTask::new(|| ()).named("name"));
    let (id, name) = (handle.id(), Some("name".to_owned()));
    handle.join().unwrap();
    eventually("the hooks were called", || world.hooks.0.len() == 2);
    world.hooks.0.so_far() == [(id, name.clone(), None), (id, name, Some("completed"))]
}

fn outcome_in_hooks(world: &World) -> bool {
    let handle = world.submit(FutureTask::new(|| panic!("in the task")));
    let _: executor::JoinError<()> = handle.join().unwrap_err();
    eventually("the hooks were called", || world.hooks.0.len() == 2);
    world.hooks.0.so_far()[1].2 == Some("panicked")
}

fn cancel_in_the_queue(world: &World) -> bool {
    let busy = occupy(&world.below);
    let ran = Signal::new();
    let run = ran.clone();
    let handle = world.submit(FutureTask::new(move || run.set()));
    assert!(handle.cancel());
    drop(busy);
    world.submit(FutureTask::new(|| ())).join().unwrap();
    !ran.is_set() && handle.state() == TaskState::Cancelled
}

fn cancel_leaves_the_queue(world: &World) -> bool {
    let pool = world.pool();
    let _busy = occupy(&world.below);
    let handle = world.submit(FutureTask::new(|| ()));
    assert_eq!(pool.queued(), 1);
    handle.cancel();
    pool.queued() == 0
}

fn cancel_while_it_runs(world: &World) -> bool {
    let (begun, seen) = (Signal::new(), Signal::new());
    let (is_begun, is_seen) = (begun.clone(), seen.clone());
    let handle = world.submit(FutureTask::new(move || {
        is_begun.set();
        if CancelToken::current().sleep(LONG).is_err() {
            is_seen.set();
        }
    }));
    begun.wait();
    handle.cancel();
    eventually("the task has seen it", || seen.is_set());
    true
}

fn removed_by_its_handle(world: &World) -> bool {
    let _busy = occupy(&world.below);
    let handle = world.submit(FutureTask::new(|| 42).named("name").prioritized(5));
    let Some(task) = handle.remove() else { return false };
    let is_whole = (task.id(), task.name(), task.priority()) == (handle.id(), Some("name"), 5);
    task.run();
    is_whole && handle.join().unwrap() == 42
}

fn handed_out(world: &World) -> bool {
    let busy = occupy(&world.below);
    let handle = world.submit(FutureTask::new(|| 42).named("name").prioritized(5));
    let tasks = world.below.shutdown_now();
    assert_eq!((tasks.len(), handle.state()), (1, TaskState::Pending));
    let is_whole = (tasks[0].id(), tasks[0].name(), tasks[0].priority()) == (handle.id(), Some("name"), 5);
    assert_eq!(tasks[0].priority(), 5);
    for task in tasks {
        task.run();
    }
    assert_eq!(handle.join().unwrap(), 42);
    drop(busy);
    is_whole
}

fn panic_handler(world: &World) -> bool {
    world.executor.execute(|| panic!("unheard")).unwrap();
    world.submit(FutureTask::new(|| ())).join().unwrap();
    world.below.close();
    world.panics.so_far() == ["unheard"]
}

/// A thread waits until any of several tasks has ended. The library finds the awaited tasks in every queue,
/// and sends a report to the waiting thread if no thread can run these tasks.
fn whom_it_reports_to(world: &World) -> bool {
    let executor = Arc::clone(&world.executor);
    let waits = world.below.submit(move || {
        let service = ExecutorCompletionService::new(executor);
        drop(service.submit(|| 1).unwrap());
        matches!(service.take(), Err(CutShort::Starved(_)))
    });
    waits.unwrap().join_timeout(LONG).is_ok_and(|has_starved| has_starved)
}

/// An executor must not hand out a task that a scope waits for.
fn task_of_a_scope(world: &World) -> bool {
    let busy = occupy(&world.below);
    let executor = Arc::clone(&world.executor);
    let spawned = Signal::new();
    let is_spawned = spawned.clone();
    let scope = on_thread(move || {
        executor.scope(|scope| {
            scope.spawn(|| ()).unwrap();
            is_spawned.set();
        })
    });
    spawned.wait();
    let kept = world.below.shutdown_now();
    let is_dropped = scope.result().is_err_and(|error| error.dropped == 1);
    drop((kept, busy));
    is_dropped
}

// ----- the table -----

enum Cell {
    Kept,
    /// The executor below does not get the attribute. The documentation in this file describes the behaviour
    /// in the quoted words.
    Says(&'static str, &'static str),
    /// No test can show whether the attribute is kept.
    NotSeen,
}

use Cell::{Kept, NotSeen, Says};

const ATTRIBUTES: [(&str, Attribute); 13] = [
    ("priority", priority),
    ("name in the queue", name_in_the_queue),
    ("name of what runs", name_of_what_runs),
    ("id and name in hooks", id_and_name_in_hooks),
    ("outcome in hooks", outcome_in_hooks),
    ("cancel in the queue", cancel_in_the_queue),
    ("cancel leaves the queue", cancel_leaves_the_queue),
    ("cancel while it runs", cancel_while_it_runs),
    ("removed by its handle", removed_by_its_handle),
    ("handed out", handed_out),
    ("panic handler", panic_handler),
    ("whom it reports to", whom_it_reports_to),
    ("task of a scope", task_of_a_scope),
];

/// The table's cells for an executor that runs tasks one after the other. Both executors of this kind have a
/// documentation page, and both pages must contain these words.
const LINE: [Cell; 13] = {
    const HOOKS: &str = "The drain task has an id of its own, and no name";
    const OUTCOME: &str = "its outcome is not the outcome of any of them";
    const COUNT: &str = "The pool counts the drain task as one";
    const HANDED_OUT: &str = "hands the drain task out,";
    const PANICS: &str = "a panic goes to the [panic handler of the process]";
    [
        Kept,
        Kept,
        Kept,
        Says("composed/striped/mod.rs", HOOKS),
        Says("composed/striped/mod.rs", OUTCOME),
        Kept,
        Says("composed/striped/mod.rs", COUNT),
        Kept,
        Kept,
        Says("composed/striped/mod.rs", HANDED_OUT),
        Says("composed/striped/mod.rs", PANICS),
        Kept,
        Kept,
    ]
};

const AS_IT_IS: [Cell; 13] = [const { Kept }; 13];

const SCHEDULED: [Cell; 13] = {
    let mut row = AS_IT_IS;
    row[0] = Says("scheduled/mod.rs", "The [priority](Task::priority) of a task has no effect");
    (row[1], row[2], row[6]) = (NotSeen, NotSeen, NotSeen);
    row
};

type Make = fn() -> World;

/// A stripe that owns its executor through an `Arc`, so that a task can own the stripe.
fn stripe(below: impl Executor + 'static) -> Arc<dyn Executor> {
    Arc::new(Stripe::of(Arc::new(StripedExecutor::over(below)), "key"))
}

const WRAPPERS: [(&str, Make, &[Cell; 13]); 16] = [
    ("the pool itself", || World::over(|pool| pool), &AS_IT_IS),
    ("Box", || World::over(|pool| Arc::new(Box::new(pool) as Box<dyn Executor>)), &AS_IT_IS),
    ("cancelling", || World::over(|pool| Arc::new(CancellingExecutor::new(pool))), &AS_IT_IS),
    ("bounded", || World::over(|pool| Arc::new(BoundedExecutor::over(pool, 9))), &AS_IT_IS),
    ("bounded, at once", || World::over(|pool| Arc::new(AtOnce(BoundedExecutor::over(pool, 9)))), &AS_IT_IS),
    ("tracking", || World::over(|pool| Arc::new(TrackingExecutor::over(pool))), &AS_IT_IS),
    ("tagged", || World::over(|pool| Arc::new(Tagging(TrackingExecutor::over(pool).with_tags()))), &AS_IT_IS),
    ("of no stripe", || World::over(|pool| Arc::new(StripedExecutor::<(), _>::over(pool))), &AS_IT_IS),
    (
        "tracking, bounded",
        || World::over(|pool| Arc::new(TrackingExecutor::over(BoundedExecutor::over(pool, 9)))),
        &AS_IT_IS,
    ),
    ("serial", || World::over(|pool| Arc::new(SerialExecutor::over(pool))), &LINE),
    ("stripe", || World::over(stripe), &LINE),
    ("stripe, tracking", || World::over(|pool| stripe(TrackingExecutor::over(pool))), &LINE),
    ("bounded, stripe", || World::over(|pool| Arc::new(BoundedExecutor::over(stripe(pool), 9))), &LINE),
    ("serial, stripe", || World::over(|pool| Arc::new(SerialExecutor::over(stripe(pool)))), &LINE),
    ("scheduled", World::scheduled, &SCHEDULED),
    (
        "scheduled, bounded",
        || {
            let world = World::scheduled();
            World { executor: Arc::new(BoundedExecutor::over(Arc::clone(&world.executor), 9)), ..world }
        },
        &SCHEDULED,
    ),
];

/// A bounded executor whose submitters do not wait for a permit.
struct AtOnce(BoundedExecutor<Arc<ThreadPoolExecutor>>);

impl Executor for AtOnce {
    fn execute_task(&self, task: Task) -> Result<(), executor::RejectedExecution> {
        self.0.without_waiting().execute_task(task)
    }
}

/// A tracking executor that adds a tag to each task.
struct Tagging(TrackingExecutor<Arc<ThreadPoolExecutor>, u32>);

impl Executor for Tagging {
    fn execute_task(&self, task: Task) -> Result<(), executor::RejectedExecution> {
        self.0.tagged(7).execute_task(task)
    }
}

/// Returns the documentation of one of the library's files, as one line.
fn page(file: &str) -> String {
    let path = format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let docs = text.lines().filter_map(|line| line.trim_start().strip_prefix("///"));
    docs.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_wrapper_leaves_a_task_as_it_is_or_says_what_it_does_not() {
    let mut wrong = Vec::new();
    for (wrapper, make, row) in WRAPPERS {
        for ((attribute, is_kept), cell) in ATTRIBUTES.into_iter().zip(row) {
            let expected = match cell {
                Kept => true,
                Says(..) => false,
                NotSeen => continue,
            };
            let (tell, told) = std::sync::mpsc::channel();
            within_deadline(move || tell.send(is_kept(&make())).unwrap());
            if told.recv().unwrap() != expected {
                wrong.push(format!("{wrapper}: {attribute}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_wrapper_does_not_keep_stands_on_its_page() {
    for cell in LINE.iter().chain(&SCHEDULED) {
        let Says(file, words) = cell else { continue };
        assert!(page(file).contains(words), "{file}: {words}");
        let of_lines = file.starts_with("composed/striped") && !words.starts_with("a panic");
        assert!(!of_lines || page("composed/serial.rs").contains(words), "serial.rs: {words}");
    }
    assert!(page("composed/serial.rs").contains("its panic goes to the [panic handler of the process]"));
}

/// A task keeps its time limit, no matter which executors the task goes through.
#[test]
fn a_time_limit_is_kept() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let busy = occupy(&pool);
        let ran = Signal::new();
        let run = ran.clone();
        let limited = pool.submit_with_timeout(Duration::from_millis(1), move || run.set()).unwrap();
        eventually("the limit is over while it waits", || limited.is_finished());
        drop(busy);
        pool.close();
        assert!(limited.state() == TaskState::Cancelled && !ran.is_set());
    });
}

/// The caller of `shutdown_now` gets the drain task of a serial executor, and may never run this drain task.
/// The serial executor does not lose its later tasks, but a scope cannot wait for these tasks.
#[test]
fn a_scope_does_not_wait_behind_a_line_that_somebody_keeps() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let busy = occupy(&pool);
        let line = Arc::new(SerialExecutor::over(Arc::clone(&pool)));
        let first = line.submit(|| 1).unwrap();
        let kept = pool.shutdown_now();
        let second = line.submit(|| 2).unwrap();
        let own = Arc::clone(&line);
        let scope = on_thread(move || own.scope(|scope| scope.spawn(|| ()).unwrap()));
        assert!(scope.result().is_err_and(|error| error.dropped == 1));
        for task in kept {
            task.run();
        }
        assert_eq!((first.join().unwrap(), second.join().unwrap()), (1, 2));
        drop(busy);
    });
}
