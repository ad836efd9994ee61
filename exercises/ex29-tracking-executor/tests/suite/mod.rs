//! The properties of a tracking executor; each property is a function. `exercise.toml` lists the properties
//! and says what each property promises.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use exercises_harness::{expect, fail, panic_on_purpose, step};

use self::pools::{Desk, Threads, call_elsewhere, call_here};
use super::exercise::{Job, Pool, Token, TrackingExecutor};
use crate::below::{Gate, on_a_thread};
use crate::probe::{Counter, Shared, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod pools;

const NO_LOCK: &str = "a lock that this call needs is held for a long time: while a job runs, while the pool is called, or \
                       while a thread waits. A guard lives until the end of its block, and a guard that is a temporary in a \
                       `match` or an `if let` lives until the end of that expression";
const NOT_BEGUN: &str = "a task that has not begun is handed back by its tag, and its job is not called: remember the tag of each task that \
                         waits, until it begins";
const NO_WAIT: &str = "stop() asks the tasks to stop, and returns: a running task may take long to end. A caller that wants to \
                       wait calls wait()";
const OUTCOME: &str =
    "what a job returns says whether it is done: Ok means that it is, whenever it was asked to stop";
const GAVE_UP: &str =
    "a job that returns Err(Cancelled) has not done all of its work, so its tag belongs in the report";
const PANICKED: &str = "a panic of the job ends the task and nothing else. The lines of your entry after the job have to take \
                        effect after a panic, too: catch the panic, or do it in a destructor";
const TOO_EARLY: &str = "a report can be made when the executor is stopped and no task runs, and not before: as long as a task \
                         runs, no thread knows how it will end";
const OF_THE_STOP: &str = "stop() cancels the token of every task that runs, before it returns";
const BEGINS_LATE: &str = "the entry has to look whether the executor is stopped, under the lock under which stop() sets this. \
                           If it is stopped, the entry must not call the job";
const ONE_STEP: &str = "a task goes from one list into the next, or into no list because it is done, in one step under one \
                        lock. Between two steps, another thread would find the task in no list, or in both";
const HANDED_BACK_ONCE: &str = "a tag that stop() hands back is no longer yours: take it out of the list";
const EARLY: &str = "a thread of the pool may call the entry before execute() has returned: what the entry needs has to be there before you \
                     give it to the pool";
const REFUSED: &str =
    "a task that is not accepted leaves nothing behind: its tag comes back from submit(), and is in no list";
const GIVEN_BACK: &str = "the pool refused, and meanwhile a stop has handed the tag back. Then submit() must not give it back, too: it looks \
                          whether its task still waits";
const REFUSED_ITSELF: &str =
    "other tasks may have come in between: submit() must remove its own task from the list, and no other";
const BY_EQUALITY: &str = "equal tags are no proof of the same task: give each task a number of its own";
const ITS_OWN: &str = "each task has its own tag, in whatever order the pool calls the entries";
const SAME_QUESTION: &str = "cut_off() has the report as soon as the executor is stopped and no task runs, and that is what wait() waits for";
const LAST_ONE: &str = "does the last task that ends after the stop wake all waiters, and does each waiter look again when it \
                        was woken?";
const AT_THE_STOP: &str = "does stop() wake the waiters? If no task runs, no other call wakes them";
const ABOUT_TO_SLEEP: &str = "a waiter looks, finds that a task runs, and goes to sleep; the last task ends in between. So the \
                              end and the stop must change the state under the lock under which the waiter looks, and the \
                              waiter must hold that lock until it sleeps";
const SPINS: &str = "wait() looks again and again and does not sleep: wait on a Condvar, which the stop and the end of a task \
                     notify";

type Tag = &'static str;
type Executor = TrackingExecutor<Tag>;

/// The behaviour of a job after it has passed its gate.
#[derive(Clone, Copy)]
enum Then {
    /// The job does all of its work, even if it is asked to stop.
    Finishes,
    /// The job does its work unless it is asked to stop.
    LooksAtItsToken,
    Panics,
}

/// Four lists of tags: the jobs that have begun, that are running, that are done, and that gave up.
#[derive(Default)]
struct Seen {
    begun: Vec<Tag>,
    running: Vec<Tag>,
    done: Vec<Tag>,
    gave_up: Vec<Tag>,
    stop_has_returned: bool,
    wait_has_returned: bool,
}

#[derive(Default)]
struct Log(Shared<Seen>);

impl Log {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn job(self: &Arc<Self>, tag: Tag, then: Then) -> Job {
        self.job_that(tag, Box::new(thread::yield_now), then)
    }

    fn job_at(self: &Arc<Self>, tag: Tag, gate: &Arc<Gate>, then: Then) -> Job {
        self.job_that(tag, gate.passes(), then)
    }

    /// Makes a job that does the given work before anything else.
    fn job_that(self: &Arc<Self>, tag: Tag, work: Box<dyn FnOnce() + Send>, then: Then) -> Job {
        let log = Arc::clone(self);
        Box::new(move |token| {
            log.begins(tag, token);
            work();
            log.goes_on(tag, token, then)
        })
    }

    fn begins(&self, tag: Tag, token: &Token) {
        step(&format!("the task {tag} begins"));
        let (after_stop, after_wait) = self.0.with(|seen| {
            seen.begun.push(tag);
            seen.running.push(tag);
            (seen.stop_has_returned, seen.wait_has_returned)
        });
        if after_wait {
            fail(&format!("wait() had returned, and the task {tag} begins"), TOO_EARLY);
        }
        if after_stop && !token.is_cancelled() {
            fail(
                &format!("stop() had returned; the task {tag} begins, and its token is not cancelled"),
                BEGINS_LATE,
            );
        }
    }

    fn goes_on(&self, tag: Tag, token: &Token, then: Then) -> Result<(), super::exercise::Cancelled> {
        let after_stop = self.0.with(|seen| seen.stop_has_returned);
        let result = match then {
            Then::Finishes => Ok(()),
            Then::LooksAtItsToken => token.check(),
            Then::Panics => {
                self.0.with(|seen| seen.running.retain(|other| *other != tag));
                step(&format!("the task {tag} panics"));
                panic_on_purpose()
            }
        };
        if after_stop && result.is_ok() && matches!(then, Then::LooksAtItsToken) {
            fail(
                &format!(
                    "stop() has returned, and the token of the task {tag}, which runs, is not cancelled"
                ),
                OF_THE_STOP,
            );
        }
        self.0.with(|seen| {
            let place = seen.running.iter().position(|other| *other == tag).expect("it has begun");
            seen.running.remove(place);
            if result.is_ok() { &mut seen.done } else { &mut seen.gave_up }.push(tag);
        });
        step(&format!("the task {tag} {}", if result.is_ok() { "is done" } else { "gives up" }));
        result
    }

    fn begun(&self) -> Vec<Tag> {
        self.0.with(|seen| seen.begun.clone())
    }

    /// Asserts that each accepted task is in one place: done, handed back or reported. The tags of the
    /// accepted tasks must all be different.
    fn check_places(&self, accepted: &[Tag], handed_back: &[Tag], cut_off: &[Tag]) {
        let (begun, done, gave_up) =
            self.0.with(|seen| (seen.begun.clone(), seen.done.clone(), seen.gave_up.clone()));
        let count = |list: &[Tag], tag: Tag| list.iter().filter(|other| **other == tag).count();
        for tag in accepted {
            let (back, cut) = (count(handed_back, tag), count(cut_off, tag));
            let seen = match (count(&begun, tag), count(&done, tag), back, cut) {
                (2.., ..) => format!("the job of {tag} was called twice"),
                (_, _, 2.., _) => format!("stop() handed {tag} back twice"),
                (_, _, _, 2..) => format!("{tag} is twice among those that were cut off"),
                (_, _, 1, 1) => {
                    format!("{tag} is in two places: stop() handed it back, and it is reported as cut off")
                }
                (1, _, 1, _) => {
                    format!("{tag} is in two places: stop() handed it back, and its job was called")
                }
                (_, 1, _, 1) => {
                    format!("{tag} is in two places: its job returned Ok, and it is reported as cut off")
                }
                (0, _, 0, 0) => format!(
                    "{tag} is lost: it was accepted, and its job was never called; stop() did not hand it back, and it is not reported as cut off"
                ),
                (_, 0, _, 0) if count(&gave_up, tag) == 1 => {
                    format!("{tag} is lost: its job gave up, and it is not reported as cut off")
                }
                _ => continue,
            };
            fail(&seen, ONE_STEP);
        }
        let stranger = handed_back.iter().chain(cut_off).find(|tag| !accepted.contains(tag));
        if let Some(tag) = stranger {
            fail(
                &format!("{tag} is in two places: submit() gave it back, and it is in one of the lists"),
                GIVEN_BACK,
            );
        }
    }
}

fn over<P: Pool + 'static>(pool: &Arc<P>) -> Arc<Executor> {
    let pool: Arc<dyn Pool> = Arc::<P>::clone(pool);
    Arc::new(Executor::new(pool))
}

/// Submits a task that must be accepted.
fn submit(executor: &Executor, tag: Tag, job: Job) {
    if expect("submit()", NO_LOCK, || executor.submit(tag, job)).is_err() {
        fail(
            &format!("submit() gave {tag} back"),
            "the executor was not stopped, and the pool has refused nothing",
        );
    }
}

fn stop(executor: &Executor, log: &Log) -> Vec<Tag> {
    step("calls stop()");
    let tags = expect("stop()", NO_WAIT, || executor.stop());
    step(&format!("stop() has returned {tags:?}"));
    log.0.with(|seen| seen.stop_has_returned = true);
    tags
}

fn cut_off(executor: &Executor) -> Option<Vec<Tag>> {
    expect("cut_off()", NO_LOCK, || executor.cut_off())
}

/// Waits until the executor is stopped and no task runs, and returns the report.
fn report(executor: &Executor, log: &Log, cause: &str) -> Vec<Tag> {
    expect("wait(), after stop()", cause, || executor.wait());
    let running = log.0.with(|seen| {
        seen.wait_has_returned = true;
        seen.running.clone()
    });
    if let Some(tag) = running.first() {
        fail(&format!("wait() had returned, and the task {tag} still ran"), TOO_EARLY);
    }
    let Some(mut tags) = cut_off(executor) else {
        fail("wait() has returned, and cut_off() says None", SAME_QUESTION);
    };
    tags.sort_unstable();
    step(&format!("cut off: {tags:?}"));
    tags
}

/// Calls the first entry of the queue on a new thread, and waits until the entry's job is at the gate.
fn begin(desk: &Desk, number: usize, gate: &Gate) -> thread::JoinHandle<()> {
    let Some(entry) = desk.take() else {
        fail(
            "submit() accepted a task, and the pool was given nothing",
            "the pool runs the tasks: give it an entry for each",
        );
    };
    let thread = call_elsewhere(number, entry);
    gate.until_reached(NO_LOCK);
    thread
}

fn ends(thread: thread::JoinHandle<()>, cause: &str) {
    expect("the end of an entry", cause, || drop(thread.join()));
}

/// Asserts that `cut_off()` returns a report as soon as no task runs, even if no thread has called `wait()`.
fn at_once_after(what: &str, executor: &Executor) {
    if cut_off(executor).is_none() {
        fail(&format!("stop() was called, and {what}; no task runs, and cut_off() says None"), SAME_QUESTION);
    }
}

fn check(what: &str, seen: &[Tag], expected: &[Tag], cause: &str) {
    if seen != expected {
        fail(&format!("{what}: {seen:?}; and it should be {expected:?}"), cause);
    }
}

pub fn each_task_runs_once_where_the_pool_calls_it() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    for tag in ["/a", "/b", "/c"] {
        submit(&executor, tag, log.job(tag, Then::LooksAtItsToken));
    }
    others_come_to_rest();
    if let Some(tag) = log.begun().first() {
        fail(
            &format!("the job of {tag} was called, and the pool has called nothing yet"),
            "the pool runs the tasks, on its threads",
        );
    }
    desk.call_all(NO_LOCK);
    check(
        "the pool has called all that it was given; the jobs that were called",
        &log.begun(),
        &["/a", "/b", "/c"],
        "an entry calls the job of its task, once",
    );
    if log.0.with(|seen| !seen.gave_up.is_empty()) {
        fail("a job's token is cancelled, and stop() was not called", OF_THE_STOP);
    }
}

pub fn what_has_not_begun_is_handed_back_in_order() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    for tag in ["/d", "/c", "/b", "/e"] {
        submit(&executor, tag, log.job(tag, Then::Finishes));
    }
    let tags = stop(&executor, &log);
    if !log.begun().is_empty() {
        fail("stop() has returned, and a job was called that no thread of the pool has called", NOT_BEGUN);
    }
    check("none of four tasks has begun; stop() returned", &tags, &["/d", "/c", "/b", "/e"], NOT_BEGUN);
    if !desk.is_stopped() {
        fail(
            "stop() has returned, and the pool is not stopped",
            "the threads of the pool wait for entries, and no other code uses the pool: stop the pool, too",
        );
    }
    check("no task runs; cut_off() returned", &report(&executor, &log, AT_THE_STOP), &[], NOT_BEGUN);
    if !stop(&executor, &log).is_empty() {
        fail("stop() was called again, and returned tags", HANDED_BACK_ONCE);
    }
}

pub fn what_was_done_before_the_stop_is_in_no_list() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    for tag in ["/a", "/b"] {
        submit(&executor, tag, log.job(tag, Then::LooksAtItsToken));
    }
    desk.call_all(NO_LOCK);
    check("both tasks are done; stop() returned", &stop(&executor, &log), &[], NOT_BEGUN);
    at_once_after("all tasks were done before", &executor);
    let cause = "a task that has ended was not cut off by a stop that came later: forget it when it is done";
    check(
        "both tasks were done before the stop; cut_off() returned",
        &report(&executor, &log, AT_THE_STOP),
        &[],
        cause,
    );
}

pub fn stop_asks_the_tasks_that_run_and_does_not_wait() {
    let (desk, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let executor = over(&desk);
    submit(&executor, "/half", log.job_at("/half", &gate, Then::LooksAtItsToken));
    let thread = begin(&desk, 0, &gate);
    submit(&executor, "/next", log.job("/next", Then::Finishes));
    check("/half runs, and /next waits; stop() returned", &stop(&executor, &log), &["/next"], NOT_BEGUN);
    gate.open();
    ends(thread, NO_LOCK);
    check(
        "/half ran at the stop, and gave up; cut_off() returned",
        &report(&executor, &log, LAST_ONE),
        &["/half"],
        GAVE_UP,
    );
    check("stop() was called again, and returned", &stop(&executor, &log), &[], HANDED_BACK_ONCE);
    let again = cut_off(&executor);
    if again.as_deref() != Some(&["/half"]) {
        fail(
            &format!("/half was cut off; cut_off() was called again, and returned {again:?}"),
            "the report says the same whenever it is asked",
        );
    }
}

pub fn a_task_that_is_done_all_the_same_is_not_reported() {
    let (desk, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let executor = over(&desk);
    submit(&executor, "/done", log.job_at("/done", &gate, Then::Finishes));
    let thread = begin(&desk, 0, &gate);
    stop(&executor, &log);
    gate.open();
    ends(thread, NO_LOCK);
    check(
        "/done was asked to stop, and its job returned Ok; cut_off() returned",
        &report(&executor, &log, LAST_ONE),
        &[],
        OUTCOME,
    );
}

pub fn no_report_while_a_task_runs() {
    let (desk, log) = (Desk::new(), Log::new());
    let (first, second) = (Gate::new(), Gate::new());
    let executor = over(&desk);
    let none = |when: &str| {
        if let Some(tags) = cut_off(&executor) {
            fail(&format!("{when}, and cut_off() returned {tags:?}"), TOO_EARLY);
        }
    };
    none("stop() was not called");
    submit(&executor, "/a", log.job_at("/a", &first, Then::LooksAtItsToken));
    submit(&executor, "/b", log.job_at("/b", &second, Then::LooksAtItsToken));
    let threads = [begin(&desk, 0, &first), begin(&desk, 1, &second)];
    none("stop() was not called");
    stop(&executor, &log);
    none("/a and /b run");
    let [a, b] = threads;
    first.open();
    ends(a, NO_LOCK);
    none("/b runs");
    second.open();
    ends(b, NO_LOCK);
    at_once_after("/a and /b have ended", &executor);
    check(
        "/a and /b gave up; cut_off() returned",
        &report(&executor, &log, LAST_ONE),
        &["/a", "/b"],
        GAVE_UP,
    );
}

pub fn a_task_may_use_the_executor() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    let (inside, noted, same) = (Arc::clone(&executor), Arc::clone(&log), Arc::clone(&log));
    let links = move || {
        submit(&inside, "/link", noted.job("/link", Then::Finishes));
        check(
            "a task called stop(), and /link had not begun; stop() returned",
            &stop(&inside, &noted),
            &["/link"],
            NOT_BEGUN,
        );
        if cut_off(&inside).is_some() {
            fail("a task asked for the report, which was given; and the task runs", TOO_EARLY);
        }
    };
    submit(&executor, "/", same.job_that("/", Box::new(links), Then::LooksAtItsToken));
    desk.call_one(NO_LOCK);
    check("/ gave up; cut_off() returned", &report(&executor, &log, LAST_ONE), &["/"], GAVE_UP);
}

pub fn after_the_stop_a_task_is_refused() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    check("nothing was submitted; stop() returned", &stop(&executor, &log), &[], NOT_BEGUN);
    match expect("submit()", NO_LOCK, || executor.submit("/late", log.job("/late", Then::Finishes))) {
        Err("/late") => {}
        Err(other) => {
            fail(&format!("submit() was called with /late after the stop, and gave {other} back"), REFUSED)
        }
        Ok(()) => fail(
            "submit() accepted /late after the stop",
            "no task begins after the stop, so this tag would be lost: give it back",
        ),
    }
    desk.call_all(NO_LOCK);
    check("/late was refused; the jobs that were called", &log.begun(), &[], REFUSED);
    check("/late was refused; stop() was called again, and returned", &stop(&executor, &log), &[], REFUSED);
    check("/late was refused; cut_off() returned", &report(&executor, &log, AT_THE_STOP), &[], REFUSED);
}

pub fn a_task_that_the_pool_refuses_leaves_nothing_behind() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    submit(&executor, "/a", log.job("/a", Then::Finishes));
    desk.refuse_next();
    let result = expect("submit()", NO_LOCK, || executor.submit("/full", log.job("/full", Then::Finishes)));
    if result != Err("/full") {
        fail(&format!("the pool refused an entry, and submit() returned {result:?}"), REFUSED);
    }
    submit(&executor, "/b", log.job("/b", Then::Finishes));
    check(
        "/full was refused, and /a and /b wait; stop() returned",
        &stop(&executor, &log),
        &["/a", "/b"],
        REFUSED,
    );
    check("no task has begun; cut_off() returned", &report(&executor, &log, AT_THE_STOP), &[], REFUSED);
}

pub fn a_refused_task_takes_no_other_with_it() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    let refused = Arc::new(Shared::<Vec<Tag>>::default());
    desk.refuse_next();
    let tries = |tag: Tag, executor: &Executor| {
        let Err(back) = executor.submit(tag, log.job(tag, Then::Finishes)) else { return };
        step(&format!("submit() has given {back} back"));
        if back != tag {
            fail(&format!("submit() was called with {tag}, and gave {back} back"), REFUSED_ITSELF);
        }
        refused.with(|refused| refused.push(tag));
    };
    thread::scope(|scope| {
        scope.spawn(|| tries("/a", &executor));
        tries("/b", &executor);
    });
    let expected: &[Tag] = match refused.with(|refused| refused.clone())[..] {
        ["/a"] => &["/b"],
        ["/b"] => &["/a"],
        _ => fail(
            "the pool refused one of two entries, and submit() did not give back one of two tags",
            REFUSED,
        ),
    };
    let seen = "the pool refused one of /a and /b, and the other one waits; stop() returned";
    check(seen, &stop(&executor, &log), expected, REFUSED_ITSELF);
}

pub fn tags_may_be_equal() {
    let (desk, log) = (Desk::new(), Log::new());
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let executor = over(&desk);
    let fates = [Then::Finishes, Then::LooksAtItsToken, Then::LooksAtItsToken];
    for (gate, then) in gates.iter().zip(fates) {
        submit(&executor, "/", log.job_at("/", gate, then));
    }
    for _ in 0..2 {
        submit(&executor, "/", log.job("/", Then::Finishes));
    }
    let mut threads: Vec<_> =
        gates.iter().enumerate().map(|(number, gate)| begin(&desk, number, gate)).collect();
    check(
        "five tasks have the tag /, and three of them run; stop() returned",
        &stop(&executor, &log),
        &["/", "/"],
        BY_EQUALITY,
    );
    for gate in &gates {
        if let Some(tags) = cut_off(&executor) {
            let seen =
                format!("of three tasks with the tag / not all have ended, and cut_off() returned {tags:?}");
            fail(&seen, BY_EQUALITY);
        }
        gate.open();
        ends(threads.remove(0), BY_EQUALITY);
    }
    check(
        "of three tasks with the tag / one is done, and two gave up; cut_off() returned",
        &report(&executor, &log, BY_EQUALITY),
        &["/", "/"],
        BY_EQUALITY,
    );
}

pub fn a_tag_goes_with_its_task() {
    let (desk, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let executor = over(&desk);
    let begun = Arc::new(Counter::new("a task to begin"));
    for (tag, then) in [("/a", Then::Finishes), ("/b", Then::LooksAtItsToken)] {
        let (begun, gate) = (Arc::clone(&begun), Arc::clone(&gate));
        let work = move || {
            begun.add();
            gate.pass();
        };
        submit(&executor, tag, log.job_that(tag, Box::new(work), then));
    }
    submit(&executor, "/c", log.job("/c", Then::Finishes));
    let (Some(first), Some(second)) = (desk.take(), desk.take()) else {
        fail("submit() accepted two tasks, and the pool was not given two entries", ITS_OWN)
    };
    let mut threads = Vec::new();
    for (entry, number) in [(second, 1), (first, 0)] {
        threads.push(call_elsewhere(number, entry));
        expect("waiting for a task to begin", NO_LOCK, || begun.wait_for(threads.len()));
    }
    check("/a and /b run; stop() returned", &stop(&executor, &log), &["/c"], ITS_OWN);
    gate.open();
    for thread in threads {
        ends(thread, ITS_OWN);
    }
    check(
        "/a was done, and /b gave up; cut_off() returned",
        &report(&executor, &log, ITS_OWN),
        &["/b"],
        ITS_OWN,
    );
}

pub fn a_task_that_fails_by_itself_is_over() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    submit(&executor, "/bad", log.job("/bad", Then::Panics));
    submit(&executor, "/good", log.job("/good", Then::Finishes));
    desk.call_all(PANICKED);
    check(
        "the pool has called all that it was given; the jobs that were called",
        &log.begun(),
        &["/bad", "/good"],
        PANICKED,
    );
    check("/bad panicked before the stop; stop() returned", &stop(&executor, &log), &[], PANICKED);
    let cause = "it has failed by itself, and not because of the stop; done again, it would fail again";
    check(
        "/bad panicked before the stop; cut_off() returned",
        &report(&executor, &log, PANICKED),
        &[],
        cause,
    );
}

pub fn a_task_that_panics_when_asked_to_stop_is_cut_off() {
    let (desk, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let executor = over(&desk);
    submit(&executor, "/torn", log.job_at("/torn", &gate, Then::Panics));
    let thread = begin(&desk, 0, &gate);
    stop(&executor, &log);
    gate.open();
    ends(thread, PANICKED);
    let cause = "a task that panicked after it was asked to stop may be unfinished: report it, once";
    check(
        "/torn was asked to stop, and panicked; cut_off() returned",
        &report(&executor, &log, PANICKED),
        &["/torn"],
        cause,
    );
}

/// The results of cut_off() on the threads that waited.
type Reports = Arc<Shared<Vec<Option<Vec<Tag>>>>>;

/// Starts a thread that calls `wait()` and then records the report.
fn waiter(executor: &Arc<Executor>, name: &str, reports: &Reports) -> thread::JoinHandle<()> {
    let (executor, reports) = (Arc::clone(executor), Arc::clone(reports));
    let waits = move || {
        executor.wait();
        step("wait() has returned");
        let report = executor.cut_off();
        reports.with(|reports| reports.push(report));
    };
    on_a_thread(name, Box::new(waits))
}

pub fn wait_sleeps_until_the_last_task_has_ended() {
    let (desk, log) = (Desk::new(), Log::new());
    let (first, second) = (Gate::new(), Gate::new());
    let executor = over(&desk);
    let reports = Reports::default();
    let nobody_is_through = |when: &str| {
        until_others_wait("a thread that waits for the end should sleep, and it does not", SPINS);
        if let Some(tags) = cut_off(&executor) {
            fail(&format!("{when}, and cut_off() returned {tags:?}"), TOO_EARLY);
        }
        if reports.with(|reports| !reports.is_empty()) {
            fail(
                &format!("{when}, and wait() has returned"),
                "wait() ends when the executor is stopped and no task runs. A waiter that was woken has to look again, in a `while`",
            );
        }
    };
    // The first waiter waits before any task is submitted, and the second waiter waits while the tasks run.
    let early = waiter(&executor, "the first waiter", &reports);
    nobody_is_through("stop() was not called");
    submit(&executor, "/a", log.job_at("/a", &first, Then::LooksAtItsToken));
    submit(&executor, "/b", log.job_at("/b", &second, Then::LooksAtItsToken));
    let threads = [begin(&desk, 0, &first), begin(&desk, 1, &second)];
    let waiters = [early, waiter(&executor, "the second waiter", &reports)];
    nobody_is_through("/a and /b run");
    stop(&executor, &log);
    nobody_is_through("/a and /b run");
    let [a, b] = threads;
    first.open();
    ends(a, NO_LOCK);
    nobody_is_through("/b runs");
    second.open();
    ends(b, NO_LOCK);
    for waiter in waiters {
        expect("wait() of two threads, after the stop and the end of the last task", LAST_ONE, || {
            drop(waiter.join())
        });
    }
    if reports.with(|reports| reports.contains(&None)) {
        fail("wait() has returned, and cut_off() says None", SAME_QUESTION);
    }
    report(&executor, &log, LAST_ONE); // wait() ends at once when all is over
}

pub fn wait_ends_at_the_stop_if_no_task_runs() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    let reports = Reports::default();
    let waiters = ["the first waiter", "the second waiter"].map(|name| waiter(&executor, name, &reports));
    let nobody_is_through = |when: &str| {
        until_others_wait("a thread that waits for the end should sleep, and it does not", SPINS);
        if reports.with(|reports| !reports.is_empty()) {
            fail(
                &format!("{when}, stop() was not called, and wait() has returned"),
                "before the stop, more tasks can begin: wait() must also wait for the stop",
            );
        }
    };
    nobody_is_through("no task was submitted");
    submit(&executor, "/a", log.job("/a", Then::Finishes));
    desk.call_all(NO_LOCK);
    nobody_is_through("all tasks are done");
    submit(&executor, "/b", log.job("/b", Then::Finishes));
    stop(&executor, &log);
    for waiter in waiters {
        expect("wait() of two threads, after a stop at which no task ran", AT_THE_STOP, || {
            drop(waiter.join())
        });
    }
}

pub fn wait_sees_an_end_that_comes_before_it_sleeps() {
    // First case: no task runs, so `wait()` ends at the stop.
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    let reports = Reports::default();
    let late = waiter(&executor, "the waiter", &reports);
    stop(&executor, &log);
    expect("wait(), which came with the stop", ABOUT_TO_SLEEP, || drop(late.join()));
    // Second case: a task runs at the stop, so `wait()` ends when the task ends.
    let (desk, log, gate) = (Desk::new(), Log::new(), Gate::new());
    let executor = over(&desk);
    submit(&executor, "/a", log.job_at("/a", &gate, Then::LooksAtItsToken));
    let thread = begin(&desk, 0, &gate);
    stop(&executor, &log);
    let late = waiter(&executor, "the waiter", &reports);
    gate.open();
    ends(thread, NO_LOCK);
    expect("wait(), which came with the end of the last task", ABOUT_TO_SLEEP, || drop(late.join()));
    if reports.with(|reports| reports.contains(&None)) {
        fail("wait() has returned, and cut_off() says None", SAME_QUESTION);
    }
}

pub fn a_task_may_begin_before_submit_returns() {
    let (pool, log) = (Threads::quick(), Log::new());
    let executor = over(&pool);
    submit(&executor, "/a", log.job("/a", Then::Finishes));
    pool.join(NO_LOCK);
    check(
        "the pool has called all that it was given; the jobs that were called",
        &log.begun(),
        &["/a"],
        EARLY,
    );
    check("/a is done; stop() returned", &stop(&executor, &log), &[], EARLY);
    check(
        "/a was done before the stop; cut_off() returned",
        &report(&executor, &log, AT_THE_STOP),
        &[],
        EARLY,
    );
}

pub fn no_task_begins_after_the_stop() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    for tag in ["/a", "/b", "/c"] {
        submit(&executor, tag, log.job(tag, Then::Finishes));
    }
    let Some(taken) = desk.take() else {
        fail("submit() accepted a task, and the pool was given nothing", NOT_BEGUN)
    };
    step("a thread of the pool has taken the entry of /a, and not called it yet");
    let handed_back = stop(&executor, &log);
    call_here(taken, NO_LOCK);
    if !log.begun().is_empty() {
        fail(
            "stop() had returned; then a thread of the pool called an entry that it had taken before, and the job was called",
            BEGINS_LATE,
        );
    }
    log.check_places(&["/a", "/b", "/c"], &handed_back, &report(&executor, &log, LAST_ONE));
}

pub fn each_task_is_in_one_place() {
    let (pool, log) = (Threads::new(), Log::new());
    let executor = over(&pool);
    let tasks = [("/a", Then::LooksAtItsToken), ("/b", Then::Finishes), ("/c", Then::LooksAtItsToken)];
    for (tag, then) in tasks {
        submit(&executor, tag, log.job(tag, then));
    }
    let handed_back = stop(&executor, &log);
    let cut_off = report(&executor, &log, LAST_ONE);
    pool.join(NO_LOCK);
    log.check_places(&tasks.map(|(tag, _)| tag), &handed_back, &cut_off);
}

pub fn a_task_that_comes_during_the_stop_is_in_one_place() {
    let (pool, log) = (Threads::new(), Log::new());
    let executor = over(&pool);
    submit(&executor, "/a", log.job("/a", Then::LooksAtItsToken));
    let accepted = Arc::new(Shared::<Vec<Tag>>::default());
    let (same, jobs, noted) = (Arc::clone(&executor), Arc::clone(&log), Arc::clone(&accepted));
    let submits = move || {
        for tag in ["/b", "/c"] {
            if same.submit(tag, jobs.job(tag, Then::LooksAtItsToken)).is_ok() {
                noted.with(|accepted| accepted.push(tag));
            } else {
                step(&format!("submit() has refused {tag}"));
            }
        }
    };
    let submitter = on_a_thread("the submitter", Box::new(submits));
    let handed_back = stop(&executor, &log);
    ends(submitter, NO_LOCK);
    let cut_off = report(&executor, &log, LAST_ONE);
    pool.join(NO_LOCK);
    let mut accepted = accepted.with(|accepted| accepted.clone());
    accepted.push("/a");
    log.check_places(&accepted, &handed_back, &cut_off);
    let begun = log.begun();
    if let Some(tag) = begun.iter().find(|tag| !accepted.contains(tag)) {
        fail(&format!("{tag} is in two places: submit() gave it back, and its job was called"), REFUSED);
    }
}

pub fn two_stops_share_what_has_not_begun() {
    let (desk, log) = (Desk::new(), Log::new());
    let executor = over(&desk);
    for tag in ["/a", "/b", "/c"] {
        submit(&executor, tag, log.job(tag, Then::Finishes));
    }
    let of_other = Arc::new(Shared::<Vec<Tag>>::default());
    let (same, noted) = (Arc::clone(&executor), Arc::clone(&of_other));
    let stops = move || {
        let tags = same.stop();
        noted.with(|all| *all = tags);
    };
    let other = on_a_thread("the other one who stops", Box::new(stops));
    let mut handed_back = stop(&executor, &log);
    ends(other, NO_LOCK);
    handed_back.extend(of_other.with(|tags| tags.clone()));
    log.check_places(&["/a", "/b", "/c"], &handed_back, &report(&executor, &log, AT_THE_STOP));
    // Two threads also call stop() while tasks run or are about to begin.
    let (pool, log) = (Threads::new(), Log::new());
    let executor = over(&pool);
    for tag in ["/a", "/b"] {
        submit(&executor, tag, log.job(tag, Then::LooksAtItsToken));
    }
    let (same, of_other, noted) =
        (Arc::clone(&executor), Arc::<Shared<Vec<Tag>>>::default(), Arc::clone(&log));
    let told = Arc::clone(&of_other);
    let stops = move || {
        let tags = stop(&same, &noted);
        told.with(|all| *all = tags);
    };
    let other = on_a_thread("the other one who stops", Box::new(stops));
    let mut handed_back = stop(&executor, &log);
    ends(other, NO_LOCK);
    handed_back.extend(of_other.with(|tags| tags.clone()));
    let cut_off = report(&executor, &log, LAST_ONE);
    pool.join(NO_LOCK);
    log.check_places(&["/a", "/b"], &handed_back, &cut_off);
}

/// Returns true on the first few schedules. The test of many tasks runs only on the first few schedules,
/// because a mistake with many tasks shows on each schedule.
fn is_one_of_the_first_runs() -> bool {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    RUNS.fetch_add(1, Relaxed) < 4
}

/// The number of tasks that are done before other tasks are submitted. The tag of each task is a number.
const DONE: usize = 800;
/// The tags of the tasks that run at the stop.
const RUN: Range<usize> = DONE..920;
/// The tags of the tasks that have not begun at the stop.
const WAIT: Range<usize> = 920..1_040;

/// Submits a task that must be accepted.
fn submit_number(executor: &TrackingExecutor<usize>, tag: usize, job: Job) {
    if expect("submit()", NO_LOCK, || executor.submit(tag, job)).is_err() {
        fail("submit() gave a tag back", "the executor was not stopped, and the pool has refused nothing");
    }
}

/// Submits the tasks of `WAIT` and stops the executor. The last task of `RUN` calls this function while all
/// tasks of `RUN` run.
fn stops_while_many_run(executor: &TrackingExecutor<usize>, desk: &Desk) {
    WAIT.for_each(|tag| submit_number(executor, tag, Box::new(|_| Ok(()))));
    desk.refuse_next();
    let never = Box::new(|_: &Token| fail("the pool refused a task, and its job was called", REFUSED));
    let refused = executor.submit(WAIT.end, never);
    if refused != Err(WAIT.end) {
        fail(
            &format!("the pool refused an entry while many tasks ran, and submit() returned {refused:?}"),
            REFUSED,
        );
    }
    let tags = executor.stop();
    if !tags.iter().copied().eq(WAIT) {
        fail(
            &format!("the tasks {WAIT:?} had not begun; stop() returned {tags:?}"),
            "stop() returns the tags in the order of submission, each once, even if there are many",
        );
    }
    if executor.cut_off().is_some() {
        fail("a task asked for the report, which was given; and the task runs", TOO_EARLY);
    }
}

pub fn many_tasks_are_in_their_places() {
    if !is_one_of_the_first_runs() {
        return;
    }
    let desk = Desk::new();
    let pool: Arc<dyn Pool> = Arc::<Desk>::clone(&desk);
    let executor = Arc::new(TrackingExecutor::<usize>::new(pool));
    (0..DONE).for_each(|tag| submit_number(&executor, tag, Box::new(|_| Ok(()))));
    desk.call_all(NO_LOCK);
    for tag in RUN {
        let (same, desk) = (Arc::clone(&executor), Arc::clone(&desk));
        let job = move |token: &Token| {
            // While the job runs, its thread calls the next entry, as a helping thread of a pool does.
            match desk.take() {
                Some(next) => call_here(next, NO_LOCK),
                None => stops_while_many_run(&same, &desk),
            }
            if tag.is_multiple_of(2) { token.check() } else { Ok(()) }
        };
        submit_number(&executor, tag, Box::new(job));
    }
    desk.call_one(NO_LOCK);
    let mut tags = expect("cut_off()", NO_LOCK, || executor.cut_off()).unwrap_or_default();
    tags.sort_unstable();
    if !tags.iter().copied().eq(RUN.step_by(2)) {
        fail(
            &format!(
                "the tasks {RUN:?} ran at the stop, and every other one gave up; cut_off() returned {tags:?}"
            ),
            "each task that gives up is reported, and no other, even if there are many",
        );
    }
    expect("wait(), after stop()", LAST_ONE, || executor.wait());
}
