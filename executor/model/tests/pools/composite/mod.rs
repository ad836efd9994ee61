//! A pool's whole life, drawn at random: every way a worker can leave against every way a task can come or go.
//!
//! A scenario is data ([`scenario`]): the pool's settings, what two or three threads do with it, and how it ends. It is
//! played and judged ([`world`]) by what holds for all of them:
//!
//! * An accepted task runs, comes back or is cancelled: one of them, once. A refused one comes back.
//! * Each handle says which it was.
//! * While the pool lives, a task that a thread could run is run. This is asked when all threads are through with their
//!   steps and running tasks wait at a gate: a join that then does not end is a deadlock, which shuttle reports.
//! * The books are exact: what waits whenever nothing moves, and all of it at the end.
//!
//! Each seed draws a scenario and plays it under some schedules of both kinds. `COMPOSITE_SCHEDULES=1000000` asks for
//! more of them. A failure prints its scenario and seed; `COMPOSITE_SEED=SEED COMPOSITE_SCHEDULES=1` plays that again,
//! and no other. So a long run can be split over several processes: each begins at a seed of its own.

mod scenario;
mod world;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use crate::{check, number};
use scenario::{Body, Call, Queue, Scenario, Step, Which};
use world::{play, told};

/// Schedules of each of the two kinds for each scenario.
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
    config.stack_size = 0x2_0000; // a script's frames are larger than those of the other models, above all unoptimised
    told(move || again, || _ = Runner::new(scheduler, config).run(move || play(&scenario)));
}

/// A scenario with a name: a defect that there was, or the fault of a mutant, in its smallest form.
fn check_scenario(scenario: Scenario) {
    let again = scenario.to_string();
    told(move || again, || check(move || play(&scenario)));
}

// ----- a thread leaves, and a task comes -----

/// The task that the last thread was woken for is gone again when its keep-alive time is up, and another comes.
#[test]
fn a_task_that_follows_a_removed_one_does_not_miss_the_last_thread() {
    let script = vec![
        Step::Submit(Body::Quick),
        Step::Join, // or its thread would come for the next one anyway
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

/// An idle thread is given a task and is one too many: it has to run it, since all others may be busy for long.
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

/// A thread that is started with a task may be one too many before it begins.
#[test]
fn a_task_whose_thread_begins_as_one_too_many_is_run() {
    let tasks = vec![Step::Submit(Body::Gate), Step::Submit(Body::Quick)];
    let scripts = vec![vec![Step::Maximum(1)], tasks];
    let (queue, core, maximum) = (Queue::HandOff, 0, 2);
    check_scenario(Scenario { queue, core, maximum, scripts, ..Scenario::plain() });
}

/// A hand-off queue gives a task to an idle thread. That one may not take a task instead that was put aside for another.
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

/// A queue of the user's drops a task that was cancelled in it: it is not to be missing from the count of the others.
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

/// A task may be cancelled before the pool has it: what comes into the queue then is a tombstone already.
fn a_task_cancelled_on_arrival_is_counted_nowhere(queue: Queue) {
    let quick = Step::Submit(Body::Quick); // the first of them opens the inbox, if there is one, for the second
    let scripts = vec![vec![Step::Cancel(Which::Newest)], vec![Step::Submit(Body::Gate), quick, quick]];
    check_scenario(Scenario { queue, scripts, ..Scenario::plain() });
}

#[test]
fn a_task_cancelled_on_its_way_into_the_queue_is_counted_nowhere() {
    a_task_cancelled_on_arrival_is_counted_nowhere(Queue::Lifo); // which has no inbox
}

#[test]
fn a_task_cancelled_on_its_way_into_the_inbox_is_counted_nowhere() {
    a_task_cancelled_on_arrival_is_counted_nowhere(Queue::Unbounded);
}

// ----- threads that do not come -----

/// Two submitters get no thread at the same time: each has its own task back.
#[test]
fn a_task_that_gets_no_thread_is_not_dropped_with_that_of_another() {
    let scripts = vec![vec![Step::Submit(Body::Quick)]; 2];
    let factory = vec![Call::Fails; 2];
    check_scenario(Scenario { core: 2, maximum: 2, factory, scripts, ..Scenario::plain() });
}

/// Of two submitters one gets no thread, and the thread of the other begins: with the task that it was started for.
#[test]
fn a_task_that_got_a_thread_does_not_lose_it_to_one_that_got_none() {
    let scripts = vec![vec![Step::Submit(Body::Gate)]; 2];
    let (queue, core, maximum, factory) = (Queue::HandOff, 0, 2, vec![Call::Fails]);
    check_scenario(Scenario { queue, core, maximum, factory, scripts, ..Scenario::plain() });
}

/// A thread is one too many because another is being started. That one may not come.
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

/// A submitter is about to take its task back because no thread comes for it: the pool is not at its end before it has.
#[test]
fn a_pool_is_not_at_its_end_while_a_task_is_put_aside() {
    let scripts = vec![vec![Step::Submit(Body::Quick)], vec![Step::Close]];
    check_scenario(Scenario { factory: vec![Call::Fails], scripts, ..Scenario::plain() });
}

/// The pool's end waits for the end of a task whose thread did not come.
#[test]
fn a_pool_is_not_at_its_end_while_a_task_is_that_no_thread_came_for() {
    let (factory, patient) = (vec![Call::DropsLater], false);
    let scripts = vec![vec![Step::Submit(Body::Quick)]];
    check_scenario(Scenario { factory, scripts, patient, ..Scenario::plain() });
}
