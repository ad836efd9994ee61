//! A completion service gives each task out once, in the order in which the tasks end. The service reports
//! when no task is outstanding.

mod takers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use executor::{
    CancelToken, DirectExecutor, Discard, Executor, ExecutorCompletionService, ExecutorService, FifoQueue,
    FutureTask, JoinError, RejectReason, RejectedExecution, Task, TaskHandle, TaskId, TaskState,
    ThreadPerTaskExecutor, ThreadPoolExecutor, WaitError,
};

use crate::support::{
    Bomb, Explosions, LONG, SHORT, Signal, Spot, assert_matches, blocked, eventually, occupy,
    on_every_concurrent_executor, on_every_executor, on_every_pool, tracked, within_deadline,
};

/// Takes all handles. Asserts CS-1 for each handle: the handle's task has ended.
fn take_all<E: Executor, T: Send + 'static>(service: &ExecutorCompletionService<E, T>) -> Vec<TaskHandle<T>> {
    std::iter::from_fn(|| service.take().unwrap()).inspect(|handle| assert!(handle.is_finished())).collect()
}

/// Returns a task that waits for a signal and then returns a given number.
fn held(release: &Signal, number: i32) -> impl FnOnce() -> i32 + Send + 'static {
    let release = release.clone();
    move || {
        release.wait();
        number
    }
}

// ----- what comes out -----

/// CS-1, CS-2
#[test]
fn take_gives_out_finished_handles_of_the_tasks_that_were_submitted() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            let submitted: BTreeSet<TaskId> =
                (0..20).map(|n| service.submit(move || n).unwrap().id()).collect();
            assert_eq!(service.outstanding(), 20);
            let taken: BTreeSet<TaskId> = take_all(&service).iter().map(TaskHandle::id).collect();
            assert_eq!(taken, submitted);
            assert_eq!(service.outstanding(), 0);
        });
    });
}

/// CS-3, CS-4
#[test]
fn polling_gives_out_what_is_finished() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            service.submit(|| 1).unwrap();
            eventually("the task is finished", || match service.try_take() {
                Some(handle) => {
                    assert_eq!(handle.try_join().unwrap(), 1);
                    true
                }
                None => false,
            });
            service.submit(|| 2).unwrap();
            let start = Instant::now();
            assert_eq!(service.take_timeout(LONG).unwrap().unwrap().try_join().unwrap(), 2);
            assert!(start.elapsed() < LONG);
        });
    });
}

/// CS-5
#[test]
fn polling_gives_nothing_before_a_task_has_ended() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let release = Signal::new();
            let service = ExecutorCompletionService::new(executor);
            service.submit(held(&release, 1)).unwrap();
            assert!(service.try_take().is_none());
            assert_matches!(service.take_timeout(Duration::ZERO), Err(WaitError::TimedOut));
            let start = Instant::now();
            assert_matches!(service.take_timeout(SHORT), Err(WaitError::TimedOut));
            assert!(start.elapsed() >= SHORT);
            release.set();
            assert_eq!(service.take().unwrap().unwrap().try_join().unwrap(), 1);
            assert_matches!(service.take(), Ok(None));
        });
    });
}

/// CS-6
#[test]
fn successes_failures_and_panics_arrive_once_each() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            for n in 0..30 {
                let task = move || match n % 3 {
                    0 => Ok(n),
                    1 => Err(n),
                    _ => std::panic::resume_unwind(Box::new(n.to_string())),
                };
                service.submit(task).unwrap();
            }
            let mut seen: Vec<(char, i32)> = take_all(&service)
                .into_iter()
                .map(|handle| match handle.join() {
                    Ok(Ok(n)) => ('v', n),
                    Ok(Err(n)) => ('e', n),
                    Err(JoinError::Panicked(panic)) => ('p', panic.message().parse().unwrap()),
                    Err(other) => panic!("{other}"),
                })
                .collect();
            seen.sort_by_key(|&(_, n)| n);
            let expected: Vec<(char, i32)> = ['v', 'e', 'p'].into_iter().cycle().zip(0..30).collect();
            assert_eq!(seen, expected);
            assert!(service.try_take().is_none());
        });
    });
}

#[test]
fn handles_come_in_the_order_in_which_the_tasks_end() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            let releases = [(); 3].map(|()| Signal::new());
            for (n, release) in (0..).zip(&releases) {
                service.submit(held(release, n)).unwrap();
            }
            for next in [2, 0, 1] {
                releases[next].set();
                let taken = service.take().unwrap().unwrap().try_join().unwrap();
                assert_eq!(usize::try_from(taken).unwrap(), next);
            }
        });
    });
}

/// Several handles are ready, because no taker took the handles when they became ready.
#[test]
fn handles_that_lie_ready_come_in_the_order_in_which_the_tasks_ended() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let service = ExecutorCompletionService::new(&pool);
        for n in 0..4 {
            service.submit(move || n).unwrap();
        }
        let mut tasks: Vec<_> = pool.shutdown_now().into_iter().map(Some).collect();
        for next in [2, 0, 3, 1] {
            tasks[next].take().unwrap().run();
        }
        let taken: Vec<_> = take_all(&service).into_iter().map(|handle| handle.join().unwrap()).collect();
        assert_eq!(taken, [2, 0, 3, 1]);
        drop(busy);
    });
}

/// A taker fetches all ready handles, takes one of them, and leaves the other handles to the next taker.
#[test]
fn what_was_fetched_comes_before_what_has_come_since() {
    let service = ExecutorCompletionService::new(DirectExecutor);
    service.submit(|| 0).unwrap();
    service.submit(|| 1).unwrap();
    assert_eq!(service.take().unwrap().unwrap().join().unwrap(), 0);
    service.submit(|| 2).unwrap();
    assert_eq!(service.try_take().unwrap().join().unwrap(), 1);
    assert_eq!(service.take().unwrap().unwrap().join().unwrap(), 2);
}

/// CS-9
#[test]
fn recipe_all_results_that_are_worth_something() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            for n in 0..10 {
                service.submit(move || (n % 2 == 0).then_some(n)).unwrap();
            }
            let mut found: Vec<i32> =
                take_all(&service).into_iter().filter_map(|handle| handle.join().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, [0, 2, 4, 6, 8]);
        });
    });
}

/// CS-10
#[test]
fn recipe_the_first_success_and_the_rest_called_off() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            let mut cancellers = vec![service.submit(|| None).unwrap(), service.submit(|| Some(2)).unwrap()];
            let waits = |token: &CancelToken| token.sleep(Duration::MAX).map(|()| None);
            cancellers.push(service.submit_cancellable(waits).unwrap());
            let mut first = None;
            while first.is_none() {
                first = service.take().unwrap().expect("one of them succeeds").join().unwrap();
            }
            assert_eq!(first, Some(2));
            for canceller in cancellers {
                canceller.cancel();
            }
            for handle in take_all(&service) {
                assert_matches!(handle.join(), Ok(None) | Err(JoinError::Cancelled(_)));
            }
        });
    });
}

// ----- no task is lost, and no taker waits in vain -----

#[test]
fn with_nothing_outstanding_there_is_nothing_to_wait_for() {
    within_deadline(|| {
        let service: ExecutorCompletionService<_, ()> = ExecutorCompletionService::new(DirectExecutor);
        assert_matches!(service.take(), Ok(None));
        assert_matches!(service.take_timeout(Duration::MAX), Ok(None));
        assert!(service.try_take().is_none());
    });
}

#[test]
fn cancelled_tasks_arrive_whether_they_ran_or_not() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let service = ExecutorCompletionService::new(&pool);
        let spot = Spot::default();
        let there = spot.clone();
        let running = service.submit_cancellable(move |token| {
            there.arrive();
            token.sleep(Duration::MAX)
        });
        let waiting = service.submit(|| ()).unwrap();
        spot.wait_until_blocked();
        for canceller in [waiting, running.unwrap()] {
            assert!(canceller.cancel());
            let handle = service.take().unwrap().unwrap();
            assert_eq!(handle.id(), canceller.id());
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        }
        assert_matches!(service.take(), Ok(None));
    });
}

#[test]
fn a_task_that_was_cancelled_before_it_was_submitted_arrives_too() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let service = ExecutorCompletionService::new(executor);
            let task = FutureTask::new(|| 1);
            task.handle.cancel();
            let canceller = service.submit(task).unwrap();
            let handle = service.take().unwrap().unwrap();
            assert_eq!((handle.id(), handle.state()), (canceller.id(), TaskState::Cancelled));
            assert_matches!(service.take(), Ok(None));
        });
    });
}

/// INV-45
#[test]
fn a_refused_task_comes_back_and_is_not_outstanding() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            let service = ExecutorCompletionService::new(pool);
            let refused = service.submit(|| 1).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Shutdown);
            assert_eq!(service.outstanding(), 0);
            assert_matches!(service.take(), Ok(None));
            refused.task.run();
            assert_eq!(refused.handle.join().unwrap(), 1);
            assert!(service.try_take().is_none(), "it has gone out of the service's hands");
        });
    });
}

#[test]
fn a_refused_task_releases_a_taker_that_has_waited_for_it() {
    within_deadline(|| {
        /// An executor that refuses a task only if the test tells the executor to refuse it.
        struct Slow(Signal, Signal);
        impl Executor for Slow {
            fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
                self.0.set();
                self.1.wait();
                Err(RejectedExecution { reason: RejectReason::Shutdown, task })
            }
        }
        let (asked, refuse) = (Signal::new(), Signal::new());
        let service = Arc::new(ExecutorCompletionService::new(Slow(asked.clone(), refuse.clone())));
        std::thread::scope(|scope| {
            let submitter = scope.spawn(|| service.submit(|| ()).is_err());
            asked.wait();
            let taker = blocked({
                let service = Arc::clone(&service);
                move || service.take().map(|handle| handle.is_none())
            });
            refuse.set();
            assert!(submitter.join().unwrap());
            assert_eq!(taker.result(), Ok(true));
        });
    });
}

#[test]
fn a_task_that_its_executor_drops_arrives_as_cancelled() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder()
            .threads(1)
            .queue(FifoQueue::bounded(1))
            .rejection_handler(Discard)
            .build()
            .unwrap();
        let busy = occupy(&pool);
        let service = ExecutorCompletionService::new(&pool);
        let _in_the_queue = service.submit(|| ()).unwrap();
        let dropped = service.submit(|| ()).unwrap();
        let handle = service.take().unwrap().unwrap();
        assert_eq!((handle.id(), handle.state()), (dropped.id(), TaskState::Cancelled));
        drop(busy);
        assert_matches!(service.take().unwrap().unwrap().join(), Ok(()));
    });
}

#[test]
fn what_shutting_down_now_hands_back_is_outstanding_until_it_is_run_or_dropped() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let busy = occupy(&*pool);
        let service = Arc::new(ExecutorCompletionService::new(Arc::clone(&pool)));
        for n in 0..2 {
            service.submit(move || n).unwrap();
        }
        let taker = blocked({
            let service = Arc::clone(&service);
            move || take_all(&service).into_iter().map(TaskHandle::join).map(Result::ok).collect::<Vec<_>>()
        });
        let mut handed_back = pool.shutdown_now().into_iter();
        assert_eq!(service.outstanding(), 2);
        assert!(taker.still_waits());
        handed_back.next().unwrap().run();
        drop(handed_back);
        assert_eq!(taker.result(), [Some(0), None]);
        drop(busy);
    });
}

#[test]
fn an_executor_that_says_refused_and_runs_it_all_the_same_does_not_confuse_the_service() {
    within_deadline(|| {
        struct Liar;
        impl Executor for Liar {
            fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
                task.run();
                Err(RejectedExecution { reason: RejectReason::Saturated, task: Task::new(|| ()) })
            }
        }
        let service = ExecutorCompletionService::new(Liar);
        let refused = service.submit(|| 1).unwrap_err();
        assert_eq!(refused.handle.join().unwrap(), 1);
        assert_matches!(service.take(), Ok(None));
    });
}

// ----- no user code under a lock -----

/// A value whose destructor uses the service.
struct Nosy(Arc<ExecutorCompletionService<DirectExecutor, Nosy>>, Signal);

impl Drop for Nosy {
    fn drop(&mut self) {
        let _ = self.0.outstanding();
        let _ = self.0.try_take();
        self.1.set();
    }
}

#[test]
fn results_that_look_at_the_service_when_they_are_dropped_find_it_unlocked() {
    within_deadline(|| {
        let service = Arc::new(ExecutorCompletionService::new(DirectExecutor));
        let dropped = Signal::new();
        for _ in 0..2 {
            let nosy = Nosy(Arc::clone(&service), dropped.clone());
            service.submit(move || nosy).unwrap();
        }
        drop(service.take());
        assert!(dropped.is_set());
        // A cancelled task drops its captured values.
        let nosy = Nosy(Arc::clone(&service), Signal::new());
        let task = FutureTask::new(move || nosy);
        task.handle.cancel();
        service.submit(task).unwrap();
        assert_eq!(take_all(&service).len(), 1, "the other one was dropped by the first");
    });
}

#[test]
fn dropping_the_service_drops_the_results_and_lets_the_tasks_go_on() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (captured, is_alive) = tracked();
        let (release, ran) = (Signal::new(), Signal::new());
        let service = ExecutorCompletionService::new(&pool);
        service.submit(|| None).unwrap();
        service
            .submit({
                let (release, ran) = (release.clone(), ran.clone());
                move || {
                    release.wait();
                    ran.set();
                    Some(captured)
                }
            })
            .unwrap();
        drop(service);
        release.set();
        pool.close();
        assert!(ran.is_set());
        assert!(!is_alive(), "no taker was left");
    });
}

#[test]
fn results_that_panic_when_dropped_do_no_harm() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let service: ExecutorCompletionService<_, Bomb> =
            ExecutorCompletionService::new(ThreadPerTaskExecutor::new());
        for _ in 0..3 {
            let bomb = explosions.bomb();
            service.submit(move || bomb).unwrap();
        }
        drop(service.take().unwrap());
        drop(service);
        eventually("all went off", || explosions.count() == 3);
    });
}

#[test]
fn it_says_what_it_has() {
    let service = ExecutorCompletionService::new(DirectExecutor);
    service.submit(|| ()).unwrap();
    assert_eq!(
        format!("{service:?}"),
        "ExecutorCompletionService { executor: DirectExecutor, outstanding: 1 }"
    );
    let DirectExecutor = service.executor();
}
