
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        outcome: Mutex::new(Outcome::Pending),
        value: Mutex::new(None),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Pending,
    Completed,
    Abandoned,
}

struct Shared<T> {
    outcome: Mutex<Outcome>,
    value: Mutex<Option<T>>,
    decided: Condvar,
}

pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    pub fn complete(self, value: T) {
        *self.shared.outcome.lock().unwrap() = Outcome::Completed;
        *self.shared.value.lock().unwrap() = Some(value);
        self.shared.decided.notify_one();
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut outcome = self.shared.outcome.lock().unwrap();
        if *outcome == Outcome::Pending {
            *outcome = Outcome::Abandoned;
            self.shared.decided.notify_one();
        }
    }
}

impl<T> Future<T> {
    pub fn get(self) -> Result<T, Abandoned> {
        let mut outcome = self.shared.outcome.lock().unwrap();
        while *outcome == Outcome::Pending {
            outcome = self.shared.decided.wait(outcome).unwrap();
        }
        if *outcome == Outcome::Abandoned {
            return Err(Abandoned);
        }
        Ok(self.shared.value.lock().unwrap().take().unwrap())
    }

    pub fn is_done(&self) -> bool {
        *self.shared.outcome.lock().unwrap() != Outcome::Pending
    }
}
