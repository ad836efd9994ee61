//! The whole life of a pool, drawn at random: every way in which a worker can end, combined with every way in
//! which a task can enter or leave the pool.
//!
//! A scenario is data ([`scenario`]): the pool's settings, the steps of two or three threads, and the way in
//! which the pool ends. The module [`world`] plays the scenario and judges it by four rules:
//!
//! * An accepted task has exactly one of three fates: it runs, it comes back, or it is cancelled. A refused
//!   task comes back.
//! * Each handle reports what happened to the handle's task.
//! * A live pool runs each task for which it can have a thread. The test checks this rule when all threads
//!   have done their steps and the running tasks wait at a gate. If a join does not return at that point,
//!   shuttle reports a deadlock.
//! * The counts are exact. The test checks the number of waiting tasks whenever all threads wait, and it
//!   checks all counts at the end.
//!
//! Each seed chooses a scenario, which is played under some schedules of both kinds.
//! `COMPOSITE_SCHEDULES=1000000` asks for more schedules. A failure prints its scenario and seed, and
//! `COMPOSITE_SEED=SEED COMPOSITE_SCHEDULES=1` plays only that scenario again. Several processes can share a
//! long run if each process starts with a different seed.

mod scenario;
mod world;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use crate::{check, number};
use scenario::{Body, Call, Queue, Scenario, Step, Which};
use world::{play, told};

/// The number of schedules of each kind for each scenario.
const SCHEDULES_EACH: usize = 5;

#[test]
fn whatever_happens_to_a_pool_each_task_has_one_fate() {
    let first = number("COMPOSITE_SEED").unwrap_or(0);
    let schedules = number("COMPOSITE_SCHEDULES").unwrap_or(20_000);
    let scenarios = schedules.div_ceil(2 * SCHEDULES_EACH as u64);
    for seed in first..first + scenarios {
        play_under(RandomScheduler::new_from_seed(seed, SCHEDULES_EACH), seed);
        play_under(PctScheduler::new_from_seed(seed, 3, SCHEDULES_EACH), seed);
    }
}

fn play_under(scheduler: impl Scheduler + 'static, seed: u64) {
    let scenario = Scenario::draw(seed);
    let again = format!("COMPOSITE_SEED={seed} COMPOSITE_SCHEDULES=1 plays this again:\n{scenario}");
    let mut config = Config::new();
    // The stack frames of a script are larger than the frames of the other models, most of all in
    // unoptimised code.
    config.stack_size = 0x2_0000;
    told(move || again, || _ = Runner::new(scheduler, config).run(move || play(&scenario)));
}

/// Plays a scenario that has a name: the smallest form of a former defect, or of the fault of a mutant.
fn check_scenario(scenario: Scenario) {
    let again = scenario.to_string();
    told(move || again, || check(move || play(&scenario)));
}

// ----- a thread leaves, and a task comes -----

/// The pool wakes its last thread for a task. When the keep-alive time of that thread is over, the task is no
/// longer in the queue, and another task comes.
#[test]
fn a_task_that_follows_a_removed_one_does_not_miss_the_last_thread() {
    let script = vec![
        Step::Submit(Body::Quick),
        Step::Join, // otherwise its thread would come for the next one anyway
        Step::Submit(Body::Quick),
        Step::Remove(Which::Newest),
        Step::Submit(Body::Quick),
    ];
    check_scenario(Scenario { core: 0, scripts: vec![script], ..Scenario::plain() });
}

#[test]
fn a_task_that_follows_a_cancelled_one_does_not_miss_the_last_thread() {
    let tasks =
        vec![Step::Submit(Body::Quick), Step::Join, Step::Submit(Body::Quick), Step::Submit(Body::Quick)];
    let scripts = vec![vec![Step::Cancel(Which::Newest)], tasks];
    check_scenario(Scenario { core: 0, scripts, ..Scenario::plain() });
}

/// An idle thread gets a task at the moment when the pool has one thread too many. The idle thread must run
/// the task, because all other threads may be busy for a long time.
#[test]
fn a_task_handed_to_a_thread_that_is_one_too_many_is_run() {
    let script = vec![
        Step::Submit(Body::Gate),
        Step::Submit(Body::Quick),
        Step::Maximum(1),
        Step::Submit(Body::Quick),
    ];
    let (queue, core, maximum) = (Queue::HandOff, 0, 2);
    check_scenario(Scenario { queue, core, maximum, scripts: vec![script], ..Scenario::plain() });
}

/// The pool starts a thread that begins with a certain task. A lower maximum can make this thread a surplus
/// thread before it begins.
#[test]
fn a_task_whose_thread_begins_as_one_too_many_is_run() {
    let tasks = vec![Step::Submit(Body::Gate), Step::Submit(Body::Quick)];
    let scripts = vec![vec![Step::Maximum(1)], tasks];
    let (queue, core, maximum) = (Queue::HandOff, 0, 2);
    check_scenario(Scenario { queue, core, maximum, scripts, ..Scenario::plain() });
}

/// A hand-off queue gives a task to an idle thread. The idle thread must run that task, and not a task that
/// was put aside for another thread.
#[test]
fn a_task_handed_over_is_not_left_for_one_that_was_put_aside() {
    let (queue, core, maximum, core_timeout) = (Queue::HandOff, 1, 2, true);
    let factory = vec![Call::Starts, Call::Fails, Call::Panics];
    let scripts = vec![
        vec![Step::Submit(Body::Quick), Step::Submit(Body::Quick)],
        vec![Step::Submit(Body::Quick), Step::Execute(Body::Gate)],
    ];
    check_scenario(Scenario { queue, core, maximum, core_timeout, factory, scripts, ..Scenario::plain() });
}

// ----- counts -----

/// A user's queue drops a task that was cancelled in the queue. The pool's count of the other tasks must stay
/// correct.
#[test]
fn a_cancelled_task_that_its_queue_drops_is_counted_nowhere() {
    let script = vec![
        Step::Submit(Body::Gate),
        Step::Submit(Body::Quick),
        Step::Cancel(Which::Newest),
        Step::Submit(Body::Quick),
    ];
    check_scenario(Scenario { queue: Queue::Ring(1), scripts: vec![script], ..Scenario::plain() });
}

/// A thread can cancel a task before the pool has received the task. In this case the entry of the cancelled
/// task is a tombstone from the beginning.
fn a_task_cancelled_on_arrival_is_counted_nowhere(queue: Queue) {
    let quick = Step::Submit(Body::Quick); // the first task opens the inbox, if there is one, for the second
    let scripts = vec![vec![Step::Cancel(Which::Newest)], vec![Step::Submit(Body::Gate), quick, quick]];
    check_scenario(Scenario { queue, scripts, ..Scenario::plain() });
}

#[test]
fn a_task_cancelled_on_its_way_into_the_queue_is_counted_nowhere() {
    a_task_cancelled_on_arrival_is_counted_nowhere(Queue::Lifo); // this queue has no inbox
}

#[test]
fn a_task_cancelled_on_its_way_into_the_inbox_is_counted_nowhere() {
    a_task_cancelled_on_arrival_is_counted_nowhere(Queue::Unbounded);
}

// ----- threads that do not come -----

/// The pool gets no thread for two submitters at the same time: each submitter gets its own task back.
#[test]
fn a_task_that_gets_no_thread_is_not_dropped_with_that_of_another() {
    let scripts = vec![vec![Step::Submit(Body::Quick)]; 2];
    let factory = vec![Call::Fails; 2];
    check_scenario(Scenario { core: 2, maximum: 2, factory, scripts, ..Scenario::plain() });
}

/// Two submitters submit at the same time. The system starts a thread for only one of the two tasks. The new
/// thread runs this task first.
#[test]
fn a_task_that_got_a_thread_does_not_lose_it_to_one_that_got_none() {
    let scripts = vec![vec![Step::Submit(Body::Gate)]; 2];
    let (queue, core, maximum, factory) = (Queue::HandOff, 0, 2, vec![Call::Fails]);
    check_scenario(Scenario { queue, core, maximum, factory, scripts, ..Scenario::plain() });
}

/// The pool has one thread too many, because the system is starting another thread. That start can still
/// fail.
#[test]
fn the_last_thread_that_is_there_stays_although_it_is_one_too_many() {
    let tasks = vec![Step::Submit(Body::Quick); 3];
    let scripts = vec![vec![Step::Maximum(1)], tasks];
    let (queue, core, maximum) = (Queue::Bounded(1), 0, 2);
    let factory = vec![Call::Starts, Call::DropsLater];
    check_scenario(Scenario {
        queue,
        core,
        maximum,
        threads_first: true,
        factory,
        scripts,
        ..Scenario::plain()
    });
}

/// A submitter is about to take its task back because the pool gets no thread for the task. The pool must not
/// end before the submitter has taken the task back.
#[test]
fn a_pool_is_not_at_its_end_while_a_task_is_put_aside() {
    let scripts = vec![vec![Step::Submit(Body::Quick)], vec![Step::Close]];
    check_scenario(Scenario { factory: vec![Call::Fails], scripts, ..Scenario::plain() });
}

/// The pool got no thread for a task. The pool terminates only after that task has ended.
#[test]
fn a_pool_is_not_at_its_end_while_a_task_is_that_no_thread_came_for() {
    let (factory, patient) = (vec![Call::DropsLater], false);
    let scripts = vec![vec![Step::Submit(Body::Quick)]];
    check_scenario(Scenario { factory, scripts, patient, ..Scenario::plain() });
}
