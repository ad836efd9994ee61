//! The special behaviour of the executors that have no pool. (The example of the minimal pool shows the
//! faults of that pool.)

use std::sync::mpsc;
use std::thread;

use executor::{CancelToken, DirectExecutor, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*};

use crate::support::{LONG, occupy, within_deadline};

#[test]
fn the_direct_executor_runs_the_task_on_the_submitting_thread_before_it_returns() {
    let (tell, told) = mpsc::channel();
    DirectExecutor.execute(move || tell.send(thread::current().id()).unwrap()).unwrap();
    assert_eq!(told.try_recv().unwrap(), thread::current().id());
}

#[test]
fn the_direct_executor_runs_tasks_within_tasks() {
    let nested = DirectExecutor.submit(|| DirectExecutor.submit(|| 1).unwrap().join().unwrap() + 1);
    assert_eq!(nested.unwrap().join().unwrap(), 2);
}

/// The task has its own token, which is a child of the submitter's token.
#[test]
fn a_task_of_the_direct_executor_inherits_the_request_and_keeps_its_own_to_itself() {
    let token = CancelToken::new();
    token.attach(|| {
        let current = || DirectExecutor.submit(CancelToken::current).unwrap().join().unwrap();
        let first = current();
        first.cancel();
        assert!(!token.is_cancelled() && !current().is_cancelled());
        token.cancel();
        assert!(current().is_cancelled());
    });
}

#[test]
fn thread_per_task_runs_each_task_on_a_thread_of_its_own() {
    within_deadline(|| {
        let executor = ThreadPerTaskExecutor::new();
        let busy: Vec<_> = (0..10).map(|_| occupy(&executor)).collect(); // all of them at once
        let this = || (thread::current().id(), thread::current().name().map(str::to_owned));
        let there = executor.submit(this).unwrap();
        let expected_name = format!("task{}", there.id());
        let (id, name) = there.join_timeout(LONG).unwrap();
        assert_ne!(id, thread::current().id());
        assert_eq!(name.as_ref(), Some(&expected_name), "as the task is called in reports");
        drop(busy);
    });
}

#[test]
#[should_panic(expected = "a pool of zero threads would accept tasks and never run them")]
fn a_pool_of_zero_threads_is_refused() {
    drop(ThreadPoolExecutor::fixed(0));
}

/// SIZE-22
#[test]
fn the_threads_of_a_pool_are_named_and_numbered() {
    within_deadline(|| {
        let name = || thread::current().name().map(str::to_owned);
        let names_of = |pool: &ThreadPoolExecutor| {
            let _busy = occupy(pool); // so the second task runs on the second thread
            pool.submit(name).unwrap().join().unwrap().unwrap()
        };
        let (first, second) = (ThreadPoolExecutor::fixed(2), ThreadPoolExecutor::fixed(2));
        let (first, second) = (names_of(&first), names_of(&second));
        assert!(first.starts_with("pool-") && first.ends_with("-thread-2"), "{first}");
        assert!(second.ends_with("-thread-2"), "{second}");
        assert_ne!(first, second, "the pools have different numbers");
    });
}
