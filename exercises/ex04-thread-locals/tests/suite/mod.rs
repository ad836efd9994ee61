//! The properties of the isolating executor; each property is a function. `exercise.toml` lists the
//! properties and says what each of them promises.

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{
    DirectExecutor, Executor, Outcome, RejectReason, RejectedExecution, Task, ThreadPoolExecutor,
};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{IsolatingExecutor, Session, sign_in, sign_out, signed_in};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// An inner executor that the property controls. This executor keeps its tasks until `run_one` is called, and
/// refuses tasks while `refuses` is set.
#[derive(Clone, Default)]
struct Inner(Arc<InnerState>);

#[derive(Default)]
struct InnerState {
    tasks: Shared<VecDeque<Task>>,
    refuses: Shared<bool>,
}

impl Inner {
    /// Runs the oldest job on the calling thread, as a worker does.
    fn run_one(&self) -> Outcome {
        let task = self.0.tasks.with(VecDeque::pop_front);
        let task = task.unwrap_or_else(|| {
            fail(
                "execute() has returned Ok, and the inner executor has got no job",
                "the inner executor decides where the job runs: hand the job to it, and do nothing else with the job",
            )
        });
        step("the inner executor runs the job");
        task.run()
    }
}

impl Executor for Inner {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.0.refuses.with(|refuses| *refuses) {
            step("the inner executor refuses");
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        step("the inner executor queues the job");
        self.0.tasks.with(|tasks| tasks.push_back(task));
        Ok(())
    }
}

const NO_WAIT: &str = "nothing in execute() has to wait, and nothing in it panics";
const PASS_ON: &str = "clean up in a Drop, which lets a panic pass, or resume the panic that you have caught \
                       (std::panic::resume_unwind). A panic of your own does not say what has gone wrong in the job";
const CLEAN_UP: &str = "what is cleaned up after a job has to be dropped, on the job's thread, before the closure returns. \
                        Perhaps no other job comes, and perhaps the thread never ends";

fn execute<E: Executor>(isolating: &IsolatingExecutor<E>, job: impl FnOnce() + Send + 'static) {
    if expect("execute()", NO_WAIT, || isolating.execute(job)).is_err() {
        fail(
            "execute() refused a job, and the inner executor has not",
            "return the result of the inner executor",
        );
    }
}

/// Begins a session whose end is counted.
fn session(user: &'static str, ended: &Arc<Counter>) -> Session {
    let ended = Arc::clone(ended);
    Session::new(user, move || {
        step(&format!("the session of {user} ends"));
        ended.add();
    })
}

fn counter() -> Arc<Counter> {
    Arc::new(Counter::new("jobs to have run"))
}

/// Returns the name of the user who is signed in, as a text for a message.
fn who() -> &'static str {
    signed_in().unwrap_or("nobody")
}

fn nobody_is_signed_in(who: &str, cause: &str) {
    if let Some(user) = signed_in() {
        fail(&format!("{who} finds {user} signed in"), cause);
    }
}

pub fn every_job_runs_once_on_the_inner_executor() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    let ran = counter();
    for _ in 0..2 {
        let ran = Arc::clone(&ran);
        execute(&isolating, move || {
            step("the job runs");
            ran.add();
        });
    }
    for runs in 1..=2 {
        inner.run_one();
        if ran.get() != runs {
            let seen =
                format!("tasks of the inner executor that were run: {runs}; jobs that ran: {}", ran.get());
            fail(&seen, "one job, one task of the inner executor");
        }
    }
}

pub fn a_refused_job_is_given_back() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    inner.0.refuses.with(|refuses| *refuses = true);
    let ran = counter();
    let job = {
        let ran = Arc::clone(&ran);
        move || {
            step("the refused job runs");
            ran.add();
        }
    };
    let Err(rejected) = expect("execute()", NO_WAIT, || isolating.execute(job)) else {
        fail(
            "the inner executor refused, and execute() returned Ok",
            "the job is lost and the caller does not know: pass the error on",
        )
    };
    if ran.get() > 0 {
        fail(
            "the inner executor refused a job, and execute() has run it all the same",
            "the caller who submits a job decides what becomes of it when it is refused: pass the error on, with the job in it",
        );
    }
    step("the submitter runs the task that it was given back");
    rejected.task.run();
    if ran.get() != 1 {
        fail(
            &format!("the task in the error was run; runs of the refused job: {}", ran.get()),
            "the submitter may want to run the job elsewhere: pass on the error of the inner executor, with its task",
        );
    }
}

pub fn a_job_finds_nobody_signed_in() {
    let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    let isolating = IsolatingExecutor::new(Arc::clone(&pool));
    let (ran, ended) = (counter(), counter());
    for user in ["Ada", "Grace", "Barbara"] {
        let (ran, ended) = (Arc::clone(&ran), Arc::clone(&ended));
        execute(&isolating, move || {
            nobody_is_signed_in(
                &format!("the job of {user}"),
                "the job before it on this thread has left her signed in, and no code has cleaned up in between (`let _ = x;` \
                 drops x at once, `let _x = x;` does not)",
            );
            step(&format!("{user} signs in"));
            sign_in(session(user, &ended));
            thread::yield_now();
            if signed_in() != Some(user) {
                let seen = format!("the job of {user} has signed her in, and {} is signed in", who());
                fail(&seen, "a job's session is its own for as long as it runs");
            }
            ran.add();
        });
    }
    expect("waiting for three jobs", "a job was accepted and not run", || ran.wait_for(3));
    expect("the pool's close()", "a thread of the pool does not come back", || pool.close());
    if ended.get() != 3 {
        fail(&format!("3 jobs have ended, but only {} of their sessions", ended.get()), CLEAN_UP);
    }
}

pub fn what_a_job_leaves_ends_with_it() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    let ended = counter();
    let of_ada = Arc::clone(&ended);
    execute(&isolating, move || sign_in(session("Ada", &of_ada)));
    inner.run_one();
    if ended.get() != 1 {
        fail("the job has ended, and the session that it left has not", CLEAN_UP);
    }
    nobody_is_signed_in("the thread that ran the job", CLEAN_UP);
}

pub fn what_a_panicking_job_leaves_ends_with_it() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    let ended = counter();
    let of_ada = Arc::clone(&ended);
    execute(&isolating, move || {
        sign_in(session("Ada", &of_ada));
        panic_on_purpose();
    });
    expect("the job, which panics", PASS_ON, || inner.run_one());
    if ended.get() != 1 || signed_in().is_some() {
        fail(
            "the job panicked, and the session that it left is still there",
            "the line after job() is not reached when it panics: clean up in a Drop",
        );
    }
}

pub fn a_panic_still_reaches_the_inner_executor() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    execute(&isolating, || panic_on_purpose());
    let outcome = expect("the job, which panics", PASS_ON, || inner.run_one());
    let Outcome::Panicked(panic) = outcome else {
        fail(
            "the job panicked, and the inner executor takes it for completed",
            "the panic was caught and dropped: no caller will hear of it. Clean up in a Drop, which does not stop a panic, \
             or resume the panic (std::panic::resume_unwind)",
        )
    };
    if panic.message() != "a panic on purpose" {
        fail(
            &format!("the job panicked, and the inner executor sees another panic: {:?}", panic.message()),
            PASS_ON,
        );
    }
}

pub fn a_job_on_its_callers_thread_finds_nobody_signed_in() {
    let isolating = IsolatingExecutor::new(DirectExecutor);
    let (grace, ran) = (counter(), counter());
    sign_in(session("Grace", &grace));
    let seen = Arc::clone(&ran);
    execute(&isolating, move || {
        nobody_is_signed_in(
            "a job that its caller runs",
            "that is the caller's session: it has to be out of sight before the job begins, and must stay away until the job \
             has ended. (`let _ = x;` drops x at once, `let _x = x;` does not.)",
        );
        seen.add();
    });
    if ran.get() != 1 {
        fail("execute() on a direct executor has not run the job", "hand the job to the inner executor");
    }
    sign_out();
}

pub fn the_callers_session_is_there_again_afterwards() {
    let isolating = IsolatingExecutor::new(DirectExecutor);
    for job in [
        "signs in Ada",
        "signs in Ada and panics",
        "signs no user in",
        "signs in Ada and out",
        "signs in a Grace",
    ] {
        let (grace, of_the_job) = (counter(), counter());
        sign_in(session("Grace", &grace));
        let ended = Arc::clone(&of_the_job);
        step(&format!("execute() with a job that {job}"));
        execute(&isolating, move || match job {
            "signs no user in" => {}
            "signs in a Grace" => sign_in(session("Grace", &ended)),
            _ => {
                sign_in(session("Ada", &ended));
                if job.ends_with("out") {
                    sign_out();
                }
                if job.ends_with("panics") {
                    panic_on_purpose();
                }
            }
        });
        if grace.get() != 0 || signed_in() != Some("Grace") {
            let now = match signed_in() {
                Some("Grace") => "another session of hers is there".to_owned(),
                _ => format!("{} is signed in", who()),
            };
            fail(
                &format!("Grace was signed in, a job that {job} was run on her thread, and now {now}"),
                "the session before a job belongs to another user: take it out of the slot, keep it, and put it back when the \
                 job is over, whatever the job has done",
            );
        }
        if of_the_job.get() != usize::from(job != "signs no user in") {
            fail("the job has ended, and the session that it left has not", CLEAN_UP);
        }
        sign_out();
        if grace.get() != 1 {
            fail("Grace has signed out, and her session has not ended once", "a session was put back twice");
        }
    }
}

pub fn a_session_on_the_jobs_thread_is_there_again_afterwards() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    for user in ["Grace", ""] {
        execute(&isolating, || {
            nobody_is_signed_in(
                "a job on a thread on which a user was signed in since it was submitted",
                "look for the session to put away on the thread that runs the job, when it runs it. execute() itself runs \
                 earlier, and mostly on another thread",
            );
        });
        let ended = counter();
        sign_in(session(user, &ended));
        inner.run_one();
        if ended.get() != 0 || signed_in() != Some(user) {
            fail(
                &format!(
                    "the user {user:?} was signed in on the thread that ran the job, and is not signed in any more"
                ),
                "keep the session that is there when the job begins, whichever thread has submitted the job and whatever the \
                 user's name is, and put it back",
            );
        }
        sign_out();
    }
}

pub fn jobs_within_jobs_each_have_their_own_session() {
    let isolating = Arc::new(IsolatingExecutor::new(DirectExecutor));
    let ended = counter();
    sign_in(session("Grace", &ended));
    nest(&isolating, &["Ada", "Barbara", "Karen"], &ended);
    check_still_there("Grace", &ended, 3);
    sign_out();
}

/// Makes a job that signs in the first user and runs a nested job with the other users. After that, the first
/// user must be signed in again.
fn nest(isolating: &Arc<IsolatingExecutor<DirectExecutor>>, users: &'static [&str], ended: &Arc<Counter>) {
    let Some((user, within)) = users.split_first() else { return };
    let (again, ended) = (Arc::clone(isolating), Arc::clone(ended));
    execute(isolating, move || {
        nobody_is_signed_in(
            &format!("the job of {user}, in another job,"),
            "a job within a job is a job: it has to be given a clean thread, too",
        );
        sign_in(session(user, &ended));
        nest(&again, within, &ended);
        check_still_there(user, &ended, within.len());
    });
}

fn check_still_there(user: &str, ended: &Counter, within: usize) {
    if signed_in() == Some(user) && ended.get() == within {
        return;
    }
    let (now, ended) = (who(), ended.get());
    let seen = if within == 0 {
        format!(
            "{user} was signed in by a job within other jobs; sessions of these jobs that have ended already: {ended}"
        )
    } else {
        format!(
            "{user} signed in and ran a job; nested jobs there: {within}. Afterwards {now} is signed in; sessions \
             that have ended: {ended}"
        )
    };
    let cause = "the session before a job has to be kept for each job separately, in the closure that runs the job: in one \
                 place for all, the next job replaces it";
    fail(&seen, cause);
}

pub fn submitting_leaves_the_submitters_session_alone() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    let grace = counter();
    sign_in(session("Grace", &grace));
    execute(&isolating, || step("the job runs"));
    if signed_in() != Some("Grace") || grace.get() != 0 {
        fail(
            "Grace has submitted a job, and is not signed in any more",
            "the lines of execute() itself run on the submitter's thread; only the closure runs on the job's thread",
        );
    }
    sign_out();
    inner.run_one();
}

pub fn a_job_that_never_runs_touches_no_session() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    execute(&isolating, || step("the job runs"));
    let grace = counter();
    sign_in(session("Grace", &grace));
    step("the inner executor drops the job, as after a shutdown_now()");
    inner.0.tasks.with(std::mem::take);
    if grace.get() != 0 || signed_in() != Some("Grace") {
        fail(
            "Grace's thread has dropped a job that was never run, and she is not signed in any more",
            "a value that the closure has captured is dropped with the closure, also if the closure is never called. The value \
             that cleans up has to be made inside the closure, before the job begins",
        );
    }
    sign_out();
}

pub fn a_jobs_session_ends_before_its_callers_is_back() {
    for panics in [false, true] {
        let isolating = IsolatingExecutor::new(DirectExecutor);
        let (grace, seen) = (counter(), Arc::new(Shared::<Vec<_>>::default()));
        sign_in(session("Grace", &grace));
        let at_end = Arc::clone(&seen);
        execute(&isolating, move || {
            sign_in(Session::new("Ada", move || {
                step("the session of Ada ends, and asks who is signed in");
                at_end.with(|seen| seen.push(signed_in()));
            }));
            if panics {
                panic_on_purpose();
            }
        });
        let after = if panics { "panicked" } else { "returned" };
        if seen.with(|seen| seen.contains(&Some("Grace"))) {
            fail(
                &format!(
                    "a job {after}, and when the session that it has left ended, it found the caller, Grace, signed in"
                ),
                "the end of that session runs the job's code, too. End what the job has left, and only then put the old \
                 session back: `replace` gives you the old session when the new one is in the slot already",
            );
        }
        if seen.with(|seen| seen.len()) != 1 {
            fail(&format!("the job {after}, and the session that it left is still there"), CLEAN_UP);
        }
        sign_out();
    }
}

pub fn a_session_may_look_around_when_it_ends() {
    let inner = Inner::default();
    let isolating = IsolatingExecutor::new(inner.clone());
    let ended = counter();
    let at_end = Arc::clone(&ended);
    execute(&isolating, move || {
        sign_in(Session::new("Ada", move || {
            step("the session of Ada ends, and asks who is signed in");
            signed_in();
            at_end.add();
        }));
    });
    let cause = "the old session was dropped while the slot was borrowed, and its Drop is the user's code, which looks \
                 into the slot. Take it out first (`take` and `replace` give it to you), and drop it afterwards";
    expect("the job", cause, || inner.run_one());
    if ended.get() != 1 {
        fail(
            "the job has ended, and its session has not ended completely",
            &format!("it panicked on the way: {cause}"),
        );
    }
}

pub fn many_jobs_each_find_a_clean_thread() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property does not look for races
    }
    let isolating = Arc::new(IsolatingExecutor::new(DirectExecutor));
    let ended = counter();
    let users: Vec<&'static str> = (0..60).map(|user| &*String::leak(format!("user {user}"))).collect();
    nest(&isolating, users.leak(), &ended);
    if ended.get() != 60 {
        fail(&format!("60 nested jobs have ended, but only {} of their sessions", ended.get()), CLEAN_UP);
    }
    let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    let isolating = IsolatingExecutor::new(Arc::clone(&pool));
    let (ran, ended) = (counter(), counter());
    for job in 1..=300 {
        let (ran, ended) = (Arc::clone(&ran), Arc::clone(&ended));
        execute(&isolating, move || {
            nobody_is_signed_in(&format!("job {job} of 300"), CLEAN_UP);
            sign_in(session("Ada", &ended));
            ran.add();
        });
    }
    expect("waiting for 300 jobs", "a job was accepted and not run", || ran.wait_for(300));
    expect("the pool's close()", "a thread of the pool does not come back", || pool.close());
    if ended.get() != 300 {
        fail(&format!("300 jobs have ended, but only {} of their sessions", ended.get()), CLEAN_UP);
    }
}
