//! The properties of the completion service; each property is a function. `exercise.toml` lists the
//! properties and says what each of them promises.

use std::collections::VecDeque;

use executor::{
    CancelToken, Canceller, DirectExecutor, Executor, RejectReason, RejectedExecution, Task, TaskError,
};
use exercises_harness::{aside, at_once, expect, fail, panic_on_purpose, step};

use super::exercise::CompletionService;
use crate::probe::{Counter, Shared, until_asleep};
use crate::sync::{Arc, thread};

type Service<E> = CompletionService<E, u32>;
type Taken = Option<Result<u32, TaskError>>;

/// An executor that the property controls: it keeps the tasks until the property runs them, and refuses tasks
/// if the property says so.
#[derive(Default)]
struct Desk {
    tasks: Shared<VecDeque<Task>>,
    refuses: Shared<bool>,
}

impl Desk {
    /// Removes and returns the task at the given position in the queue.
    fn remove(&self, place: usize) -> Task {
        self.tasks.with(|tasks| tasks.remove(place)).unwrap_or_else(|| {
            fail(
                "the executor has no task",
                "submit() returned Ok, and has not given the task to the executor",
            )
        })
    }

    fn run(&self, place: usize) {
        let task = self.remove(place);
        step("the executor runs a task");
        task.run();
    }
}

impl Executor for Desk {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.refuses.with(|refuses| *refuses) {
            for _ in 0..3 {
                thread::yield_now(); // the refusal takes some time
            }
            step("the executor refuses");
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        step("the executor queues a task");
        self.tasks.with(|tasks| tasks.push_back(task));
        Ok(())
    }
}

/// An executor with a thread for each task.
#[derive(Default)]
struct Threads {
    started: Shared<Vec<thread::JoinHandle<()>>>,
}

impl Executor for Threads {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let thread = thread::spawn(move || drop(task.run()));
        self.started.with(|started| started.push(thread));
        Ok(())
    }
}

impl Threads {
    fn join(&self) {
        for thread in self.started.with(std::mem::take) {
            let _ = thread.join();
        }
    }
}

/// Makes a service over an executor that keeps each task until the property runs the task.
fn at_a_desk() -> (Arc<Desk>, Arc<Service<Arc<Desk>>>) {
    let desk = Arc::<Desk>::default();
    (Arc::clone(&desk), Arc::new(CompletionService::new(desk)))
}

/// Submits a task that must be accepted.
fn submit<E: Executor>(service: &Service<E>, task: impl FnOnce() -> u32 + Send + 'static) -> Canceller {
    // The task is in a box, because much of an executor is compiled again for each type of task.
    let task: Box<dyn FnOnce() -> u32 + Send> = Box::new(task);
    service.submit(task).unwrap_or_else(|_| {
        fail("submit() refused a task", "the executor has not: a completion service has no bound of its own")
    })
}

/// Submits a task for each of the given results.
fn submit_all<E: Executor>(service: &Service<E>, results: &[u32]) -> Vec<Canceller> {
    results
        .iter()
        .map(|result| {
            let result = *result;
            submit(service, move || {
                step(&format!("task {result} runs"));
                result
            })
        })
        .collect()
}

fn take<E: Executor>(service: &Service<E>, cause: &str) -> Taken {
    expect("take()", cause, || service.take())
}

/// Calls take() on another thread.
fn taker<E: Executor + 'static>(name: &str, service: &Arc<Service<E>>) -> thread::JoinHandle<Taken> {
    let service = Arc::clone(service);
    let take = move || {
        let taken = service.take();
        step(&format!("takes {}", text(&taken)));
        taken
    };
    thread::Builder::new().name(name.into()).spawn(take).expect("a thread")
}

fn join(cause: &str, taker: thread::JoinHandle<Taken>) -> Taken {
    join_after("take()", cause, taker)
}

fn join_after(what: &str, cause: &str, taker: thread::JoinHandle<Taken>) -> Taken {
    expect(what, cause, || {
        taker.join().unwrap_or_else(|_| fail("a thread that takes panicked", "take() never panics"))
    })
}

/// Returns a result as a text that can be compared.
fn text(taken: &Taken) -> String {
    match taken {
        None => "None".into(),
        Some(Ok(value)) => format!("the result {value}"),
        Some(Err(TaskError::Panicked(_))) => "a panic".into(),
        Some(Err(TaskError::Cancelled(_))) => "a cancelled task".into(),
        Some(Err(other)) => format!("{other}"),
    }
}

fn check(taken: &Taken, expected: &str, when: &str, cause: &str) {
    let taken = text(taken);
    if taken != expected {
        fail(&format!("{when}: {taken}, and not {expected}"), cause);
    }
}

const ASLEEP: &str =
    "take() asks again and again, or sleeps where the tests cannot see it: wait on a Condvar of crate::sync";
const HAS_ENDED: &str = "a task has ended, and its result is nowhere to be found";
const NOTHING_LEFT: &str = "no task is left whose result could come, and take() waits for a result";

/// Checks that take() returns `None` after every result has been taken.
fn check_end<E: Executor>(service: &Service<E>) {
    let taken = take(service, NOTHING_LEFT);
    check(&taken, "None", "a take() after the last result", "a result comes once");
}

pub fn a_task_ends_without_a_take() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1, 2]);
    let cause =
        "a thread that ends a task waits until another takes a result: make room for any number of results";
    at_once("the end of a task", cause, || {
        desk.run(0);
        desk.run(0);
    });
}

pub fn every_result_comes_once() {
    let threads = Arc::<Threads>::default();
    let service = Service::new(Arc::clone(&threads));
    submit_all(&service, &[1, 2]);
    let mut values = Vec::new();
    for _ in 0..2 {
        let taken = take(&service, HAS_ENDED);
        let Some(Ok(value)) = taken else {
            fail(
                &format!("two tasks were submitted, and one of two take() gave {}", text(&taken)),
                "a result is outstanding for as long as no thread has taken it, even if the task has ended: count it off when the result \
                 is taken, and look again after every wake-up, in a `while`",
            );
        };
        values.push(value);
    }
    values.sort_unstable();
    if values != [1, 2] {
        fail(&format!("the tasks had the results 1 and 2, and take() gave {values:?}"), "each comes once");
    }
    aside(|| check_end(&service));
    threads.join();
}

pub fn results_come_in_the_order_in_which_tasks_end() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1, 2, 3]);
    let cause = "a task has ended, and take() waits for another one that was submitted before it. Do not wait for a certain task: let the \
                 end of every task be reported";
    desk.run(1);
    check(&take(&service, cause), "the result 2", "only the second task has ended", cause);
    desk.run(1);
    desk.run(0);
    let order = "two tasks have ended since the last take(), first the third and then the first";
    let queue = "results come first in, first out: in the order in which the tasks ended, and not in the order in which \
                 they were submitted";
    check(&take(&service, cause), "the result 3", order, queue);
    check(&take(&service, cause), "the result 1", order, queue);
    aside(|| check_end(&service));
}

pub fn take_waits_for_the_next_result() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1]);
    let taker = taker("taker", &service);
    until_asleep(1, ASLEEP);
    desk.run(0);
    let taken = join(HAS_ENDED, taker);
    check(
        &taken,
        "the result 1",
        "a take() that waited",
        "take() must look at the queue again after the wait",
    );
    aside(|| check_end(&service));
}

pub fn take_waits_while_anything_is_outstanding() {
    let threads = Arc::<Threads>::default();
    let service = Arc::new(Service::new(Arc::clone(&threads)));
    let gate = Arc::new(Counter::new("the test to let task 1 end"));
    {
        let gate = Arc::clone(&gate);
        submit(&service, move || {
            gate.wait_for(1);
            step("task 1 ends");
            1
        });
    }
    let takers = ["taker 1", "taker 2"].map(|name| taker(name, &service));
    submit_all(&service, &[2]);
    gate.add();
    let mut taken: Vec<String> = takers.into_iter().map(|taker| text(&join(HAS_ENDED, taker))).collect();
    taken.sort_unstable();
    if taken != ["the result 1", "the result 2"] {
        fail(
            &format!("one task runs and a second one is submitted; two take() gave: {}", taken.join(", ")),
            "the first task was outstanding all the time, so neither take() may return None. Count a task before its result can be seen, \
             count it off when the result is taken, keep the count and the results under one lock, and look again after every wake-up, in \
             a `while`",
        );
    }
    aside(|| check_end(&service));
    threads.join();
}

pub fn several_takes_share_the_results() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1, 2]);
    let takers = ["taker 1", "taker 2"].map(|name| taker(name, &service));
    until_asleep(2, ASLEEP);
    desk.run(0);
    desk.run(0);
    let cause = "two results came one after the other, and only one waiter was notified: notify for each result, not only for a result \
                 that finds the queue empty";
    let mut taken: Vec<String> = takers.into_iter().map(|taker| text(&join(cause, taker))).collect();
    taken.sort_unstable();
    if taken != ["the result 1", "the result 2"] {
        fail(&format!("there were two results, and two take() gave: {}", taken.join(", ")), "each gets one");
    }
    aside(|| check_end(&service));
}

pub fn take_returns_none_when_nothing_is_outstanding() {
    let (desk, service) = at_a_desk();
    let taken = take(&service, "nothing was ever submitted, and take() waits");
    check(&taken, "None", "nothing was submitted", "there is nothing to come");
    submit_all(&service, &[1]);
    desk.run(0);
    check(&take(&service, HAS_ENDED), "the result 1", "the task has ended", HAS_ENDED);
    check_end(&service);
}

pub fn a_drained_service_goes_on() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1]);
    desk.run(0);
    let round = take(&service, HAS_ENDED);
    check(&round, "the result 1", "the first task has ended", HAS_ENDED);
    submit_all(&service, &[2]);
    let taker = taker("taker", &service);
    desk.run(0);
    let cause = "every result had been taken, and then another task was submitted: it counts like the first one. A service that was empty \
                 once can have results again";
    check(&join(HAS_ENDED, taker), "the result 2", "a take() after the second submit()", cause);
}

pub fn who_waits_learns_that_nothing_will_come() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1]);
    let takers = ["taker 1", "taker 2", "taker 3"].map(|name| taker(name, &service));
    until_asleep(3, ASLEEP);
    desk.run(0);
    let cause = "one thread has taken the last result; the other threads were waiting for it, and are not told that no result will come \
                 for them";
    let mut taken: Vec<String> = takers.into_iter().map(|taker| text(&join(cause, taker))).collect();
    taken.sort_unstable();
    if taken != ["None", "None", "the result 1"] {
        fail(
            &format!("there was one result, and three take() gave: {}", taken.join(", ")),
            "the result comes once",
        );
    }
}

pub fn a_refused_task_is_not_waited_for() {
    let (desk, service) = at_a_desk();
    desk.refuses.with(|refuses| *refuses = true);
    let Err(refused) = service.submit(|| 1) else {
        fail(
            "the executor refused, and submit() returned Ok",
            "the caller believes that the task will be run: pass the error on",
        )
    };
    let refusal = "the error comes from the executor: pass it on as it is, with the task in it, so that the caller can use the task";
    if !matches!(refused.reason, RejectReason::Shutdown) {
        fail(&format!("the executor was shut down, and submit() says: {}", refused.reason), refusal);
    }
    step("the caller runs the refused task");
    refused.task.run();
    if !matches!(refused.handle.try_join(), Ok(1)) {
        fail("the caller ran the refused task, and its handle has no result", refusal);
    }
    let taken = take(&service, "the task was refused, and is still counted as outstanding");
    check(&taken, "None", "the only task was refused", "no result of a refused task comes out");
}

pub fn a_refusal_releases_who_waits() {
    let (desk, service) = at_a_desk();
    desk.refuses.with(|refuses| *refuses = true);
    let takers = ["taker 1", "taker 2"].map(|name| taker(name, &service));
    drop(service.submit(|| 1));
    let cause = "the task was counted, take() began to wait for it, and the executor refused it: notify all waiters that nothing will come";
    for taker in takers {
        let taken = join(cause, taker);
        check(&taken, "None", "the only task was refused", "no result of a refused task comes out");
    }
}

pub fn a_panicking_task_comes_too() {
    let (desk, service) = at_a_desk();
    submit(&service, || panic_on_purpose());
    desk.run(0);
    let cause = "the task has panicked, and take() waits for its result: the callback of on_done is called however a task ends";
    let taken = take(&service, cause);
    check(
        &taken,
        "a panic",
        "the task has panicked",
        "the thread that takes the result must learn how the task ended",
    );
    aside(|| check_end(&service));
}

pub fn a_cancelled_task_comes_too() {
    let (_desk, service) = at_a_desk();
    let canceller = submit_all(&service, &[1]).remove(0);
    step("cancels the task");
    canceller.cancel();
    let cause = "the task is cancelled, and take() waits for its result: the callback of on_done is called however a task ends";
    let taken = take(&service, cause);
    check(
        &taken,
        "a cancelled task",
        "the task was cancelled",
        "the thread that takes the result must learn how the task ended",
    );
    aside(|| check_end(&service));
}

pub fn the_canceller_reaches_the_task() {
    let (desk, service) = at_a_desk();
    let ran = Arc::<Shared<bool>>::default();
    let canceller = {
        let ran = Arc::clone(&ran);
        submit(&service, move || {
            ran.with(|ran| *ran = true);
            1
        })
    };
    step("cancels the task");
    canceller.cancel();
    desk.run(0);
    let cause = "submit() must return the canceller of the task itself, from the task's handle. Another canceller cancels only the \
                 result, and the task does not learn of it";
    if ran.with(|ran| *ran) {
        fail("the task was cancelled before it began, and ran all the same", cause);
    }
    let its_canceller = Arc::<Shared<Option<Canceller>>>::default();
    let canceller = {
        let its_canceller = Arc::clone(&its_canceller);
        submit(&service, move || {
            step("a caller cancels the task while it runs");
            its_canceller.with(Option::take).expect("it was put there before").cancel();
            if !CancelToken::current().is_cancelled() {
                fail("the task was cancelled while it ran, and was not told", cause);
            }
            2
        })
    };
    its_canceller.with(|place| *place = Some(canceller));
    desk.run(0);
}

pub fn a_task_that_is_dropped_unrun_comes_too() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1]);
    let task = desk.remove(0);
    step("the executor drops the task, as after shutdown_now()");
    drop(task);
    let cause = "the task will never run, and take() waits for its result. A closure that is dropped runs no code: do the work that every \
                 task needs at its end in the callback of on_done";
    let taken = take(&service, cause);
    check(
        &taken,
        "a cancelled task",
        "the task was dropped",
        "the thread that takes the result must learn how the task ended",
    );
    aside(|| check_end(&service));
}

pub fn the_executor_may_run_tasks_at_once() {
    let service = Service::new(DirectExecutor);
    let cause =
        "submit() holds a lock while the executor runs the task, and the end of the task needs the lock";
    expect("submit()", cause, || submit_all(&service, &[1, 2]));
    check(&take(&service, HAS_ENDED), "the result 1", "both tasks have ended", HAS_ENDED);
    check(&take(&service, HAS_ENDED), "the result 2", "both tasks have ended", HAS_ENDED);
    aside(|| check_end(&service));
}

pub fn try_take_takes_what_is_there() {
    let (desk, service) = at_a_desk();
    let cause = "it waits for a task that has not ended. Return a result that is there, or None";
    let try_take = || at_once("try_take()", cause, || service.try_take());
    check(&try_take(), "None", "nothing was submitted", "there is nothing to come");
    submit_all(&service, &[1]);
    check(&try_take(), "None", "the task has not ended", "its result is not there yet");
    desk.run(0);
    check(&try_take(), "the result 1", "the task has ended", HAS_ENDED);
    let cause = "try_take() has taken the last result, and take() waits for another one: count off every result, whether take() or \
                 try_take() takes it";
    check(&take(&service, cause), "None", "a take() after the last result", "a result comes once");
}

pub fn who_takes_the_last_result_releases_the_others() {
    let (desk, service) = at_a_desk();
    submit_all(&service, &[1]);
    let takers = ["taker 1", "taker 2"].map(|name| taker(name, &service));
    desk.run(0);
    let taken = service.try_take();
    step(&format!("try_take() has given {}", text(&taken)));
    let what = "a take(), while another one or try_take() takes the last result,";
    let cause = "the thread that takes the last result, with take() or try_take(), must notify all waiters that nothing will come";
    let mut taken = vec![text(&taken)];
    taken.extend(takers.into_iter().map(|taker| text(&join_after(what, cause, taker))));
    taken.sort_unstable();
    if taken != ["None", "None", "the result 1"] {
        fail(
            &format!("there was one result, and two take() and a try_take() gave: {}", taken.join(", ")),
            cause,
        );
    }
}

pub fn many_results_come_in_their_order() {
    const MANY: u32 = 300;
    let (desk, service) = at_a_desk();
    let cause = "any number of tasks may be under way, and any number of results may wait to be taken";
    let results: Vec<u32> = (0..MANY).map(|number| number / 2).collect();
    expect("submit()", cause, || submit_all(&service, &results));
    (0..results.len()).rev().for_each(|place| desk.run(place));
    for (number, result) in results.iter().rev().enumerate() {
        let taken = if number % 3 == 0 { service.try_take() } else { take(&service, cause) };
        let when = format!("{MANY} tasks have ended, and {number} results were taken");
        check(&taken, &format!("the result {result}"), &when, cause);
    }
    check_end(&service);
}
