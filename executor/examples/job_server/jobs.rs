//! The jobs of the server, and the commands with which customers manage the jobs.

use executor::{
    FutureTask, PriorityQueue, SharedHandle, Stopper, StripedExecutor, TaskId, ThreadPoolExecutor,
};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

const COMMANDS: &str = "run CUSTOMER URGENCY LIMIT WORK (in milliseconds), cancel JOB, result JOB";

pub(crate) struct Jobs {
    of_customers: StripedExecutor<String, ThreadPoolExecutor>,
    accepted: Mutex<HashMap<TaskId, SharedHandle<()>>>,
}

impl Jobs {
    pub(crate) fn new(threads: usize, waiting: usize) -> Result<Jobs, Box<dyn Error>> {
        let urgent_first = PriorityQueue::new().bounded(waiting);
        let pool = ThreadPoolExecutor::builder().threads(threads).queue(urgent_first).build()?;
        Ok(Jobs { of_customers: StripedExecutor::owning(pool), accepted: Mutex::default() })
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.of_customers.executor().stopper()
    }

    pub(crate) fn answer(&self, line: &str) -> Result<String, Box<dyn Error>> {
        let words: Vec<_> = line.split_whitespace().collect();
        Ok(match words[..] {
            ["run", customer, urgency, limit, work] => {
                let (limit, work) = (millis(limit)?, millis(work)?);
                let job = FutureTask::cancellable(move |token| token.sleep(work)).timeout(limit);
                let job = job.prioritized(urgency.parse()?);
                let job = self.of_customers.submit_in(customer.to_owned(), job)?;
                let id = job.id();
                self.accepted.lock().unwrap().insert(id, job.shared());
                format!("job {id}")
            }
            ["cancel", id] if self.job(id)?.cancel_because("its customer") => "cancelled".to_owned(),
            ["cancel", _] => "it had ended".to_owned(),
            ["result", id] => {
                let ended = self.job(id)?.join();
                self.accepted.lock().unwrap().remove(&id.parse()?);
                ended.map_or_else(|error| error.to_string(), |_| "done".to_owned())
            }
            _ => return Err(format!("the commands are {COMMANDS}").into()),
        })
    }

    fn job(&self, id: &str) -> Result<SharedHandle<()>, Box<dyn Error>> {
        Ok(self.accepted.lock().unwrap().get(&id.parse()?).ok_or("no such job")?.clone())
    }
}

fn millis(word: &str) -> Result<Duration, std::num::ParseIntError> {
    word.parse().map(Duration::from_millis)
}
