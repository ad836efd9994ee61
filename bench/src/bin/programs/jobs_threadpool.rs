//! Runs the jobs of `executor/examples/job_server/jobs.rs` with threadpool. The pool runs closures in the
//! order of their submission, and knows nothing about the jobs in them. So this file adds priorities, order,
//! limits, cancellation, results and the bound to the pool.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use threadpool::ThreadPool;

struct Job {
    urgency: i32,
    deadline: Instant,
    work: Duration,
    end: Mutex<Option<&'static str>>,
    ended: Condvar,
}

impl Job {
    fn end(&self, how: &'static str) -> bool {
        let mut end = self.end.lock().unwrap();
        let is_first = end.is_none();
        end.get_or_insert(how);
        self.ended.notify_all();
        is_first
    }

    /// Waits until the job has ended or its time limit has passed.
    fn wait_until(&self, time: Instant) -> Option<&'static str> {
        let left = time.saturating_duration_since(Instant::now());
        *self.ended.wait_timeout_while(self.end.lock().unwrap(), left, |end| end.is_none()).unwrap().0
    }

    fn run(&self) {
        let done = (Instant::now() + self.work).min(self.deadline);
        let how = match catch_unwind(AssertUnwindSafe(|| self.wait_until(done))) {
            Ok(_) if Instant::now() < self.deadline => "done",
            Ok(_) => "late",
            Err(_) => "panicked",
        };
        self.end(how);
    }
}

#[derive(Default)]
struct Waiting {
    of_customers: HashMap<String, VecDeque<Arc<Job>>>,
    turns: BinaryHeap<(i32, Reverse<u64>, String)>,
    accepted: HashMap<u64, Arc<Job>>,
    count: usize,
    last: u64,
    is_shut_down: bool,
}

pub struct Jobs {
    pool: ThreadPool,
    bound: usize,
    waiting: Arc<Mutex<Waiting>>,
}

impl Jobs {
    pub fn new(threads: usize, bound: usize) -> Jobs {
        Jobs { pool: ThreadPool::new(threads), bound, waiting: Arc::default() }
    }

    pub fn answer(&self, line: &str) -> Result<String, Box<dyn Error>> {
        let words: Vec<_> = line.split_whitespace().collect();
        Ok(match words[..] {
            ["run", customer, urgency, limit, work] => {
                let (urgency, deadline) = (urgency.parse()?, Instant::now() + millis(limit)?);
                let (end, ended) = (Mutex::default(), Condvar::new());
                let job = Arc::new(Job { urgency, deadline, work: millis(work)?, end, ended });
                format!("job {}", self.submit(customer, &job)?)
            }
            ["cancel", id] if self.job(id)?.end("cancelled by its customer") => "cancelled".to_owned(),
            ["cancel", _] => "it had ended".to_owned(),
            ["result", id] => {
                let job = self.job(id)?;
                let how = job.wait_until(job.deadline).unwrap_or("late");
                job.end(how);
                self.waiting.lock().unwrap().accepted.remove(&id.parse()?);
                how.to_owned()
            }
            _ => return Err("no such command".into()),
        })
    }

    pub fn shut_down(&self) {
        self.waiting.lock().unwrap().is_shut_down = true;
        self.pool.join(); // without a limit
    }

    fn submit(&self, customer: &str, job: &Arc<Job>) -> Result<u64, &'static str> {
        let mut waiting = self.waiting.lock().unwrap();
        if waiting.is_shut_down || waiting.count == self.bound {
            return Err(if waiting.is_shut_down { "shut down" } else { "the queue is full" });
        }
        waiting.last += 1;
        waiting.count += 1;
        let id = waiting.last;
        waiting.accepted.insert(id, Arc::clone(job));
        let of_customer = waiting.of_customers.entry(customer.to_owned());
        let is_idle = matches!(of_customer, std::collections::hash_map::Entry::Vacant(_));
        of_customer.or_default().push_back(Arc::clone(job));
        if is_idle {
            self.take_turn(&mut waiting, customer.to_owned(), job.urgency, id);
        }
        Ok(id)
    }

    fn take_turn(&self, waiting: &mut Waiting, customer: String, urgency: i32, id: u64) {
        waiting.turns.push((urgency, Reverse(id), customer));
        let all = Arc::clone(&self.waiting);
        self.pool.execute(move || run_the_most_urgent(&all));
    }

    fn job(&self, id: &str) -> Result<Arc<Job>, Box<dyn Error>> {
        Ok(self.waiting.lock().unwrap().accepted.get(&id.parse()?).ok_or("no such job")?.clone())
    }
}

/// Runs all jobs of the customer who is next. A more urgent customer must wait until all these jobs are done.
fn run_the_most_urgent(all: &Mutex<Waiting>) {
    let Some((.., customer)) = all.lock().unwrap().turns.pop() else { return };
    loop {
        let mut waiting = all.lock().unwrap();
        let Some(job) = waiting.of_customers.get_mut(&customer).and_then(VecDeque::pop_front) else {
            waiting.of_customers.remove(&customer);
            return;
        };
        waiting.count -= 1;
        drop(waiting);
        job.run();
    }
}

fn millis(word: &str) -> Result<Duration, std::num::ParseIntError> {
    word.parse().map(Duration::from_millis)
}
