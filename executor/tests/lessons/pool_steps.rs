//! Tests the straightforward pool of `examples/pool_steps`, step by step. Each step can do everything that
//! the earlier steps can do, and one thing more. The example shows the faults that each step still has.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};

use crate::support::{LONG, within_deadline};

#[path = "../../examples/pool_steps/step_1_queue.rs"]
#[allow(unreachable_pub)] // the steps read like modules of a library
mod step_1_queue;
#[path = "../../examples/pool_steps/step_2_panic.rs"]
#[allow(unreachable_pub)]
mod step_2_panic;
#[path = "../../examples/pool_steps/step_3_end.rs"]
#[allow(unreachable_pub)]
mod step_3_end;
#[path = "../../examples/pool_steps/step_4_bound.rs"]
#[allow(unreachable_pub)]
mod step_4_bound;
#[path = "../../examples/pool_steps/step_5_own_queue.rs"]
#[allow(unreachable_pub)]
mod step_5_own_queue;

type Job = Box<dyn FnOnce() + Send>;

/// The abilities of all steps.
trait Step {
    fn with_threads(threads: usize) -> Self;
    fn give(&self, job: Job);
}

/// The properties that all steps from the third step on have.
trait Ends: Step {
    fn end(self);
}

macro_rules! step {
    ($step:ident, |$threads:ident| $pool:expr, $accepted:expr) => {
        impl Step for $step::Pool {
            fn with_threads($threads: usize) -> Self {
                $pool
            }
            fn give(&self, job: Job) {
                assert!($accepted(self.execute(job)));
            }
        }
    };
}

step!(step_1_queue, |threads| Self::new(threads), |()| true);
step!(step_2_panic, |threads| Self::new(threads), |()| true);
step!(step_3_end, |threads| Self::new(threads), |()| true);
step!(step_4_bound, |threads| Self::new(threads, 1_000), |result: Result<(), Job>| result.is_ok());
step!(step_5_own_queue, |threads| Self::new(threads, oldest_first(1_000)), |result: Result<(), Job>| result
    .is_ok());

macro_rules! ends {
    ($($step:ident),+) => {$(
        impl Ends for $step::Pool {
            fn end(self) {
                self.shutdown();
            }
        }
    )+};
}

ends!(step_3_end, step_4_bound, step_5_own_queue);

/// A queue for step 5. With this queue, step 5 behaves like step 4.
struct OldestFirst {
    jobs: VecDeque<Job>,
    capacity: usize,
}

fn oldest_first(capacity: usize) -> OldestFirst {
    OldestFirst { jobs: VecDeque::new(), capacity }
}

impl step_5_own_queue::Queue for OldestFirst {
    fn push(&mut self, job: Job) -> Result<(), Job> {
        if self.jobs.len() == self.capacity {
            return Err(job);
        }
        self.jobs.push_back(job);
        Ok(())
    }

    fn pop(&mut self) -> Option<Job> {
        self.jobs.pop_front()
    }
}

/// Makes a test for each property and each step that has the property.
macro_rules! properties {
    ($($property:ident: $($step:ident)+;)+) => {$(
        mod $property {
            $(#[test]
            fn $step() {
                crate::support::within_deadline(super::$property::<super::$step::Pool>);
            })+
        }
    )+};
}

properties! {
    runs_each_job_once_and_in_order: step_1_queue step_2_panic step_3_end step_4_bound step_5_own_queue;
    runs_jobs_side_by_side: step_1_queue step_2_panic step_3_end step_4_bound step_5_own_queue;
    keeps_its_worker_when_a_job_panics: step_2_panic step_3_end step_4_bound step_5_own_queue;
    runs_what_was_accepted_before_it_ends: step_3_end step_4_bound step_5_own_queue;
    ends_workers_that_sleep: step_3_end step_4_bound step_5_own_queue;
}

fn runs_each_job_once_and_in_order<P: Step>() {
    let pool = P::with_threads(1);
    let (tell, told) = mpsc::channel();
    for n in 0..100 {
        let tell = tell.clone();
        pool.give(Box::new(move || tell.send(n).unwrap()));
    }
    drop(tell);
    assert_eq!(told.iter().collect::<Vec<i32>>(), (0..100).collect::<Vec<_>>());
}

fn runs_jobs_side_by_side<P: Step>() {
    let pool = P::with_threads(2);
    let meet = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let meet = Arc::clone(&meet);
        pool.give(Box::new(move || _ = meet.wait()));
    }
    meet.wait();
}

fn keeps_its_worker_when_a_job_panics<P: Step>() {
    let pool = P::with_threads(1);
    let (tell, told) = mpsc::channel();
    let name_worker = |tell: &Sender<ThreadId>| -> Job {
        let tell = tell.clone();
        Box::new(move || tell.send(thread::current().id()).unwrap())
    };
    pool.give(name_worker(&tell));
    pool.give(Box::new(|| panic!("costs no worker")));
    pool.give(name_worker(&tell));
    assert_eq!(told.recv_timeout(LONG).unwrap(), told.recv_timeout(LONG).unwrap());
}

fn runs_what_was_accepted_before_it_ends<P: Ends>() {
    let pool = P::with_threads(2);
    let ran = Arc::new(Mutex::new(0));
    for _ in 0..100 {
        let ran = Arc::clone(&ran);
        pool.give(Box::new(move || *ran.lock().unwrap() += 1));
    }
    pool.end();
    assert_eq!(*ran.lock().unwrap(), 100);
    assert_eq!(Arc::strong_count(&ran), 1, "no job is left");
}

fn ends_workers_that_sleep<P: Ends>() {
    for _ in 0..50 {
        P::with_threads(3).end(); // hangs if a worker misses the end
    }
}

#[test]
fn step_4_gives_back_what_it_has_no_room_for() {
    within_deadline(|| {
        let pool = step_4_bound::Pool::new(1, 2);
        keeps_two_and_gives_back_three(&|job| pool.execute(job));
    });
}

#[test]
fn the_queue_of_step_5_decides_what_comes_back() {
    within_deadline(|| {
        let pool = step_5_own_queue::Pool::new(1, oldest_first(2));
        keeps_two_and_gives_back_three(&|job| pool.execute(job));
    });
}

fn keeps_two_and_gives_back_three(execute: &dyn Fn(Job) -> Result<(), Job>) {
    let (open, opened) = mpsc::channel::<()>();
    let (tell, started) = mpsc::channel();
    let busy = execute(Box::new(move || {
        tell.send(()).unwrap();
        let _ = opened.recv();
    }));
    assert!(busy.is_ok());
    started.recv().unwrap(); // so the first job has left the queue

    let (tell, told) = mpsc::channel();
    let job = |n: u32| -> Job {
        let tell = tell.clone();
        Box::new(move || tell.send(n).unwrap())
    };
    let refused: Vec<Job> = (0..5).filter_map(|n| execute(job(n)).err()).collect();
    for job in refused {
        job(); // the job is still whole
    }
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [2, 3, 4]);
    drop(open);
    drop(tell);
    assert_eq!(told.iter().collect::<Vec<_>>(), [0, 1]);
}
