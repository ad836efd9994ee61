//! The properties of a striped executor; each property is a function. `exercise.toml` lists the properties
//! and says what each of them promises.

use std::cell::RefCell;

use exercises_harness::{at_once, expect, fail, step};

use super::exercise::{Executor, Refused, StripedExecutor};
use crate::below::{AtOnce, Desk, Gate, Threads, on_a_thread};
use crate::probe::{Counter, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod below;
mod jobs;

use jobs::{Fate, Keys, Log, Name};

const STRANDED: &str = "a job is in its stripe, and the entry that should run it has gone, or was never taken. A thread \
                        that leaves a stripe has to check it once more for jobs, and to take it out of the map, under the \
                        lock under which others find it and put jobs in";
const IN_ORDER: &str = "a stripe is a queue, and no job overtakes another: a job is put in at the end, and the job that \
                        runs next is taken from the front";
const BELOW_RUNS: &str = "a job runs where the underlying executor calls what it was given: on no thread of yours, and \
                          not on the one that submits, unless the underlying executor calls it there";
const NO_WAIT: &str = "execute() puts the job into its stripe and returns: it does not wait until a job has run, or until \
                       a thread begins. While a job runs, no lock is held that execute() needs";
const TOGETHER: &str = "keys that are not equal are independent of each other, even if they have the same hash: one \
                        waits for the other if they share a lane, or if a lock is held while a job runs or during a call \
                        of the underlying executor";
const KEEPS_A_THREAD: &str = "a job whose turn has not come waits in its stripe, and not on a thread: the entry that the \
                              underlying executor has called returns if it can run no job. With a lock for each key, \
                              held while a job runs, all threads may wait for one key";
const CALLED_AT_ONCE: &str = "the underlying executor may call what it is given before its execute() returns. So hold no \
                              lock that the call needs, let no thread that runs a stripe wait for that return, and let a \
                              job that is executed meanwhile join its stripe";
const PANIC: &str = "a panic ends its job and nothing else: catch it where the job is called, in the loop and not around \
                     it, so that the lines after the call run in any case";
const NO_MEMORY: &str = "a key that has no job needs no place in a map: take it out when its last job has ended (or was \
                         refused), under the lock under which others look for it. A program that has seen a million keys \
                         has to forget them";
const OWN_JOB: &str = "a job that is refused comes back itself, out of its stripe: calling it runs that job and no other, \
                       and if it is dropped it never runs";
const AFTER_REFUSAL: &str = "after a refusal the stripe is as it was before: undo every change that you have made for the \
                             refused job";
const IN_THE_MIDDLE: &str = "the underlying executor may refuse anything that it is given, even while jobs that were \
                             taken long ago wait in the stripe. These must not need another yes, and must not go with \
                             the one that is refused";
const COUNTED_ON_IT: &str = "a job has joined its stripe because of an entry about which the underlying executor had not \
                             decided, and which it then refused. No job can count on it before the executor has taken \
                             it: let other submitters wait until then, or give the executor an entry for each job";
const SPINS: &str = "a submitter that waits until the underlying executor has decided must not check again and again: \
                     wait on a Condvar";
const NOT_REFUSED: &str = "a striped executor has no bound and no shutdown: it refuses only if the underlying executor \
                           has refused";

type Striped<E> = StripedExecutor<Name, Arc<E>>;

fn striped<E>(below: &Arc<E>) -> Arc<Striped<E>>
where
    Arc<E>: Executor + 'static,
{
    Arc::new(StripedExecutor::new(Arc::clone(below)))
}

/// The jobs of a property, and the executor that gets them.
struct Trial<E> {
    striped: Arc<Striped<E>>,
    keys: Keys,
    log: Arc<Log>,
}

impl<E: Send + Sync + 'static> Trial<E>
where
    Arc<E>: Executor,
{
    fn over(below: &Arc<E>) -> Arc<Self> {
        Arc::new(Self { striped: striped(below), keys: Keys::new(), log: Log::new() })
    }

    /// Executes a job of the given key that calls `work`.
    fn execute(
        &self,
        key: &'static str,
        number: u32,
        work: Box<dyn FnOnce() + Send>,
        cause: &str,
    ) -> Result<(), Refused> {
        let job = self.log.job(key, number, work);
        expect("execute()", cause, || self.striped.execute(self.keys.key(key), job))
    }

    /// Executes a job, and fails the test if the executor refuses the job.
    fn take_that(&self, key: &'static str, number: u32, work: Box<dyn FnOnce() + Send>) {
        if self.execute(key, number, work, NO_WAIT).is_err() {
            fail("execute() refused a job, and the underlying executor has refused nothing", NOT_REFUSED);
        }
    }

    fn take(&self, key: &'static str, number: u32) {
        self.take_that(key, number, Box::new(|| {}));
    }

    /// Executes, on another thread, a job of the given key that calls `work`.
    fn submitter(self: &Arc<Self>, key: &'static str, number: u32) -> thread::JoinHandle<()> {
        let trial = Arc::clone(self);
        on_a_thread("submitter", Box::new(move || trial.take(key, number)))
    }

    /// Executes a job on another thread, which records the outcome.
    fn tried(self: &Arc<Self>, name: &str, key: &'static str, number: u32) -> (thread::JoinHandle<()>, Fate) {
        let (trial, fate) = (Arc::clone(self), Fate::default());
        let told = Arc::clone(&fate);
        let work = move || {
            let result = trial.execute(key, number, Box::new(|| {}), SPINS);
            told.with(|fate| *fate = Some(result));
        };
        (on_a_thread(name, Box::new(work)), fate)
    }

    /// Checks that the executor holds no key any more.
    fn check_keys(&self, when: &str) {
        let left = self.keys.left();
        if left > 0 {
            fail(&format!("{when}, and keys that the executor still has: {left}"), NO_MEMORY);
        }
    }
}

fn ended(thread: thread::JoinHandle<()>, cause: &str) {
    if expect("waiting for the thread that called execute()", cause, || thread.join()).is_err() {
        fail("a thread that called execute() panicked", "execute() never panics");
    }
}

pub fn every_job_runs_once() {
    let below = Arc::new(Threads::default());
    let trial = Trial::over(&below);
    let other = trial.submitter("Ada", 1);
    trial.take("Ada", 2);
    trial.take("Grace", 3);
    ended(other, STRANDED);
    trial.log.until_ended(3, STRANDED);
    below.join(KEEPS_A_THREAD);
    let mut ran = trial.log.begun();
    ran.sort_unstable();
    if ran != [1, 2, 3] {
        fail(
            &format!("of the jobs 1, 2 and 3 these have run: {ran:?}"),
            "a job runs once: the thread that takes it out of its stripe runs it",
        );
    }
    trial.check_keys("all jobs have ended");
}

pub fn a_key_may_come_back_at_any_moment() {
    let below = Arc::new(Threads::default());
    let trial = Trial::over(&below);
    let begun = Arc::new(Counter::new("job 1 to begin"));
    let told = Arc::clone(&begun);
    trial.take_that(
        "Ada",
        1,
        Box::new(move || {
            told.add();
        }),
    );
    expect("waiting for job 1", STRANDED, || begun.wait_for(1));
    let other = trial.submitter("Ada", 2);
    trial.take("Ada", 3);
    ended(other, STRANDED);
    trial.log.until_ended(3, STRANDED);
    below.join(KEEPS_A_THREAD);
    trial.check_keys("all jobs have ended");
}

pub fn jobs_of_a_key_run_in_order() {
    let below = Arc::new(Threads::default());
    let trial = Trial::over(&below);
    for number in 1..=3 {
        trial.take("Ada", number);
    }
    trial.log.until_ended(3, STRANDED);
    below.join(KEEPS_A_THREAD);
    trial.log.check(&[1, 2, 3], IN_ORDER);
}

pub fn jobs_run_where_the_executor_calls_them() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    let here = thread::current().id();
    for (key, number) in [("Ada", 1), ("Grace", 2), ("Ada", 3)] {
        let look = move || {
            if thread::current().id() != here {
                fail("a job runs on a thread that is not the executor's", BELOW_RUNS);
            }
        };
        trial.take_that(key, number, Box::new(look));
    }
    others_come_to_rest();
    if !trial.log.begun().is_empty() {
        fail("a job ran, though the underlying executor has called nothing yet", BELOW_RUNS);
    }
    below.run_all(KEEPS_A_THREAD);
    let ran = trial.log.begun();
    if ran.len() != 3 {
        let seen = format!(
            "the underlying executor has called everything that it was given; of the jobs 1, 2 and 3 these have run: \
             {ran:?}"
        );
        fail(&seen, STRANDED);
    }
}

pub fn keys_do_not_wait_for_each_other() {
    let (below, gate) = (Arc::new(Threads::default()), Gate::new());
    let trial = Trial::over(&below);
    trial.take_that("Ada", 1, gate.passes());
    gate.until_reached(STRANDED);
    for (key, number) in [("Ada", 2), ("Grace", 3)] {
        let job = trial.log.job(key, number, Box::new(|| {}));
        if at_once("execute()", NO_WAIT, || trial.striped.execute(trial.keys.key(key), job)).is_err() {
            fail("execute() refused a job, and the underlying executor has refused nothing", NOT_REFUSED);
        }
    }
    if others_come_to_rest() && !trial.log.has_run(3) {
        fail(
            "a job of Ada runs, and a job of Grace does not begin, though the executor has a thread for it",
            TOGETHER,
        );
    }
    expect("waiting for the job of Grace", TOGETHER, || trial.log.until_begun(3));
    gate.open();
    trial.log.until_ended(3, STRANDED);
    below.join(KEEPS_A_THREAD);
}

pub fn a_job_that_waits_keeps_no_thread() {
    let (below, gate) = (Desk::new(), Gate::new());
    let trial = Trial::over(&below);
    trial.take_that("Ada", 1, gate.passes());
    trial.take("Ada", 2);
    let first = below.run_one_elsewhere();
    if first.is_none() {
        fail("execute() took a job, but gave nothing to the underlying executor", BELOW_RUNS);
    }
    gate.until_reached(BELOW_RUNS);
    let second = below.run_one_elsewhere();
    if let Some(second) = &second
        && others_come_to_rest()
        && !second.is_finished()
    {
        let seen = "a job of Ada runs, and another thread of the executor waits for it";
        fail(seen, KEEPS_A_THREAD);
    }
    gate.open();
    for thread in [first, second].into_iter().flatten() {
        expect("what the executor has called", KEEPS_A_THREAD, || drop(thread.join()));
    }
    below.run_all(KEEPS_A_THREAD);
    if !trial.log.has_run(2) {
        fail(
            "the underlying executor has called everything that it was given, but job 2 has not run",
            STRANDED,
        );
    }
}

pub fn a_job_may_execute_others() {
    for elsewhere in [false, true] {
        let below = AtOnce::new(elsewhere);
        let trial = Trial::over(&below);
        let same = Arc::clone(&trial);
        let executes = move || {
            for (key, number) in [("Ada", 2), ("Grace", 3)] {
                if same.execute(key, number, Box::new(|| {}), CALLED_AT_ONCE).is_err() {
                    fail("a job executed another job, which was refused", NOT_REFUSED);
                }
            }
        };
        trial.take_that("Ada", 1, Box::new(executes));
        trial.log.check_of_each(&[1, 2, 3], CALLED_AT_ONCE);
    }
}

pub fn a_panic_stops_no_other_job() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    trial.take_that("Ada", 1, Box::new(jobs::panics));
    trial.take("Ada", 2);
    trial.take_that("Ada", 3, Box::new(jobs::panics));
    below.run_all(PANIC);
    trial.log.check(&[1, 2, 3], PANIC);
    trial.take("Ada", 4);
    below.run_all(PANIC);
    trial.log.check(&[1, 2, 3, 4], PANIC);
}

pub fn a_key_without_jobs_leaves_nothing() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    trial.take("Ada", 1);
    trial.take_that("Grace", 2, Box::new(jobs::panics));
    trial.take("Ada", 3);
    below.run_all(KEEPS_A_THREAD);
    trial.log.check_of_each(&[1, 2, 3], STRANDED);
    trial.check_keys("all jobs have ended");
    below.refuse(true);
    drop(trial.execute("Joan", 4, Box::new(|| {}), AFTER_REFUSAL));
    trial.check_keys("the only job was refused");
}

pub fn a_refused_job_comes_back() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    below.refuse(true);
    let [first, second] =
        [1, 2].map(|number| match trial.execute("Ada", number, Box::new(|| {}), AFTER_REFUSAL) {
            Err(Refused(job)) => job,
            Ok(()) => fail(
                "the underlying executor refused everything that it was given, and execute() returned Ok",
                "the job is lost and the caller does not know: pass the refusal on",
            ),
        });
    trial.log.check(&[], OWN_JOB);
    step("calls the second of the jobs that came back, and drops the first");
    second();
    drop(first);
    trial.log.check(&[2], OWN_JOB);
    below.refuse(false);
    trial.take("Ada", 3);
    below.run_all(AFTER_REFUSAL);
    if !trial.log.has_run(3) {
        let seen = "the underlying executor refused once; since then it takes everything, but a job that was taken \
                    does not run";
        fail(seen, AFTER_REFUSAL);
    }
    trial.log.check(&[2, 3], OWN_JOB);
    a_refused_job_without_captures_comes_back();
}

std::thread_local!(static RAN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });

/// All boxes of closures that capture nothing have the same address.
fn a_refused_job_without_captures_comes_back() {
    let (below, keys) = (Desk::new(), Keys::new());
    let striped = striped(&below);
    RAN.set(Vec::new());
    let first = striped.execute(keys.key("Ada"), Box::new(|| RAN.with_borrow_mut(|ran| ran.push(1))));
    below.refuse(true);
    let second = striped.execute(keys.key("Ada"), Box::new(|| RAN.with_borrow_mut(|ran| ran.push(2))));
    if first.is_err() {
        fail("execute() refused a job, and the underlying executor has refused nothing", NOT_REFUSED);
    }
    if let Err(Refused(job)) = second {
        step("calls the job that came back");
        job();
        if RAN.take() != [2] {
            fail(
                "of two jobs that hold nothing, the second was refused, and what came back is the first",
                OWN_JOB,
            );
        }
    }
    below.run_all(AFTER_REFUSAL);
}

pub fn a_refusal_in_the_middle_strands_nobody() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    let mut expected: Vec<u32> = (1..=MANY).collect();
    for number in &expected {
        trial.take("Ada", *number);
    }
    below.refuse(true);
    for number in MANY + 1..=MANY + 2 {
        if trial.execute("Ada", number, Box::new(|| {}), IN_THE_MIDDLE).is_ok() {
            expected.push(number);
        }
    }
    below.run_all(IN_THE_MIDDLE);
    let missing = expected.iter().find(|number| !trial.log.has_run(**number));
    if let Some(missing) = missing {
        let seen = format!(
            "job {missing} was taken, then the underlying executor began to refuse, and the job has not run"
        );
        fail(&seen, IN_THE_MIDDLE);
    }
    below.refuse(false);
    trial.take("Ada", 100);
    expected.push(100);
    below.run_all(IN_THE_MIDDLE);
    trial.log.check(&expected, IN_THE_MIDDLE);
    trial.check_keys("all jobs have ended");
    what_was_called_early_will_not_come_again(MANY, || {});
    what_was_called_early_will_not_come_again(3, jobs::panics);
}

/// While job 1 runs, other jobs of the same key are submitted. The underlying executor calls every entry that
/// it gets for these jobs, and each call returns before job 1 ends. After these calls, the executor refuses
/// everything. So only the entry that runs job 1 can still run the other jobs.
fn what_was_called_early_will_not_come_again(jobs: u32, end: fn()) {
    let below = Desk::new();
    let trial = Trial::over(&below);
    let (desk, same) = (Arc::clone(&below), Arc::clone(&trial));
    let first = move || {
        (2..=jobs).for_each(|number| same.take("Ada", number));
        desk.run_all(IN_THE_MIDDLE);
        desk.refuse(true);
        end();
    };
    trial.take_that("Ada", 1, Box::new(first));
    below.run_all(IN_THE_MIDDLE);
    if let Some(missing) = (1..=jobs).find(|number| !trial.log.has_run(*number)) {
        let seen = format!(
            "job {missing} was taken while job 1 ran, then the underlying executor began to refuse and job 1 ended: job \
             {missing} has not run"
        );
        fail(&seen, IN_THE_MIDDLE);
    }
    trial.log.check(&(1..=jobs).collect::<Vec<u32>>(), IN_THE_MIDDLE);
    trial.check_keys("all jobs have ended");
}

/// A number of jobs: more jobs than a fair stripe runs before it lets other stripes go first.
const MANY: u32 = 70;

pub fn others_may_come_while_the_executor_decides() {
    for takes in [false, true] {
        let (below, gate) = (Desk::new(), Gate::new());
        let trial = Trial::over(&below);
        below.decide_at(&gate, takes);
        below.refuse(!takes);
        let first = trial.tried("first", "Ada", 1);
        gate.until_reached(BELOW_RUNS);
        // If two submitters wait for the executor's decision, both must be woken.
        let others: &[u32] = if takes { &[2, 3] } else { &[2] };
        let others: Vec<_> =
            others.iter().map(|number| (*number, trial.tried("another", "Ada", *number))).collect();
        let other = trial.tried("of another key", "Grace", 4);
        until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
        if others_come_to_rest() && !other.0.is_finished() {
            fail(
                "the underlying executor has not decided about a job of Ada, and a job of Grace is not taken until it \
                 has",
                TOGETHER,
            );
        }
        gate.open();
        let mut fates = Vec::new();
        for (number, (thread, fate)) in [(1, first)].into_iter().chain(others).chain([(4, other)]) {
            ended(thread, NO_WAIT);
            fates.push((number, fate));
        }
        if !trial.log.begun().is_empty() {
            fail("a job ran, though the underlying executor has called nothing yet", BELOW_RUNS);
        }
        below.run_all(STRANDED);
        trial.log.check_fates(&fates);
        trial.check_keys("all jobs have ended or were refused");
    }
}

pub fn a_refused_job_leaves_the_others_in_their_stripe() {
    let (below, [running, second, third]) = (Desk::new(), [Gate::new(), Gate::new(), Gate::new()]);
    let trial = Trial::over(&below);
    trial.take_that("Ada", 1, running.passes());
    below.decide_at(&second, false);
    below.decide_at(&third, false);
    let (two, fate_of_2) = trial.tried("second", "Ada", 2);
    let (three, fate_of_3) = trial.tried("third", "Ada", 3);
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    let thread = below.run_one_elsewhere();
    running.until_reached(BELOW_RUNS);
    second.open();
    third.open();
    ended(two, NO_WAIT);
    ended(three, NO_WAIT);
    trial.take("Ada", 4); // this job waits as long as job 1 runs
    let other = below.run_one_elsewhere();
    others_come_to_rest();
    running.open();
    for thread in [thread, other].into_iter().flatten() {
        expect("what the executor has called", KEEPS_A_THREAD, || drop(thread.join()));
    }
    below.run_all(STRANDED);
    trial.log.check_fates(&[(2, fate_of_2), (3, fate_of_3)]);
    trial.check_keys("all jobs have ended or were refused");
}

pub fn a_late_yes_is_no_yes_to_another() {
    let (below, [late, slow]) = (Desk::new(), [Gate::new(), Gate::new()]);
    let trial = Trial::over(&below);
    below.call_and_stay_at(&late);
    below.decide_at(&slow, false);
    let (first, fate_of_1) = trial.tried("first", "Ada", 1);
    late.until_reached(BELOW_RUNS);
    let (second, fate_of_2) = trial.tried("second", "Ada", 2);
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    late.open();
    ended(first, NO_WAIT);
    let (third, fate_of_3) = trial.tried("third", "Ada", 3);
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    slow.open();
    for submitter in [second, third] {
        ended(submitter, NO_WAIT);
    }
    below.run_all(STRANDED);
    trial.log.check_fates(&[(1, fate_of_1), (2, fate_of_2), (3, fate_of_3)]);
}

pub fn a_stripe_may_end_and_come_again_while_the_executor_decides() {
    let (below, slow) = (Desk::new(), Gate::new());
    let trial = Trial::over(&below);
    below.decide_at(&slow, false);
    let first = trial.tried("first", "Ada", 1);
    slow.until_reached(BELOW_RUNS);
    let second = trial.tried("second", "Ada", 2);
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    below.run_all(STRANDED); // so the stripe has no jobs any more, if the second job was taken
    let third = trial.tried("third", "Ada", 3);
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    slow.open();
    let mut fates = Vec::new();
    for (number, (thread, fate)) in (1..).zip([first, second, third]) {
        ended(thread, NO_WAIT);
        fates.push((number, fate));
    }
    below.run_all(STRANDED);
    trial.log.check_fates(&fates);
    trial.check_keys("all jobs have ended or were refused");
}

pub fn many_keys_and_many_jobs() {
    const AT_ONCE: u32 = 40;
    const KEYS: u32 = 300;
    const JOBS: u32 = 1_000;
    if !exercises_harness::first_run!() {
        return;
    }
    let text: &'static str = "x".repeat(KEYS as usize).leak();
    let name = |key: u32| &text[..key as usize]; // no two names are equal

    let below = Arc::new(Threads::default());
    let trial = Trial::over(&below);
    let gate = Gate::new();
    (1..=AT_ONCE).for_each(|key| trial.take_that(name(key), key, gate.passes()));
    let begun = || trial.log.begun().len();
    if others_come_to_rest() && begun() < 40 {
        let seen = format!(
            "the executor has a thread for each of {AT_ONCE} keys; keys whose job has begun: {}",
            begun()
        );
        fail(&seen, TOGETHER);
    }
    gate.open();
    trial.log.until_ended(40, TOGETHER);
    below.join(KEEPS_A_THREAD);

    let below = Desk::new();
    let trial = Trial::over(&below);
    for round in 0..3 {
        (1..=KEYS).for_each(|key| trial.take(name(key), round * KEYS + key));
    }
    below.run_all(STRANDED);
    trial.log.check_of_each(&(1..=3 * KEYS).collect::<Vec<_>>(), IN_ORDER);
    trial.check_keys("all jobs of many keys have ended");

    let trial = Trial::over(&below);
    let (same, executor) = (Arc::clone(&trial), Arc::clone(&below));
    let first = move || {
        for number in 2..=JOBS {
            executor.refuse(number > JOBS / 2);
            let refused = same.execute("Ada", number, Box::new(|| {}), IN_THE_MIDDLE).is_err();
            if refused && number <= JOBS / 2 {
                fail("execute() refused a job, and the underlying executor has refused nothing", NOT_REFUSED);
            }
        }
    };
    trial.take_that("Ada", 1, Box::new(first));
    below.run_all(IN_THE_MIDDLE);
    let ran = trial.log.begun();
    if !ran.is_sorted() || !(1..=JOBS / 2).all(|number| ran.binary_search(&number).is_ok()) {
        let seen = format!(
            "a job executed others of its key: {JOBS} with it, of which at least half were taken; {} have run",
            ran.len()
        );
        fail(&seen, IN_ORDER);
    }
    trial.check_keys("all jobs of one key have ended or were refused");
}
