//! Tests the numbers that operators should watch: how many tasks end in each way, and how long tasks take.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    Abort, Block, CallerRuns, CancelKind, CancelToken, Cancelled, Discard, DiscardOldest, FifoQueue,
    FutureTask, Hooks, LifoQueue, Outcome, PrometheusText, RejectReason, RejectionHandler, TaskInfo,
    TaskMetrics, ThreadFactory, ThreadPoolExecutor, WorkQueue, Worker, prelude::*,
};

use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, blocked, eventually, occupy, on_thread, within_deadline,
};

/// Returns the number of cancelled tasks, the number of tasks that were cancelled in the queue, and the
/// number of tasks that timed out.
fn cancelled(pool: &ThreadPoolExecutor) -> (u64, u64, u64) {
    let stats = pool.stats();
    (stats.cancelled, stats.cancelled_in_queue, stats.timed_out)
}

/// A thread factory without a name.
struct Unnamed;

impl ThreadFactory for Unnamed {
    fn start(&self, worker: Worker) -> io::Result<()> {
        thread::Builder::new().spawn(|| worker.run()).map(drop)
    }
}

fn pool_with(queue: impl WorkQueue + 'static) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().name("orders").queue(queue).build().unwrap()
}

#[test]
fn a_cancelled_task_is_counted_by_where_it_was_and_who_cancelled_it() {
    fn check(pool: &ThreadPoolExecutor) {
        let busy = occupy(pool);
        let waiting: Vec<_> = (0..3).map(|_| pool.submit(|| ()).unwrap()).collect();
        waiting[0].cancel();
        waiting[1].cancel();
        assert_eq!(cancelled(pool), (2, 2, 0), "the counts are right as soon as the cancel returns");
        let late = pool.submit(FutureTask::new(|| ()).timeout(SHORT)).unwrap();
        eventually("the limit of the task is up", || cancelled(pool) == (3, 3, 1));
        let FutureTask { task, handle } = FutureTask::new(|| ()).timeout(Duration::ZERO);
        eventually("the task was cancelled before it was submitted", || handle.is_finished());
        pool.execute(task).unwrap();
        assert_eq!(cancelled(pool), (4, 4, 2));
        assert_eq!(pool.stats().queued, 1, "of all these tasks one waits");
        drop(busy);

        // On a busy machine, the limit of a nap can be up before the worker has begun the nap.
        let mut missed = 0;
        loop {
            let nap = FutureTask::cancellable(|token| token.sleep(LONG)).timeout(SHORT);
            let reason = pool.submit(nap).unwrap().join().unwrap_err();
            assert_matches!(reason, executor::JoinError::Cancelled(why) if why.reason().unwrap().kind() == CancelKind::Deadline);
            if pool.stats().cancelled_in_queue == 4 + missed {
                break;
            }
            missed += 1;
        }
        drop(pool.submit_cancellable(|_| Err::<(), _>(Cancelled)).unwrap().join());
        drop(pool.submit(|| panic!("not cancelled")).unwrap().join());
        eventually("all have ended", || pool.stats().active == 0);
        pool.close();
        assert_eq!(cancelled(pool), (6 + missed, 4 + missed, 3 + missed));
        let stats = pool.stats();
        let normally = stats.completed - stats.panicked - (stats.cancelled - stats.cancelled_in_queue);
        assert_eq!(normally, 2, "the busy task, and the third of those that waited: {stats}");
        assert!(late.join().is_err());
    }
    within_deadline(|| {
        check(&pool_with(FifoQueue::unbounded()));
        check(&pool_with(LifoQueue::unbounded())); // without the fast path
    });
}

#[test]
fn a_stop_of_the_pool_cancels_what_runs_and_takes_what_waits_out_of_the_counts() {
    within_deadline(|| {
        let pool = pool_with(FifoQueue::unbounded());
        let nap = pool.submit_cancellable(|token| token.sleep(LONG)).unwrap();
        eventually("it runs", || nap.state() == executor::TaskState::Running);
        let waits = pool.submit(|| ()).unwrap();
        drop(pool.shutdown_now());
        pool.close();
        assert_eq!(cancelled(&pool), (1, 0, 0), "the pool has given the other task away");
        assert_eq!(pool.stats().task_count(), 1);
        drop((nap.join(), waits.join()));
    });
}

/// Makes a pool with this handler, submits a task for which there is no room, ends the pool and returns it.
fn overflowed(handler: impl RejectionHandler + 'static) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(handler);
    let pool = builder.build().unwrap();
    let busy = occupy(&pool);
    pool.execute(|| ()).unwrap();
    assert_eq!(pool.stats().refused, 0);
    thread::scope(|scope| {
        scope.spawn(|| drop(pool.submit(|| ())));
        eventually("the handler was asked", || pool.stats().refused == 1);
        drop(busy);
    });
    pool.close();
    pool
}

#[test]
fn a_task_counts_as_refused_once_whatever_the_handler_does_with_it() {
    within_deadline(|| {
        for (pool, completed) in [
            (overflowed(Abort), 2),
            (overflowed(Discard), 2),
            (overflowed(CallerRuns), 2), // the submitter runs the task, outside the counts
            (overflowed(Block::new()), 3),
        ] {
            let stats = pool.stats();
            assert_eq!((stats.refused, stats.completed, stats.cancelled), (1, completed, 0), "{stats}");
            assert_matches!(
                pool.execute(|| ()).map_err(|refused| refused.reason),
                Ok(()) | Err(RejectReason::Shutdown)
            );
            assert_eq!(pool.stats().refused, 2, "after the shutdown");
        }
    });
}

#[test]
fn a_cancelled_task_that_finds_no_room_is_refused_and_not_cancelled_in_the_queue() {
    within_deadline(|| {
        let pool = pool_with(LifoQueue::bounded(1));
        let _busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        for refused in 1..=3 {
            let FutureTask { task, handle } = FutureTask::new(|| ());
            handle.cancel();
            assert!(pool.execute(task).is_err());
            assert_eq!((cancelled(&pool), pool.stats().refused), ((0, 0, 0), refused));
        }
    });
}

#[test]
fn the_statistics_say_whose_they_are_and_what_went_wrong() {
    within_deadline(|| {
        let pool = pool_with(FifoQueue::bounded(1));
        assert_eq!(pool.stats().name.as_deref(), Some("orders"));
        let busy = occupy(&pool);
        let waits = pool.submit(|| ()).unwrap();
        assert!(pool.execute(|| ()).is_err());
        waits.cancel();
        assert_eq!(
            pool.stats().to_string(),
            "orders, running: 1 of 1 threads, 1 active, 0 queued, 0 completed (0 panicked), 1 cancelled, 1 refused"
        );
        assert!(format!("{pool:?}").contains(r#"name: Some("orders")"#), "{pool:?}");
        let unnamed = ThreadPoolExecutor::builder().thread_factory(Unnamed).build().unwrap().stats();
        assert_eq!(unnamed.name, None);
        assert!(unnamed.to_string().starts_with("running: 0 of 1 threads"), "{unnamed}");
        drop(busy);
        on_thread(move || pool.close()).result();
    });
}

/// Hooks that record each call about a task that has a name; if `panics` is true, each call also panics.
#[derive(Clone)]
struct Noting {
    calls: Record<String>,
    wants_times: bool,
    panics: bool,
}

impl Noting {
    fn new() -> Self {
        Self { calls: Record::new(), wants_times: false, panics: false }
    }

    fn note(&self, what: &str, task: &TaskInfo<'_>, more: &str) {
        let Some(name) = task.name else { return };
        self.calls.add(format!("{what} {name}{more}"));
        if (task.waited().is_some(), task.ran().is_some()) != self.times_at(what) {
            self.calls.add(format!("wrong times: {task:?}"));
        }
        assert!(!self.panics, "in {what}");
    }

    /// Returns two flags for the given hook: true if the hook learns how long the task has waited, and true
    /// if the hook learns how long the task has run.
    fn times_at(&self, hook: &str) -> (bool, bool) {
        (self.wants_times && matches!(hook, "before" | "after"), self.wants_times && hook == "after")
    }
}

impl Hooks for Noting {
    fn wants_times(&self) -> bool {
        assert!(!self.panics, "in wants_times");
        self.wants_times
    }
    fn submitted(&self, task: &TaskInfo<'_>) {
        self.note("submitted", task, "");
    }
    fn refused(&self, task: &TaskInfo<'_>, why: &RejectReason) {
        self.note("refused", task, &format!(": {why}"));
    }
    fn cancelled_in_queue(&self, task: &TaskInfo<'_>, why: &Cancelled) {
        self.note("cancelled", task, &format!(": {why}"));
    }
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.note("before", task, "");
    }
    fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
        self.note("after", task, "");
    }
}

fn named(name: &'static str) -> FutureTask<()> {
    FutureTask::new(|| ()).named(name)
}

#[test]
fn hooks_hear_of_each_task_from_its_submission_to_its_end() {
    fn check(hooks: Noting, queue: impl WorkQueue + 'static) {
        let calls = hooks.calls.clone();
        let pool = ThreadPoolExecutor::builder().queue(queue).hooks(hooks).build().unwrap();
        let busy = occupy(&pool);
        let (a, b) = (pool.submit(named("a")).unwrap(), pool.submit(named("b")).unwrap());
        let full = "the executor has no room for another task";
        assert!(pool.execute(named("c").task).is_err());
        b.cancel();
        assert_eq!(calls.so_far(), ["submitted a", "submitted b", &format!("refused c: {full}")]);
        let d = pool.submit(named("d")).unwrap(); // takes the place of `b`
        assert_eq!(calls.so_far()[3..], ["cancelled b: the task was cancelled", "submitted d"]);
        drop(busy);
        a.join().unwrap();
        d.join().unwrap();
        pool.close();
        let rest = &mut calls.so_far()[5..];
        rest.sort(); // the last-in queue takes them in another order
        assert_eq!(rest, ["after a", "after d", "before a", "before d"]);
        assert!(pool.execute(named("e").task).is_err());
        assert_eq!(calls.so_far()[9..], ["refused e: the executor is shut down"]);
    }
    within_deadline(|| {
        for (wants_times, panics) in [(false, false), (true, false), (false, true), (true, true)] {
            check(
                Noting { wants_times: wants_times && !panics, panics, ..Noting::new() },
                FifoQueue::bounded(2),
            );
            check(
                Noting { wants_times: wants_times && !panics, panics, ..Noting::new() },
                LifoQueue::bounded(2),
            );
        }
    });
}

#[test]
fn the_handler_of_a_refused_task_decides_what_the_hooks_hear_next() {
    fn calls_with(handler: impl RejectionHandler + 'static) -> Vec<String> {
        let (hooks, queue) = (Noting::new(), FifoQueue::bounded(1));
        let calls = hooks.calls.clone();
        let pool = ThreadPoolExecutor::builder().queue(queue).rejection_handler(handler).hooks(hooks);
        let pool = pool.build().unwrap();
        let busy = occupy(&pool);
        pool.execute(named("a").task).unwrap();
        let pool = &pool;
        thread::scope(|scope| {
            scope.spawn(move || drop(pool.submit(named("b"))));
            eventually("the pool has refused the task", || pool.stats().refused == 1);
            drop(busy);
        });
        pool.close();
        let of_the_second = |call: &String| call.contains(" b");
        calls.so_far().into_iter().filter(of_the_second).map(|call| call.replace(" b", "")).collect()
    }
    within_deadline(|| {
        let refused = "refused: the executor has no room for another task";
        assert_eq!(calls_with(Abort), [refused]);
        assert_eq!(calls_with(Discard), [refused]);
        assert_eq!(
            calls_with(CallerRuns),
            [refused],
            "the pool has not accepted it, so it runs without hooks"
        );
        assert_eq!(calls_with(DiscardOldest), [refused, "submitted", "before", "after"]);
        let mut blocked = calls_with(Block::new());
        blocked[1..].sort(); // a worker does not wait for `submitted`
        assert_eq!(blocked, [refused, "after", "before", "submitted"]);
    });
}

/// Hooks that wait until the signal is set, and count their calls.
struct WaitingForJoiner(Signal, Arc<AtomicUsize>);

impl Hooks for WaitingForJoiner {
    fn cancelled_in_queue(&self, _: &TaskInfo<'_>, _: &Cancelled) {
        self.0.wait();
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// When half of the entries in the queue belong to cancelled tasks, the last call of `cancel` removes these
/// entries and calls the hooks for each of these tasks.
#[test]
fn the_canceller_releases_the_waiters_of_the_task_before_it_tells_the_hooks() {
    within_deadline(|| {
        let (joined, told) = (Signal::new(), Arc::new(AtomicUsize::new(0)));
        let hooks = WaitingForJoiner(joined.clone(), Arc::clone(&told));
        let pool = ThreadPoolExecutor::builder().hooks(hooks).build().unwrap();
        let busy = occupy(&pool);
        let mut handles: Vec<_> = (0..64).map(|_| pool.submit(|| ()).unwrap()).collect();
        let (half, others) = (handles.split_off(32).remove(0), handles);
        others[1..].iter().for_each(|handle| assert!(handle.cancel()));
        assert_eq!(told.load(Ordering::SeqCst), 0, "fewer than half are cancelled");
        let canceller = half.canceller();
        let waiter = blocked(move || {
            assert!(half.join().is_err());
            joined.set();
        });
        assert!(canceller.cancel());
        waiter.result();
        assert_eq!(told.load(Ordering::SeqCst), 32, "the canceller has cleared the queue out");
        drop((busy, others));
        pool.close();
        assert_eq!(told.load(Ordering::SeqCst), 32);
    });
}

/// Hooks that run on a task's thread, and record whether they see the token of this task.
struct Tokens(Record<bool>);

impl Hooks for Tokens {
    fn submitted(&self, _: &TaskInfo<'_>) {
        self.0.add(CancelToken::current().is_cancelled());
    }
    fn refused(&self, _: &TaskInfo<'_>, _: &RejectReason) {
        self.0.add(CancelToken::current().is_cancelled());
    }
    fn cancelled_in_queue(&self, _: &TaskInfo<'_>, _: &Cancelled) {
        self.0.add(CancelToken::current().is_cancelled());
    }
}

#[test]
fn hooks_do_not_belong_to_the_task_that_submits_or_cancels() {
    within_deadline(|| {
        let tokens = Record::new();
        let hooks = Tokens(tokens.clone());
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).hooks(hooks).build().unwrap();
        let busy = occupy(&pool);
        let pool = Arc::new(pool);
        let (inner, submitter) = (Arc::clone(&pool), ThreadPoolExecutor::fixed(1));
        submitter
            .submit(move || {
                CancelToken::current().cancel();
                let waits = inner.submit(|| ()).unwrap();
                assert!(inner.submit(|| ()).is_err());
                waits.cancel();
                inner.purge();
            })
            .unwrap()
            .join()
            .unwrap();
        assert_eq!(tokens.so_far(), [false; 4], "of the busy task, and of the three calls of the task");
        drop(busy);
    });
}

#[test]
fn the_time_in_the_queue_and_the_time_of_the_run_are_measured() {
    within_deadline(|| {
        let metrics = Arc::new(TaskMetrics::new());
        let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&metrics)).build().unwrap();
        let began = Instant::now();
        let busy = occupy(&pool);
        let waits = pool.submit(|| thread::sleep(SHORT)).unwrap();
        let dies = pool.submit(|| panic!("measured, too")).unwrap();
        let cancelled = pool.submit(|| ()).unwrap();
        cancelled.cancel();
        thread::sleep(SHORT);
        drop(busy);
        waits.join().unwrap();
        assert!(dies.join().is_err());
        pool.close();
        let (waited, ran, all) = (metrics.waited(), metrics.ran(), began.elapsed());
        assert_eq!((waited.count(), ran.count()), (3, 3), "not of the task that was cancelled in the queue");
        assert!((SHORT * 3..=all * 3).contains(&waited.sum()), "{waited:?}"); // the last one waited for both
        assert!((SHORT * 2..=all * 2).contains(&ran.sum()), "{ran:?}");
    });
}

#[test]
fn hooks_that_panic_when_asked_for_times_get_none() {
    struct Hostile(Record<bool>);
    impl Hooks for Hostile {
        fn wants_times(&self) -> bool {
            panic!("in wants_times")
        }
        fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
            self.0.add(task.waited().is_none() && task.ran().is_none());
        }
    }
    within_deadline(|| {
        let has_no_times = Record::new();
        let pool = ThreadPoolExecutor::builder().hooks(Hostile(has_no_times.clone())).build().unwrap();
        assert_eq!(pool.submit(|| 6 * 7).unwrap().join().unwrap(), 42);
        assert_eq!(has_no_times.so_far(), [true]);
    });
}

#[test]
fn prometheus_reads_the_numbers_of_several_pools() {
    within_deadline(|| {
        let metrics = Arc::new(TaskMetrics::new());
        let orders = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(2)).hooks(Arc::clone(&metrics));
        let (orders, mails) = (orders.build().unwrap(), ThreadPoolExecutor::fixed(3));
        let busy = occupy(&orders);
        let late = orders.submit(FutureTask::new(|| ()).timeout(Duration::ZERO)).unwrap();
        assert!(late.join().is_err());
        orders.execute(|| panic!("counted")).unwrap();
        orders.submit(|| ()).unwrap().cancel();
        orders.execute(|| ()).unwrap();
        assert!(orders.execute(|| ()).is_err());
        drop(busy);
        orders.close();
        let mut text = PrometheusText::new();
        text.add_pool("or\"ders", &orders.stats());
        text.add_pool("mails", &mails.stats());
        text.add_times("or\"ders", &metrics);
        text.sample("shop_visitors", "gauge", "line one\nline two", &[], 0.5);
        let text = text.to_string();
        for expected in [
            r#"executor_pool_state{name="or\"ders",state="terminated"} 1"#,
            r#"executor_pool_max_threads{name="mails"} 3"#,
            r#"executor_completed_tasks_total{name="or\"ders"} 3"#,
            r#"executor_panicked_tasks_total{name="or\"ders"} 1"#,
            r#"executor_cancelled_tasks_total{name="or\"ders"} 2"#,
            r#"executor_cancelled_in_queue_tasks_total{name="or\"ders"} 2"#,
            r#"executor_timed_out_tasks_total{name="or\"ders"} 1"#,
            r#"executor_rejected_tasks_total{name="or\"ders"} 1"#,
            r#"executor_run_seconds_bucket{name="or\"ders",le="0.00001"} "#,
            r#"executor_run_seconds_bucket{name="or\"ders",le="2.5"} "#,
            r#"executor_run_seconds_bucket{name="or\"ders",le="+Inf"} 3"#,
            r#"executor_queue_seconds_count{name="or\"ders"} 3"#,
            "# HELP shop_visitors line one\\nline two",
            "shop_visitors 0.5",
        ] {
            assert!(text.lines().any(|line| line.starts_with(expected)), "{expected} is missing:\n{text}");
        }
        let mut families: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        let all = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), all, "a family has one head, and all its samples follow it");
        let mut family = "";
        for line in text.lines() {
            match line.strip_prefix("# HELP ").or(line.strip_prefix("# TYPE ")) {
                Some(head) => family = head.split(' ').next().unwrap(),
                None => assert!(line.starts_with(family), "{line} stands below the head of {family}"),
            }
        }
    });
}
