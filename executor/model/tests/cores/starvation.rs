//! Two threads wait for each other: they register their waits, sleep, wake up and search the registered
//! waits, in every order. Shuttle checks the same kind of waits in whole pools.

use std::sync::{Arc, Mutex};

use executor_model::{CutShort, FutureTask, JoinError, Latch, Promise, Semaphore, TaskHandle};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::model_bounded;

/// Joins the task in the slot. Returns true if the join reports starvation.
fn starves(awaited: &Mutex<Option<TaskHandle<bool>>>) -> bool {
    let handle = awaited.lock().unwrap().take().expect("it was put there before the thread began");
    match handle.join() {
        Err(JoinError::Starved(_handle, report)) => !report.chain().is_empty(),
        ended => {
            assert!(ended.is_ok());
            false
        }
    }
}

/// The thread that registers its wait last finds the other thread asleep or about to sleep, because no thread
/// has woken the other thread.
#[test]
fn of_two_tasks_that_wait_for_each_other_one_is_told() {
    model_bounded(3, || {
        let told = Arc::new(AtomicUsize::new(0));
        let awaited = [(); 2].map(|()| Arc::new(Mutex::new(None)));
        let [first, second] = awaited.each_ref().map(|awaited| {
            let (awaited, told) = (Arc::clone(awaited), Arc::clone(&told));
            FutureTask::new(move || {
                let is_told = starves(&awaited);
                told.fetch_add(usize::from(is_told), Relaxed);
                is_told
            })
        });
        *awaited[0].lock().unwrap() = Some(second.handle);
        *awaited[1].lock().unwrap() = Some(first.handle);
        let other = thread::spawn(move || second.task.run());
        first.task.run();
        other.join().unwrap(); // otherwise loom reports a deadlock
        assert_eq!(told.load(Relaxed), 1);
    });
}

/// The main thread ends the wait of the first thread. The second thread waits for the first thread.
#[test]
fn who_was_woken_is_not_taken_for_one_that_waits() {
    model_bounded(3, || {
        let (promise, handle) = Promise::new();
        let first = FutureTask::new(move || handle.join().is_ok());
        let awaited = Mutex::new(Some(first.handle));
        let second = FutureTask::new(move || starves(&awaited));
        let threads = [first.task, second.task].map(|task| thread::spawn(move || task.run()));
        promise.complete(()).unwrap();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(!second.handle.join().unwrap());
    });
}

/// Each thread holds a permit that the other thread waits for. One of the two threads gets the report and
/// gives its own permit back, which wakes the other thread.
#[test]
fn of_two_that_want_each_others_permit_one_is_told() {
    model_bounded(3, || {
        let permits = [(); 2].map(|()| Arc::new(Semaphore::new(1)));
        let both = Arc::new(Latch::new(2));
        let tasks = [0, 1].map(|n| {
            let (own, others, both) =
                (Arc::clone(&permits[n]), Arc::clone(&permits[1 - n]), Arc::clone(&both));
            FutureTask::new(move || {
                let _own = own.acquire().unwrap();
                both.count_down();
                both.wait().unwrap();
                let others = others.acquire();
                matches!(others, Err(CutShort::Starved(report)) if !report.chain().is_empty())
            })
        });
        let [first, second] = tasks;
        let other = thread::spawn(move || second.task.run());
        first.task.run();
        other.join().unwrap();
        assert_ne!(first.handle.join().unwrap(), second.handle.join().unwrap());
    });
}
