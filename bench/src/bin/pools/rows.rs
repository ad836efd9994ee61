//! The rows: what is measured, on either side.
//!
//! A task captures eight bytes, so that a pool which boxes its tasks really allocates, and does nothing with them. The
//! time begins with the first submission, all threads being there already, and ends when every task has run and every
//! thread is gone.

use std::hint::black_box;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError};
use executor::{Block, CallerRuns, FifoQueue, RejectionHandler, ThreadPoolExecutor, prelude::*};

/// How many threads each pool has.
pub(crate) const WORKERS: usize = 2;

const BOUND: usize = 1024;

/// One workload. Each side is given the number of tasks and says how long they took.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) ours: fn(u64) -> Duration,
    pub(crate) theirs: fn(u64) -> Duration,
}

pub(crate) const ROWS: [Row; 4] = [
    Row {
        name: "A",
        title: "1 submitter, no bound",
        ours: |tasks| ours(tasks, 1, ThreadPoolExecutor::fixed(WORKERS)),
        theirs: |tasks| theirs(tasks, 1, crossbeam_channel::unbounded(), send),
    },
    Row {
        name: "B",
        title: "4 submitters, no bound",
        ours: |tasks| ours(tasks, 4, ThreadPoolExecutor::fixed(WORKERS)),
        theirs: |tasks| theirs(tasks, 4, crossbeam_channel::unbounded(), send),
    },
    Row {
        name: "D",
        title: "1 submitter, 1024 may wait, then it waits",
        ours: |tasks| ours(tasks, 1, bounded(Block::new())),
        theirs: |tasks| theirs(tasks, 1, crossbeam_channel::bounded(BOUND), send),
    },
    Row {
        name: "D2",
        title: "the same, then it runs the task itself",
        ours: |tasks| ours(tasks, 1, bounded(CallerRuns)),
        theirs: |tasks| theirs(tasks, 1, crossbeam_channel::bounded(BOUND), send_or_run),
    },
];

fn bounded(policy: impl RejectionHandler + 'static) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().threads(WORKERS).queue(FifoQueue::bounded(BOUND));
    builder.rejection_handler(policy).build().expect("one size and a bound")
}

fn ours(tasks: u64, submitters: usize, pool: ThreadPoolExecutor) -> Duration {
    assert_eq!(pool.prestart_all_core_threads(), WORKERS);
    let begin = Instant::now();
    from_submitters(tasks, submitters, |n| {
        pool.execute(move || _ = black_box(n)).expect("the pool accepts tasks");
    });
    pool.close();
    begin.elapsed()
}

type Job = Box<dyn FnOnce() + Send>;

fn send(jobs: &Sender<Job>, job: Job) {
    jobs.send(job).expect("the workers receive");
}

fn send_or_run(jobs: &Sender<Job>, job: Job) {
    match jobs.try_send(job) {
        Ok(()) => {}
        Err(TrySendError::Full(job)) => job(),
        Err(TrySendError::Disconnected(_)) => unreachable!("the workers receive"),
    }
}

fn theirs(
    tasks: u64,
    submitters: usize,
    (jobs, receiver): (Sender<Job>, Receiver<Job>),
    submit: fn(&Sender<Job>, Job),
) -> Duration {
    let workers: [JoinHandle<()>; WORKERS] = std::array::from_fn(|_| {
        let receiver = receiver.clone();
        thread::spawn(move || receiver.into_iter().for_each(|job| job()))
    });
    let begin = Instant::now();
    from_submitters(tasks, submitters, |n| submit(&jobs, Box::new(move || _ = black_box(n))));
    drop(jobs);
    for worker in workers {
        worker.join().expect("no task panics");
    }
    begin.elapsed()
}

/// Submits the tasks from this thread, or from as many others as there are to be.
fn from_submitters(tasks: u64, submitters: usize, submit: impl Fn(u64) + Sync) {
    if submitters == 1 {
        return (0..tasks).for_each(submit);
    }
    thread::scope(|scope| {
        for submitter in 0..submitters {
            let submit = &submit;
            scope.spawn(move || (0..tasks).skip(submitter).step_by(submitters).for_each(submit));
        }
    });
}
