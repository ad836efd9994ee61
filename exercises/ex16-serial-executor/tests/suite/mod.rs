//! The properties of a serial executor; each property is a function. `exercise.toml` lists the properties and
//! says what each of them promises.

use std::cell::RefCell;

use exercises_harness::{at_once, expect, fail, panic_on_purpose, step};

use super::exercise::{Executor, Job, Refused, SerialExecutor};
use crate::below::{AtOnce, Desk, Gate, Threads, on_a_thread};
use crate::probe::{Counter, Shared, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod below;

const ONE_AT_A_TIME: &str = "a thread that looks whether the line moves, and finds that it does not, has to say in the same \
                             step, under the same lock, that the line moves now; and the line moves until the last job has \
                             ended. If a job executes another job, the new job waits, too, until the first one has ended";
const STRANDED: &str = "a job is in the line, and the entry that should run it has gone, or was never taken. A thread that \
                        leaves the line has to look at it once more under the lock under which it says that the line stands, \
                        and a submitter that adds a job has to look under the same lock";
const IN_ORDER: &str = "the line is a queue, and nothing passes it: a job is put in at the end, and the one that runs next is taken \
                        from the front";
const BELOW_RUNS: &str = "a job runs where the underlying executor calls what it was given: on no thread of yours, and \
                          not on the one that submits, unless the underlying executor calls it there";
const NO_WAIT: &str = "execute() puts the job into the line and returns: it waits for no job to run, and for no thread to begin. \
                       While a job runs, no lock is held that execute() needs";
const KEEPS_A_THREAD: &str = "when the line is empty, what the underlying executor has called has to return: its thread \
                              is needed for other tasks. For the next job, give the executor a new closure";
const CALLED_AT_ONCE: &str = "the underlying executor may call what it is given before its execute() returns. So hold no \
                              lock that this call needs; no thread that runs the line waits for that return; and a job \
                              that is executed in the meantime joins the line";
const NESTED: &str = "each job, when it ends, gives the next job to the underlying executor, which calls it at once. So \
                      each job runs inside the end of the job before, and a long line overflows the stack. Run the jobs \
                      one after the other in a loop";
const PANIC: &str = "a panic ends its job and nothing else: catch it where the job is called, in the loop and not around it, so that \
                     what comes after it is done in any case";
const OWN_JOB: &str = "a job that is refused comes back itself, out of the line: a call of it runs that job and no other, and \
                       if it is dropped, that job never runs";
const AFTER_REFUSAL: &str =
    "after a refusal the line must be as it was before: take back what you have noted for the refused job";
const IN_THE_MIDDLE: &str = "the underlying executor may refuse anything that it is given, also when jobs wait in the \
                             line that were taken long ago, and then there is no submitter to tell. So nothing that was \
                             taken may need another yes: an entry that the executor has taken runs the line until it is \
                             empty";
const COUNTED_ON_IT: &str = "a job has joined the line because an entry was offered to the underlying executor, which \
                             then refused the entry. No job can count on it before the executor has taken it: let the \
                             other submitters wait until then, or give the executor an entry for each job";
const SPINS: &str = "a caller that waits until the underlying executor has decided must not look again and again: wait \
                     on a Condvar";

type Line<E> = SerialExecutor<Arc<E>>;

/// Records what the jobs of a property do.
struct Log {
    begun: Shared<Vec<u32>>,
    running: Shared<Option<u32>>,
    ended: Counter,
}

impl Log {
    fn new() -> Arc<Self> {
        let ended = Counter::new("the jobs to have run");
        Arc::new(Self { begun: Shared::default(), running: Shared::default(), ended })
    }

    /// Makes a job that has a number.
    fn job(self: &Arc<Self>, number: u32) -> Job {
        self.job_that(number, Box::new(|| {}))
    }

    /// Makes a job that has a number and calls the given closure.
    fn job_that(self: &Arc<Self>, number: u32, work: Job) -> Job {
        let log = Arc::clone(self);
        Box::new(move || {
            log.begins(number);
            work();
            log.ends(number);
        })
    }

    fn job_that_panics(self: &Arc<Self>, number: u32) -> Job {
        let log = Arc::clone(self);
        Box::new(move || {
            log.begins(number);
            log.ends(number);
            panic_on_purpose()
        })
    }

    fn begins(&self, number: u32) {
        step(&format!("job {number} begins"));
        self.begun.with(|begun| begun.push(number));
        if let Some(other) = self.running.with(|running| running.replace(number)) {
            fail(&format!("job {number} begins, and job {other} has not ended"), ONE_AT_A_TIME);
        }
        thread::yield_now(); // gives another thread time to begin its job by mistake
    }

    fn ends(&self, number: u32) {
        self.running.with(Option::take);
        step(&format!("job {number} ends"));
        self.ended.add();
    }

    /// Returns the jobs that have begun, in the order in which they began.
    fn begun(&self) -> Vec<u32> {
        self.begun.with(|begun| begun.clone())
    }

    fn has_run(&self, number: u32) -> bool {
        self.begun.with(|begun| begun.contains(&number))
    }

    /// Waits until the given number of jobs have ended.
    fn until_ended(&self, jobs: usize, cause: &str) {
        if others_come_to_rest() && self.ended.get() < jobs {
            let ran = self.begun();
            fail(
                &format!("{jobs} jobs were taken, nothing moves any more, and only these have run: {ran:?}"),
                cause,
            );
        }
        expect("waiting for the jobs", cause, || self.ended.wait_for(jobs));
    }

    /// Checks that exactly the expected jobs have run, in the given order.
    fn check(&self, expected: &[u32], cause: &str) {
        let begun = self.begun();
        if begun != expected {
            fail(&format!("these jobs have run: {begun:?}; and it should have been {expected:?}"), cause);
        }
    }
}

fn line<E>(below: &Arc<E>) -> Arc<Line<E>>
where
    Arc<E>: Executor + 'static,
{
    Arc::new(SerialExecutor::new(Arc::clone(below)))
}

/// Executes a job, and returns `Err` if it was refused.
fn execute(line: &dyn Executor, job: Job, cause: &str) -> Result<(), Refused> {
    expect("execute()", cause, || line.execute(job))
}

/// Executes a job, and fails the test if the executor refuses the job.
fn take(line: &dyn Executor, job: Job) {
    if execute(line, job, NO_WAIT).is_err() {
        let cause = "a serial executor has no bound and no end of its own: it refuses only if the underlying executor \
                     has refused";
        fail("execute() refused a job, and the underlying executor has refused nothing", cause);
    }
}

/// Executes a job on another thread; the executor must take the job.
fn submitter<E: 'static>(line: &Arc<Line<E>>, name: &str, job: Job) -> thread::JoinHandle<()>
where
    Arc<E>: Executor,
{
    let line = Arc::clone(line);
    on_a_thread(name, Box::new(move || take(&*line, job)))
}

fn ended(thread: thread::JoinHandle<()>, cause: &str) {
    if expect("waiting for the caller of execute()", cause, || thread.join()).is_err() {
        fail("a thread that called execute() panicked", "execute() never panics");
    }
}

pub fn every_job_runs_once() {
    let (below, log) = (Arc::new(Threads::default()), Log::new());
    let line = line(&below);
    let begun = Arc::new(Counter::new("job 1 to begin"));
    let told = Arc::clone(&begun);
    take(
        &*line,
        log.job_that(
            1,
            Box::new(move || {
                told.add();
            }),
        ),
    );
    expect("waiting for job 1", STRANDED, || begun.wait_for(1));
    take(&*line, log.job(2)); // job 1 ends at the same time
    log.until_ended(2, STRANDED);
    below.join(KEEPS_A_THREAD);
    let mut ran = log.begun();
    ran.sort_unstable();
    if ran != [1, 2] {
        fail(
            &format!("of the jobs 1 and 2 these have run: {ran:?}"),
            "a job runs once: the thread that takes it out of the line runs it",
        );
    }
}

pub fn no_two_jobs_run_at_once() {
    let (below, log) = (Arc::new(Threads::default()), Log::new());
    let line = line(&below);
    let other = submitter(&line, "submitter", log.job(1));
    take(&*line, log.job(2));
    ended(other, STRANDED);
    log.until_ended(2, STRANDED);
    below.join(KEEPS_A_THREAD);
}

pub fn jobs_run_in_the_order_of_submission() {
    let (below, log) = (Arc::new(Threads::default()), Log::new());
    let line = line(&below);
    for number in 1..=3 {
        take(&*line, log.job(number));
    }
    log.until_ended(3, STRANDED);
    below.join(KEEPS_A_THREAD);
    log.check(&[1, 2, 3], IN_ORDER);
}

pub fn jobs_run_where_the_executor_calls_them() {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    let here = thread::current().id();
    for number in 1..=2 {
        let look = move || {
            if thread::current().id() != here {
                fail("a job runs on a thread that is not the executor's", BELOW_RUNS);
            }
        };
        take(&*line, log.job_that(number, Box::new(look)));
    }
    others_come_to_rest();
    if !log.begun().is_empty() {
        fail("a job ran, and the underlying executor has called nothing yet", BELOW_RUNS);
    }
    below.run_all(KEEPS_A_THREAD);
    let ran = log.begun();
    if ran.len() != 2 {
        let seen = format!(
            "the underlying executor has called all that it was given; of the jobs 1 and 2 these have run: {ran:?}"
        );
        fail(&seen, STRANDED);
    }
}

pub fn execute_waits_for_no_job() {
    let (below, log, gate) = (Arc::new(Threads::default()), Log::new(), Gate::new());
    let line = line(&below);
    let at_gate = Arc::clone(&gate);
    take(&*line, log.job_that(1, Box::new(move || at_gate.pass())));
    gate.until_reached(STRANDED);
    let second = log.job(2);
    if at_once("execute()", NO_WAIT, || line.execute(second)).is_err() {
        fail("execute() refused a job, and the underlying executor has refused nothing", NO_WAIT);
    }
    let (other_line, of_other) = (self::line(&below), Log::new());
    take(&*other_line, of_other.job(3));
    of_other
        .until_ended(1, "a line knows only its own jobs: keep its state in the line, and not in a static");
    gate.open();
    log.until_ended(2, STRANDED);
    below.join(KEEPS_A_THREAD);
}

pub fn an_empty_line_keeps_no_thread() {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    take(&*line, log.job(1));
    let thread = below.run_one_elsewhere();
    let Some(thread) = thread else {
        fail("execute() took a job, and the underlying executor was given nothing", BELOW_RUNS);
    };
    if others_come_to_rest() && !thread.is_finished() {
        let seen = "the line is empty, and what the underlying executor has called does not return";
        fail(seen, KEEPS_A_THREAD);
    }
    expect("what the executor was given", KEEPS_A_THREAD, || drop(thread.join()));
    take(&*line, log.job(2));
    below.run_all(STRANDED);
    log.check(&[1, 2], STRANDED);
}

pub fn a_job_may_execute_the_next() {
    for elsewhere in [false, true] {
        let (below, log) = (AtOnce::new(elsewhere), Log::new());
        let line = line(&below);
        let (same, second) = (Arc::clone(&line), log.job(2));
        let first = log.job_that(1, Box::new(move || take(&*same, second)));
        let submitter = submitter(&line, "submitter", first);
        if others_come_to_rest() && !submitter.is_finished() {
            let seen = "the underlying executor calls at once, a job executes another one, and nothing moves any more";
            fail(seen, CALLED_AT_ONCE);
        }
        ended(submitter, CALLED_AT_ONCE);
        log.check(&[1, 2], CALLED_AT_ONCE);
    }
}

pub fn a_long_line_needs_no_deep_stack() {
    let (below, log) = (AtOnce::new(false), Log::new());
    let line = line(&below);
    let (same, jobs, executor) = (Arc::clone(&line), Arc::clone(&log), Arc::clone(&below));
    let first = move || {
        for number in 2..=6 {
            let executor = Arc::clone(&executor);
            let look = move || {
                let depth = executor.depth();
                if depth > 2 {
                    fail(
                        &format!("job {number} runs inside {depth} calls of the underlying executor"),
                        NESTED,
                    );
                }
            };
            take(&*same, jobs.job_that(number, Box::new(look)));
        }
    };
    take(&*line, log.job_that(1, Box::new(first)));
    log.check(&[1, 2, 3, 4, 5, 6], CALLED_AT_ONCE);
}

pub fn a_panic_stops_no_other_job() {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    take(&*line, log.job_that_panics(1));
    take(&*line, log.job(2));
    take(&*line, log.job_that_panics(3));
    below.run_all(PANIC);
    log.check(&[1, 2, 3], PANIC);
    take(&*line, log.job(4));
    below.run_all(PANIC);
    log.check(&[1, 2, 3, 4], PANIC);
}

pub fn a_refused_job_comes_back() {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    below.refuse(true);
    let [first, second] = [1, 2].map(|number| match execute(&*line, log.job(number), AFTER_REFUSAL) {
        Err(Refused(job)) => job,
        Ok(()) if number == 1 => fail(
            "the line was empty, the underlying executor refused, and execute() returned Ok",
            "the job is lost and the caller does not know: pass the refusal on",
        ),
        Ok(()) => fail(
            "a job was refused, and the next one was taken, by an executor that refuses all",
            AFTER_REFUSAL,
        ),
    });
    log.check(&[], OWN_JOB);
    step("calls the second of the jobs that came back, and drops the first");
    second();
    drop(first);
    log.check(&[2], OWN_JOB);
    below.refuse(false);
    take(&*line, log.job(3));
    below.run_all(AFTER_REFUSAL);
    if !log.has_run(3) {
        fail(
            "the underlying executor refused once; since then it takes all, and a job that was taken does not run",
            AFTER_REFUSAL,
        );
    }
    log.check(&[2, 3], OWN_JOB);
    a_refused_job_without_captures_comes_back();
}

std::thread_local!(static RAN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });

/// Boxes of closures that capture nothing all have the same address.
fn a_refused_job_without_captures_comes_back() {
    let below = Desk::new();
    let line = line(&below);
    RAN.set(Vec::new());
    take(&*line, Box::new(|| RAN.with_borrow_mut(|ran| ran.push(1))));
    below.refuse(true);
    let second = execute(&*line, Box::new(|| RAN.with_borrow_mut(|ran| ran.push(2))), AFTER_REFUSAL);
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
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    let mut expected: Vec<u32> = (1..=MANY).collect();
    for number in &expected {
        take(&*line, log.job(*number));
    }
    below.refuse(true);
    for number in MANY + 1..=MANY + 2 {
        if execute(&*line, log.job(number), IN_THE_MIDDLE).is_ok() {
            expected.push(number);
        }
    }
    below.run_all(IN_THE_MIDDLE);
    let missing = expected.iter().find(|number| !log.has_run(**number));
    if let Some(missing) = missing {
        fail(
            &format!(
                "job {missing} was taken, then the underlying executor began to refuse, and the job has not run"
            ),
            IN_THE_MIDDLE,
        );
    }
    below.refuse(false);
    take(&*line, log.job(100));
    expected.push(100);
    below.run_all(IN_THE_MIDDLE);
    log.check(&expected, IN_THE_MIDDLE);
    what_was_called_early_will_not_come_again(MANY, || {});
}

/// While job 1 runs, other jobs are submitted. The underlying executor calls every closure that it gets for
/// these jobs, and each call returns before job 1 ends. After these calls, the executor refuses everything.
/// So only the call in which job 1 runs can still run the other jobs.
fn what_was_called_early_will_not_come_again(jobs: u32, end: fn()) {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    let (desk, told, same_line) = (Arc::clone(&below), Arc::clone(&log), Arc::clone(&line));
    let first = move || {
        told.begins(1);
        for number in 2..=jobs {
            take(&*same_line, told.job(number));
        }
        desk.run_all(IN_THE_MIDDLE);
        desk.refuse(true);
        told.ends(1);
        end();
    };
    take(&*line, Box::new(first));
    below.run_all(IN_THE_MIDDLE);
    if let Some(missing) = (1..=jobs).find(|number| !log.has_run(*number)) {
        fail(
            &format!(
                "job {missing} was taken while job 1 ran, then the underlying executor began to refuse and job 1 ended: \
                 job {missing} has not run"
            ),
            IN_THE_MIDDLE,
        );
    }
    log.check(&(1..=jobs).collect::<Vec<u32>>(), IN_THE_MIDDLE);
}

/// A number of jobs: more jobs than a fair line runs before it lets other lines go first.
const MANY: u32 = 70;

/// The outcome of a job that was executed on another thread.
type Fate = Arc<Shared<Option<Result<(), Refused>>>>;

/// Executes the job on another thread, which records the outcome.
fn tried<E: 'static>(line: &Arc<Line<E>>, name: &str, job: Job) -> (thread::JoinHandle<()>, Fate)
where
    Arc<E>: Executor,
{
    let (line, fate) = (Arc::clone(line), Fate::default());
    let told = Arc::clone(&fate);
    let work = move || {
        let result = execute(&*line, job, SPINS);
        told.with(|fate| *fate = Some(result));
    };
    (on_a_thread(name, Box::new(work)), fate)
}

/// Checks that each of these jobs has run if it was taken, and can still be run if it was given back. Checks
/// the jobs that were given back before all other jobs: if a call gave back the wrong job, this mistake
/// explains why the other job does not run.
fn check_fates(log: &Log, fates: &[(u32, Fate)]) {
    let mut taken = Vec::new();
    for (number, fate) in fates {
        match fate.with(Option::take).expect("execute() has returned") {
            Ok(()) => taken.push(number),
            Err(Refused(job)) => check_refused(log, *number, job),
        }
    }
    if let Some(number) = taken.into_iter().find(|number| !log.has_run(**number)) {
        let seen = format!(
            "job {number} was taken, the underlying executor has called all that it was given, and the job has not run"
        );
        fail(&seen, COUNTED_ON_IT);
    }
}

fn check_refused(log: &Log, number: u32, job: Job) {
    if log.has_run(number) {
        fail(&format!("job {number} was refused, and has run"), OWN_JOB);
    }
    step(&format!("calls job {number}, which was refused"));
    job();
    if !log.has_run(number) {
        fail(&format!("job {number} was refused, and what came back is another job"), OWN_JOB);
    }
}

pub fn a_refused_job_leaves_the_others_in_the_line() {
    let (below, log, [running, second, third]) =
        (Desk::new(), Log::new(), [Gate::new(), Gate::new(), Gate::new()]);
    let line = line(&below);
    let at_gate = Arc::clone(&running);
    take(&*line, log.job_that(1, Box::new(move || at_gate.pass())));
    below.decide_at(&second, false);
    below.decide_at(&third, false);
    let (two, fate_of_2) = tried(&line, "second", log.job(2));
    let (three, fate_of_3) = tried(&line, "third", log.job(3));
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    let thread = below.run_one_elsewhere();
    running.until_reached(BELOW_RUNS);
    second.open();
    third.open();
    ended(two, NO_WAIT);
    ended(three, NO_WAIT);
    take(&*line, log.job(4)); // job 4 waits in the line while job 1 runs
    let other = below.run_one_elsewhere();
    others_come_to_rest();
    running.open();
    for thread in [thread, other].into_iter().flatten() {
        expect("what the executor has called", KEEPS_A_THREAD, || drop(thread.join()));
    }
    below.run_all(STRANDED);
    check_fates(&log, &[(2, fate_of_2), (3, fate_of_3)]);
}

/// What the underlying executor decides when the gate is open.
#[derive(Clone, Copy, PartialEq)]
enum Decides {
    Refuses,
    RefusesAll,
    Takes,
}

pub fn others_may_come_while_the_executor_decides() {
    for decides in [Decides::Refuses, Decides::RefusesAll, Decides::Takes] {
        let (below, log, gate) = (Desk::new(), Log::new(), Gate::new());
        let line = line(&below);
        below.decide_at(&gate, decides == Decides::Takes);
        below.refuse(decides == Decides::RefusesAll);
        let first = tried(&line, "first", log.job(1));
        gate.until_reached(BELOW_RUNS);
        let others = [("second", 2), ("third", 3)].map(|(name, number)| tried(&line, name, log.job(number)));
        until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
        gate.open();
        let mut fates = Vec::new();
        for (number, (thread, fate)) in (1..).zip([first].into_iter().chain(others)) {
            ended(thread, NO_WAIT);
            fates.push((number, fate));
        }
        if !log.begun().is_empty() {
            fail("a job ran, and the underlying executor has called nothing yet", BELOW_RUNS);
        }
        below.run_all(STRANDED);
        check_fates(&log, &fates);
    }
}

pub fn a_late_yes_is_no_yes_to_another() {
    let (below, log) = (Desk::new(), Log::new());
    let line = line(&below);
    let [late, slow] = [Gate::new(), Gate::new()];
    below.call_and_stay_at(&late);
    below.decide_at(&slow, false);
    let (first, fate_of_1) = tried(&line, "first", log.job(1));
    late.until_reached(BELOW_RUNS);
    let (second, fate_of_2) = tried(&line, "second", log.job(2));
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    late.open();
    ended(first, NO_WAIT);
    let (third, fate_of_3) = tried(&line, "third", log.job(3));
    until_others_wait("execute() runs on and on while the underlying executor has not decided", SPINS);
    slow.open();
    ended(second, NO_WAIT);
    ended(third, NO_WAIT);
    below.run_all(STRANDED);
    check_fates(&log, &[(1, fate_of_1), (2, fate_of_2), (3, fate_of_3)]);
}

pub fn a_refusal_as_the_last_job_ends_strands_nobody() {
    let (below, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let line = line(&below);
    let at_gate = Arc::clone(&gate);
    take(&*line, log.job_that(1, Box::new(move || at_gate.pass())));
    let thread = below.run_one_elsewhere();
    gate.until_reached(BELOW_RUNS);
    below.refuse(true);
    let (second, fate) = tried(&line, "second", log.job(2)); // job 1 ends at the same time
    gate.open();
    ended(second, NO_WAIT);
    if let Some(thread) = thread {
        expect("what the executor has called", KEEPS_A_THREAD, || drop(thread.join()));
    }
    below.run_all(STRANDED);
    check_fates(&log, &[(2, fate)]);
}

pub fn many_jobs_run_in_one_line() {
    what_was_called_early_will_not_come_again(3, || {
        panic_on_purpose();
    });
    const JOBS: u32 = 1_000;
    if !exercises_harness::first_run!() {
        return;
    }
    let (at_once, log) = (AtOnce::new(false), Log::new());
    let line = line(&at_once);
    let (same, jobs) = (Arc::clone(&line), Arc::clone(&log));
    let first = move || {
        for number in 2..=JOBS {
            let executor = Arc::clone(&at_once);
            let look = move || {
                if executor.depth() > 2 {
                    let depth = executor.depth();
                    fail(
                        &format!(
                            "job {number} of {JOBS} runs inside {depth} calls of the underlying executor"
                        ),
                        NESTED,
                    );
                }
            };
            take(&*same, jobs.job_that(number, Box::new(look)));
        }
    };
    take(&*line, log.job_that(1, Box::new(first)));
    check_many(&log.begun(), &(1..=JOBS).collect::<Vec<_>>(), CALLED_AT_ONCE);

    let (below, log, taken) = (Desk::new(), Log::new(), Arc::new(Shared::<Vec<u32>>::default()));
    let line = self::line(&below);
    let (same, jobs, executor, notes) =
        (Arc::clone(&line), Arc::clone(&log), Arc::clone(&below), Arc::clone(&taken));
    let first = move || {
        for number in 2..=JOBS {
            executor.refuse(number > JOBS / 2);
            if execute(&*same, jobs.job(number), IN_THE_MIDDLE).is_ok() {
                notes.with(|taken| taken.push(number));
            }
        }
    };
    take(&*line, log.job_that(1, Box::new(first)));
    below.run_all(IN_THE_MIDDLE);
    let taken = [vec![1], taken.with(|taken| taken.clone())].concat();
    check_many(&log.begun(), &taken, IN_THE_MIDDLE);
}

fn check_many(ran: &[u32], taken: &[u32], cause: &str) {
    if let Some(wrong) = (0..taken.len()).find(|place| ran.get(*place) != taken.get(*place)) {
        let (count, number) = (taken.len(), taken[wrong]);
        let next = ran.get(wrong).map_or("no other job".into(), |other| format!("job {other}"));
        fail(
            &format!(
                "of {count} jobs that were taken, {wrong} have run in their order; then job {number} was expected, and \
                 {next} came"
            ),
            cause,
        );
    }
}
