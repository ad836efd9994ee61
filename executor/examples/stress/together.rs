//! Uses all kinds of executors at the same time. The tasks of the executors fork, spawn, plan, submit to each
//! other, wait for each other, and are cancelled.

use executor::fork_join::{ForkJoinPool, fork, join};
use executor::prelude::*;
use executor::{
    BoundedExecutor, CancelToken, ExecutorService, FutureTask, JoinError, PriorityQueue,
    ScheduledThreadPoolExecutor, SerialExecutor, StripedExecutor, TaskHandle, ThreadPoolExecutor,
};
use std::sync::Arc;
use std::time::Duration;

use crate::Random;
use crate::books::{Books, Entry};

const SUBMITTERS: u64 = 3;
const STEPS: u64 = 60;
/// In a chain, each task submits the next task; after the first task, a chain has at most this number of
/// tasks.
const DEPTH: u32 = 4;

/// The executors and tasks that each task can reach.
struct World {
    threads: Arc<ThreadPoolExecutor>,
    forks: Arc<ForkJoinPool>,
    scheduler: Arc<ScheduledThreadPoolExecutor>,
    stripes: StripedExecutor<u64, Arc<ThreadPoolExecutor>>,
    serial: SerialExecutor<Arc<ForkJoinPool>>,
    bounded: BoundedExecutor<Arc<ScheduledThreadPoolExecutor>>,
    books: Arc<Books>,
}

impl World {
    fn of(random: &mut Random) -> Self {
        let threads = ThreadPoolExecutor::builder().threads(1 + random.small(3)).queue(PriorityQueue::new());
        let threads = Arc::new(threads.build().expect("the settings fit together"));
        let forks = Arc::new(ForkJoinPool::new(1 + random.small(3)).expect("the settings fit together"));
        let scheduler = Arc::new(ScheduledThreadPoolExecutor::new(1 + random.small(2)));
        Self {
            stripes: StripedExecutor::over(Arc::clone(&threads)).turns_of(1 + random.small(3)),
            serial: SerialExecutor::over(Arc::clone(&forks)),
            bounded: BoundedExecutor::over(Arc::clone(&scheduler), 1 + random.small(4)),
            threads,
            forks,
            scheduler,
            books: Arc::default(),
        }
    }

    /// Shuts all executors down while the submitters still run; the choice between the two kinds of shutdown
    /// is random. The wrappers do not wait for other executors, so the wrappers are shut down first.
    fn end(&self, random: &mut Random) {
        let all: [&dyn ExecutorService; 6] =
            [&self.stripes, &self.serial, &self.bounded, &self.threads, &self.forks, &self.scheduler];
        for executor in all {
            match random.below(3) {
                0 => drop(executor.shutdown_now()),
                _ => executor.shutdown(),
            }
        }
    }

    fn is_over(&self) -> bool {
        let all: [&dyn ExecutorService; 6] =
            [&self.stripes, &self.serial, &self.bounded, &self.threads, &self.forks, &self.scheduler];
        all.into_iter().all(|executor| executor.await_termination(Duration::from_secs(60)))
    }
}

/// Makes a set of executors, uses these executors and ends them. Returns the number of the executors' tasks.
pub(crate) fn one_life(seed: u64) -> u64 {
    let mut random = Random::of(seed);
    let world = Arc::new(World::of(&mut random));
    let submitters: Vec<_> = (0..SUBMITTERS)
        .map(|n| {
            let (world, mut random) = (Arc::clone(&world), Random::of(seed.wrapping_mul(37).wrapping_add(n)));
            std::thread::spawn(move || {
                let handles: Vec<_> = (0..STEPS).filter_map(|_| submit(&world, &mut random, DEPTH)).collect();
                for handle in handles {
                    if random.below(4) == 0 {
                        handle.cancel();
                    }
                    end_of(handle);
                }
            })
        })
        .collect();
    if random.below(2) == 0 {
        world.end(&mut random);
    }
    for submitter in submitters {
        submitter.join().expect("a submitter found a mistake");
    }
    world.end(&mut random);
    assert!(world.is_over(), "seed {seed}: an executor does not end");
    let books = Arc::clone(&world.books);
    drop(world);
    books.close(seed)
}

/// Gives a task to one of the executors.
fn submit(world: &Arc<World>, random: &mut Random, depth: u32) -> Option<TaskHandle<u64>> {
    let (what, where_to) = (random.below(1 << 40), random.below(9));
    let (entry, inside) = (Entry::new(&world.books), Arc::clone(world));
    let task = FutureTask::new(move || {
        act(&inside, &mut Random::of(what), depth);
        entry.run(what)
    });
    let task = task.prioritized(i32::try_from(what % 5).expect("below 5"));
    let delay = Duration::from_micros(what % 300);
    let submitted = match where_to {
        0 => world.threads.submit(task),
        1 => world.forks.submit(task),
        2 => world.scheduler.submit(task),
        3 => world.stripes.submit_in(what % 3, task),
        4 => world.serial.submit(task),
        5 => world.bounded.submit(task),
        6 => world.scheduler.submit_with_timeout(10 * delay, task),
        7 => return world.scheduler.schedule(delay, task).ok(),
        _ => Ok(fork(|| 0)),
    };
    submitted.ok()
}

/// Makes the calling task use other tasks at random: it submits, forks, joins or waits.
fn act(world: &Arc<World>, random: &mut Random, depth: u32) {
    if depth == 0 {
        return;
    }
    let leaf = |what: u64| {
        let entry = Entry::new(&world.books);
        move || entry.run(what | 2) // a leaf does not panic
    };
    match random.below(14) {
        0 => drop(submit(world, random, depth - 1)),
        1..4 => {
            if let Some(next) = submit(world, random, depth - 1) {
                end_of(next);
            }
        }
        4 => {
            let (a, b) = (leaf(2), leaf(3));
            assert_eq!(join(a, b), (2, 3));
        }
        5 => {
            let ran =
                world.forks.scope(|scope| (0..3).filter(|n| scope.spawn(leaf_of(world, *n)).is_ok()).count());
            drop(ran);
        }
        6 => {
            let ran = world
                .threads
                .scope(|scope| (0..3).filter(|n| scope.spawn(leaf_of(world, *n)).is_ok()).count());
            drop(ran);
        }
        7 => {
            let (first, second) = (fork(leaf(2)), fork(leaf(3)));
            end_of(first);
            end_of(second);
        }
        8 => drop(world.forks.invoke_all([leaf(2), leaf(3)])),
        9 => drop(world.threads.invoke_any([leaf_of_any(world), leaf_of_any(world)])),
        10 => drop(world.forks.await_quiescence(Duration::from_micros(random.below(200)))),
        11 => drop(CancelToken::current().sleep(Duration::from_micros(random.below(100)))),
        12 => {
            let token = CancelToken::current().with_timeout(Duration::from_micros(random.below(500)));
            token.attach(|| submit(world, random, depth - 1).map_or((), end_of));
        }
        _ => {}
    }
}

fn leaf_of(world: &World, what: u64) -> impl FnOnce() + Send + 'static {
    let entry = Entry::new(&world.books);
    move || _ = entry.run(what | 2)
}

fn leaf_of_any(world: &World) -> impl FnOnce() -> Result<u64, ()> + Send + 'static {
    let entry = Entry::new(&world.books);
    move || Ok(entry.run(2))
}

/// Waits for a task. The call that waits can end in several ways.
fn end_of(handle: TaskHandle<u64>) {
    match handle.join() {
        Ok(_) | Err(JoinError::Cancelled(_)) => {}
        Err(JoinError::Panicked(panic)) => assert_eq!(panic.message(), "on purpose"),
        Err(JoinError::Starved(handle, starvation)) => {
            assert!(!starvation.chain().is_empty());
            handle.cancel();
        }
        Err(JoinError::Interrupted(handle)) => drop(handle.cancel()),
        Err(other) => panic!("{other:?}"),
    }
}
