//! A thread pool in five steps. For each step, a trial shows what goes wrong in the pool without this step,
//! and that the pool with this step is right.
//!
//! ```sh
//! cargo run --example pool_steps            # all trials
//! cargo run --example pool_steps -- panic   # one of them: panic, end, bound or order
//! ```
//!
//! The book explains this example in the chapter "A pool in five steps".

#![allow(unreachable_pub)] // the steps are written like modules of a library

mod step_1_queue;
mod step_2_panic;
mod step_3_end;
mod step_4_bound;
mod step_5_own_queue;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::sleep;
use std::time::Duration;
use step_5_own_queue::{Job, Queue};

/// The time after which the watchdog reports that no further result comes.
const PATIENCE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let trials: [(&str, fn()); 4] =
        [("panic", a_panic), ("end", an_end), ("bound", a_bound), ("order", an_order)];
    let wanted = env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    if !trials.iter().any(|(name, _)| is_wanted(name)) {
        eprintln!("say which: panic, end, bound or order");
        return ExitCode::from(2);
    }
    for (_, trial) in trials.into_iter().filter(|(name, _)| is_wanted(name)) {
        trial();
    }
    ExitCode::SUCCESS
}

fn a_panic() {
    // ANCHOR: panic
    let third_job_runs = |execute: &dyn Fn(Job)| {
        let (tell, told) = mpsc::channel();
        execute(Box::new(|| panic!("the first")));
        execute(Box::new(|| panic!("the second")));
        execute(Box::new(move || tell.send(()).expect("the watchdog listens")));
        match told.recv_timeout(PATIENCE) {
            Ok(()) => "the third was run",
            Err(_) => "after 2 s the third has not begun: no worker is left",
        }
    };
    let pool = step_1_queue::Pool::new(2);
    println!("step 1: two jobs panicked; {}", third_job_runs(&|job| pool.execute(job)));
    let pool = step_2_panic::Pool::new(2);
    println!("step 2: two jobs panicked; {}", third_job_runs(&|job| pool.execute(job)));
    // ANCHOR_END: panic
}

fn an_end() {
    // ANCHOR: end
    let job = |done: &Arc<AtomicUsize>| {
        let done = Arc::clone(done);
        move || {
            sleep(Duration::from_millis(500));
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (pool, done) = (step_2_panic::Pool::new(1), Arc::default());
    (0..3).for_each(|_| pool.execute(job(&done)));
    drop(pool); // this pool has no other way to end
    println!("step 2: when the pool was gone, {} of 3 jobs were done", done.load(Ordering::Relaxed));

    let (pool, done) = (step_3_end::Pool::new(1), Arc::default());
    (0..3).for_each(|_| pool.execute(job(&done)));
    pool.shutdown();
    println!("step 3: when the pool was gone, {} of 3 jobs were done", done.load(Ordering::Relaxed));
    // ANCHOR_END: end
}

fn a_bound() {
    // ANCHOR: bound
    let pool = step_3_end::Pool::new(1);
    let busy = occupy(&|job| pool.execute(job));
    (0..100_000).for_each(|_| pool.execute(|| ()));
    println!("step 3: of 100000 jobs for a busy worker, 100000 wait");
    drop(busy);
    pool.shutdown();

    let pool = step_4_bound::Pool::new(1, 3);
    let busy = occupy(&|job| pool.execute(job).ok().expect("nothing waits yet"));
    let refused = (0..100_000).filter(|_| pool.execute(|| ()).is_err()).count();
    println!("step 4: of 100000 jobs for a busy worker, {} wait and {refused} came back", 100_000 - refused);
    drop(busy);
    pool.shutdown();
    // ANCHOR_END: bound
}

// ANCHOR: newest_first
/// The newest job runs next: the client of this job probably still waits.
#[derive(Default)]
struct NewestFirst(Vec<Job>);

impl Queue for NewestFirst {
    fn push(&mut self, job: Job) -> Result<(), Job> {
        self.0.push(job);
        Ok(())
    }

    fn pop(&mut self) -> Option<Job> {
        self.0.pop()
    }
}
// ANCHOR_END: newest_first

fn an_order() {
    let pool = step_4_bound::Pool::new(1, 4);
    let order = order_of_four(&|job| pool.execute(job).ok().expect("there is room for four"));
    println!("step 4: four jobs waited for the worker, which then ran {order}");
    pool.shutdown();

    let pool = step_5_own_queue::Pool::new(1, NewestFirst::default());
    let order = order_of_four(&|job| pool.execute(job).ok().expect("it has no bound"));
    println!("step 5: four jobs waited for the worker, which then ran {order}");
    pool.shutdown();
}

/// Submits jobs to a pool while the pool's only worker is busy, and returns the order in which the worker
/// then runs the jobs.
fn order_of_four(execute: &dyn Fn(Job)) -> String {
    let (tell, told) = mpsc::channel();
    let busy = occupy(execute);
    for n in 1..=4 {
        let tell = tell.clone();
        execute(Box::new(move || tell.send(n).expect("this function listens")));
    }
    drop((busy, tell));
    let order: Vec<String> = told.iter().map(|n: u32| n.to_string()).collect();
    order.join(", ")
}

/// Keeps a worker busy until the caller drops the returned sender.
fn occupy(execute: &dyn Fn(Job)) -> Sender<()> {
    let (open, opened) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    execute(Box::new(move || {
        tell.send(()).expect("this function listens");
        let _ = opened.recv(); // fails as soon as the other end is dropped
    }));
    told.recv().expect("the pool runs it");
    open
}
