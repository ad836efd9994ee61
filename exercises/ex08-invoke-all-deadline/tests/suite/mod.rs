//! The properties of `invoke_all`; each property is a function. `exercise.toml` lists the properties and says
//! what each of them promises.

use std::time::Duration;

use executor::prelude::*;
use executor::{
    CancelToken, Executor, JoinTimeoutError, RejectReason, RejectedExecution, RejectedSubmission, Task,
    TaskError, TaskHandle, ThreadPoolExecutor,
};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{Clock, Job, Millis, invoke_all};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

mod simulation;

use simulation::{NEVER, START, Simulation};

/// The numbers of the jobs that have run.
type Ran = Arc<Shared<Vec<u32>>>;

/// Makes jobs with the results 1, 2, 3 …
fn jobs(ran: &Ran, number: u32) -> Vec<Job<u32>> {
    (1..=number)
        .map(|n| {
            let ran = Arc::clone(ran);
            Box::new(move || {
                ran.with(|ran| ran.push(n));
                n
            }) as Job<u32>
        })
        .collect()
}

type Outcomes = Result<Vec<Result<u32, TaskError>>, RejectedSubmission<u32>>;

fn invoke(simulation: &Simulation, jobs: Vec<Job<u32>>, timeout: Millis) -> Outcomes {
    let cause = "if it panicked: times are unsigned numbers. After the deadline the remaining time is 0 (saturating_sub), \
                 and now + timeout may be too large for the type (saturating_add). If it goes on for ever: wait with \
                 clock.join() and not with a loop that only asks";
    expect("invoke_all()", cause, || invoke_all(simulation, simulation, jobs, timeout))
}

/// Returns the outcomes of jobs that must all be accepted, as texts that can be compared.
fn outcomes(simulation: &Simulation, jobs: Vec<Job<u32>>, timeout: Millis) -> Vec<String> {
    let Ok(outcomes) = invoke(simulation, jobs, timeout) else {
        fail("invoke_all() returned a refusal", "the executor has refused no job")
    };
    outcomes
        .iter()
        .map(|outcome| match outcome {
            Ok(value) => format!("{value}"),
            Err(TaskError::Panicked(_)) => "panicked".into(),
            Err(_) => "cancelled".into(),
        })
        .collect()
}

const IN_ORDER: &str = "the outcomes are right, and their order is wrong: put each outcome where its job was, also the \
                        outcome of a job that was cancelled";

fn check(outcomes: &[String], expected: &[&str], what: &str, cause: &str) {
    if outcomes != expected {
        let (mut found, mut wanted) = (outcomes.to_vec(), expected.to_vec());
        found.sort_unstable();
        wanted.sort_unstable();
        let cause = if found == wanted { IN_ORDER } else { cause };
        fail(&format!("{what}: {}, and not {}", outcomes.join(", "), expected.join(", ")), cause);
    }
}

fn check_time(simulation: &Simulation, expected: Millis, what: &str, cause: &str) {
    let passed = simulation.passed();
    if passed != expected {
        fail(&format!("{what}: it took {passed} ms, and not {expected}"), cause);
    }
}

pub fn outcomes_are_in_the_order_of_the_jobs() {
    let simulation = Simulation::of(&[30, 10, 20]);
    let three = outcomes(&simulation, jobs(&Ran::default(), 3), 100);
    let cause = "the second job ends first and the first job last: wait for every job, and put each outcome where its job \
                 was";
    check(&three, &["1", "2", "3"], "jobs of 30, 10 and 20 ms, and time enough", cause);
    let none = outcomes(&Simulation::of(&[]), Vec::new(), 100);
    check(&none, &[], "no jobs", "there may be no jobs, and then there are no outcomes");
}

pub fn the_jobs_run_side_by_side() {
    let simulation = Simulation::of(&[10, 10, 10]);
    outcomes(&simulation, jobs(&Ran::default(), 3), 100);
    let cause =
        "a caller that waits for each job before it submits the next runs the jobs one after the other";
    check_time(&simulation, 10, "three jobs of 10 ms, on enough threads", cause);
}

pub fn many_jobs_run_side_by_side() {
    const MANY: u32 = 240;
    let simulation = Simulation::of(&[10; MANY as usize]);
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), MANY), 10_000);
    let cause = "some jobs were waited for before the last one was submitted. The executor must decide how many run at a \
                 time";
    check_time(&simulation, 10, "240 jobs of 10 ms, on enough threads", cause);
    let expected: Vec<String> = (1..=MANY).map(|number| number.to_string()).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(
        &outcomes,
        &expected,
        "240 jobs, and time enough",
        "there is an outcome for each job, however many there are",
    );
}

pub fn a_job_may_use_all_of_the_time() {
    let simulation = Simulation::of(&[9, 1, 1]);
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), 3), 10);
    let cause = "the first job was given up before the time was up: the timeout is for all jobs together, and not to be \
                 divided among them, since they run side by side";
    check(&outcomes, &["1", "2", "3"], "jobs of 9, 1 and 1 ms, in 10 ms", cause);
}

pub fn a_failing_job_does_not_fail_the_others() {
    let simulation = Simulation::of(&[20, 10, 30]);
    let mut jobs = jobs(&Ran::default(), 3);
    jobs[1] = Box::new(|| panic_on_purpose());
    let outcomes = outcomes(&simulation, jobs, 100);
    let cause = "each job's outcome is its own, and a panic is not a cancellation; the caller must decide what to do \
                 about a failure";
    check(&outcomes, &["1", "panicked", "3"], "the second one of three jobs panicked", cause);
}

pub fn there_is_one_deadline_for_all() {
    let simulation = Simulation::of(&[8, 16, NEVER]);
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), 3), 10);
    let cause = "a timeout that begins anew for each job adds up: with a thousand jobs it is a thousand times as long. \
                 Make it a point in time at the beginning, and wait each time for the time that is left";
    check_time(&simulation, 10, "jobs of 8 ms, 16 ms and one without an end, and a timeout of 10 ms", cause);
    let missing = "an outcome for each job: a job that was cancelled has one, too";
    check(&outcomes, &["1", "cancelled", "cancelled"], "jobs of 8 ms, 16 ms and more, in 10 ms", missing);
}

pub fn what_has_ended_in_time_keeps_its_result() {
    let simulation = Simulation::of(&[NEVER, 5, 8]);
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), 3), 10);
    let cause = "two jobs have ended in time, while the caller waited for the first job: when the time is up, look at \
                 each job before you give it up";
    check(&outcomes, &["cancelled", "2", "3"], "jobs without an end, of 5 and of 8 ms, in 10 ms", cause);
}

pub fn what_has_not_ended_in_time_is_cancelled() {
    let simulation = Simulation::of(&[50, 5, 60]);
    let ran = Ran::default();
    outcomes(&simulation, jobs(&ran, 3), 10);
    simulation.go_on();
    let ran = ran.with(|ran| ran.clone());
    if ran != [2] {
        fail(
            &format!("only job 2 ends within the 10 ms, and these jobs came to their end: {ran:?}"),
            "no caller wants the results of the late jobs any more, but these jobs still hold threads: a time-out alone \
             stops no job, and dropping the handle stops none, either. Call cancel()",
        );
    }
}

/// A clock whose `join` first waits until the first job has begun. If the joined job has not ended by then,
/// the time is up at once.
struct Impatient {
    first_runs: Arc<Counter>,
    passed: Shared<Millis>,
}

impl Clock for Impatient {
    fn now(&self) -> Millis {
        START + self.passed.with(|passed| *passed)
    }

    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>> {
        self.first_runs.wait_for(1);
        if handle.is_finished() {
            return handle.join_timeout(Duration::ZERO);
        }
        step("the time is up");
        self.passed.with(|passed| *passed = passed.saturating_add(at_most));
        Err(JoinTimeoutError::TimedOut(handle))
    }
}

fn first_runs_and_told() -> (Arc<Counter>, Arc<Counter>) {
    (Arc::new(Counter::new("job 1 to run")), Arc::new(Counter::new("its token to be cancelled")))
}

/// Makes a job that ends when its token is cancelled.
fn runs_until_told(first_runs: &Arc<Counter>, told: &Arc<Counter>) -> Job<u32> {
    let (first_runs, told) = (Arc::clone(first_runs), Arc::clone(told));
    Box::new(move || {
        let tell = Arc::clone(&told);
        let _registration = CancelToken::current().on_cancel(move || {
            tell.add();
        });
        step("job 1 runs");
        first_runs.add();
        told.wait_for(1);
        step("job 1 gives up");
        1
    })
}

pub fn a_running_job_is_told_to_give_up() {
    let pool = ThreadPoolExecutor::fixed(1);
    let (first_runs, told) = first_runs_and_told();
    let may_end = Arc::new(Counter::new("the test to let job 1 end"));
    let ran = Ran::default();
    let mut jobs = jobs(&ran, 2);
    jobs[0] = {
        let (job, may_end) = (runs_until_told(&first_runs, &told), Arc::clone(&may_end));
        Box::new(move || {
            let result = job();
            may_end.wait_for(1); // the job holds the only thread until invoke_all() has returned
            result
        })
    };
    let clock = Impatient { first_runs, passed: Shared::default() };
    if invoke_all(&pool, &clock, jobs, 10).is_err() {
        fail("invoke_all() returned a refusal", "the pool has refused no job");
    }
    let cause = "the time is up, and the job was not told: cancel() cancels its token as well, cancel_keep_running() and \
                 dropping the handle do not";
    expect("waiting for the running job to give up", cause, || told.wait_for(1));
    may_end.add();
    pool.close();
    if ran.with(|ran| !ran.is_empty()) {
        fail("job 2 was in the pool's queue at the deadline, and was run afterwards", "cancel every job");
    }
}

pub fn the_time_of_submitting_counts() {
    let simulation = Simulation { submission: 4, ..Simulation::of(&[NEVER, NEVER]) };
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), 2), 10);
    let cause = "an executor may take its time to accept a job. The deadline is a point in time: fix it before anything \
                 else";
    check_time(&simulation, 10, "two submissions of 4 ms, no job that ends, and a timeout of 10 ms", cause);
    check(&outcomes, &["cancelled", "cancelled"], "two jobs without an end, in 10 ms", cause);
}

pub fn nothing_is_submitted_after_the_deadline() {
    let simulation = Simulation { inline: true, ..Simulation::of(&[8, 8, 8]) };
    let ran = Ran::default();
    let outcomes = outcomes(&simulation, jobs(&ran, 3), 10);
    let ran = ran.with(|ran| ran.clone());
    let what = "jobs of 8 ms, run one after the other inside submit(), and a timeout of 10 ms";
    if ran.contains(&3) {
        fail(
            &format!("{what}: these jobs were run: {ran:?}"),
            "after 16 ms the time is up, and job 3 has not begun: look at the clock before each submission",
        );
    }
    if outcomes.len() != 3 || outcomes[2] != "cancelled" {
        fail(
            &format!("{what}: the outcomes are {}", outcomes.join(", ")),
            "there is an outcome for each job: the outcome of a job that was never submitted is Err(TaskError::Cancelled)",
        );
    }
}

pub fn a_timeout_of_zero_is_over_at_once() {
    let simulation = Simulation::of(&[5, 5]);
    let ran = Ran::default();
    let outcomes = outcomes(&simulation, jobs(&ran, 2), 0);
    let cause = "0 is a time like any other: it is up at once. It does not mean that there is no limit";
    check_time(&simulation, 0, "two jobs of 5 ms, and a timeout of 0", cause);
    check(&outcomes, &["cancelled", "cancelled"], "two jobs of 5 ms, and a timeout of 0", cause);
    simulation.go_on();
    let ran = ran.with(|ran| ran.clone());
    if !ran.is_empty() {
        fail(&format!("a timeout of 0, and these jobs were run afterwards: {ran:?}"), "cancel every job");
    }
}

pub fn an_interrupted_wait_is_over() {
    let simulation = Simulation { interrupts: true, ..Simulation::of(&[5, 50]) };
    let ran = Ran::default();
    let outcomes = outcomes(&simulation, jobs(&ran, 2), 10);
    simulation.go_on();
    let ran = ran.with(|ran| ran.clone());
    let cause = "JoinTimeoutError::Interrupted hands the handle back as TimedOut does, and the job runs on: in both cases \
                 the wait is over, and a job that has not ended must be cancelled";
    if !ran.is_empty() {
        fail(
            &format!("the caller was told to give up while it waited, and these jobs ran on: {ran:?}"),
            cause,
        );
    }
    check(&outcomes, &["cancelled", "cancelled"], "the caller was told to give up while it waited", cause);
}

pub fn a_refusal_leaves_nothing_behind() {
    let simulation = Simulation { room: Some(2), ..Simulation::of(&[5, 50]) };
    let ran = Ran::default();
    let refused = match invoke(&simulation, jobs(&ran, 3), 10) {
        Err(refused) => refused,
        Ok(outcomes) => fail(
            &format!(
                "the executor refused one of three jobs, and invoke_all() returned {} outcomes",
                outcomes.len()
            ),
            "the caller believes that all jobs were run: return the refusal",
        ),
    };
    check_time(
        &simulation,
        0,
        "the executor refused at once",
        "the caller cannot do anything about it while you wait",
    );
    simulation.go_on();
    let ran = ran.with(|ran| ran.clone());
    if !ran.is_empty() {
        fail(
            &format!("the third job was refused, no caller sees a result, and these jobs ran on: {ran:?}"),
            "cancel the jobs that were submitted before it; `?` forgets them, and dropping a handle does not cancel its job",
        );
    }
    let refusal =
        "the error is the executor's: return it as it is, with the job in it, for the caller to use";
    if !matches!(refused.reason, RejectReason::Saturated) {
        fail(&format!("the executor was saturated, and invoke_all() says: {}", refused.reason), refusal);
    }
    step("the caller runs the refused job");
    refused.task.run();
    if !matches!(refused.handle.try_join(), Ok(3)) {
        fail("the caller ran the refused job, and its handle has no result", refusal);
    }
}

/// An executor with a thread for one job. While that job runs, the executor refuses other jobs.
struct OneThread {
    first_runs: Arc<Counter>,
    thread: Shared<Option<thread::JoinHandle<()>>>,
}

impl Executor for OneThread {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.thread.with(|thread| thread.is_some()) {
            self.first_runs.wait_for(1);
            step("the executor refuses job 2");
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
        let started = thread::spawn(move || drop(task.run()));
        self.thread.with(|thread| *thread = Some(started));
        Ok(())
    }
}

pub fn a_refusal_tells_a_running_job() {
    let (first_runs, told) = first_runs_and_told();
    let mut jobs = jobs(&Ran::default(), 2);
    jobs[0] = runs_until_told(&first_runs, &told);
    let executor = OneThread { first_runs: Arc::clone(&first_runs), thread: Shared::default() };
    let clock = Impatient { first_runs, passed: Shared::default() };
    if invoke_all(&executor, &clock, jobs, 10).is_ok() {
        fail(
            "the executor refused one of two jobs, and invoke_all() returned outcomes",
            "return the refusal",
        );
    }
    let cause = "job 2 was refused, job 1 runs for no caller, and was not told: cancel() cancels its token as well, \
                 cancel_keep_running() and dropping the handle do not";
    expect("waiting for the running job to give up", cause, || told.wait_for(1));
    if let Some(thread) = executor.thread.with(Option::take) {
        let _ = thread.join();
    }
}

pub fn a_timeout_may_be_as_long_as_it_likes() {
    let simulation = Simulation::of(&[5, 10]);
    let outcomes = outcomes(&simulation, jobs(&Ran::default(), 2), Millis::MAX);
    let cause = "the time is not up: such a late deadline needs all bits of a Millis, and becomes negative in a type with \
                 a sign";
    check(&outcomes, &["1", "2"], "jobs of 5 and 10 ms, and the longest timeout there is", cause);
    check_time(&simulation, 10, "jobs of 5 and 10 ms", "when all have ended, there is nothing to wait for");
}
