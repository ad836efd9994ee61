//! Our executor and the Rust peers. Each side submits all tasks from one thread, and ends when all tasks have
//! run and all its threads have ended.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use crossbeam_channel::{Sender, unbounded};
use dashmap::DashMap;
use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};

use crate::board::{Board, Load};

/// The elapsed time and the processor time of a measurement.
pub(crate) type Cost = (Duration, Duration);

type Shown = &'static Board;
type Job = Box<dyn FnOnce() + Send + Sync>; // `Sync` for the map

/// Runs a side with a new board. The board is never freed, so the tasks need not count references to it; this
/// costs some megabytes for each measurement.
pub(crate) fn measured(load: &Load, side: impl FnOnce(&Load, Shown) -> Cost) -> Cost {
    let board: Shown = Box::leak(Box::new(Board::new(load)));
    let cost = side(load, board);
    board.check();
    cost
}

fn timed(work: impl FnOnce()) -> Cost {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    work();
    (wall.elapsed(), cpu.elapsed())
}

fn started(load: &Load) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().threads(load.workers).prestart();
    builder.build().expect("no setting contradicts")
}

pub(crate) fn ours(load: &Load, board: Shown) -> Cost {
    let striped = StripedExecutor::owning(started(load));
    timed(|| {
        for (task, key) in board.tasks() {
            striped.execute_in(key, move || board.run(task)).expect("it is not shut down");
        }
        striped.close();
    })
}

/// Our pool, which keeps no order; the difference between the stripes and this pool is the cost of the order.
pub(crate) fn our_pool(load: &Load, board: Shown) -> Cost {
    let pool = started(load);
    timed(|| {
        for (task, _) in board.tasks() {
            pool.execute(move || board.run_unordered(task)).expect("it is not shut down");
        }
        pool.close();
    })
}

/// Threads that receive jobs and call them.
struct Pool {
    jobs: Sender<Job>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(threads: usize) -> Self {
        let (jobs, received) = unbounded::<Job>();
        let work = || {
            let received = received.clone();
            thread::spawn(move || received.iter().for_each(|job| job()))
        };
        Self { jobs, threads: (0..threads).map(|_| work()).collect() }
    }

    fn end(self) {
        drop(self.jobs);
        self.threads.into_iter().for_each(|thread| thread.join().expect("no job panics"));
    }
}

/// Measures the fastest possible run: the tasks have no order at all.
pub(crate) fn unordered(load: &Load, board: Shown) -> Cost {
    let pool = Pool::new(load.workers);
    timed(|| {
        for (task, _) in board.tasks() {
            pool.jobs.send(Box::new(move || board.run_unordered(task))).expect("it is received");
        }
        pool.end();
    })
}

/// There is one thread for each lane. The hash of a key selects the lane, so the tasks of a key stay in order
/// without stripes. A long task delays all keys of its lane.
pub(crate) fn fixed_lanes(load: &Load, board: Shown) -> Cost {
    let lanes: Vec<_> = (0..load.workers).map(|_| Pool::new(1)).collect();
    timed(|| {
        for (task, key) in board.tasks() {
            let lane = key.wrapping_mul(0x9E37_79B9) >> 16;
            let lane = &lanes[lane as usize % lanes.len()];
            lane.jobs.send(Box::new(move || board.run(task))).expect("it is received");
        }
        lanes.into_iter().for_each(Pool::end);
    })
}

/// Measures the straightforward program: a concurrent map of queues, over a pool. When the queue of a key is
/// empty, the entry of the key is removed.
pub(crate) fn map_of_queues(load: &Load, board: Shown) -> Cost {
    let queues: Arc<DashMap<u32, VecDeque<Job>>> = Arc::default();
    let pool = Pool::new(load.workers);
    timed(|| {
        for (task, key) in board.tasks() {
            let mut is_new = false;
            let mut queue = queues.entry(key).or_insert_with(|| {
                is_new = true;
                VecDeque::new()
            });
            queue.push_back(Box::new(move || board.run(task)));
            drop(queue);
            if is_new {
                let queues = Arc::clone(&queues);
                pool.jobs.send(Box::new(move || drain(&queues, key))).expect("it is received");
            }
        }
        pool.end();
    })
}

fn drain(queues: &DashMap<u32, VecDeque<Job>>, key: u32) {
    loop {
        let next = queues.get_mut(&key).and_then(|mut queue| queue.pop_front());
        match next {
            Some(job) => job(),
            None if queues.remove_if(&key, |_, queue| queue.is_empty()).is_some() => return,
            None => {}
        }
    }
}
