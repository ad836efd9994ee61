//! What happens to the lower executor when an executor above it ends: the lower executor either continues or
//! ends, too.

use std::sync::{Arc, Barrier, mpsc};
use std::time::Duration;

use executor::{
    BoundedExecutor, CancelKind, CancelToken, DirectExecutor, Executor, ExecutorService, FutureTask,
    JoinError, RejectReason, RejectedExecution, SerialExecutor, StripedExecutor, Task, TaskHandle, TaskState,
    ThreadPerTaskExecutor, ThreadPoolExecutor, TrackingExecutor, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, assert_matches, blocked, eventually, occupy, on_thread, rounds, within_deadline,
};

fn pool() -> Arc<ThreadPoolExecutor> {
    Arc::new(ThreadPoolExecutor::fixed(1))
}

/// A striped executor of which the tests use only one stripe.
struct OneStripe(StripedExecutor<u8, Arc<ThreadPoolExecutor>>);

impl Executor for OneStripe {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.0.execute_in(0, task)
    }
}

impl ExecutorService for OneStripe {
    fn shutdown(&self) {
        self.0.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.0.shutdown_now()
    }

    fn is_shutdown(&self) -> bool {
        self.0.is_shutdown()
    }

    fn is_terminated(&self) -> bool {
        self.0.is_terminated()
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.0.await_termination(timeout)
    }

    fn close(&self) {
        self.0.close();
    }
}

/// Each kind of executor that passes its tasks on unchanged, and that can end while the executor below it
/// continues to work.
fn over(pool: &Arc<ThreadPoolExecutor>) -> Vec<Arc<dyn ExecutorService>> {
    vec![
        Arc::new(BoundedExecutor::over(Arc::clone(pool), 100)),
        Arc::new(TrackingExecutor::over(Arc::clone(pool))),
        Arc::new(StripedExecutor::<u8, _>::over(Arc::clone(pool))),
    ]
}

/// Each kind of executor that puts its tasks into strands, and that can end while the executor below it
/// continues to work. The executor below takes out or refuses only the drain task of a strand, never a single
/// task of the strand; other tests check this behaviour.
fn lines(pool: &Arc<ThreadPoolExecutor>) -> Vec<Arc<dyn ExecutorService>> {
    vec![
        Arc::new(SerialExecutor::over(Arc::clone(pool))),
        Arc::new(OneStripe(StripedExecutor::over(Arc::clone(pool)))),
    ]
}

/// Each kind of executor whose end also ends the executor below it.
fn owning(pool: &Arc<ThreadPoolExecutor>) -> Vec<Arc<dyn ExecutorService>> {
    vec![
        Arc::new(BoundedExecutor::owning(Arc::clone(pool), 100)),
        Arc::new(TrackingExecutor::owning(Arc::clone(pool))),
        Arc::new(StripedExecutor::<u8, _>::owning(Arc::clone(pool))),
        Arc::new(SerialExecutor::owning(Arc::clone(pool))),
        Arc::new(OneStripe(StripedExecutor::owning(Arc::clone(pool)))),
    ]
}

/// Each kind of executor that [`over`] returns, with two more executors above it.
fn stacks(pool: &Arc<ThreadPoolExecutor>) -> Vec<Arc<dyn ExecutorService>> {
    let once = over(pool).into_iter().map(TrackingExecutor::over);
    let twice = once.map(|below| Arc::new(BoundedExecutor::over(below, 100)) as Arc<dyn ExecutorService>);
    twice.collect()
}

/// Runs a test with each executor that can end while its pool continues. Each of these executors has its own
/// pool of one thread.
fn on_each(test: impl Fn(&Arc<dyn ExecutorService>, &Arc<ThreadPoolExecutor>)) {
    on_each_that_passes_on(&test);
    on_each_of(lines, test);
}

/// Runs a test with each executor that has no strands and that can end while its pool continues.
fn on_each_that_passes_on(test: impl Fn(&Arc<dyn ExecutorService>, &Arc<ThreadPoolExecutor>)) {
    on_each_of(over, &test);
    on_each_of(stacks, test);
}

fn on_each_of(
    kinds: fn(&Arc<ThreadPoolExecutor>) -> Vec<Arc<dyn ExecutorService>>,
    test: impl Fn(&Arc<dyn ExecutorService>, &Arc<ThreadPoolExecutor>),
) {
    for n in 0..kinds(&pool()).len() {
        let pool = pool();
        test(&kinds(&pool)[n], &pool);
        pool.close();
    }
}

/// Runs a test with each executor that owns its pool.
fn on_each_owner(test: impl Fn(&Arc<dyn ExecutorService>, &Arc<ThreadPoolExecutor>)) {
    for n in 0..owning(&pool()).len() {
        let pool = pool();
        test(&owning(&pool)[n], &pool);
    }
}

fn ids(tasks: &[Task]) -> Vec<executor::TaskId> {
    tasks.iter().map(Task::id).collect()
}

#[test]
fn what_was_accepted_still_runs_and_what_comes_later_is_refused() {
    within_deadline(|| {
        on_each(|service, pool| {
            let busy = occupy(&**service);
            let accepted = service.submit(|| 1).unwrap();
            assert!(!service.is_shutdown() && !service.is_terminated());
            service.shutdown();
            service.shutdown();
            assert!(service.is_shutdown() && !service.is_terminated());
            let refused = service.execute_task(Task::new(|| ()).named("late")).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Shutdown);
            assert_eq!(refused.task.name(), Some("late"));
            assert!(!service.await_termination(SHORT));
            drop(busy);
            assert!(service.await_termination(LONG) && service.is_terminated());
            assert_eq!(accepted.join().unwrap(), 1);
            assert_eq!(pool.submit(|| 2).unwrap().join().unwrap(), 2, "the executor below goes on");
        });
    });
}

#[test]
fn one_that_has_nothing_under_way_is_over_at_once() {
    on_each(|service, _| {
        assert!(!service.await_termination(SHORT));
        service.shutdown();
        assert!(service.is_terminated() && service.await_termination(SHORT));
        assert!(service.shutdown_now().is_empty());
        service.close();
    });
}

#[test]
fn its_own_tasks_come_back_and_those_of_others_stay() {
    within_deadline(|| {
        on_each(|service, pool| {
            let busy = occupy(pool);
            let mut own = Vec::new();
            let mut others = Vec::new();
            for n in 0..5 {
                own.push(service.submit(FutureTask::new(move || n).named(format!("own {n}"))).unwrap());
                others.push(pool.submit(move || 10 + n).unwrap());
            }
            assert!(own[1].cancel());
            let back = service.shutdown_now();
            let expected: Vec<_> = [0, 2, 3, 4].map(|n: usize| own[n].id()).into();
            assert_eq!((ids(&back), back[1].name()), (expected, Some("own 2")));
            assert!(service.is_terminated(), "no task of the service is under way");
            assert_eq!((pool.queued(), own[0].state()), (5, TaskState::Pending));
            drop(busy);
            assert_eq!(others.into_iter().map(|other| other.join().unwrap()).sum::<i32>(), 60);
            back.into_iter().take(2).for_each(|task| drop(task.run()));
            let ends: Vec<_> = own.into_iter().map(|own| own.join().ok()).collect();
            assert_eq!(ends, [Some(0), None, Some(2), None, None]);
        });
    });
}

/// A task that reports when it begins, and ends when it is cancelled.
fn until_cancelled(executor: &(impl Executor + ?Sized)) -> TaskHandle<CancelKind> {
    let (begun, is_begun) = mpsc::channel();
    let task = FutureTask::new(move || {
        begun.send(()).unwrap();
        let cancelled = CancelToken::current().sleep(LONG).unwrap_err();
        cancelled.reason().unwrap().kind()
    });
    let handle = executor.submit(task).unwrap();
    is_begun.recv_timeout(LONG).unwrap();
    handle
}

#[test]
fn the_tokens_of_its_own_running_tasks_are_cancelled_and_no_others() {
    within_deadline(|| {
        on_each(|service, pool| {
            pool.set_threads(2).unwrap();
            let (own, other) = (until_cancelled(service), until_cancelled(pool));
            assert!(service.shutdown_now().is_empty());
            assert_eq!(own.join().unwrap(), CancelKind::Shutdown);
            assert!(service.await_termination(LONG));
            assert!(!other.is_finished());
            assert!(pool.shutdown_now().is_empty());
            assert_eq!(other.join().unwrap(), CancelKind::Shutdown);
        });
    });
}

#[test]
fn the_executor_below_cancels_them_as_well() {
    within_deadline(|| {
        on_each(|service, pool| {
            let own = until_cancelled(service);
            assert!(pool.shutdown_now().is_empty());
            assert_eq!(own.join().unwrap(), CancelKind::Shutdown);
        });
    });
}

/// Returns two flags; each flag says whether the calling task is asked to stop. The first flag is the answer
/// of a wait, which makes no token. The second flag is the answer of the task's token.
fn is_asked_to_stop() -> (bool, bool) {
    (executor::Latch::new(0).wait().is_err(), CancelToken::current().is_cancelled())
}

#[test]
fn a_task_that_runs_inline_hangs_below_its_submitter_and_its_executor() {
    for by_the_executor in [false, true] {
        for masks in [false, true] {
            let bounded = Arc::new(BoundedExecutor::over(DirectExecutor, 1));
            let (own, submitter) = (Arc::clone(&bounded), CancelToken::new());
            let token = submitter.clone();
            let task = FutureTask::new(move || {
                if by_the_executor {
                    assert!(own.shutdown_now().is_empty());
                } else {
                    token.cancel();
                }
                is_asked_to_stop()
            });
            let submit = || bounded.submit(task).unwrap().join().unwrap();
            let seen = submitter.attach(|| if masks { executor::masked(submit) } else { submit() });
            let expected = by_the_executor || !masks;
            assert_eq!(seen, (expected, expected), "by the executor: {by_the_executor}, masked: {masks}");
        }
    }
}

#[test]
fn what_another_has_taken_out_and_keeps_is_not_waited_for() {
    within_deadline(|| {
        on_each_that_passes_on(|service, pool| {
            let busy = occupy(&**service);
            let (kept, dropped) = (service.submit(|| 1).unwrap(), service.submit(|| 2).unwrap());
            let mut back = pool.shutdown_now();
            assert_eq!(ids(&back), [kept.id(), dropped.id()]);
            drop(back.pop());
            assert_matches!(dropped.join(), Err(JoinError::Cancelled(_)));
            let refused = service.execute(|| ()).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Shutdown);
            drop(busy);
            service.close(); // although the test still has one task
            assert!(service.is_terminated());
            back.pop().unwrap().run();
            assert_eq!(kept.join().unwrap(), 1);
        });
    });
}

#[test]
fn what_another_has_taken_out_and_runs_is_waited_for() {
    within_deadline(|| {
        on_each_that_passes_on(|service, pool| {
            let busy = occupy(pool);
            let (begun, end) = (Signal::new(), Signal::new());
            let (is_begun, until) = (begun.clone(), end.clone());
            let handle = service.submit(move || {
                is_begun.set();
                until.wait();
            });
            let task = handle.unwrap().remove().unwrap();
            let runs = on_thread(move || drop(task.run()));
            begun.wait();
            service.shutdown();
            assert!(!service.await_termination(SHORT));
            end.set();
            assert!(service.await_termination(LONG));
            runs.result();
            drop(busy);
        });
    });
}

#[test]
fn closing_waits_until_the_last_outcome_can_be_seen() {
    within_deadline(|| {
        for _ in rounds(300) {
            on_each(|service, _| {
                let handles: Vec<_> = (0..3).map(|n| service.submit(move || n).unwrap()).collect();
                service.close();
                assert!(service.is_terminated() && handles.iter().all(TaskHandle::is_finished));
            });
        }
    });
}

#[test]
fn one_that_is_closed_by_its_own_task_does_not_wait_for_itself() {
    within_deadline(|| {
        for close_in_a_callback in [false, true] {
            on_each(|service, pool| {
                let (own, begin) = (Arc::clone(service), Signal::new());
                let (told, is_told) = mpsc::channel();
                let close = move || {
                    own.close();
                    told.send(own.is_shutdown() && !own.is_terminated()).unwrap();
                };
                let until = begin.clone();
                if close_in_a_callback {
                    service.submit(move || until.wait()).unwrap().on_done(move |_| close());
                } else {
                    service.execute(close).unwrap();
                }
                begin.set();
                assert!(is_told.recv_timeout(LONG).unwrap());
                assert!(service.await_termination(LONG));
                pool.submit(|| ()).unwrap().join().unwrap();
            });
        }
    });
}

#[test]
fn a_closing_task_that_is_cancelled_stops_what_runs_and_drops_what_waits() {
    within_deadline(|| {
        on_each(|service, _| {
            let (running, waiting) = (until_cancelled(service), service.submit(|| ()).unwrap());
            let (token, own) = (CancelToken::new(), Arc::clone(service));
            let asked = token.clone();
            let closes = blocked(move || asked.attach(|| own.close()));
            assert!(closes.still_waits());
            token.cancel();
            closes.result();
            assert_matches!(waiting.join(), Err(JoinError::Cancelled(_)));
            assert_eq!(running.join().unwrap(), CancelKind::Shutdown);
        });
    });
}

#[test]
fn an_owner_ends_its_service() {
    within_deadline(|| {
        on_each_owner(|owner, pool| {
            let busy = occupy(&**owner);
            owner.shutdown();
            assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
            assert!(!owner.is_terminated() && !owner.await_termination(SHORT));
            drop(busy);
            assert!(owner.await_termination(LONG) && pool.is_terminated());
        });
        on_each_owner(|owner, pool| {
            let last = owner.submit(|| 3).unwrap();
            owner.close();
            assert!(last.is_finished() && pool.is_terminated() && owner.is_terminated());
        });
        on_each_owner(|owner, pool| {
            let busy = occupy(pool);
            owner.shutdown(); // it has no tasks of its own under way
            assert!(!owner.is_terminated() && !owner.await_termination(SHORT));
            drop(busy);
            assert!(owner.await_termination(LONG));
        });
    });
}

#[test]
fn an_owner_hands_out_all_that_its_service_has() {
    within_deadline(|| {
        on_each_owner(|owner, pool| {
            let running = until_cancelled(pool);
            let (own, other) = (owner.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap());
            let back = owner.shutdown_now();
            assert_eq!(ids(&back).len(), 2);
            assert_eq!(running.join().unwrap(), CancelKind::Shutdown);
            assert!(owner.await_termination(LONG), "what is handed out is not under way");
            for task in back {
                task.run();
            }
            assert_eq!((own.join().unwrap(), other.join().unwrap()), (1, 2));
        });
    });
}

#[test]
fn an_owner_that_is_closed_by_a_task_of_its_service_does_not_wait_for_itself() {
    within_deadline(|| {
        on_each_owner(|owner, pool| {
            let begin = Signal::new();
            let (own, until) = (Arc::clone(owner), begin.clone());
            let closes = pool.submit(move || {
                until.wait();
                own.close();
            });
            let behind = owner.submit(|| 4).unwrap();
            begin.set();
            closes.unwrap().join_timeout(LONG).unwrap();
            assert_eq!(behind.join_timeout(LONG).unwrap(), 4);
            assert!(owner.await_termination(LONG));
        });
    });
}

#[test]
fn dropping_one_that_is_over_another_neither_waits_nor_cancels() {
    within_deadline(|| {
        for n in 0..over(&pool()).len() + lines(&pool()).len() {
            let pool = pool();
            let busy = occupy(&pool);
            let service = over(&pool).into_iter().chain(lines(&pool)).nth(n).unwrap();
            let handle = service.submit(|| 5).unwrap();
            drop(service);
            assert!(!handle.is_finished());
            drop(busy);
            assert_eq!(handle.join().unwrap(), 5);
        }
    });
}

#[test]
fn dropping_an_owner_drops_its_service_which_waits() {
    within_deadline(|| {
        let handle = {
            let owner = BoundedExecutor::owning(ThreadPoolExecutor::fixed(1), 2);
            let _first = owner.submit(|| ()).unwrap();
            owner.submit(|| 6).unwrap()
        };
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap(), 6);
    });
}

#[test]
fn a_shutdown_beside_submissions_accepts_each_or_refuses_it() {
    within_deadline(|| {
        for now in [false, true] {
            for _ in rounds(100) {
                on_each(|service, _| {
                    let (own, start) = (Arc::clone(service), Arc::new(Barrier::new(2)));
                    let begin = Arc::clone(&start);
                    let submits = on_thread(move || {
                        begin.wait();
                        (0..20).map(|n| own.submit(move || n)).collect::<Vec<_>>()
                    });
                    start.wait();
                    let back = if now { service.shutdown_now() } else { shut_down(&**service) };
                    let results = submits.result();
                    assert!(service.await_termination(LONG));
                    let accepted = results.into_iter().filter_map(Result::ok).collect::<Vec<_>>();
                    let finished = accepted.iter().filter(|handle| handle.is_finished()).count();
                    assert_eq!(finished + back.len(), accepted.len());
                });
            }
        }
    });
}

/// Calls `shutdown`, and returns no task, because `shutdown` hands out no tasks.
fn shut_down(service: &dyn ExecutorService) -> Vec<Task> {
    service.shutdown();
    Vec::new()
}

#[test]
fn over_one_thread_per_task_the_end_comes_with_the_last_thread() {
    within_deadline(|| {
        let bounded = BoundedExecutor::over(ThreadPerTaskExecutor, 9);
        let running = [(); 3].map(|()| until_cancelled(&bounded));
        assert!(bounded.shutdown_now().is_empty());
        assert!(bounded.await_termination(LONG));
        assert!(running.iter().all(TaskHandle::is_finished));
        eventually("all permits are back", || bounded.under_way() == 0);
    });
}

#[test]
fn a_task_that_waits_for_one_behind_it_is_told_that_it_starves() {
    within_deadline(|| {
        on_each(|service, _| {
            let own = Arc::clone(service);
            let waits = service
                .submit(move || matches!(own.submit(|| ()).unwrap().join(), Err(JoinError::Starved(..))));
            assert!(waits.unwrap().join_timeout(LONG).unwrap());
        });
    });
}

/// A task holds the only permit and asks for a second permit; the bounded executor has other executors above
/// or below it.
#[test]
fn the_permits_of_a_stack_are_known_by_their_tasks() {
    within_deadline(|| {
        for is_above in [false, true] {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1));
            let (upper, lower) = if is_above { (1, 9) } else { (9, 1) };
            let stack = TrackingExecutor::over(BoundedExecutor::over(Arc::clone(&pool), lower));
            let stack = Arc::new(BoundedExecutor::over(stack, upper));
            let own = Arc::clone(&stack);
            let wants_another = move || {
                let refused = own.execute(|| ()).unwrap_err();
                matches!(refused.reason, RejectReason::Starved(_))
            };
            assert!(stack.submit(wants_another).unwrap().join_timeout(LONG).unwrap());
            // The library also knows the holder of a permit while the holder's task is in the queue.
            let own = Arc::clone(&stack);
            let waits = pool.submit(move || {
                own.execute(|| ()).unwrap();
                let refused = own.execute(|| ()).unwrap_err();
                matches!(refused.reason, RejectReason::Starved(_))
            });
            assert!(waits.unwrap().join_timeout(LONG).unwrap());
        }
    });
}
