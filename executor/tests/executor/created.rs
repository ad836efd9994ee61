//! Tests each way to create a task: is the task's token a child of the token that is current where the task
//! is created?

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use executor::fork_join::{ForkJoinPool, RecursiveTask, fork, join, par_for_each};
use executor::{
    BoundedExecutor, CallerRuns, CancelToken, DirectExecutor, Executor, ExecutorCompletionService, FifoQueue,
    FutureTask, Latch, ManualExecutor, ScheduledThreadPoolExecutor, SerialExecutor, StripedExecutor, Task,
    ThreadPerTaskExecutor, ThreadPoolExecutor, TrackingExecutor, WaitError, masked, prelude::*,
};

use crate::support::{LONG, Occupied, Record, SHORT, Signal, occupy, on_thread, within_deadline};

/// A function that cancels the token that was current when the task was made, and then records whether the
/// task's own token is cancelled.
type Probe = Box<dyn FnOnce() + Send>;

/// A function that makes a task in one of the ways; this task runs a probe. The function can return before
/// the probe has run.
type Way = fn(&Pools, Probe);

struct Pools {
    plain: Arc<ThreadPoolExecutor>,
    stealing: ForkJoinPool,
    scheduled: ScheduledThreadPoolExecutor,
}

impl Pools {
    fn new() -> Self {
        Self {
            plain: Arc::new(ThreadPoolExecutor::fixed(2)),
            stealing: ForkJoinPool::new(2).unwrap(),
            scheduled: ScheduledThreadPoolExecutor::new(1),
        }
    }
}

fn execute(executor: &impl Executor, probe: Probe) {
    executor.execute(probe).unwrap();
}

/// Returns a full pool in which submitters must run their own tasks.
fn full_pool() -> (Arc<ThreadPoolExecutor>, Occupied) {
    let builder = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
    let pool = Arc::new(builder.rejection_handler(CallerRuns).build().unwrap());
    let busy = occupy(&pool);
    pool.execute(|| ()).unwrap();
    (pool, busy)
}

struct Computation(Probe);

impl RecursiveTask for Computation {
    type Output = ();

    fn compute(self) {
        (self.0)();
    }
}

const OF_ITS_OWN: &[(&str, Way)] = &[
    ("execute", |pools, probe| execute(&pools.plain, probe)),
    ("submit", |pools, probe| drop(pools.plain.submit(probe).unwrap())),
    ("submit_cancellable", |pools, probe| {
        let body = move |_: &CancelToken| {
            probe();
            Ok(())
        };
        drop(pools.plain.submit_cancellable(body).unwrap());
    }),
    ("a thread for it", |_, probe| execute(&ThreadPerTaskExecutor, probe)),
    ("fork/join, execute", |pools, probe| execute(&pools.stealing, probe)),
    ("fork/join, externally", |pools, probe| pools.stealing.execute_externally(probe).unwrap()),
    ("bounded", |pools, probe| execute(&BoundedExecutor::over(Arc::clone(&pools.plain), 9), probe)),
    ("tracking", |pools, probe| execute(&TrackingExecutor::over(Arc::clone(&pools.plain)), probe)),
    ("serial", |pools, probe| execute(&SerialExecutor::over(Arc::clone(&pools.plain)), probe)),
    ("striped", |pools, probe| {
        StripedExecutor::over(Arc::clone(&pools.plain)).execute_in("key", probe).unwrap();
    }),
    ("completion service", |pools, probe| {
        drop(ExecutorCompletionService::new(Arc::clone(&pools.plain)).submit(probe).unwrap());
    }),
    ("scheduled, execute", |pools, probe| execute(&pools.scheduled, probe)),
    ("schedule", |pools, probe| drop(pools.scheduled.schedule(Duration::ZERO, probe).unwrap())),
    ("schedule_at", |pools, probe| drop(pools.scheduled.schedule_at(Instant::now(), probe).unwrap())),
    ("submit_with_timeout", |pools, probe| drop(pools.scheduled.submit_with_timeout(LONG, probe).unwrap())),
    ("submit_with_timeout_or", |pools, probe| {
        drop(pools.scheduled.submit_with_timeout_or(LONG, probe, || ()).unwrap());
    }),
    ("series", |pools, probe| {
        let mut probe = Some(probe);
        let body = move |series: &executor::Series| {
            if let Some(probe) = probe.take() {
                probe();
            }
            series.cancel();
        };
        pools.scheduled.schedule_with_fixed_delay(Duration::ZERO, Duration::ZERO, body).unwrap();
    }),
    ("manual, run elsewhere", |_, probe| {
        let manual = ManualExecutor::new();
        execute(&manual, probe);
        std::thread::spawn(move || manual.run_next());
    }),
];

const BELOW: &[(&str, Way)] = &[
    ("direct", |_, probe| execute(&DirectExecutor, probe)),
    ("caller runs", |_, probe| {
        let (pool, _busy) = full_pool();
        execute(&pool, probe);
    }),
    ("serial, direct", |_, probe| execute(&SerialExecutor::over(DirectExecutor), probe)),
    ("run by hand", |_, probe| drop(Task::new(probe).run())),
    ("manual, run here", |_, probe| {
        let manual = ManualExecutor::new();
        execute(&manual, probe);
        manual.run_next().unwrap();
    }),
    ("scope", |pools, probe| pools.plain.scope(|scope| scope.spawn(probe).unwrap()).unwrap()),
    ("fork", |_, probe| drop(fork(probe))),
    ("RecursiveTask::fork", |_, probe| drop(RecursiveTask::fork(Computation(probe)))),
    ("join, first", |_, probe| _ = join(probe, || ())),
    ("join, second", |_, probe| _ = join(|| (), probe)),
    ("invoke", |pools, probe| pools.stealing.invoke(probe).unwrap()),
    ("par_for_each", |_, probe| {
        let probe = Mutex::new(Some(probe));
        par_for_each(0..2, |_| {
            let taken = probe.lock().unwrap().take();
            if let Some(probe) = taken {
                probe();
            }
        });
    }),
];

/// Makes a task in the given way while a token is current, and returns true if the cancellation of this token
/// also cancels the task.
fn hears(way: Way, pools: &Pools) -> bool {
    let (token, seen, done) = (CancelToken::new(), Record::new(), Signal::new());
    let (of_the_maker, note, is_done) = (token.clone(), seen.clone(), done.clone());
    let probe: Probe = Box::new(move || {
        let own = CancelToken::current();
        assert!(!own.is_cancelled());
        of_the_maker.cancel();
        note.add(own.is_cancelled());
        is_done.set();
    });
    token.attach(|| way(pools, probe));
    done.wait();
    seen.so_far()[0]
}

/// The places are a thread outside all pools, a worker of a thread pool, and a worker that steals.
#[test]
fn a_task_hangs_below_the_token_of_its_maker_only_where_the_page_says_so() {
    within_deadline(|| {
        let pools = Arc::new(Pools::new());
        for (ways, is_below) in [(OF_ITS_OWN, false), (BELOW, true)] {
            for (name, way) in ways.iter().copied() {
                let on_a_worker = Arc::clone(&pools);
                let on_a_worker = pools.plain.submit(move || hears(way, &on_a_worker)).unwrap();
                assert_eq!(on_a_worker.join().unwrap(), is_below, "{name}, on a worker");
                assert_eq!(hears(way, &pools), is_below, "{name}");
                let stealing = pools.stealing.invoke(|| hears(way, &pools)).unwrap();
                assert_eq!(stealing, is_below, "{name}, on a worker that steals");
            }
        }
    });
}

#[test]
fn a_task_that_is_forked_under_a_deadline_has_it() {
    within_deadline(|| {
        let nap = || CancelToken::current().sleep(LONG);
        let request = CancelToken::new().with_timeout(SHORT);
        assert!(request.attach(|| fork(nap)).join().unwrap().is_err(), "on a plain thread");
        let (pool, request) = (ForkJoinPool::new(1).unwrap(), CancelToken::new().with_timeout(SHORT));
        assert!(
            pool.invoke(|| request.attach(|| fork(nap)).join()).unwrap().unwrap().is_err(),
            "on a worker"
        );
    });
}

/// If a task is forked while a token is current, the cancellation of this token also reaches the task, no
/// matter which thread runs the task.
#[test]
fn a_task_that_is_taken_back_hangs_below_the_token_under_which_it_was_forked() {
    within_deadline(|| {
        let pool = ForkJoinPool::new(1).unwrap();
        let token = CancelToken::new();
        let make = || {
            let handle = token.attach(|| fork(|| CancelToken::current().is_cancelled()));
            let task = handle.remove().expect("the only worker is here");
            (task, handle)
        };
        let (task, handle) = pool.invoke(make).unwrap();
        token.cancel();
        task.run(); // on a thread that belongs to no pool
        assert!(handle.join().unwrap());
    });
}

/// If the token was cancelled before the masked step, the step does not end early, no matter which threads
/// run the halves of the step.
#[test]
fn a_masked_computation_is_masked_on_every_thread() {
    within_deadline(|| {
        let waits = || matches!(Latch::new(1).wait_timeout(SHORT), Err(WaitError::TimedOut));
        let pool = ForkJoinPool::new(2).unwrap();
        let token = CancelToken::new();
        token.cancel();
        let step = || {
            let (a, b) = join(waits, waits);
            a && b && pool.invoke(waits).unwrap() && CancelToken::current().is_cancelled()
        };
        assert!(token.attach(|| masked(step)), "on a plain thread");
        assert!(pool.invoke(|| token.attach(|| masked(step))).unwrap(), "on a worker");
        let elsewhere = ForkJoinPool::builder().threads(1).stack_size(1 << 20).build().unwrap(); // no guests
        assert!(token.attach(|| masked(|| elsewhere.invoke(step))).unwrap(), "on another thread");
    });
}

/// The executor below runs tasks at once, so a submitter's thread runs the tasks of the serial executor. At
/// the same time other submitters submit tasks; the tokens of these tasks are not below the token of the
/// first submitter.
#[test]
fn of_a_line_that_a_submitter_runs_only_its_own_task_hangs_below_its_token() {
    fn check(line: Arc<SerialExecutor<impl Executor + 'static>>) {
        let (token, begun, joined) = (CancelToken::new(), Signal::new(), Signal::new());
        let (of_the_first, is_begun, until) = (token.clone(), begun.clone(), joined.clone());
        let own = Arc::clone(&line);
        let first = on_thread(move || {
            token.attach(|| {
                let first = FutureTask::new(move || {
                    is_begun.set();
                    until.wait();
                    of_the_first.cancel();
                    CancelToken::current().is_cancelled()
                });
                own.submit(first).unwrap().join()
            })
        });
        begun.wait();
        let second = line.submit(|| CancelToken::current().is_cancelled()).unwrap();
        joined.set();
        assert!(!second.join().unwrap(), "another submitter's cancel has reached it");
        assert!(first.result().unwrap());
    }
    within_deadline(|| {
        check(Arc::new(SerialExecutor::over(DirectExecutor)));
        let (full, _busy) = full_pool();
        check(Arc::new(SerialExecutor::over(Arc::clone(&full))));
    });
}
