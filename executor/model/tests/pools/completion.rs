//! A completion service gives out each accepted task once, and no taker waits for a task that will not come.

use std::sync::Arc;

use executor_model::{
    CancelToken, ExecutorCompletionService, FutureTask, JoinError, Latch, RejectReason, TaskHandle,
    ThreadPoolExecutor, prelude::*,
};

use crate::{check, thread};

type Service = ExecutorCompletionService<Arc<ThreadPoolExecutor>, usize>;

/// A pool, and a completion service that submits its tasks to the pool.
fn service(threads: usize) -> (Arc<ThreadPoolExecutor>, Arc<Service>) {
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads));
    let service = Arc::new(ExecutorCompletionService::new(Arc::clone(&pool)));
    (pool, service)
}

/// Takes handles until no task is outstanding.
fn take_all(service: &Service) -> Vec<TaskHandle<usize>> {
    let take = || service.take().expect("this thread is not cancelled");
    std::iter::from_fn(take).inspect(|handle| assert!(handle.is_finished())).collect()
}

#[test]
fn tasks_come_out_once_each_whether_they_end_or_are_cancelled() {
    check(|| {
        let (pool, service) = service(2);
        let cancellers: Vec<_> = (0..3).map(|n| service.submit(move || n).unwrap()).collect();
        let mut ids: Vec<_> = cancellers.iter().map(executor_model::Canceller::id).collect();
        let other = thread::spawn(move || cancellers[0].cancel() | cancellers[2].cancel());
        let taken = take_all(&service);
        let cancelled = other.join().unwrap();
        let mut taken_ids: Vec<_> = taken.iter().map(TaskHandle::id).collect();
        ids.sort_unstable();
        taken_ids.sort_unstable();
        assert_eq!(taken_ids, ids);
        let mut saw_cancelled = false;
        for handle in taken {
            match handle.join() {
                Ok(_) => {}
                Err(JoinError::Cancelled(_)) => saw_cancelled = true,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(saw_cancelled, cancelled);
        pool.close();
    });
}

#[test]
fn a_task_that_is_cancelled_while_it_is_submitted_comes_out_too() {
    check(|| {
        let (pool, service) = service(1);
        let task = FutureTask::new(|| 1);
        let canceller = task.handle.canceller();
        let other = thread::spawn(move || canceller.cancel());
        service.submit(task).unwrap();
        assert_eq!(take_all(&service).len(), 1);
        other.join().unwrap();
        pool.close();
    });
}

#[test]
fn when_the_last_task_has_ended_every_taker_learns_that_there_is_no_more() {
    check(|| {
        let (pool, service) = service(2);
        for n in 0..2 {
            service.submit(move || n).unwrap();
        }
        let takers = [(); 3].map(|()| {
            let service = Arc::clone(&service);
            thread::spawn(move || take_all(&service).len())
        });
        let taken: usize = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        assert_eq!(taken, 2);
        pool.close();
    });
}

/// Each task waits until a taker has taken the previous task. So if a taker misses an arrival, the whole
/// model stops.
#[test]
fn a_taker_that_gives_up_leaves_its_wake_up_to_another() {
    check(|| {
        let (pool, service) = service(1);
        let may_end: Arc<[Latch]> = [0, 1, 1, 1].map(Latch::new).into();
        for n in 0..3 {
            let may_end = Arc::clone(&may_end);
            service.submit(move || (n, may_end[n].wait()).0).unwrap();
        }
        let took = move |handle: TaskHandle<usize>| may_end[handle.join().unwrap() + 1].count_down();
        let token = CancelToken::new();
        let gives_up = {
            let (service, token, took) = (Arc::clone(&service), token.clone(), took.clone());
            thread::spawn(move || {
                if let Ok(Some(handle)) = token.attach(|| service.take()) {
                    took(handle);
                }
            })
        };
        let patient = {
            let service = Arc::clone(&service);
            thread::spawn(move || {
                while let Some(handle) = service.take().unwrap() {
                    took(handle);
                }
            })
        };
        token.cancel();
        gives_up.join().unwrap();
        patient.join().unwrap();
        assert_eq!(service.outstanding(), 0);
        pool.close();
    });
}

#[test]
fn a_taker_is_released_when_the_task_it_waits_for_is_refused() {
    check(|| {
        let (pool, service) = service(1);
        let taker = {
            let service = Arc::clone(&service);
            thread::spawn(move || take_all(&service).len())
        };
        let stopper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.shutdown())
        };
        let mut accepted = 0;
        for n in 0..2 {
            match service.submit(move || n) {
                Ok(_) => accepted += 1,
                Err(refused) => assert!(matches!(refused.reason, RejectReason::Shutdown), "{refused}"),
            }
        }
        stopper.join().unwrap();
        let by_both = taker.join().unwrap() + take_all(&service).len();
        assert_eq!(by_both, accepted);
        pool.close();
    });
}

#[test]
fn tasks_that_are_handed_back_come_out_when_they_are_dropped() {
    check(|| {
        let (pool, service) = service(1);
        for n in 0..3 {
            service.submit(move || n).unwrap();
        }
        let stopper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || drop(pool.shutdown_now()))
        };
        assert_eq!(take_all(&service).len(), 3);
        stopper.join().unwrap();
        pool.close();
    });
}

#[test]
fn who_knows_that_a_task_has_run_is_not_told_that_there_is_none() {
    check(|| {
        let (pool, service) = service(1);
        let has_run = Arc::new(Latch::new(1));
        let submitter = {
            let (service, has_run) = (Arc::clone(&service), Arc::clone(&has_run));
            thread::spawn(move || {
                service.submit(move || (7, has_run.count_down()).0).unwrap();
            })
        };
        has_run.wait().unwrap();
        let handle = service.take().unwrap().expect("it is outstanding");
        assert_eq!(handle.join().unwrap(), 7);
        submitter.join().unwrap();
        pool.close();
    });
}
