//! Our side in each row.

use std::cell::RefCell;
use std::collections::VecDeque;

use executor::{
    Block, CallerRuns, ExecutorCompletionService, ExecutorService, FifoQueue, PoolState, RejectionHandler,
};
use executor::{ThreadPoolExecutor, prelude::*};

use crate::load::{Body, Load, Measured, Stopwatch, completions, measure, round_trips, tiny};

/// In the rows with a bound, the number of tasks that may wait.
pub(crate) const BOUND: usize = 1024;

pub(crate) fn execute(load: &Load, body: impl Body) -> Measured {
    execute_in(ThreadPoolExecutor::fixed(load.workers), load, body)
}

pub(crate) fn blocking(load: &Load) -> Measured {
    execute_in(bounded(load, Block::new()), load, tiny)
}

pub(crate) fn caller_runs(load: &Load) -> Measured {
    execute_in(bounded(load, CallerRuns), load, tiny)
}

pub(crate) fn submit_and_join(load: &Load) -> Measured {
    let pool = started(load.workers);
    round_trips(load, |n| {
        let handle = pool.submit(move || n).expect("the pool accepts tasks");
        handle.join().expect("the task returns its number")
    })
}

pub(crate) fn completion_order(load: &Load) -> Measured {
    let service = ExecutorCompletionService::new(started(load.workers));
    completions(
        load,
        |n| _ = service.submit(move || n).expect("the pool accepts tasks"),
        || {
            let handle = service.take().expect("this thread has no token").expect("more are to come");
            handle.join().expect("the task returns its number")
        },
    )
}

/// Runs the tasks of row F with handles, which are joined in the order of submission.
pub(crate) fn joined_in_turn(load: &Load) -> Measured {
    let pool = started(load.workers);
    let handles = RefCell::new(VecDeque::new());
    completions(
        load,
        |n| handles.borrow_mut().push_back(pool.submit(move || n).expect("the pool accepts tasks")),
        || {
            let handle = handles.borrow_mut().pop_front().expect("more are to come");
            handle.join().expect("the task returns its number")
        },
    )
}

/// Runs the tasks of row F without handles: each task sends its result through a channel.
pub(crate) fn results_sent(load: &Load) -> Measured {
    let pool = started(load.workers);
    let (results, completed) = crossbeam_channel::unbounded();
    let submit = |n| {
        let results = results.clone();
        pool.execute(move || results.send(n).expect("the caller receives")).expect("the pool accepts tasks");
    };
    completions(load, submit, || completed.recv().expect("more are to come"))
}

/// Starts as many threads as `load` has tasks, and ends these threads.
pub(crate) fn threads(load: &Load) -> Measured {
    let threads = usize::try_from(load.tasks).expect("a number of threads");
    let watch = Stopwatch::start();
    let pool = started(threads);
    pool.close();
    let measured = watch.stop();
    assert_eq!(pool.stats().peak_threads, threads);
    measured
}

fn bounded(load: &Load, policy: impl RejectionHandler + 'static) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().threads(load.workers).queue(FifoQueue::bounded(BOUND));
    builder.rejection_handler(policy).build().expect("one size and a bound")
}

pub(crate) fn started(threads: usize) -> ThreadPoolExecutor {
    let pool = ThreadPoolExecutor::fixed(threads);
    assert_eq!(pool.prestart_all_core_threads(), threads);
    pool
}

fn execute_in(pool: ThreadPoolExecutor, load: &Load, body: impl Body) -> Measured {
    assert_eq!(pool.prestart_all_core_threads(), load.workers);
    let submit =
        |pool: &&ThreadPoolExecutor, n| pool.execute(move || body(n)).expect("the pool accepts tasks");
    let measured = measure(load, &pool, submit, ExecutorService::close);
    let stats = pool.stats();
    assert_eq!((stats.state, stats.active, stats.queued), (PoolState::Terminated, 0, 0));
    assert_eq!(stats.completed, load.tasks - measured.inline, "the pool's own books");
    measured
}
