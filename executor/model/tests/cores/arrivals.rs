//! The completion service gives out each handle once, when the task of the handle has ended. No taker waits
//! for a handle that will not come.
//!
//! The test reaches the queue of arrived handles through the completion service. The service's executor only
//! stores the tasks, so the model has only the threads that the test starts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor_model::{
    CancelToken, Executor, ExecutorCompletionService, FutureTask, JoinError, RejectReason, RejectedExecution,
    Task, TaskHandle, WaitError,
};
use loom::cell::UnsafeCell;
use loom::thread;

use crate::{model, model_bounded};

/// An executor that stores its tasks, so that the test can run them. The executor is used before the model's
/// threads start, so its lock is no part of the model.
#[derive(Default)]
struct Keeps(Mutex<Vec<Task>>);

impl Executor for Keeps {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.0.lock().unwrap().push(task);
        Ok(())
    }
}

type Service<T> = ExecutorCompletionService<Keeps, T>;

/// Submits these bodies to a new service, and returns the service and the tasks of the bodies.
fn submitted<T: Send + 'static, const N: usize>(
    bodies: [impl FnOnce() -> T + Send + 'static; N],
) -> (Arc<Service<T>>, [Task; N]) {
    let service = Service::new(Keeps::default());
    for body in bodies {
        service.submit(body).unwrap();
    }
    let tasks = std::mem::take(&mut *service.executor().0.lock().unwrap());
    (Arc::new(service), tasks.try_into().expect("as many as there are bodies"))
}

/// Returns the value of a task that has ended. The call never blocks.
fn value<T: Send + 'static>(handle: TaskHandle<T>) -> T {
    handle.try_join().expect("only what is finished comes out")
}

#[test]
fn a_taker_is_given_what_arrives_with_all_that_the_task_did_and_told_that_it_was_the_last() {
    model(|| {
        let payload = UnsafeCell::new(0);
        let (service, [task]) = submitted([move || {
            payload.with_mut(|_written_by_the_task| ());
            payload
        }]);
        let worker = thread::spawn(move || drop(task.run()));
        let taken = service.take().unwrap().expect("it is outstanding until it is taken");
        value(taken).with(|_read_by_the_taker| ());
        assert!(service.take().unwrap().is_none());
        worker.join().unwrap();
    });
}

#[test]
fn of_two_takers_one_is_given_the_last_handle_and_the_other_told_that_there_is_no_more() {
    model_bounded(3, || {
        let (service, [task]) = submitted([|| 7]);
        let other = thread::spawn({
            let service = Arc::clone(&service);
            move || service.take().unwrap().map(value)
        });
        let worker = thread::spawn(move || drop(task.run()));
        // If a thread waits forever, loom reports a deadlock.
        let taken = [service.take().unwrap().map(value), other.join().unwrap()];
        assert!(matches!(taken, [Some(7), None] | [None, Some(7)]), "{taken:?}");
        worker.join().unwrap();
    });
}

#[test]
fn two_tasks_that_end_at_once_serve_two_takers() {
    model_bounded(3, || {
        let (service, tasks) = submitted([1, 2].map(|n| move || n));
        let other = thread::spawn({
            let service = Arc::clone(&service);
            move || service.take().unwrap().map(value)
        });
        let workers = tasks.map(|task| thread::spawn(move || drop(task.run())));
        // If a thread waits forever, loom reports a deadlock.
        let mut taken = [service.take().unwrap().map(value), other.join().unwrap()];
        taken.sort_unstable();
        assert_eq!(taken, [Some(1), Some(2)]);
        assert_eq!(service.outstanding(), 0);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn a_taker_with_a_time_limit_is_given_what_arrives_or_leaves_it_for_later() {
    model(|| {
        let (service, [task]) = submitted([|| 7]);
        let worker = thread::spawn(move || drop(task.run()));
        let taken = match service.take_timeout(Duration::from_secs(1)) {
            Ok(handle) => handle,
            Err(WaitError::TimedOut) => service.take().unwrap(), // otherwise loom reports a deadlock
            Err(other) => panic!("{other}"),
        };
        assert_eq!(taken.map(value), Some(7));
        worker.join().unwrap();
    });
}

/// The thread that takes the first task also runs the second task. The test's main thread must not run the
/// second task: the arrival of that task would wake all takers, and would hide the fault that the first
/// arrival woke no taker.
#[test]
fn a_taker_that_is_cancelled_keeps_no_handle_from_the_other() {
    model_bounded(3, || {
        let (service, [first, second]) = submitted([|| 1, || 2]);
        let second = Arc::new(loom::sync::Mutex::new(Some(second)));
        let took = move |handle: TaskHandle<i32>| {
            if value(handle) == 1 {
                let second = second.lock().unwrap().take().expect("the first is taken once");
                second.run();
            }
        };
        let token = CancelToken::new();
        let cancelled = thread::spawn({
            let (service, token, took) = (Arc::clone(&service), token.clone(), took.clone());
            move || match token.attach(|| service.take()) {
                Ok(Some(handle)) => {
                    took(handle);
                    1
                }
                Ok(None) | Err(_) => 0,
            }
        });
        let worker = thread::spawn(move || {
            token.cancel();
            drop(first.run());
        });
        let mut by_patient = 0;
        while let Some(handle) = service.take().unwrap() {
            took(handle);
            by_patient += 1;
        }
        assert_eq!(by_patient + cancelled.join().unwrap(), 2);
        worker.join().unwrap();
    });
}

#[test]
fn a_task_that_is_cancelled_while_it_is_taken_in_arrives_too() {
    model(|| {
        let task = FutureTask::new(|| 7);
        let canceller = task.handle.canceller();
        let other = thread::spawn(move || assert!(canceller.cancel()));
        let service = Service::new(Keeps::default());
        service.submit(task).unwrap();
        let taken = service.take().unwrap().expect("it is outstanding"); // otherwise loom reports a deadlock
        assert!(matches!(taken.join(), Err(JoinError::Cancelled(_))));
        other.join().unwrap();
    });
}

/// Refuses all tasks.
struct Refuses;

impl Executor for Refuses {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        Err(RejectedExecution { reason: RejectReason::Saturated, task })
    }
}

#[test]
fn a_task_that_is_refused_and_cancelled_at_once_comes_back_or_comes_out_and_not_both() {
    model(|| {
        let task = FutureTask::new(|| 7);
        let canceller = task.handle.canceller();
        let other = thread::spawn(move || assert!(canceller.cancel()));
        let service = ExecutorCompletionService::new(Refuses);
        let (came_back, _kept) = match service.submit(task) {
            Ok(_) => (None, None),
            Err(refused) => (Some(refused.handle), Some(refused.task)),
        };
        let came_out = service.take().unwrap(); // otherwise loom reports a deadlock
        let handle = match (came_back, came_out) {
            (Some(handle), None) | (None, Some(handle)) => handle,
            both_or_none => panic!("{both_or_none:?}"),
        };
        assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(service.outstanding(), 0);
        other.join().unwrap();
    });
}

/// The second task does not end, so it keeps the lists of the service alive. The lists must not keep a
/// handle.
#[test]
fn a_result_that_comes_while_the_service_is_dropped_is_dropped_too() {
    model(|| {
        let result = Arc::new(());
        let alive = Arc::downgrade(&result);
        let (service, [first, second]) = submitted([Some(result), None].map(|result| move || result));
        let worker = thread::spawn(move || drop(first.run()));
        drop(service);
        worker.join().unwrap();
        assert_eq!(alive.strong_count(), 0);
        drop(second);
    });
}

#[test]
fn a_taker_that_does_not_wait_and_one_that_does_share_what_arrives() {
    model_bounded(3, || {
        let (service, tasks) = submitted([1, 2].map(|n| move || n));
        let worker = thread::spawn(move || tasks.map(|task| drop(task.run())));
        let waits = thread::spawn({
            let service = Arc::clone(&service);
            move || std::iter::from_fn(|| service.take().unwrap()).map(value).sum::<i32>()
        });
        let taken = service.try_take().map_or(0, value);
        assert_eq!(waits.join().unwrap() + taken, 3); // otherwise loom reports a deadlock
        worker.join().unwrap();
    });
}

#[test]
fn a_taker_is_let_go_when_what_it_waits_for_is_refused() {
    model(|| {
        let service = Arc::new(ExecutorCompletionService::new(Refuses));
        let taker = thread::spawn({
            let service = Arc::clone(&service);
            move || service.take().unwrap().map(value)
        });
        let refused = service.submit(|| 7).unwrap_err();
        assert!(taker.join().unwrap().is_none()); // otherwise loom reports a deadlock
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 7);
    });
}
