//! The properties of the timed run; each property is a function. `exercise.toml` lists the properties and
//! says what each of them promises.
//!
//! The test's own thread is the executor and the clock: it runs the task and rings the alarm when the
//! property says so. Another thread, the caller's thread, calls `timed_run`.

use std::collections::VecDeque;

use executor::{CancelToken, Executor, RejectReason, RejectedExecution, Task};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{Alarm, Alarms, Job, Millis, TimedRunError, timed_run};
use crate::probe::{Counter, Shared, until_others_wait};
use crate::sync::{Arc, thread};

type Outcome = Result<u32, TimedRunError>;
type Ring = Box<dyn FnOnce() + Send>;

/// The limit of all calls for which the property gives no other limit.
const LIMIT: Millis = 100;

/// An executor and a clock that run tasks and ring alarms when the property says so.
#[derive(Clone)]
struct World(Arc<State>);

struct State {
    tasks: Shared<VecDeque<Task>>,
    accepted: Counter,
    refuses: Shared<bool>,
    /// The alarms that are set, each with the function that it calls.
    alarms: Shared<Vec<(usize, Ring)>>,
    set: Counter,
    limits: Shared<Vec<Millis>>,
    /// The number of calls of `timed_run` that have returned.
    returned: Counter,
}

impl World {
    fn new() -> Self {
        Self(Arc::new(State {
            tasks: Shared::default(),
            accepted: Counter::new("the executor to be given the job"),
            refuses: Shared::default(),
            alarms: Shared::default(),
            set: Counter::new("an alarm to be set"),
            limits: Shared::default(),
            returned: Counter::new("timed_run() to return"),
        }))
    }

    /// Waits until the executor has the job's task and the alarm is set, and returns the task.
    fn task(&self) -> Task {
        self.task_of(1)
    }

    /// Waits for the task of the call with this number; the first call is number 1.
    fn task_of(&self, call: usize) -> Task {
        let cause = "the job has to be handed to the executor: is it run on the caller's thread?";
        expect("handing the job to the executor", cause, || self.0.accepted.wait_for(call));
        let cause = "no alarm was set with alarms.set(): no other clock knows what time it is here";
        expect("setting the alarm", cause, || self.0.set.wait_for(call));
        self.0
            .tasks
            .with(VecDeque::pop_front)
            .unwrap_or_else(|| fail("the executor has no task", "it is given one"))
    }

    /// Makes the alarm begin to ring, so that it can no longer be taken back.
    fn begin_to_ring(&self) -> Ring {
        let cause = "an alarm that is dropped is taken back and never rings: `let _ = alarms.set(..)` drops it at once";
        match self.0.alarms.with(|alarms| alarms.pop()) {
            Some((_, ring)) => ring,
            None => fail("the time is up, timed_run() still waits, and no alarm is set", cause),
        }
    }

    fn ring(&self) {
        let ring = self.begin_to_ring();
        step("the alarm rings");
        ring();
    }

    /// Waits until timed_run() has returned.
    fn returned(&self, what: &str, cause: &str) {
        expect(what, cause, || self.0.returned.wait_for(1));
    }

    fn no_alarm_left(&self, when: &str) {
        let left = self.0.alarms.with(|alarms| alarms.len());
        if left > 0 {
            fail(
                &format!("{when}, and its alarm is still set"),
                "take the alarm back on each way out, by dropping it: otherwise it rings when no caller waits, and until then \
                 keeps all values that its closure has captured",
            );
        }
    }
}

impl Executor for World {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.0.refuses.with(|refuses| *refuses) {
            step("the executor refuses the job");
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
        self.0.tasks.with(|tasks| tasks.push_back(task));
        step("the executor queues the job");
        self.0.accepted.add();
        Ok(())
    }
}

struct Set {
    world: World,
    number: usize,
}

impl Alarm for Set {}

impl Drop for Set {
    fn drop(&mut self) {
        let taken_back = self.world.0.alarms.with(|alarms| {
            let place = alarms.iter().position(|(number, _)| *number == self.number)?;
            Some(alarms.remove(place))
        });
        drop(taken_back);
    }
}

impl Alarms for World {
    fn set(&self, limit: Millis, ring: Ring) -> Box<dyn Alarm> {
        self.0.limits.with(|limits| limits.push(limit));
        if limit == 0 {
            step("the limit is 0, so the alarm rings at once");
            ring();
            self.0.set.add();
            return Box::new(Set { world: self.clone(), number: usize::MAX });
        }
        step("the alarm is set");
        let number = self.0.set.get();
        self.0.alarms.with(|alarms| alarms.push((number, ring)));
        self.0.set.add();
        Box::new(Set { world: self.clone(), number })
    }
}

/// The thread that calls timed_run(); this call is a task and has a token.
struct Caller {
    token: CancelToken,
    thread: thread::JoinHandle<Outcome>,
}

/// Calls timed_run() on a new thread.
fn call(world: &World, limit: Millis, job: Job<u32>) -> Caller {
    let (token, world) = (CancelToken::new(), world.clone());
    let run: Box<dyn FnOnce() -> Outcome + Send> = Box::new(move || {
        let outcome = timed_run(&world, &world, limit, job);
        step("timed_run() has returned");
        world.0.returned.add();
        outcome
    });
    let attached = {
        let token = token.clone();
        move || token.attach(run)
    };
    let thread = thread::Builder::new().name("caller".into()).spawn(attached).expect("a thread");
    Caller { token, thread }
}

impl Caller {
    /// Waits for the caller's thread, and returns the result of timed_run() as a text.
    fn outcome(self, cause: &str) -> String {
        let joined = expect("timed_run()", cause, || self.thread.join());
        let Ok(outcome) = joined else {
            fail("timed_run() panicked", "the returned value must say how the job has ended")
        };
        told_as(outcome)
    }

    /// Checks that timed_run() returned the expected result.
    fn must_have(self, expected: &str, when: &str, cause: &str) {
        let outcome = self.outcome(cause);
        if outcome != expected {
            fail(&format!("{when}, and timed_run() returned {outcome}, and not {expected}"), cause);
        }
    }
}

fn told_as(outcome: Outcome) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(TimedRunError::Panicked(panic)) => format!("Panicked: {}", panic.message()),
        Err(TimedRunError::Refused(reason)) => format!("Refused: {reason}"),
        Err(other) => format!("{other:?}"),
    }
}

const NO_END: &str =
    "the job has ended, or will never run, and timed_run() waits: what tells the waiting caller?";

/// Makes a job that only reports that it runs.
fn quick() -> Job<u32> {
    Box::new(|| {
        step("the job runs");
        7
    })
}

/// Makes a job that stores its own token, then calls `rest`, and returns 7.
fn with_token(tell: &Arc<Shared<Option<CancelToken>>>, rest: impl FnOnce() + Send + 'static) -> Job<u32> {
    let tell = Arc::clone(tell);
    let rest: Box<dyn FnOnce() + Send> = Box::new(rest);
    Box::new(move || {
        let token = CancelToken::current();
        tell.with(|place| *place = Some(token));
        step("the job runs");
        rest();
        step("the job ends");
        7
    })
}

fn was_told(token: &Arc<Shared<Option<CancelToken>>>) -> bool {
    token.with(|token| token.as_ref().is_some_and(CancelToken::is_cancelled))
}

pub fn the_result_comes_back() {
    for limit in [LIMIT, 1, Millis::MAX] {
        let world = World::new();
        let caller = call(&world, limit, quick());
        world.task().run();
        caller.must_have(
            "7",
            "the job ended in time with 7",
            "what the job returns is what timed_run() returns",
        );
        let limits = world.0.limits.with(|limits| limits.clone());
        if limits != [limit] {
            fail(
                &format!("the limit is {limit}, and alarms were set for {limits:?}"),
                "one alarm is enough, and it has the limit that the caller asks for",
            );
        }
    }
}

pub fn a_panic_is_told_as_a_panic() {
    let world = World::new();
    let caller = call(&world, LIMIT, Box::new(|| panic_on_purpose()));
    world.task().run();
    caller.must_have(
        "Panicked: a panic on purpose",
        "the job panicked",
        "a panic is a bug in the job, and neither a time-out nor a cancel: pass it on as it is, with its message",
    );
}

pub fn a_time_out_is_told_while_the_job_runs() {
    let world = World::new();
    let token = Arc::default();
    let in_the_job = {
        let world = world.clone();
        move || {
            world.ring();
            let cause = "the alarm has rung, the job has not stopped, and the caller still waits: the limit is the caller's, \
                         whatever the job does. Does the alarm end your wait? (CancelToken::current() inside its closure is \
                         the token of the thread on which the alarm rings)";
            world.returned("timed_run() with a job that does not stop", cause);
        }
    };
    let caller = call(&world, LIMIT, with_token(&token, in_the_job));
    world.task().run();
    caller.must_have(
        "TimedOut",
        "the time was up while the job was running",
        "the caller has to be told why there is no result, and that only the clock has called the job off",
    );
}

pub fn at_the_time_out_a_running_job_is_told_to_stop() {
    let world = World::new();
    let token: Arc<Shared<Option<CancelToken>>> = Arc::default();
    let told = Arc::new(Shared::default());
    let in_the_job = {
        let (world, told, token) = (world.clone(), Arc::clone(&told), Arc::clone(&token));
        move || {
            world.ring();
            world.returned("timed_run() after the alarm", "the time is up: tell the job to stop, and return");
            told.with(|told| *told = was_told(&token));
        }
    };
    let caller = call(&world, LIMIT, with_token(&token, in_the_job));
    world.task().run();
    drop(caller.outcome(NO_END));
    if !told.with(|told| *told) {
        fail(
            "the time was up, timed_run() returned, and the job was not told to stop",
            "a time-out ends the wait and not the job, and a dropped handle does not end the job, either. cancel() tells the \
             job, through its token; cancel_keep_running() does not",
        );
    }
}

pub fn at_the_time_out_a_queued_job_is_called_off() {
    let world = World::new();
    let ran = Arc::new(Counter::new("nothing"));
    let runs = Arc::clone(&ran);
    let caller = call(&world, LIMIT, Box::new(move || u32::try_from(runs.add()).unwrap_or(0)));
    let task = world.task();
    world.ring();
    caller.must_have(
        "TimedOut",
        "the time was up before the executor had a thread for the job",
        "the limit includes the time that the job waits in the executor's queue",
    );
    step("the executor has a thread for the job now");
    task.run();
    if ran.get() > 0 {
        fail(
            "the job began after its time was up",
            "no caller wants its result any more: cancel() calls off a job that has not begun",
        );
    }
}

pub fn the_caller_is_not_cancelled_at_the_time_out() {
    let world = World::new();
    let caller = call(&world, LIMIT, quick());
    let task = world.task();
    world.ring();
    world.returned("timed_run() after the alarm", "the time is up");
    drop(task);
    if caller.token.is_cancelled() {
        fail(
            "the time of the job was up, and the caller was told to stop",
            "the caller's token belongs to the code that runs the caller: a cancel would also stop what the caller does next, \
             and a cancel is never taken back. Cancel a token of your own: CancelToken::current().child()",
        );
    }
    drop(caller.outcome(NO_END));
}

pub fn an_alarm_that_rings_late_hits_nobody() {
    let world = World::new();
    let token = Arc::default();
    let caller = call(&world, LIMIT, with_token(&token, || {}));
    let task = world.task();
    let ring = world.begin_to_ring();
    task.run();
    world.returned("timed_run()", NO_END);
    step("the alarm had begun to ring: it cannot be taken back");
    ring();
    if caller.token.is_cancelled() {
        fail(
            "the job had ended in time, the alarm rang late, and the caller was told to stop",
            "taking the alarm back is not enough, because it may have begun to ring. The alarm must not cancel the caller's \
             token: cancel a token of your own, CancelToken::current().child()",
        );
    }
    if was_told(&token) {
        fail(
            "the job had ended in time, the alarm rang late, and cancelled the job's token",
            "other tasks may work under that token: before you cancel it, check whether the job has ended. (The \
             handle's cancel() checks this)",
        );
    }
    caller.must_have("7", "the job ended in time with 7", "what the job returns is what timed_run() returns");
}

pub fn a_job_that_ended_in_time_is_not_told_to_stop() {
    let world = World::new();
    let token = Arc::default();
    let caller = call(&world, LIMIT, with_token(&token, || {}));
    world.task().run();
    caller.must_have("7", "the job ended in time with 7", "what the job returns is what timed_run() returns");
    if was_told(&token) {
        fail(
            "the job ended in time, and its token was cancelled afterwards",
            "tasks that the job has started may still run under that token. Tell the job to stop only if you leave without its \
             result",
        );
    }
}

pub fn a_result_before_the_alarm_is_not_lost() {
    let jobs: [(Job<u32>, _, _); 2] = [
        (quick(), "7", "the job ended with 7, and then the alarm rang"),
        (
            Box::new(|| panic_on_purpose()),
            "Panicked: a panic on purpose",
            "the job panicked, and then the alarm rang",
        ),
    ];
    for (job, expected, when) in jobs {
        let world = World::new();
        let caller = call(&world, LIMIT, job);
        let task = world.task();
        let ring = world.begin_to_ring();
        task.run();
        step("the alarm rings when the job has ended");
        ring();
        caller.must_have(
            expected,
            when,
            "the job may end between any two lines of your code, with a result or a panic. When you give up, look: if cancel() \
             returns false, the job has ended, and the handle knows how",
        );
    }
}

pub fn a_time_out_means_that_the_job_was_told() {
    for (panics, end) in [(false, "7"), (true, "Panicked: a panic on purpose")] {
        let world = World::new();
        let token = Arc::default();
        let ends = move || {
            if panics {
                panic_on_purpose();
            }
        };
        let caller = call(&world, LIMIT, with_token(&token, ends));
        let task = world.task();
        world.ring(); // the job runs and ends while the caller wakes up and gives up
        task.run();
        let (outcome, told) = (caller.outcome(NO_END), was_told(&token));
        let began = token.with(|token| token.is_some());
        if outcome == end && told {
            fail(
                &format!("timed_run() returned how the job has ended ({end}), and told the job to stop"),
                "either the end of the job or the alarm comes first: decide once which of them",
            );
        }
        if outcome != end && began && !told {
            fail(
                &format!(
                    "the job ended by itself ({end}); timed_run() returned {outcome}, and no thread has told the job to stop"
                ),
                "the job has ended, with a result or a panic, and this outcome is lost: if cancel() returns false, it was too \
                 late, and the handle knows how the job has ended",
            );
        }
    }
}

pub fn a_limit_of_zero_is_up_at_once() {
    let world = World::new();
    let ran = Arc::new(Counter::new("nothing"));
    let runs = Arc::clone(&ran);
    let caller = call(&world, 0, Box::new(move || u32::try_from(runs.add()).unwrap_or(0)));
    caller.must_have(
        "TimedOut",
        "the limit was 0, and the job had not begun",
        "with a limit of 0 the alarm rings before set() returns, on the caller's thread: be ready for it, and hold no lock. \
         0 is a limit like any other",
    );
    if let Some(task) = world.0.tasks.with(VecDeque::pop_front) {
        task.run();
    }
    if ran.get() > 0 {
        fail("the limit was 0, and the job ran afterwards", "call it off as at any other time-out");
    }
}

pub fn a_refusal_is_told_and_leaves_nothing_behind() {
    let world = World::new();
    world.0.refuses.with(|refuses| *refuses = true);
    let captured = Arc::new(());
    let inside = Arc::clone(&captured);
    let job: Job<u32> = Box::new(move || {
        drop(inside);
        7
    });
    let caller = call(&world, LIMIT, job);
    let cause = "the job will never run, and the alarm will not ring for a long time: return the refusal at once, with its reason";
    caller.must_have(
        "Refused: the executor has no room for another task",
        "the executor refused the job",
        cause,
    );
    world.no_alarm_left("the executor refused the job");
    if Arc::strong_count(&captured) > 1 {
        fail(
            "the executor refused the job, and it was not dropped",
            "drop it, with all that it has captured",
        );
    }
}

pub fn a_job_that_is_dropped_unrun_ends_the_wait() {
    let world = World::new();
    let caller = call(&world, LIMIT, quick());
    let task = world.task();
    step("the executor drops the job, as at shutdown_now()");
    drop(task);
    caller.must_have(
        "Cancelled",
        "the executor dropped the job without running it",
        "the time is not up, and the caller was not told to stop: the job itself was called off",
    );
    world.no_alarm_left("the executor dropped the job");
}

pub fn the_callers_cancel_ends_the_wait() {
    let world = World::new();
    let token: Arc<Shared<Option<CancelToken>>> = Arc::default();
    let told = Arc::new(Shared::default());
    let of_the_caller = Arc::new(Shared::<Option<CancelToken>>::default());
    let in_the_job = {
        let (world, told, token) = (world.clone(), Arc::clone(&told), Arc::clone(&token));
        let of_the_caller = Arc::clone(&of_the_caller);
        move || {
            step("the caller is told to stop");
            let caller = of_the_caller.with(|token| token.clone());
            caller.expect("it is put there").cancel();
            let cause = "another thread wants the caller to stop, and the caller still waits: use a wait that the caller's \
                         token ends, or register a callback with on_cancel() that ends your wait";
            world.returned("timed_run() when its caller is told to stop", cause);
            told.with(|told| *told = was_told(&token));
        }
    };
    let caller = call(&world, LIMIT, with_token(&token, in_the_job));
    of_the_caller.with(|place| *place = Some(caller.token.clone()));
    world.task().run();
    caller.must_have(
        "Interrupted",
        "the caller was told to stop while it waited",
        "the time was not up, and only the caller called the job off: say so",
    );
    if !told.with(|told| *told) {
        fail(
            "the caller was told to stop, timed_run() returned, and the job was not told",
            "no caller waits for the job any more: cancel() it, as at a time-out",
        );
    }
    world.no_alarm_left("the caller was told to stop");
}

pub fn the_alarm_is_taken_back() {
    let world = World::new();
    let caller = call(&world, LIMIT, quick());
    world.task().run();
    drop(caller.outcome(NO_END));
    world.no_alarm_left("the job ended in time");
    let world = World::new();
    let caller = call(&world, LIMIT, Box::new(|| panic_on_purpose()));
    world.task().run();
    drop(caller.outcome(NO_END));
    world.no_alarm_left("the job panicked");
}

pub fn the_caller_sleeps_while_it_waits() {
    let world = World::new();
    let caller = call(&world, LIMIT, quick());
    let task = world.task();
    until_others_wait(
        "timed_run() runs on and on while the job has not ended",
        "it asks again and again, and keeps a core busy with nothing: sleep until the job, the alarm or the caller's token \
         wakes you. A loop of join_timeout() is no sleep, either",
    );
    task.run();
    drop(caller.outcome(NO_END));
}

pub fn many_runs_of_one_caller_know_nothing_of_each_other() {
    const RUNS: usize = 60;
    const ANEW: &str = "each call begins anew: what a call has cancelled or stored belongs to that call, and not to its thread";
    if !exercises_harness::first_run!() {
        return;
    }
    let world = World::new();
    let told: Arc<Shared<Vec<String>>> = Arc::default();
    let (own, tells) = (world.clone(), Arc::clone(&told));
    let calls = move || {
        for call in 1..=RUNS {
            let job: Job<u32> = if call % 3 == 2 { Box::new(|| panic_on_purpose()) } else { quick() };
            let outcome = told_as(timed_run(&own, &own, LIMIT, job));
            tells.with(|told| told.push(outcome));
            own.0.returned.add();
        }
    };
    let caller = thread::Builder::new().name("caller".into()).spawn(calls).expect("a thread");
    for call in 1..=RUNS {
        let task = world.task_of(call);
        if call % 3 == 0 {
            world.ring();
        } else {
            task.run();
        }
        expect("timed_run(), called many times by one thread", ANEW, || world.0.returned.wait_for(call));
        let expected = ["TimedOut", "7", "Panicked: a panic on purpose"][call % 3];
        let outcome = told.with(|told| told[call - 1].clone());
        if outcome != expected {
            fail(&format!("call {call} of one thread returned {outcome}, and not {expected}"), ANEW);
        }
    }
    expect("the caller", ANEW, || drop(caller.join()));
    world.no_alarm_left("all calls have returned");
}
