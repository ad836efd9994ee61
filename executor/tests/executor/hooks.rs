//! Tests the hooks that a pool calls before and after each task, before and after each thread, and at the
//! pool's end; also tests some uses of these hooks.

use std::sync::{Arc, OnceLock};
use std::thread;

use executor::panics::PanicReport;
use executor::{
    ExecutorService, FutureTask, Hooks, JoinError, Outcome, PoolState, Task, TaskInfo, ThreadFactory,
    ThreadPoolExecutor, Timing, Worker, prelude::*, recommended_threads,
};

use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, eventually, occupy, occupy_all, rounds, within_deadline,
};

/// Hooks that record every call; the chosen hook also panics.
#[derive(Clone)]
struct Noting {
    calls: Record<String>,
    panics_in: Option<&'static str>,
}

impl Noting {
    fn new() -> Self {
        Self { calls: Record::new(), panics_in: None }
    }

    fn note(&self, hook: &'static str, more: &str) {
        let text = format!("{hook} {more}");
        self.calls.add(text.trim().to_owned());
        assert!(self.panics_in != Some(hook), "in {hook}");
    }
}

fn name(task: &TaskInfo<'_>) -> String {
    task.name.map_or_else(|| "-".to_owned(), str::to_owned)
}

impl Hooks for Noting {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.note("before", &name(task));
    }
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let outcome = match outcome {
            Outcome::Panicked(panic) => panic.message().to_owned(),
            other => format!("{other:?}"),
        };
        self.note("after", &format!("{} {outcome}", name(task)));
    }
    fn worker_started(&self) {
        self.note("started", "");
    }
    fn worker_ended(&self) {
        self.note("ended", "");
    }
    fn terminated(&self) {
        self.note("terminated", "");
    }
}

/// A pool with hooks takes tasks into its inbox by another way than a pool without hooks. A shutdown closes
/// this way, too.
#[test]
fn a_pool_with_hooks_refuses_tasks_after_its_shutdown() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().threads(1).hooks(Noting::new()).build().unwrap();
        let busy = occupy(&pool);
        let ran = Record::new();
        for number in 0..3 {
            let ran = ran.clone();
            pool.execute(move || ran.add(number)).unwrap();
        }
        pool.shutdown();
        let late = ran.clone();
        assert!(pool.execute(move || late.add(3)).is_err());
        drop(busy);
        pool.close();
        assert_eq!(ran.so_far(), [0, 1, 2]);
    });
}

/// HOOK-2
#[test]
fn the_hooks_are_called_around_each_task_and_each_thread_and_told_how_it_ended() {
    within_deadline(|| {
        let hooks = Noting::new();
        let pool = ThreadPoolExecutor::builder().hooks(hooks.clone()).build().unwrap();
        let body = |text: &'static str| {
            let hooks = hooks.clone();
            move || hooks.note("body", text)
        };
        pool.execute(Task::new(body("a")).named("a")).unwrap();
        drop(pool.submit(FutureTask::new(body("b")).named("b")).unwrap().join());
        pool.execute(|| std::panic::resume_unwind(Box::new("oh"))).unwrap();
        drop(pool.submit_cancellable(|_| Err::<(), _>(executor::Cancelled)).unwrap().join());
        pool.close();
        eventually("the thread has ended", || hooks.calls.len() == 13);
        assert_eq!(
            hooks.calls.so_far(),
            [
                "started",
                "before a",
                "body a",
                "after a Completed",
                "before b",
                "body b",
                "after b Completed",
                "before -",
                "after - oh",
                "before -",
                "after - Cancelled",
                "terminated",
                "ended",
            ]
        );
    });
}

/// The hooks of a task run on the task's thread, and get the task's id.
#[test]
fn the_hooks_run_on_the_thread_of_the_task_and_are_told_its_id() {
    struct Where(Record<(thread::ThreadId, executor::TaskId)>);
    impl Hooks for Where {
        fn before_execute(&self, task: &TaskInfo<'_>) {
            self.0.add((thread::current().id(), task.id));
        }
        fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
            self.0.add((thread::current().id(), task.id));
        }
    }
    within_deadline(|| {
        let calls = Record::new();
        let pool = ThreadPoolExecutor::builder().hooks(Where(calls.clone())).build().unwrap();
        let handle = pool.submit(|| thread::current().id()).unwrap();
        let id = handle.id();
        let there = handle.join().unwrap();
        assert_eq!(calls.so_far(), [(there, id), (there, id)], "both, before the result could be had");
    });
}

/// A thread that has joined a task sees the changes that the task's after-hook has made.
#[test]
fn what_the_after_hook_did_is_visible_to_whoever_has_joined() {
    within_deadline(|| {
        let hooks = Noting::new();
        let pool = ThreadPoolExecutor::builder().threads(2).hooks(hooks.clone()).build().unwrap();
        for n in rounds(200) {
            pool.submit(|| ()).unwrap().join().unwrap();
            let after = hooks.calls.so_far().iter().filter(|call| call.starts_with("after")).count();
            assert_eq!(after, n + 1);
        }
    });
}

/// SLIP-5
#[test]
fn the_terminated_hook_is_called_once_before_the_pool_counts_as_terminated() {
    #[derive(Clone, Default)]
    struct AtTheEnd {
        pool: Arc<OnceLock<std::sync::Weak<ThreadPoolExecutor>>>,
        seen: Arc<OnceLock<(PoolState, bool, bool, bool)>>,
    }
    impl Hooks for AtTheEnd {
        fn terminated(&self) {
            let pool = self.pool.get().unwrap().upgrade().unwrap();
            let state = pool.stats().state;
            assert!(state.is_terminating());
            let seen = (state, pool.is_shutdown(), pool.is_terminated(), pool.await_termination(SHORT));
            self.seen.set(seen).expect("it is called once");
        }
    }
    within_deadline(|| {
        for with_threads in [false, true] {
            let hooks = AtTheEnd::default();
            let pool =
                Arc::new(ThreadPoolExecutor::builder().threads(2).hooks(hooks.clone()).build().unwrap());
            hooks.pool.set(Arc::downgrade(&pool)).unwrap();
            if with_threads {
                drop(occupy_all(&*pool, 2));
            }
            pool.shutdown();
            pool.shutdown();
            drop(pool.shutdown_now());
            assert!(pool.await_termination(LONG));
            assert_eq!(*hooks.seen.get().unwrap(), (PoolState::Tidying, true, false, false));
            assert!(!pool.stats().state.is_terminating() && pool.is_terminated());
        }
    });
}

#[test]
fn whoever_waits_for_the_end_waits_for_the_terminated_hook() {
    struct Slow(Signal, Signal);
    impl Hooks for Slow {
        fn terminated(&self) {
            self.0.set();
            self.1.wait();
        }
    }
    within_deadline(|| {
        let (began, go) = (Signal::new(), Signal::new());
        let pool = ThreadPoolExecutor::builder().hooks(Slow(began.clone(), go.clone())).build().unwrap();
        pool.submit(|| ()).unwrap().join().unwrap();
        pool.shutdown();
        began.wait();
        assert!(!pool.await_termination(SHORT));
        go.set();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn each_thread_is_announced_when_it_begins_and_when_it_ends() {
    within_deadline(|| {
        let hooks = Noting::new();
        let pool = ThreadPoolExecutor::builder().threads(3).keep_alive(SHORT).hooks(hooks.clone());
        let pool = pool.core_timeout(true).build().unwrap();
        let count = |what: &str| hooks.calls.so_far().iter().filter(|call| *call == what).count();
        drop(occupy_all(&pool, 3));
        assert_eq!(count("started"), 3);
        eventually("all three threads have called the hook at their end", || count("ended") == 3);
        assert_eq!(pool.stats().threads, 0);
    });
}

/// Tests HOOK-3, and also tests a panic in each of the other hooks: no thread, task or count is lost, and the
/// panic handler gets the report.
#[test]
fn a_panic_in_a_hook_is_reported_and_costs_nothing() {
    within_deadline(|| {
        for hook in ["started", "before", "after", "ended", "terminated"] {
            let hooks = Noting { panics_in: Some(hook), ..Noting::new() };
            let reports = Record::new();
            let pool = ThreadPoolExecutor::builder().threads(2).hooks(hooks.clone()).panic_handler({
                let reports = reports.clone();
                move |report: &PanicReport<'_>| {
                    reports.add((report.message.to_owned(), report.task.is_some()));
                }
            });
            let pool = pool.build().unwrap();
            for n in 0..10 {
                assert_eq!(pool.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n, "{hook}");
                pool.execute(|| ()).unwrap();
            }
            let failed = pool.submit(|| -> () { std::panic::resume_unwind(Box::new("body")) }).unwrap();
            assert_matches!(failed.join(), Err(JoinError::Panicked(panic)) if panic.message() == "body");
            eventually("it is idle", || pool.stats().completed == 21);
            assert_eq!((pool.stats().threads, pool.stats().panicked), (2, 1), "{hook}");
            pool.close();
            let expected = match hook {
                "terminated" => 1,
                "started" | "ended" => 2,
                _ => 21,
            };
            eventually("all are reported", || reports.len() == expected);
            assert!(reports.so_far().iter().all(|report| *report == (format!("in {hook}"), false)));
        }
    });
}

/// A hook is user code, so it runs outside the pool's locks.
#[test]
fn every_hook_may_use_its_pool() {
    #[derive(Clone, Default)]
    struct Busybody {
        pool: Arc<OnceLock<std::sync::Weak<ThreadPoolExecutor>>>,
        calls: Arc<std::sync::atomic::AtomicUsize>,
    }
    impl Busybody {
        fn meddle(&self) {
            self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let Some(pool) = self.pool.get().and_then(std::sync::Weak::upgrade) else { return };
            let _ = (pool.stats(), pool.snapshot().to_string(), pool.purge());
            let _ = (pool.set_keep_alive(LONG), pool.prestart_core_thread());
        }
    }
    impl Hooks for Busybody {
        fn before_execute(&self, _: &TaskInfo<'_>) {
            self.meddle();
        }
        fn after_execute(&self, _: &TaskInfo<'_>, _: &Outcome) {
            self.meddle();
        }
        fn worker_started(&self) {
            self.meddle();
        }
        fn worker_ended(&self) {
            self.meddle();
        }
        fn terminated(&self) {
            self.meddle();
        }
    }
    within_deadline(|| {
        let hooks = Busybody::default();
        let pool = Arc::new(ThreadPoolExecutor::builder().hooks(hooks.clone()).build().unwrap());
        hooks.pool.set(Arc::downgrade(&pool)).unwrap();
        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        pool.shutdown();
        assert!(pool.await_termination(LONG));
        eventually("all hooks were called", || hooks.calls.load(std::sync::atomic::Ordering::SeqCst) == 5);
    });
}

/// The behaviour SLIP-4, and a before-hook that cancels the hook's own task: the body does not run, but the
/// after-hook is called.
#[test]
fn a_task_that_is_cancelled_by_its_before_hook_does_not_begin() {
    #[derive(Clone, Default)]
    struct Bouncer(Arc<OnceLock<executor::Canceller>>, Arc<OnceLock<String>>);
    impl Hooks for Bouncer {
        fn before_execute(&self, _: &TaskInfo<'_>) {
            if let Some(canceller) = self.0.get() {
                canceller.cancel();
            }
        }
        fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
            if self.0.get().is_some() {
                self.1.set(format!("{outcome:?}")).unwrap();
            }
        }
    }
    within_deadline(|| {
        let hooks = Bouncer::default();
        let pool = ThreadPoolExecutor::builder().hooks(hooks.clone()).build().unwrap();
        let busy = occupy(&pool);
        let ran = Signal::new();
        let there = ran.clone();
        let handle = pool.submit(move || there.set()).unwrap();
        hooks.0.set(handle.canceller()).unwrap();
        drop(busy);
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        // The pool also calls the hooks for the other task, which kept the thread busy; this call may also
        // have counted.
        pool.close();
        assert!(!ran.is_set());
        assert_eq!((hooks.1.get().is_some(), pool.stats().completed), (true, 2));
    });
}

#[test]
fn a_timing_pool_adds_up_its_tasks_and_logs_at_the_end() {
    within_deadline(|| {
        let log = Record::new();
        let timing = Arc::new(Timing::logging({
            let log = log.clone();
            move |timing| log.add((timing.tasks(), timing.to_string()))
        }));
        assert_eq!((timing.mean(), timing.to_string()), (None, "0 tasks in 0ns".to_owned()));
        let pool = ThreadPoolExecutor::builder().threads(2).hooks(Arc::clone(&timing)).build().unwrap();
        for _ in 0..4 {
            pool.submit_cancellable(|token| token.sleep(SHORT)).unwrap().join().unwrap();
        }
        pool.execute(|| std::panic::resume_unwind(Box::new("counts, too"))).unwrap();
        pool.close();
        assert_eq!(timing.tasks(), 5);
        assert!(timing.total() >= 4 * SHORT && timing.mean().unwrap() >= 4 * SHORT / 5);
        let log = log.so_far();
        assert_eq!((log.len(), log[0].0), (1, 5));
        assert!(log[0].1.starts_with("5 tasks in ") && log[0].1.ends_with(" each"), "{}", log[0].1);
    });
}

/// Tests a combination of two sets of hooks: both before and after a task, the pool calls the hooks of the
/// first set first.
struct Both<A, B>(A, B);

impl<A: Hooks, B: Hooks> Hooks for Both<A, B> {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.0.before_execute(task);
        self.1.before_execute(task);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        self.0.after_execute(task, outcome);
        self.1.after_execute(task, outcome);
    }
}

#[test]
fn two_of_a_kind_in_one_hook_do_not_disturb_each_other() {
    within_deadline(|| {
        let timings = [(); 2].map(|()| Arc::new(Timing::new()));
        let [first, second] = timings.clone();
        let pool = ThreadPoolExecutor::builder().hooks(Both(first, second)).build().unwrap();
        for _ in 0..5 {
            pool.submit_cancellable(|token| token.sleep(SHORT)).unwrap().join().unwrap();
        }
        assert_eq!(timings.each_ref().map(|timing| timing.tasks()), [5, 5]);
        assert!(timings.iter().all(|timing| timing.total() >= 5 * SHORT));
    });
}

/// A pool whose threads are workers of another pool. Each worker of the other pool runs this pool's tasks
/// inside one task of the other pool.
struct Lent(Arc<ThreadPoolExecutor>);

impl ThreadFactory for Lent {
    fn start(&self, worker: Worker) -> std::io::Result<()> {
        self.0.execute(|| worker.run()).map_err(|refused| std::io::Error::other(refused.to_string()))
    }
}

#[test]
fn a_task_that_runs_inside_another_is_timed_apart() {
    within_deadline(|| {
        let timing = Arc::new(Timing::new());
        let lending = ThreadPoolExecutor::builder().hooks(Arc::clone(&timing)).build().unwrap();
        let lending = Arc::new(lending);
        let borrowing = ThreadPoolExecutor::builder().hooks(Arc::clone(&timing));
        let borrowing = borrowing.thread_factory(Lent(Arc::clone(&lending))).build().unwrap();
        borrowing.submit(|| ()).unwrap().join().unwrap();
        borrowing.close();
        lending.close();
        assert_eq!(timing.tasks(), 2, "the task, and the worker that was one");
    });
}

#[test]
fn the_formula_gives_at_least_one_thread_and_bears_nonsense() {
    assert_eq!(recommended_threads(4, 1.0, 0.0), 4);
    assert_eq!(recommended_threads(4, 0.5, 3.0), 8);
    assert_eq!((recommended_threads(3, 0.4, 0.0), recommended_threads(3, 0.6, 0.0)), (1, 2), "rounded");
    assert_eq!(recommended_threads(4, 0.0, 0.0), 1);
    assert_eq!(recommended_threads(0, 1.0, 0.0), 1);
    assert_eq!(recommended_threads(4, 7.0, -3.0), 4);
    assert_eq!(recommended_threads(4, f64::NAN, 0.0), 1);
    assert_eq!(recommended_threads(4, 1.0, f64::INFINITY), usize::MAX);
}

#[cfg(feature = "processor-time")]
mod processor_time {
    use std::time::Duration;

    use executor::WaitCompute;

    use super::*;

    #[test]
    fn tasks_that_wait_ask_for_more_threads_than_tasks_that_compute() {
        within_deadline(|| {
            let measure = |compute: Duration, wait: Duration| {
                let measured = Arc::new(WaitCompute::new());
                assert_eq!((measured.ratio(), measured.recommended_threads(1.0)), (None, None));
                let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&measured)).build().unwrap();
                let task = pool.submit_cancellable(move |token| {
                    let begin = cpu_time::ThreadTime::now();
                    while begin.elapsed() < compute {
                        std::hint::black_box(0);
                    }
                    token.sleep(wait)
                });
                task.unwrap().join().unwrap();
                (measured.ratio().unwrap(), measured.recommended_threads(1.0).unwrap())
            };
            let ms = Duration::from_millis;
            let (mostly_waits, many) = measure(ms(5), ms(50));
            // The task waited for at least the 50 ms that it slept. For the task's computing time, the test
            // knows only a lower bound.
            assert!(mostly_waits > 2.0, "{mostly_waits}");
            assert!(
                many >= recommended_threads(thread::available_parallelism().unwrap().get(), 1.0, 2.0),
                "{many}"
            );
        });
    }
}
