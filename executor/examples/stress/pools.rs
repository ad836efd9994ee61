//! A pool whose settings change while threads submit, cancel, remove and await tasks.

use executor::prelude::*;
use executor::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, FifoQueue, FutureTask, HandOffQueue, JoinError,
    LifoQueue, PriorityQueue, Task, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor,
};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crate::Random;
use crate::books::{Books, Entry};

const SUBMITTERS: u64 = 4;
const STEPS: u64 = 400;

/// Makes a pool, uses the pool until its end, and returns the number of its tasks.
pub(crate) fn one_life(seed: u64) -> u64 {
    let mut random = Random::of(seed);
    let books = Arc::new(Books::default());
    let pool = Arc::new(some_pool(&mut random));
    let abrupt = random.below(2) == 0;
    let end_early = random.below(3) == 0;

    let submitters: Vec<_> = (0..SUBMITTERS)
        .map(|n| {
            let (pool, books) = (Arc::clone(&pool), Arc::clone(&books));
            let random = Random::of(seed.wrapping_mul(31).wrapping_add(n));
            std::thread::spawn(move || submit_things(&pool, &books, random))
        })
        .collect();
    if end_early {
        end(&pool, abrupt);
    }
    for submitter in submitters {
        submitter.join().expect("a submitter found a mistake");
    }
    end(&pool, abrupt);

    assert!(pool.await_termination(Duration::from_secs(60)), "the pool does not end: {pool:?}");
    let (made, stats) = (books.close(seed), pool.stats());
    assert_eq!((stats.queued, stats.active, stats.threads), (0, 0, 0), "seed {seed}: {stats}");
    let by_pool = books.ran_by_pool.load(SeqCst);
    // If a thread has taken a task out of the queue, and the task is cancelled before it starts, the task
    // counts as taken, but never runs.
    assert!(stats.completed >= by_pool, "seed {seed}: ran {by_pool}, {stats}");
    made
}

fn end(pool: &ThreadPoolExecutor, abrupt: bool) {
    if abrupt {
        drop(pool.shutdown_now());
    } else {
        pool.shutdown();
    }
}

fn some_pool(random: &mut Random) -> ThreadPoolExecutor {
    let core = random.small(4);
    let builder = ThreadPoolExecutor::builder()
        .name("stress")
        .core_threads(core)
        .maximum_threads(core + 1 + random.small(3));
    let builder = builder.keep_alive(Duration::from_micros(random.below(2_000)));
    let builder = with_queue(builder, random);
    let builder = match random.below(6) {
        0 => builder.rejection_handler(CallerRuns),
        1 => builder.rejection_handler(Discard),
        2 => builder.rejection_handler(DiscardOldest),
        3 => builder.rejection_handler(Block::new()),
        4 => builder.rejection_handler(Block::for_at_most(Duration::from_millis(1))),
        _ => builder.rejection_handler(Abort),
    };
    builder.build().expect("the settings fit together")
}

fn with_queue(builder: ThreadPoolBuilder, random: &mut Random) -> ThreadPoolBuilder {
    let capacity = 1 + random.small(20);
    match random.below(6) {
        0 => builder.queue(FifoQueue::bounded(capacity)),
        1 => builder.queue(LifoQueue::bounded(capacity)),
        2 => builder.queue(PriorityQueue::new().bounded(capacity)),
        3 => builder.queue(PriorityQueue::by(|a, b| a.priority().cmp(&b.priority())).bounded(capacity)),
        4 => builder.queue(FifoQueue::unbounded()).threads_first(),
        _ => builder.queue(HandOffQueue::new()),
    }
}

fn submit_things(pool: &ThreadPoolExecutor, books: &Arc<Books>, mut random: Random) {
    let mut handles: Vec<TaskHandle<u64>> = Vec::new();
    for _ in 0..STEPS {
        let what = random.below(1 << 40);
        let priority = i32::try_from(what % 7).expect("below 7");
        let entry = Entry::new(books);
        match random.below(12) {
            0..5 => {
                let task = Task::new(move || _ = entry.run(what)).prioritized(priority);
                drop(pool.execute(task));
            }
            _ => match pool.submit(FutureTask::new(move || entry.run(what)).prioritized(priority)) {
                Ok(handle) => handles.push(handle),
                Err(refused) => assert!(!refused.handle.is_finished(), "a refused task was not run"),
            },
        }
        match random.below(40) {
            0 => drop(pool.set_core_threads(random.small(5))),
            1 => drop(pool.set_maximum_threads(1 + random.small(6))),
            2 => drop(pool.set_keep_alive(Duration::from_micros(random.below(1_000)))),
            3 => pool.purge(),
            4 => drop(pool.snapshot().to_string()),
            5 => drop(pool.prestart_core_thread()),
            6..16 => {
                if let Some(handle) = handles.pop() {
                    handle.cancel();
                }
            }
            16..20 => {
                let removed = handles.pop().and_then(|handle| Some((pool.remove(handle.id())?, handle)));
                if let Some((task, handle)) = removed {
                    task.run();
                    assert!(handle.is_finished());
                }
            }
            20..26 => check(handles.pop()),
            _ => {}
        }
    }
    // The remaining tasks are joined only after the pool has ended, so the end of the pool must release each
    // thread that waits for such a task.
    for handle in handles {
        check(Some(handle));
    }
}

fn check(handle: Option<TaskHandle<u64>>) {
    let Some(handle) = handle else { return };
    match handle.join() {
        Ok(what) => assert!(what % 16 != 0, "this one panics"),
        Err(JoinError::Panicked(panic)) => assert_eq!(panic.message(), "on purpose"),
        Err(JoinError::Cancelled(_)) => {}
        Err(other) => panic!("the submitters are not cancelled: {other:?}"),
    }
}
