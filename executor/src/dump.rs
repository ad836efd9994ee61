//! A dump: what all pools of the process are doing, and which thread waits for what.
//!
//! A dump is for the moment when a program hangs and its operator wants to know why. The list of queue owners
//! (`waiting/queue_owner.rs`) contains all existing pools, and the wait graph contains the waits without a
//! deadline. The dump asks the pools and the graph, and combines the answers: below each running task, the
//! dump says what the thread of the task waits for.
//!
//! # Invariants
//!
//! 1. If user code can hang under a lock, a dump waits for that lock only for a short time. If the lock stays
//!    busy, the dump says so and continues.
//! 2. If the dump may be the last owner of a value, the dump drops the value without a lock. A panic in the
//!    drop of the value is caught.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::ids::{Location, QueueId, TaskId, ThreadKey};
use crate::panics::discard;
use crate::sync::{Arc, Duration};
use crate::task::{HandleCell, TaskState};
use crate::wait_graph::{ListedWait, listed};
use crate::waiting::awaited::{Awaited, ComesFrom};
use crate::waiting::pool_dump::{PATIENCE, PoolDump, QueuedDump, RunDump};
use crate::waiting::queue_owner::all_owners;
use crate::waiting::starvation::{TaskRef, WaitsFor};

/// The shortest running time that a dump shows; shorter times do not help an operator.
const LEAST_AGE: Duration = Duration::from_millis(1);

/// A description of all pools of the process: see [`dump`]. `Display` shows the description, in several
/// lines.
///
/// ```
/// let now: executor::Dump = executor::dump();
/// assert!(now.to_string().starts_with("dump: "));
/// ```
#[derive(Debug, Clone)]
pub struct Dump(String);

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Describes what all pools of the process are doing, for an operator of a program that hangs.
///
/// The dump has a part for each living [`ThreadPoolExecutor`](crate::ThreadPoolExecutor) and each
/// [`ForkJoinPool`](crate::fork_join::ForkJoinPool), in the order in which the pools were made:
///
/// * the name of the pool, and its numbers;
/// * each running task with its thread, and what that thread waits for;
/// * the first twenty of the waiting tasks, in their order.
///
/// The last part lists the other waiting threads, such as a thread of a
/// [`ThreadPerTaskExecutor`](crate::ThreadPerTaskExecutor). The text is for people: a new version of the
/// library may change its form.
///
/// ```
/// use executor::{Latch, Semaphore, Task, ThreadPoolExecutor, dump, prelude::*};
/// use std::sync::Arc;
///
/// let pool = ThreadPoolExecutor::builder().name("orders").build()?;
/// let (began, gate) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
/// let (here, until) = (Arc::clone(&began), Arc::clone(&gate));
/// let order = Task::new(move || {
///     here.count_down();
///     until.wait().unwrap();
/// });
/// pool.execute(order.named("order 1"))?;
/// pool.execute(Task::new(|| ()).named("order 2"))?;
/// began.wait()?;
///
/// let text = dump().to_string();
/// assert!(text.contains("pool orders: running, 1 of 1 threads, 1 active, 1 queued"), "{text}");
/// assert!(text.contains("runs    order 1 (#") && text.contains(" on orders-thread-1"), "{text}");
/// assert!(text.contains("queued  order 2 (#"), "{text}");
/// # gate.count_down();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What it knows
///
/// A wait is known if a thread of an executor waits without a deadline, in a call of this crate, for a task,
/// for permits, for room, or for the end of a scope. A thread that waits for a lock of the standard library,
/// for a [`Latch`](crate::Latch) or for the system is shown as running, without a wait. The holders of
/// permits are known if all holders are threads of executors.
///
/// No clock is read when a task begins. So a dump shows how long a task has run only if an earlier dump, or
/// the [watchdog](crate::ThreadPoolBuilder::watchdog) of the pool, has seen the task run. The time shown is
/// the time since the dump or the watchdog first saw the task run.
///
/// # Blocking
/// The call of this function blocks for a short time only. A user's comparator or a user's queue can hang
/// under the lock of its pool. If the lock of a pool stays busy for a tenth of a second, the dump says so,
/// and continues with the next pool. The call takes time in proportion to the number of waiting tasks. Any
/// code may call the function, even a task or a hook. On Unix, with the feature `signals`, `dump_at_sigquit`
/// lets an operator ask for a dump from outside.
#[doc(alias = "jstack")]
#[doc(alias = "ThreadMXBean")]
#[must_use = "a dump is only shown if it is printed"]
pub fn dump() -> Dump {
    let owners = all_owners();
    let pools: Vec<_> = owners.iter().filter_map(|(id, owner)| Some((*id, owner.dumped()?))).collect();
    let waits = listed(PATIENCE);
    let mut picture = Picture::of(&pools, waits.as_deref().unwrap_or_default());
    let text = picture.draw(&pools, waits.is_some()).expect("a string can be written to");
    discard((owners, waits));
    Dump(text)
}

/// The facts about threads and pools from which a dump is drawn.
struct Picture {
    threads: BTreeMap<ThreadKey, Option<String>>,
    /// For each task that has begun, the thread that runs it.
    tasks: BTreeMap<TaskId, ThreadKey>,
    pools: BTreeMap<QueueId, String>,
    /// For each waiting thread, the description of its wait, until the dump has drawn it.
    waits: BTreeMap<ThreadKey, (Option<TaskRef>, String)>,
}

impl Picture {
    fn of(pools: &[(QueueId, PoolDump)], waits: &[ListedWait]) -> Self {
        let mut picture = Self {
            threads: waits.iter().map(|wait| (wait.key, wait.thread.clone())).collect(),
            tasks: waits.iter().flat_map(|wait| wait.tasks.iter().map(|&task| (task, wait.key))).collect(),
            pools: pools.iter().map(|(id, pool)| (*id, pool.title.clone())).collect(),
            waits: BTreeMap::new(),
        };
        for run in pools.iter().flat_map(|(_, pool)| &pool.running) {
            let Some((key, name)) = &run.thread else { continue };
            picture.threads.insert(*key, name.clone());
            picture.tasks.extend(run.task.as_ref().map(|task| (task.id, *key)));
        }
        for wait in waits {
            let what = picture.awaited(&wait.what);
            picture.waits.insert(wait.key, (wait.task.clone(), what));
        }
        picture
    }

    // ----- the lines -----

    fn draw(&mut self, pools: &[(QueueId, PoolDump)], knows_waits: bool) -> Result<String, fmt::Error> {
        let mut text = String::new();
        write!(text, "dump: pools {}, ", pools.len())?;
        if knows_waits {
            write!(text, "waiting threads {}", self.waits.len())?;
        } else {
            write!(text, "waits unknown, because the lock of the wait graph is busy")?;
        }
        for (_, pool) in pools {
            match &pool.numbers {
                Some(numbers) => write!(text, "\n{}: {numbers}", pool.title)?,
                None => write!(text, "\n{}: busy, its lock is held by another thread", pool.title)?,
            }
            self.draw_running(&mut text, &pool.running)?;
            draw_queued(&mut text, &pool.queued)?;
        }
        if !self.waits.is_empty() {
            write!(text, "\nother threads:")?;
        }
        for (key, (task, what)) in &self.waits {
            let task = task.as_ref().map_or_else(|| "a callback".to_owned(), TaskRef::to_string);
            write!(text, "\n  runs    {task} on {}\n            waits for {what}", self.thread(*key))?;
        }
        Ok(text)
    }

    /// Draws the running tasks of a pool. If one thread has several tasks on its stack, only the task on top
    /// waits.
    fn draw_running(&mut self, text: &mut String, running: &[RunDump]) -> fmt::Result {
        for (place, run) in running.iter().enumerate() {
            let task = run.task.as_ref().map_or_else(|| "a computation".to_owned(), TaskRef::to_string);
            let Some((key, _)) = run.thread else {
                write!(text, "\n  starts  {task}, on a new thread")?;
                continue;
            };
            write!(text, "\n  runs    {task} on {}", self.thread(key))?;
            if run.age >= LEAST_AGE {
                write!(text, ", for at least {:.1?}", run.age)?;
            }
            let is_on_top = !running[place + 1..].iter().any(|other| other.thread_key() == Some(key));
            if is_on_top && let Some((_, what)) = self.waits.remove(&key) {
                write!(text, "\n            waits for {what}")?;
            }
        }
        Ok(())
    }

    // ----- the words -----

    fn awaited(&self, what: &Awaited) -> String {
        let source = match what {
            Awaited::Task(task, name) => return self.awaited_task(&**task, name.as_ref()),
            Awaited::Other(source) => source,
        };
        let places = match source.comes_from() {
            ComesFrom::TasksOf { tasks, .. } => return format!("the first of {tasks} tasks"),
            ComesFrom::Room(queue) => return format!("room in the queue of {}", self.owner(queue)),
            ComesFrom::Elsewhere if source.collector().is_some() => {
                return "the first of its tasks".to_owned();
            }
            ComesFrom::Elsewhere => String::new(),
            ComesFrom::Places(places) => self.places(places),
        };
        match (source.waits_for(), places) {
            (WaitsFor::Borrowers, places) => format!("the end of what borrows from it{places}"),
            (WaitsFor::Quiescence { pool }, places) => format!("the last task of {pool}{places}"),
            (_, places) if places.is_empty() => "permits".to_owned(),
            (_, places) => format!("permits, which are held{places}"),
        }
    }

    fn awaited_task(&self, task: &dyn HandleCell, name: Option<&Arc<String>>) -> String {
        let words = TaskRef::new(task.id(), name.map(|name| name.as_str()));
        if let Some(queue) = task.queue() {
            return format!("task {words}, in the queue of {}", self.owner(queue));
        }
        match (task.state(), self.tasks.get(&task.id())) {
            (TaskState::Pending | TaskState::Running, Some(&key)) => {
                format!("task {words}, on {}", self.thread(key))
            }
            (state, _) => format!("task {words}, which is {state}"),
        }
    }

    /// Returns a text that names the given places, and that begins with a space. Returns an empty text if
    /// `places` is empty.
    fn places(&self, mut places: Vec<Location>) -> String {
        places.sort_unstable();
        places.dedup();
        let words: Vec<_> = places
            .into_iter()
            .map(|place| match place {
                Location::Elsewhere => "elsewhere".to_owned(),
                Location::In(queue) => format!("in the queue of {}", self.owner(queue)),
                Location::On(key) => format!("on {}", self.thread(key)),
            })
            .collect();
        if words.is_empty() { String::new() } else { format!(" {}", words.join(" and ")) }
    }

    fn thread(&self, key: ThreadKey) -> &str {
        let name = self.threads.get(&key).and_then(Option::as_deref);
        name.unwrap_or("a thread without a name")
    }

    /// Returns the name of a queue's owner. The dump never asks a pool for its name, because the lock of a
    /// thread pool protects that name.
    fn owner(&self, queue: QueueId) -> String {
        let known = self.pools.get(&queue.of_all_lanes()).cloned();
        let asked = || queue.owner().filter(|owner| owner.dumped().is_none()).map(|owner| owner.name());
        known.or_else(asked).unwrap_or_else(|| "a pool that is new or gone".to_owned())
    }
}

impl RunDump {
    fn thread_key(&self) -> Option<ThreadKey> {
        self.thread.as_ref().map(|(key, _)| *key)
    }
}

fn draw_queued(text: &mut String, queued: &QueuedDump) -> fmt::Result {
    for task in &queued.first {
        write!(text, "\n  queued  {task}")?;
    }
    match queued.in_all - queued.first.len() {
        0 => Ok(()),
        more => write!(text, "\n  queued  {more} more tasks"),
    }
}
