//! The peers that are written in Rust; each is used as its documentation shows, with the best settings for
//! the row.
//!
//! The first peers are not crates but the pools that most programmers would write. Such a pool receives boxed
//! closures from a channel, or from a queue behind a lock. These pools have no hooks, no counts, no
//! cancellation, no panic handling and no way to look inside. These pools show how fast a pool could be at
//! best; the features that they lack cost time.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

use crossbeam_channel::TrySendError;

use crate::books;
use crate::load::{Body, Load, Measured, Stopwatch, completions, measure, round_trips, tiny};
use crate::ours::BOUND;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that call the closures they receive, and the sender from which the closures come. When the sender
/// is dropped, the threads end.
struct Threads<S> {
    jobs: S,
    workers: Vec<JoinHandle<()>>,
}

impl<S> Threads<S> {
    fn start<N>(workers: usize, jobs: S, next: N) -> Self
    where
        N: Fn() -> Option<Job> + Clone + Send + 'static,
    {
        let worker = |_| {
            let next = next.clone();
            thread::spawn(move || {
                while let Some(job) = next() {
                    job();
                }
            })
        };
        Self { jobs, workers: (0..workers).map(worker).collect() }
    }

    fn finish(self) {
        drop(self.jobs);
        for worker in self.workers {
            worker.join().expect("no task panics");
        }
    }
}

// ----- a pool around crossbeam-channel -----

type Crossbeam = Threads<crossbeam_channel::Sender<Job>>;

fn crossbeam_pool(
    load: &Load,
    (jobs, receiver): (crossbeam_channel::Sender<Job>, crossbeam_channel::Receiver<Job>),
) -> Crossbeam {
    Threads::start(load.workers, jobs, move || receiver.recv().ok())
}

pub(crate) fn crossbeam(load: &Load, body: impl Body) -> Measured {
    let pool = crossbeam_pool(load, crossbeam_channel::unbounded());
    measure(load, pool, |pool, n| send(pool, move || body(n)), Threads::finish)
}

pub(crate) fn crossbeam_blocking(load: &Load) -> Measured {
    let pool = crossbeam_pool(load, crossbeam_channel::bounded(BOUND));
    measure(load, pool, |pool, n| send(pool, move || tiny(n)), Threads::finish)
}

pub(crate) fn crossbeam_caller_runs(load: &Load) -> Measured {
    let pool = crossbeam_pool(load, crossbeam_channel::bounded(BOUND));
    let send_or_run = |pool: &Crossbeam, n| match pool.jobs.try_send(Box::new(move || tiny(n))) {
        Ok(()) => {}
        Err(TrySendError::Full(job)) => job(),
        Err(TrySendError::Disconnected(_)) => unreachable!("the workers receive"),
    };
    measure(load, pool, send_or_run, Threads::finish)
}

pub(crate) fn crossbeam_oneshot(load: &Load) -> Measured {
    let pool = crossbeam_pool(load, crossbeam_channel::unbounded());
    let measured = round_trips(load, |n| {
        let (result, joiner) = oneshot::channel();
        send(&pool, move || result.send(n).expect("the caller waits"));
        joiner.recv().expect("the task sends its number")
    });
    pool.finish();
    measured
}

pub(crate) fn crossbeam_results(load: &Load) -> Measured {
    let pool = crossbeam_pool(load, crossbeam_channel::unbounded());
    let (results, completed) = crossbeam_channel::unbounded();
    let submit = |n| {
        let results = results.clone();
        send(&pool, move || results.send(n).expect("the caller receives"));
    };
    let measured = completions(load, submit, || completed.recv().expect("more are to come"));
    pool.finish();
    measured
}

fn send(pool: &Crossbeam, job: impl FnOnce() + Send + 'static) {
    pool.jobs.send(Box::new(job)).expect("the workers receive");
}

// ----- a pool around kanal -----

fn kanal_pool(
    load: &Load,
    (jobs, receiver): (kanal::Sender<Job>, kanal::Receiver<Job>),
) -> Threads<kanal::Sender<Job>> {
    Threads::start(load.workers, jobs, move || receiver.recv().ok())
}

pub(crate) fn kanal(load: &Load, body: impl Body) -> Measured {
    let pool = kanal_pool(load, kanal::unbounded());
    let send = |pool: &Threads<kanal::Sender<Job>>, n| {
        pool.jobs.send(Box::new(move || body(n))).expect("the workers receive");
    };
    measure(load, pool, send, Threads::finish)
}

pub(crate) fn kanal_blocking(load: &Load) -> Measured {
    let pool = kanal_pool(load, kanal::bounded(BOUND));
    let send = |pool: &Threads<kanal::Sender<Job>>, n| {
        pool.jobs.send(Box::new(move || tiny(n))).expect("the workers receive");
    };
    measure(load, pool, send, Threads::finish)
}

pub(crate) fn kanal_caller_runs(load: &Load) -> Measured {
    let pool = kanal_pool(load, kanal::bounded(BOUND));
    let send_or_run = |pool: &Threads<kanal::Sender<Job>>, n| {
        let mut job: Option<Job> = Some(Box::new(move || tiny(n)));
        pool.jobs.try_send_option(&mut job).expect("the workers receive");
        if let Some(refused) = job {
            refused();
        }
    };
    measure(load, pool, send_or_run, Threads::finish)
}

// ----- a pool around a lock and a condition variable -----

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Queue {
    fn push(&self, job: Job) {
        self.waiting.lock().expect("no job runs under the lock").jobs.push_back(job);
        self.changed.notify_one();
    }

    fn next(&self) -> Option<Job> {
        let waiting = self.waiting.lock().expect("no job runs under the lock");
        let nothing = |waiting: &mut Waiting| waiting.jobs.is_empty() && !waiting.closed;
        self.changed.wait_while(waiting, nothing).expect("no job runs under the lock").jobs.pop_front()
    }
}

/// The part of the queue that the submitter uses. Dropping this value ends the threads.
struct Submitter(Arc<Queue>);

impl Drop for Submitter {
    fn drop(&mut self) {
        self.0.waiting.lock().expect("no job runs under the lock").closed = true;
        self.0.changed.notify_all();
    }
}

pub(crate) fn mutex_and_condvar(load: &Load, body: impl Body) -> Measured {
    let queue = Arc::<Queue>::default();
    let pool = Threads::start(load.workers, Submitter(Arc::clone(&queue)), move || queue.next());
    let push = |pool: &Threads<Submitter>, n| pool.jobs.0.push(Box::new(move || body(n)));
    measure(load, pool, push, Threads::finish)
}

// ----- rayon -----

fn rayon_pool(load: &Load) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(load.workers).build().expect("the system has threads")
}

pub(crate) fn rayon_spawn(load: &Load, body: impl Body) -> Measured {
    let pool = rayon_pool(load);
    // Rayon's pool does not report when all spawned tasks have run.
    measure(load, pool, |pool, n| pool.spawn(move || body(n)), |_pool| books::wait_for(load.tasks))
}

pub(crate) fn rayon_install(load: &Load) -> Measured {
    let pool = rayon_pool(load);
    round_trips(load, |n| pool.install(move || n))
}

// ----- threadpool -----

pub(crate) fn threadpool(load: &Load, body: impl Body) -> Measured {
    let pool = threadpool::ThreadPool::new(load.workers);
    measure(load, pool, |pool, n| pool.execute(move || body(n)), |pool| pool.join())
}

pub(crate) fn threadpool_channel(load: &Load) -> Measured {
    let pool = threadpool::ThreadPool::new(load.workers);
    round_trips(load, |n| {
        let (result, joiner) = mpsc::channel();
        pool.execute(move || result.send(n).expect("the caller waits"));
        joiner.recv().expect("the task sends its number")
    })
}

pub(crate) fn threadpool_results(load: &Load) -> Measured {
    let pool = threadpool::ThreadPool::new(load.workers);
    let (results, completed) = mpsc::channel();
    let submit = |n| {
        let results = results.clone();
        pool.execute(move || results.send(n).expect("the caller receives"));
    };
    completions(load, submit, || completed.recv().expect("more are to come"))
}

// ----- rusty_pool -----

pub(crate) fn rusty_pool(load: &Load, body: impl Body) -> Measured {
    let pool = rusty_pool::Builder::new().core_size(load.workers).max_size(load.workers).build();
    pool.start_core_threads();
    let finish = |pool: rusty_pool::ThreadPool| {
        pool.shutdown_join();
        books::wait_for(load.tasks); // this pool counts a thread that has just taken the last task as idle
    };
    measure(load, pool, |pool, n| pool.execute(move || body(n)), finish)
}

// ----- tokio -----

fn tokio_runtime(load: &Load) -> tokio::runtime::Runtime {
    let builder = &mut tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(load.workers).build().expect("the system has threads")
}

pub(crate) fn tokio_spawn(load: &Load, body: impl Body) -> Measured {
    let runtime = tokio_runtime(load);
    let spawn = |runtime: &tokio::runtime::Runtime, n| drop(runtime.spawn(async move { body(n) }));
    // Dropping a runtime also drops spawned tasks that have not run.
    measure(load, runtime, spawn, |_runtime| books::wait_for(load.tasks))
}

pub(crate) fn tokio_spawn_and_join(load: &Load) -> Measured {
    let runtime = tokio_runtime(load);
    round_trips(load, |n| {
        runtime.block_on(runtime.spawn(async move { n })).expect("the task returns its number")
    })
}

// ----- threads without a pool -----

/// Starts threads that wait, and then ends them.
pub(crate) fn bare_threads(load: &Load) -> Measured {
    let watch = Stopwatch::start();
    let gate = Arc::new((Mutex::new(true), Condvar::new()));
    let wait = |_| {
        let gate = Arc::clone(&gate);
        thread::spawn(move || {
            let (closed, opened) = &*gate;
            drop(opened.wait_while(closed.lock().expect("no thread panics"), |closed| *closed));
        })
    };
    let threads: Vec<_> = (0..load.tasks).map(wait).collect();
    *gate.0.lock().expect("no thread panics") = false;
    gate.1.notify_all();
    for thread in threads {
        thread.join().expect("it waits and returns");
    }
    watch.stop()
}
