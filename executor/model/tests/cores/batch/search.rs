//! Search and sleep: if a task comes while a worker ends its search, the worker takes the task or is woken
//! for it.
//!
//! The pool's code for this property is in several files and needs the whole pool. So this file repeats the
//! steps of that code in the same order, as functions with the names of the originals. Only the batch is the
//! library's own code:
//!
//! | here | in `thread_pool/` |
//! |---|---|
//! | `submit` | a submission: by the inbox if it is open, otherwise under the lock of the state |
//! | `close_inbox`, `open_inbox`, `wake_one` | the functions of the same name |
//! | `next_task` | a worker's claim; if it gets no task, the worker searches, lingers once, and sleeps |
//!
//! Each worker takes one task and then ends, as if this task waited for the other tasks. No thread really
//! sleeps: instead of sleeping, a worker ends its part, and continues when another thread wakes the worker.
//! When all threads have ended, each task must have been given to a worker.

use std::sync::Arc;

use executor_model::Task;
use loom::sync::{Mutex, MutexGuard};
use loom::thread;

use super::library::{Batch, Batches, TaskSlot};
use crate::{model, model_bounded, sync};

/// A mistake that the model makes on purpose in one step of the protocol.
#[derive(Clone, Copy, PartialEq)]
enum Broken {
    /// A worker goes to sleep and leaves the inbox open.
    SleepsBesideOpenInbox,
    /// A worker closes the inbox and goes to sleep, but does not look again at the tasks that came before the
    /// close.
    SleepsWithoutLook,
    /// The searching worker has found a task and leaves the inbox open.
    FindsBesideOpenInbox,
    /// A worker that has found several tasks wakes no other worker.
    WakesNobodyElse,
    /// A woken worker stays marked as searching.
    SearchingStays,
}

struct Pool {
    state: Mutex<PoolData>,
    inbox: Mutex<InboxState>,
    broken: Option<Broken>,
}

#[derive(Default)]
struct PoolData {
    batches: Batches,
    /// The number of workers that sleep, or that were notified but are not awake yet.
    idle: usize,
    searching: bool,
    /// The wake-ups that were sent but that no worker has received yet.
    notified: usize,
}

#[derive(Default)]
struct InboxState {
    slots: Vec<TaskSlot>,
    open: bool,
}

#[derive(Default)]
struct PoolWorker {
    batch: Option<sync::Arc<Batch>>,
    asleep: bool,
}

impl Pool {
    fn new(broken: Option<Broken>) -> Self {
        Self { state: Mutex::default(), inbox: Mutex::default(), broken }
    }

    fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    fn submit(&self) {
        let slot = TaskSlot::new(Task::new(|| ()));
        let mut inbox = self.inbox.lock().unwrap();
        if inbox.open {
            inbox.slots.push(slot);
            return;
        }
        drop(inbox);
        let mut state = self.state.lock().unwrap();
        self.close_inbox(&state);
        self.inbox.lock().unwrap().slots.push(slot);
        self.wake_one(&mut state, 0);
        self.open_inbox(&state);
    }

    /// Returns true if a task waits.
    fn close_inbox(&self, state: &PoolData) -> bool {
        let mut inbox = self.inbox.lock().unwrap();
        inbox.open = false;
        inbox.slots.len() + state.batches.remaining() > 0
    }

    fn open_inbox(&self, state: &PoolData) {
        if state.idle == 0 || state.searching {
            self.inbox.lock().unwrap().open = true;
        }
    }

    fn wake_one(&self, state: &mut PoolData, taken_here: usize) {
        if state.idle == 0 || state.searching {
            return;
        }
        if !(self.is(Broken::FindsBesideOpenInbox) && taken_here > 0) {
            self.close_inbox(state);
        }
        if self.inbox.lock().unwrap().slots.len() + state.batches.remaining() > taken_here {
            state.searching = true;
            state.notified += 1;
        }
    }

    /// If a task waits and there is no batch yet, makes a batch from which workers can claim.
    fn refill(&self, state: &mut PoolData) -> Option<sync::Arc<Batch>> {
        if state.batches.remaining() == 0 {
            let mut inbox = self.inbox.lock().unwrap();
            if !inbox.slots.is_empty() {
                state.batches.refill(|slots| std::mem::swap(slots, &mut inbox.slots));
            }
        }
        state.batches.current().cloned()
    }

    /// Returns the worker's next task, or `None` if the worker sleeps. If the worker sleeps, the next call of
    /// this function wakes the worker.
    fn next_task(&self, worker: &mut PoolWorker) -> Option<Task> {
        if let Some(task) = worker.batch.take().and_then(|batch| batch.claim()) {
            return Some(task);
        }
        let mut state = self.state.lock().unwrap();
        if std::mem::take(&mut worker.asleep) {
            state.idle -= 1;
            state.searching = self.is(Broken::SearchingStays);
        }
        let mut lingered = false;
        loop {
            if let Some(batch) = self.refill(&mut state) {
                if !self.is(Broken::WakesNobodyElse) {
                    self.wake_one(&mut state, 1);
                }
                drop(state);
                if let Some(task) = batch.claim() {
                    return Some(task);
                }
                state = self.state.lock().unwrap(); // the other workers were quicker
                continue;
            }
            if !lingered && !state.searching {
                lingered = true;
                state = self.linger(state);
                continue;
            }
            let something_waits = match self.broken {
                Some(Broken::SleepsBesideOpenInbox) => false,
                Some(Broken::SleepsWithoutLook) => {
                    self.close_inbox(&state);
                    false
                }
                _ => self.close_inbox(&state),
            };
            if something_waits {
                continue;
            }
            state.idle += 1;
            worker.asleep = true;
            return None;
        }
    }

    /// Lets other threads run while this worker is marked as searching.
    fn linger<'a>(&'a self, mut state: MutexGuard<'a, PoolData>) -> MutexGuard<'a, PoolData> {
        if self.close_inbox(&state) {
            return state;
        }
        state.searching = true;
        self.open_inbox(&state);
        drop(state);
        let mut state = self.state.lock().unwrap();
        state.searching = false;
        state
    }

    /// Returns true if a sleeping worker receives a wake-up.
    fn is_woken(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let woken = state.notified > 0;
        state.notified -= usize::from(woken);
        woken
    }
}

/// One submitter submits one task for each worker.
fn play(workers: usize, broken: Option<Broken>) {
    let pool = Arc::new(Pool::new(broken));
    let workers: Vec<_> = (0..workers)
        .map(|_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let mut worker = PoolWorker::default();
                while pool.next_task(&mut worker).is_none() {
                    if !pool.is_woken() {
                        return Some(worker);
                    }
                }
                None // the worker has its task
            })
        })
        .collect();
    for _ in &workers {
        pool.submit();
    }
    let mut asleep: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().unwrap()).collect();
    while !asleep.is_empty() {
        assert!(pool.is_woken(), "a worker sleeps while a task waits");
        let mut worker = asleep.pop().unwrap();
        if pool.next_task(&mut worker).is_none() {
            asleep.push(worker);
        }
    }
}

#[test]
fn a_task_that_comes_while_the_worker_gives_up_is_taken_or_wakes_it() {
    model(|| play(1, None));
}

#[test]
fn two_tasks_that_come_while_two_workers_give_up_get_both() {
    model_bounded(3, || play(2, None));
}

#[test]
#[should_panic(expected = "a worker sleeps while a task waits")]
fn a_worker_that_sleeps_beside_an_open_inbox_misses_a_task() {
    model(|| play(1, Some(Broken::SleepsBesideOpenInbox)));
}

#[test]
#[should_panic(expected = "a worker sleeps while a task waits")]
fn a_worker_that_does_not_look_when_it_closes_the_inbox_misses_a_task() {
    model(|| play(1, Some(Broken::SleepsWithoutLook)));
}

#[test]
#[should_panic(expected = "a worker sleeps while a task waits")]
fn a_worker_that_finds_a_task_and_leaves_the_inbox_open_strands_the_next() {
    model_bounded(3, || play(2, Some(Broken::FindsBesideOpenInbox)));
}

#[test]
#[should_panic(expected = "a worker sleeps while a task waits")]
fn a_worker_that_finds_two_tasks_and_wakes_nobody_strands_one() {
    model_bounded(3, || play(2, Some(Broken::WakesNobodyElse)));
}

#[test]
#[should_panic(expected = "a worker sleeps while a task waits")]
fn a_mark_of_a_search_that_stays_keeps_others_asleep() {
    model_bounded(3, || play(2, Some(Broken::SearchingStays)));
}
