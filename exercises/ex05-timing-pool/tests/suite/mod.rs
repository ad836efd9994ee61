//! The properties of the timing; each property is a function. `exercise.toml` lists the properties and says
//! what each of them promises.

use executor::prelude::*;
use executor::{Cancelled, TaskHandle, ThreadPoolExecutor};
use exercises_harness::{expect, fail, locks_found_taken, panic_on_purpose, step};

use super::exercise::{Millis, Summary, Timing};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

const AT_SIZE: &str = "every task counts, the three-hundredth like the first, and every running task has its own beginning, however many \
                       tasks run: where beginnings are kept, no two of those tasks may share a place";

/// A pool with a `Timing`, the clock that the property advances, and the summaries that were logged.
struct Timed {
    pool: ThreadPoolExecutor,
    timing: Arc<Timing>,
    clock: Arc<Clock>,
    log: Arc<Shared<Vec<Summary>>>,
}

#[derive(Default)]
struct Clock(Shared<Millis>);

impl Clock {
    fn now(&self) -> Millis {
        self.0.with(|now| *now)
    }

    fn advance(&self, by: Millis) {
        step(&format!("{by} ms go by"));
        self.0.with(|now| *now += by);
    }
}

impl Timed {
    fn new(threads: usize) -> Self {
        Self::at(1_000, threads) // the clock is older than the pool
    }

    /// Makes a pool with the given number of threads; the clock shows the given time.
    fn at(now: Millis, threads: usize) -> Self {
        let clock = Arc::new(Clock::default());
        clock.advance(now);
        let log: Arc<Shared<Vec<Summary>>> = Arc::default();
        let timing = {
            let (clock, log) = (Arc::clone(&clock), Arc::clone(&log));
            let write = move |summary| {
                step(&format!("log: {summary:?}"));
                log.with(|log| log.push(summary));
            };
            Arc::new(Timing::new(move || clock.now(), write))
        };
        Self { pool: pool(threads, &timing), timing, clock, log }
    }

    /// Submits a task that takes the given time.
    fn task_of(&self, millis: Millis) -> TaskHandle<()> {
        let clock = Arc::clone(&self.clock);
        self.submit(move || clock.advance(millis))
    }

    /// Submits a task that takes the given time and then panics.
    fn panicking_task_of(&self, millis: Millis) -> TaskHandle<()> {
        let clock = Arc::clone(&self.clock);
        self.submit(move || {
            clock.advance(millis);
            panic_on_purpose();
        })
    }

    /// Submits a task that signals that it has begun, and then waits until it may end.
    fn task_until(&self, begun: &Arc<Counter>, gate: &Arc<Counter>) -> TaskHandle<()> {
        let (begun, gate) = (Arc::clone(begun), Arc::clone(gate));
        self.submit(move || {
            step("the task begins");
            begun.add();
            gate.wait_for(1);
        })
    }

    fn submit(&self, task: impl FnOnce() + Send + 'static) -> TaskHandle<()> {
        submit(&self.pool, Box::new(task))
    }

    fn check(&self, when: &str, tasks: u64, total: Millis, cause: &str) {
        let summary = self.timing.summary();
        if summary != (Summary { tasks, total }) {
            fail(
                &format!(
                    "{when}: tasks {}, total {} ms; it should be tasks {tasks}, total {total} ms",
                    summary.tasks, summary.total
                ),
                cause,
            );
        }
    }

    fn close(self) {
        close(&self.pool);
    }
}

fn pool(threads: usize, timing: &Arc<Timing>) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().threads(threads).hooks(Arc::clone(timing)).build().expect("a valid pool")
}

/// Submits a task in a box, because much of the pool is compiled again for each type of task.
fn submit(pool: &ThreadPoolExecutor, task: Box<dyn FnOnce() + Send>) -> TaskHandle<()> {
    pool.submit(task).unwrap_or_else(|_| fail("the pool refused a task", "it was shut down early"))
}

fn close(pool: &ThreadPoolExecutor) {
    expect("the pool's close()", "a hook does not come back", || pool.close());
}

/// Waits until the task has ended. Returns false if the task panicked.
fn join(task: TaskHandle<()>) -> bool {
    expect("join() of a task", "a hook does not come back", || task.join().is_ok())
}

fn begun() -> Arc<Counter> {
    Arc::new(Counter::new("tasks to begin"))
}

fn gate() -> Arc<Counter> {
    Arc::new(Counter::new("the test to let the tasks end"))
}

fn wait_for(begun: &Counter, tasks: usize) {
    expect("waiting for a task to begin", "a hook does not come back", || begun.wait_for(tasks));
}

pub fn every_task_is_counted_once() {
    let timed = Timed::new(2);
    let (begun, gate) = (begun(), gate());
    let side_by_side = [timed.task_until(&begun, &gate), timed.task_until(&begun, &gate)];
    let last = timed.task_of(0);
    wait_for(&begun, 2);
    gate.add(); // both tasks end at about the same time
    for task in side_by_side {
        join(task);
    }
    join(last);
    let cause = if locks_found_taken() > 0 {
        "two tasks ended at about the same time, and one thread went on without counting its task, because try_lock() found \
         the lock taken. Use lock(): a hook may wait for a lock that is held for no more than two additions"
    } else {
        "two tasks ended at about the same time, and one of them was not counted. If both threads read the number and write it back plus \
                 one, one update is lost: Read and write have to be one step. If both tasks keep something in the same place, one task \
                 takes the value of the other. If a thread goes on because another one is counting, its task is not counted"
    };
    timed.check("after three tasks that took no time", 3, 0, cause);
    timed.close();
}

pub fn a_panicking_task_is_counted_and_timed() {
    let timed = Timed::new(1);
    if join(timed.panicking_task_of(10)) {
        fail("the task panicked, and its handle says that it did not", "no hook can do that");
    }
    timed.check(
        "after a task of 10 ms that panicked",
        1,
        10,
        "this task has ended and has taken time, too: count every outcome",
    );
    timed.clock.advance(100);
    join(timed.task_of(5));
    timed.check(
        "after a task of 10 ms that panicked, a pause of 100 ms and a task of 5 ms",
        2,
        15,
        "the panicked task's beginning was left for the next one",
    );
    timed.close();
}

pub fn a_task_that_gives_up_is_counted_and_timed() {
    let timed = Timed::new(1);
    let clock = Arc::clone(&timed.clock);
    let task = timed.pool.submit_cancellable(move |_token| -> Result<(), Cancelled> {
        clock.advance(10);
        step("the task gives up");
        Err(Cancelled)
    });
    let task = task.unwrap_or_else(|_| fail("the pool refused a task", "it was shut down early"));
    join(task);
    timed.check(
        "after a task that gave up after 10 ms",
        1,
        10,
        "its outcome is Cancelled, and it has ended as well and has taken time: count every outcome",
    );
    timed.close();
}

pub fn whoever_has_joined_a_task_finds_it_counted() {
    let timed = Timed::new(1);
    join(timed.task_of(10));
    timed.check(
        "after a task that was joined",
        1,
        10,
        "count in after_execute, which is called before the waiting threads learn of the task's end: any later moment (the next task, or \
         the end of the thread) is too late",
    );
    timed.close();
}

pub fn a_running_task_is_not_counted() {
    let timed = Timed::new(1);
    let (begun, gate) = (begun(), gate());
    let task = timed.task_until(&begun, &gate);
    wait_for(&begun, 1);
    timed.check("while the only task runs", 0, 0, "a task is counted when it ends, with its time");
    gate.add();
    join(task);
    timed.close();
}

pub fn the_mean_of_no_tasks_is_none() {
    let timed = Timed::new(1);
    let mean = expect("mean()", "a division by zero", || timed.timing.summary().mean());
    if mean.is_some() {
        fail(
            &format!("no task has ended, and the mean is {mean:?}"),
            "zero divided by zero panics for integers and is NaN for floats; return None",
        );
    }
    timed.close();
}

pub fn the_mean_is_the_total_by_the_number() {
    let timed = Timed::new(1);
    for (millis, tasks, total) in [(5, 1, 5), (10, 2, 15), (5, 3, 20)] {
        join(timed.task_of(millis));
        let cause =
            "keep the number and the total, and not the mean; the mean is worked out when a thread asks";
        timed.check(&format!("after {tasks} of three tasks (5, 10 and 5 ms)"), tasks, total, cause);
        let (mean, right) = (timed.timing.summary().mean(), total as f64 / tasks as f64);
        if !mean.is_some_and(|mean| (mean - right).abs() < 1e-9) {
            fail(
                &format!("the summary says: tasks {tasks}, total {total} ms; and the mean is {mean:?}"),
                &format!(
                    "the mean is {right}: an integer division drops the remainder, so convert first, and do not round"
                ),
            );
        }
    }
    timed.close();

    let timed = Timed::new(1);
    join(timed.task_of(0));
    let mean = timed.timing.summary().mean();
    if mean != Some(0.0) {
        fail(
            &format!("a task has taken 0 ms, and the mean is {mean:?}"),
            "a task of 0 ms is a task: whether there is a mean depends on the number of tasks, not on the total",
        );
    }
    timed.close();
}

pub fn every_time_on_the_clock_counts() {
    let timed = Timed::at(0, 1);
    join(timed.task_of(7));
    timed.check(
        "after a task of 7 ms that began when the clock said 0",
        1,
        7,
        "0 is a time like any other. To say that there is no beginning, use an Option",
    );
    join(timed.task_of(5_000_000_000));
    timed.check(
        "after a task of 7 ms and one of 58 days",
        2,
        5_000_000_007,
        "both numbers are u64. A number with fewer bits overflows, and if the two share a word, the total overflows into the number of \
         tasks",
    );
    let mean = timed.timing.summary().mean();
    if !mean.is_some_and(|mean| (mean - 2_500_000_003.5).abs() < 1e-3) {
        let seen = format!("two tasks took 5000000007 ms together, and the mean is {mean:?}");
        fail(&seen, "the total is a u64: the division must use all of its bits");
    }
    timed.close();
}

pub fn a_task_is_timed_from_its_beginning_to_its_end() {
    let timed = Timed::new(1);
    join(timed.task_of(10));
    timed.check("after a task of 10 ms", 1, 10, "the clock stood at 1000 ms when the pool was made");
    timed.clock.advance(100);
    join(timed.task_of(20));
    timed.check(
        "after a task of 10 ms, a pause of 100 ms and a task of 20 ms on the same thread",
        2,
        30,
        "every task has a beginning of its own, which before_execute must set each time",
    );
    timed.close();
}

pub fn the_times_of_tasks_side_by_side_add_up() {
    let timed = Timed::new(2);
    let (begun, gate) = (begun(), gate());
    let first = timed.task_until(&begun, &gate);
    wait_for(&begun, 1);
    timed.clock.advance(5);
    let second = timed.task_until(&begun, &gate);
    wait_for(&begun, 2);
    timed.clock.advance(10);
    gate.add();
    join(first);
    join(second);
    timed.check(
        "after a task of 15 ms and another that began 5 ms later and ended at the same time",
        2,
        25,
        "several tasks run at the same time: where do you keep the beginning of each? If all beginnings share one place, the later one \
         overwrites the earlier",
    );
    timed.close();
}

pub fn number_and_total_belong_together() {
    let timed = Timed::new(1);
    let tasks = [timed.task_of(10), timed.task_of(10)];
    for _ in 0..5 {
        let Summary { tasks, total } = timed.timing.summary();
        if total != tasks * 10 {
            fail(
                &format!("every task takes 10 ms, and the summary says: tasks {tasks}, total {total} ms"),
                "one of the two numbers was read before a task was added to it, and the other one after. Change both numbers under one \
                 lock, and read both under the same lock",
            );
        }
        thread::yield_now();
    }
    for task in tasks {
        join(task);
    }
    timed.close();
}

pub fn the_log_is_called_once_after_the_last_task() {
    let timed = Timed::new(2);
    let (begun, gate) = (begun(), gate());
    join(timed.task_of(10));
    let task = timed.task_until(&begun, &gate);
    wait_for(&begun, 1);
    let last = timed.task_of(10);
    timed.pool.shutdown();
    let early = timed.log.with(|log| log.len());
    if early > 0 {
        fail(
            "the log was called while tasks are still running",
            "a moment without a running task is not the end, and shutdown() is not the end either: tasks that were accepted still run. The \
             pool calls terminated() when it has ended",
        );
    }
    gate.add();
    join(task);
    join(last);
    close(&timed.pool);
    step("the pool and its hooks are dropped");
    let Timed { pool, timing, log, .. } = timed;
    drop((pool, timing));
    let lines = log.with(|log| log.clone());
    let told: Vec<_> = lines.iter().map(|summary| summary.tasks).collect();
    if told != [3] {
        fail(
            &format!(
                "the pool has run 3 tasks and has ended; the log was called with these numbers of tasks: {told:?}"
            ),
            "the pool calls terminated() once, when all of its tasks have ended; any other moment is too early or too late, or comes once \
             for each thread",
        );
    }
}

pub fn a_pool_that_has_run_no_task_logs_as_well() {
    let timed = Timed::new(1);
    close(&timed.pool);
    let told = timed.log.with(|log| log.clone());
    if told != [Summary { tasks: 0, total: 0 }] {
        fail(
            &format!(
                "the pool has ended and has run no task; the log was called with these numbers of tasks: {told:?}"
            ),
            "such a pool ends, too, and perhaps it never had a thread: the pool calls terminated() in any case",
        );
    }
}

pub fn the_clock_may_ask_for_the_summary() {
    let slot: Arc<Shared<Option<Arc<Timing>>>> = Arc::default();
    let asks = Arc::clone(&slot);
    let clock = move || {
        if let Some(timing) = asks.with(|slot| slot.clone()) {
            step("the clock asks for the summary");
            timing.summary();
        }
        0
    };
    let timing = Arc::new(Timing::new(clock, |_| {}));
    slot.with(|slot| *slot = Some(Arc::clone(&timing)));
    let pool = pool(1, &timing);
    let task = submit(&pool, Box::new(|| step("the task runs")));
    let cause = "the clock is the caller's code, and your answer calls it under a lock. The clock may need that lock, and while the clock \
                 runs, no other task can begin or end: read the clock first, then lock";
    expect("join() of a task", cause, || drop(task.join()));
    close(&pool);
    slot.with(|slot| slot.take());
}

pub fn the_log_may_ask_for_the_summary() {
    let slot: Arc<Shared<Option<Arc<Timing>>>> = Arc::default();
    let asks = Arc::clone(&slot);
    let timing = Arc::new(Timing::new(
        || 0,
        move |_| {
            let timing = asks.with(|slot| slot.take());
            if let Some(timing) = timing {
                step("the log asks for the summary");
                timing.summary();
            }
        },
    ));
    slot.with(|slot| *slot = Some(Arc::clone(&timing)));
    let pool = pool(1, &timing);
    if pool.execute(|| step("the task runs")).is_err() {
        fail("the pool refused a task", "no hook can do that");
    }
    let cause = "the log is the caller's code, and your answer calls it under a lock that the log needs";
    expect("the pool's close()", cause, || pool.close());
    slot.with(|slot| slot.take());
}

pub fn many_tasks_are_counted_and_timed() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property looks for no race
    }
    let timed = Timed::new(1);
    let tasks: Vec<_> = (0..300).map(|_| timed.task_of(3)).collect();
    for task in tasks {
        join(task);
    }
    timed.check("after 300 tasks of 3 ms, one after the other", 300, 900, AT_SIZE);
    timed.close();
    let timed = Timed::new(40);
    let (begun, gate) = (begun(), gate());
    let begins = |tasks| {
        let task = timed.task_until(&begun, &gate);
        wait_for(&begun, tasks);
        timed.clock.advance(1);
        task
    };
    let tasks: Vec<_> = (1..=40).map(begins).collect();
    gate.add();
    for task in tasks {
        join(task);
    }
    timed.check("after 40 tasks of 1 to 40 ms, side by side", 40, 820, AT_SIZE);
    timed.close();
}
