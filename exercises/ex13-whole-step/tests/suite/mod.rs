//! The properties of a worker and its steps; each property is a function. `exercise.toml` lists the
//! properties and says what each of them promises.

use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{at_once, expect, fail, panic_on_purpose, step};

use super::exercise::{Cancelled, Desk, Worker};
use crate::probe::{Shared, until_asleep, until_others_wait};
use crate::sync::{Arc, thread};

const SPINS: &str = "the worker checks again and again and keeps a core busy: wait on the Condvar, and wait again after a \
                     wake-up that brought no task. A request stays for good: a take() that has failed because of it fails \
                     at once the next time";
const NOT_TOLD: &str = "the worker was asked to stop, is in no step, and waits on. It has to check for the request before \
                        it waits and after each wake-up";
const STILL_MASKED: &str =
    "no step is under way any more, but the worker behaves as if one were: every step has to end";
const CUT_OFF: &str = "in the middle of a step, nothing that this worker waits for is cut off: a request does not end a \
                       wait, and does not keep a wait from beginning";
const COMES_BACK: &str = "a task lies on the desk, and the call that has to take it waits, or has given up";
const DOES_NOT_WAIT: &str =
    "put(), cancel() and is_cancelled() do not wait for a step: hold no lock while the step runs";
const PAIR_CUT_OFF: &str = "a pair has begun when the first task is taken. From then on the request must not cut it off: a task \
                            that has been taken and is not passed on is lost";

/// The result of a call: the tasks that the call has taken.
type Taken = Result<Vec<u32>, Cancelled>;
type Work = Box<dyn FnOnce(&Worker<u32>) -> Taken + Send>;

fn desk(tasks: &[u32]) -> Arc<Desk<u32>> {
    let desk = Arc::new(Desk::new());
    tasks.iter().for_each(|&task| desk.put(task));
    desk
}

fn cancel(desk: &Desk<u32>) {
    at_once("cancel()", DOES_NOT_WAIT, || desk.cancel());
}

fn put(desk: &Desk<u32>, task: u32) {
    at_once("put()", DOES_NOT_WAIT, || desk.put(task));
}

/// A call that runs on its own thread, with its own worker. `cause` is the likely cause if the call does not
/// return.
struct Call {
    what: &'static str,
    cause: &'static str,
    thread: thread::JoinHandle<Taken>,
}

fn begin(desk: &Arc<Desk<u32>>, what: &'static str, cause: &'static str, work: Work) -> Call {
    let desk = Arc::clone(desk);
    let run = move || expect(what, cause, || work(&Worker::new(desk)));
    let thread = thread::Builder::new().name("worker".into()).spawn(run).expect("a thread");
    Call { what, cause, thread }
}

impl Call {
    fn join(self) -> Taken {
        let joined = expect(self.what, self.cause, || self.thread.join());
        joined.unwrap_or_else(|_| fail(&format!("{} panicked", self.what), self.cause))
    }

    fn brings(self, tasks: &[u32]) {
        let (what, cause) = (self.what, self.cause);
        is_given(what, self.join(), tasks, cause);
    }

    fn fails(self, desk: &Desk<u32>, left: usize) {
        let (what, cause) = (self.what, self.cause);
        is_refused(what, self.join(), desk, left, cause);
    }

    /// Fails unless the call still waits after the request.
    fn waits_on(self) -> Self {
        let Self { what, cause, .. } = self;
        until_others_wait(&format!("{what} does not sleep, though no task is there"), SPINS);
        if self.thread.is_finished() {
            let ended = match self.join() {
                Ok(taken) => format!("returned {taken:?}"),
                Err(Cancelled) => "failed".into(),
            };
            let seen = format!("{what} {ended} when the request came; it has to wait on until a task comes");
            fail(&seen, cause);
        }
        self
    }
}

fn take(worker: &Worker<u32>) -> Taken {
    worker.take().map(|task| vec![task])
}

fn take_pair(worker: &Worker<u32>) -> Taken {
    worker.take_pair().map(|(first, second)| vec![first, second])
}

/// Fails unless the call `what` has taken the given tasks.
fn is_given(what: &str, taken: Taken, tasks: &[u32], cause: &str) {
    match taken {
        Err(Cancelled) => fail(&format!("{what} failed: the worker was asked to stop"), cause),
        Ok(taken) if taken != tasks => {
            let seen = format!("{what} returned {taken:?}, and not {tasks:?}");
            fail(&seen, "the oldest task comes first, and each task once");
        }
        Ok(_) => {}
    }
}

/// Fails unless the call has failed and `left` tasks are still on the desk.
fn is_refused(what: &str, taken: Taken, desk: &Desk<u32>, left: usize, cause: &str) {
    if let Ok(taken) = taken {
        fail(&format!("{what} returned {taken:?}, though the worker was asked to stop"), cause);
    }
    if desk.left() != left {
        let seen = format!("{what} failed; tasks on the desk: {}, and not {left}", desk.left());
        fail(&seen, "a call that fails takes no task: a task that was taken and is not passed on is lost");
    }
}

/// Runs `work` twice. In the first run, the request comes while `work` waits; in the second run, the request
/// comes before `work` begins.
fn gets_its_task_all_the_same(what: &'static str, cause: &'static str, work: fn(&Worker<u32>) -> Taken) {
    for before in [false, true] {
        let desk = desk(&[]);
        if before {
            cancel(&desk);
        }
        let call = begin(&desk, what, cause, Box::new(move |worker| and_no_more(worker, work(worker))));
        if !before {
            until_asleep(1, SPINS);
            step("sees the worker asleep");
            cancel(&desk);
        }
        let call = call.waits_on();
        put(&desk, 1);
        put(&desk, 2);
        call.brings(&[1]);
        still_asks(&desk, 1);
    }
}

/// Checks that a worker gets no more tasks after it was asked to stop and has taken a task in a step.
fn and_no_more(worker: &Worker<u32>, taken: Taken) -> Taken {
    if let (Ok(_), Ok(more)) = (&taken, expect("take() afterwards", SWALLOWED, || worker.take())) {
        fail(&format!("take() afterwards returned {more}, though the worker was asked to stop"), SWALLOWED);
    }
    taken
}

/// Fails unless the desk still has the request and `left` tasks.
fn still_asks(desk: &Desk<u32>, left: usize) {
    if !desk.is_cancelled() {
        fail("is_cancelled() is false, though a thread has called cancel()", "a request is never taken back");
    }
    if desk.left() != left {
        let seen = format!("tasks on the desk: {}, and not {left}", desk.left());
        fail(&seen, "each task is taken once, and a call that fails takes no task");
    }
}

const SWALLOWED: &str = "the request stays after a step: no step clears it, and each step has to end";

pub fn take_gets_the_oldest_task() {
    let desk = desk(&[1, 2]);
    let worker = Worker::new(Arc::clone(&desk));
    for task in 1..=2 {
        is_given("take()", expect("take()", COMES_BACK, || take(&worker)), &[task], COMES_BACK);
    }
    let call = begin(&desk, "take()", COMES_BACK, Box::new(take));
    until_asleep(1, SPINS);
    step("sees the worker asleep");
    put(&desk, 3);
    call.brings(&[3]);
}

pub fn a_request_ends_a_wait() {
    let desk = desk(&[]);
    let call = begin(&desk, "take()", NOT_TOLD, Box::new(take));
    until_asleep(1, SPINS);
    step("sees the worker asleep");
    cancel(&desk);
    call.fails(&desk, 0);
}

pub fn a_worker_that_was_asked_gets_no_task() {
    let desk = desk(&[1, 2]);
    let worker = Worker::new(Arc::clone(&desk));
    cancel(&desk);
    for what in ["take()", "the second take()"] {
        let cause = "the worker was asked to stop, so take() returns no task, even if a task is there. And the request \
                     stays: a take() that reports the request does not clear it";
        is_refused(what, expect(what, NOT_TOLD, || take(&worker)), &desk, 2, cause);
    }
}

pub fn nobody_waits_for_a_step() {
    let desk = desk(&[]);
    let worker = Worker::new(Arc::clone(&desk));
    worker.masked(|| {
        step("is in the middle of a step");
        let others = {
            let desk = Arc::clone(&desk);
            thread::Builder::new().name("others".into()).spawn(move || {
                put(&desk, 1);
                cancel(&desk);
            })
        };
        let joined = expect("cancel() and put() of another thread", DOES_NOT_WAIT, || {
            others.expect("a thread").join()
        });
        joined.unwrap_or_else(|_| fail("put() or cancel() panicked", DOES_NOT_WAIT));
    });
}

pub fn a_step_hides_no_request() {
    let desk = desk(&[1]);
    let worker = Worker::new(Arc::clone(&desk));
    worker.masked(|| {
        cancel(&desk);
        if !at_once("is_cancelled()", DOES_NOT_WAIT, || desk.is_cancelled()) {
            fail(
                "is_cancelled() is false in the middle of the step, though a thread has called cancel()",
                "a step ignores the request and does not hide it: other threads see it, and a long step can check it and \
                 hurry",
            );
        }
    });
    if !desk.is_cancelled() {
        fail(
            "is_cancelled() is false after the step in which a thread has called cancel()",
            "the end of the step has cleared the request, or put back what was there before it: the next check does not \
             see the request",
        );
    }
    is_refused("take() after the step", take(&worker), &desk, 1, STILL_MASKED);
}

pub fn a_step_is_not_cut_off() {
    let cause = "in a step, a request does not end a wait and does not keep a wait from beginning. The request does wake \
                 the worker up. If there is no task, the worker has to sleep again: a loop that looks again and again \
                 keeps a core busy";
    gets_its_task_all_the_same("take() in a step", cause, |worker| worker.masked(|| take(worker)));
}

pub fn only_the_outermost_end_counts() {
    let desk = desk(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let worker = Worker::new(Arc::clone(&desk));
    cancel(&desk);
    let ended = "the end of an inner step, next_task() or take_pair() has ended the outer one as well. Only the end of the \
                 outermost counts";
    worker.masked(|| {
        worker.masked(|| {
            is_given("take() in an inner step", worker.masked(|| take(&worker)), &[1], CUT_OFF);
        });
        is_given("take() after two inner steps", take(&worker), &[2], ended);
        is_given("next_task() in a step", Ok(vec![worker.next_task()]), &[3], CUT_OFF);
        is_given("take() after next_task()", take(&worker), &[4], ended);
        is_given("take_pair() in a step", take_pair(&worker), &[5, 6], CUT_OFF);
        is_given("take() after take_pair()", take(&worker), &[7], ended);
    });
    is_refused("take() after the steps", take(&worker), &desk, 1, STILL_MASKED);
}

const COMES_OUT: &str = "a panic comes out of masked() as it came out of the step, with the same payload: resume the \
                         panic that you have caught (std::panic::resume_unwind), or do not catch it";

/// Makes this worker run a step that panics.
fn a_step_panics(worker: &Worker<u32>) {
    let panicked = expect("masked() with a step that panics", COMES_OUT, || {
        catch_unwind(AssertUnwindSafe(|| worker.masked(|| panic_on_purpose())))
    });
    match panicked {
        Ok(()) => fail("the step panicked, and masked() returned", COMES_OUT),
        Err(payload) if payload.downcast_ref() == Some(&"a panic on purpose") => {}
        Err(_) => fail("the panic that came out of masked() is not the panic of the step", COMES_OUT),
    }
}

pub fn a_panic_ends_its_step() {
    const WITHOUT_END: &str = "the step has ended with a panic, and its mask is still there. Code after step() is not \
                               reached then; a Drop runs";
    let desk = desk(&[1, 2]);
    let worker = Worker::new(Arc::clone(&desk));
    cancel(&desk);
    worker.masked(|| {
        a_step_panics(&worker);
        let cause =
            "a panic ends the step that it comes out of. The step around it, which has caught it, goes on";
        is_given("take() after a panic in an inner step", take(&worker), &[1], cause);
    });
    a_step_panics(&worker);
    is_refused("take() after a step that panicked", take(&worker), &desk, 1, WITHOUT_END);
}

pub fn a_step_shields_only_its_own_worker() {
    const ANOTHERS: &str = "the step of one worker shields another. Whether a worker is in a step is a fact of each \
                            worker, not of a desk, a thread or a program";
    let (desk, other) = (desk(&[]), desk(&[1]));
    let worker = Worker::new(Arc::clone(&desk));
    let of_another_desk = Worker::new(Arc::clone(&other));
    cancel(&other);
    worker.masked(|| {
        let taken = take(&of_another_desk);
        is_refused("take() of another worker, while one is in a step", taken, &other, 1, ANOTHERS);
        let call = begin(&desk, "take() of another worker", ANOTHERS, Box::new(take));
        until_asleep(1, SPINS);
        step("sees the other worker asleep");
        cancel(&desk);
        call.fails(&desk, 0);
        put(&desk, 1);
        let second = Worker::new(Arc::clone(&desk));
        is_refused("take() of a second worker of this thread", take(&second), &desk, 1, ANOTHERS);
    });
}

pub fn next_task_waits_whatever_happens() {
    let cause = "next_task() returns with a task, and only with one. A take() that the request has cut off is cut off the \
                 next time, too; in a step it is not cut off at all";
    gets_its_task_all_the_same("next_task()", cause, |worker| Ok(vec![worker.next_task()]));
}

pub fn a_pair_that_has_not_begun_can_be_cut_off() {
    let cause = "take_pair() has taken no task yet, so the request has to end it: the step begins with the first task";
    let there = desk(&[1, 2]);
    cancel(&there);
    let worker = Worker::new(Arc::clone(&there));
    is_refused("take_pair()", expect("take_pair()", cause, || take_pair(&worker)), &there, 2, cause);
    let empty = desk(&[]);
    let call = begin(&empty, "take_pair()", cause, Box::new(take_pair));
    until_asleep(1, SPINS);
    step("sees the worker asleep");
    cancel(&empty);
    call.fails(&empty, 0);
}

pub fn a_pair_that_has_begun_is_completed() {
    let desk = desk(&[1]);
    let pair: Work = Box::new(|worker| and_no_more(worker, take_pair(worker)));
    let call = begin(&desk, "take_pair()", PAIR_CUT_OFF, pair);
    until_asleep(1, SPINS);
    step("sees the worker asleep");
    if desk.left() == 1 {
        fail(
            "take_pair() sleeps, though the first task lies on the desk",
            "it takes the first as soon as there is one. The step that must not be cut off begins with this task",
        );
    }
    cancel(&desk);
    let call = call.waits_on();
    put(&desk, 2);
    put(&desk, 3);
    call.brings(&[1, 2]);
    still_asks(&desk, 1);
}

pub fn no_task_is_lost() {
    const ENDS: &str = "the worker was asked to stop, and takes pairs until take_pair() fails";
    let desk = desk(&[]);
    let taken = Arc::new(Shared::<Vec<u32>>::default());
    let worker = {
        let taken = Arc::clone(&taken);
        let work: Work = Box::new(move |worker| {
            while let Ok(pair) = take_pair(worker) {
                taken.with(|taken| taken.extend(pair));
            }
            take(worker) // the worker was asked to stop, and the request stays
        });
        begin(&desk, "the worker's end", ENDS, work)
    };
    let canceller = {
        let desk = Arc::clone(&desk);
        thread::Builder::new().name("canceller".into()).spawn(move || cancel(&desk)).expect("a thread")
    };
    for task in 1..=4 {
        put(&desk, task);
    }
    expect("cancel()", DOES_NOT_WAIT, || canceller.join())
        .unwrap_or_else(|_| fail("cancel() panicked", DOES_NOT_WAIT));
    let last = worker.join();
    let taken = taken.with(|taken| taken.clone());
    let in_order = taken.iter().zip(1..).all(|(task, number)| *task == number);
    if !in_order || taken.len() + desk.left() != 4 {
        let seen = format!("of tasks 1 to 4, {taken:?} were taken and {} are on the desk", desk.left());
        fail(&seen, PAIR_CUT_OFF);
    }
    is_refused("take() afterwards", last, &desk, 4 - taken.len(), SWALLOWED);
}

/// Runs `depth` nested steps; each step takes one task before its inner step and one task after its inner
/// step.
fn nested(worker: &Worker<u32>, depth: u32, taken: &mut Vec<u32>) {
    if depth > 0 {
        worker.masked(|| {
            taken.extend(worker.take());
            nested(worker, depth - 1, taken);
            taken.extend(worker.take());
        });
    }
}

pub fn many_steps_and_many_tasks() {
    const DEPTH: u32 = 300;
    const PANICS: u32 = 1_000;
    const TASKS: u32 = 2 * DEPTH + PANICS;
    const MISCOUNTED: &str = "all these steps are one inside the other, so the outermost one ends last: count them, up to \
                              any number, or store for each step the state before it";
    if !exercises_harness::first_run!() {
        return;
    }
    let desk = desk(&(0..TASKS).collect::<Vec<_>>());
    let worker = Worker::new(Arc::clone(&desk));
    for number in 0..PANICS {
        is_given("take() after many steps that panicked", take(&worker), &[number], STILL_MASKED);
        a_step_panics(&worker);
    }
    cancel(&desk);
    let mut taken = Vec::new();
    expect("many nested steps", MISCOUNTED, || nested(&worker, DEPTH, &mut taken));
    if !taken.iter().copied().eq(PANICS..TASKS) {
        let seen = format!(
            "in {DEPTH} nested steps a worker that was asked to stop took {} of {} tasks",
            taken.len(),
            2 * DEPTH
        );
        fail(&seen, MISCOUNTED);
    }
    desk.put(TASKS);
    is_refused("take() after many nested steps", take(&worker), &desk, 1, STILL_MASKED);
}
