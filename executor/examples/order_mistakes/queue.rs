//! A queue that never gives out two tasks of one stripe at the same time.

use executor::{Task, WorkQueue};
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};

// ANCHOR: queue
/// The name of a task is the name of its stripe. A stripe is busy while its task runs.
#[derive(Default)]
pub struct StripedQueue {
    tasks: VecDeque<Task>,
    pub busy: Arc<Mutex<HashSet<String>>>,
}

impl WorkQueue for StripedQueue {
    fn pop(&mut self) -> Option<Task> {
        let mut busy = self.busy.lock().unwrap();
        let stripe = |task: &Task| task.name().unwrap_or_default().to_owned();
        let place = self.tasks.iter().position(|task| !busy.contains(&stripe(task)))?;
        busy.insert(stripe(&self.tasks[place]));
        self.tasks.remove(place)
    }
    // ANCHOR_END: queue

    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        self.tasks.push_back(task);
        Ok(())
    }

    fn len(&self) -> usize {
        self.tasks.len()
    }

    fn capacity(&self) -> Option<usize> {
        None
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.tasks.iter().for_each(look);
    }

    fn remove_if(&mut self, _unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        Vec::new() // nothing is cancelled here
    }
}
