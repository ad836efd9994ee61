//! Starvation, drawn at random and judged by books of the test's own: no false alarm, and nothing missed.
//!
//! A scenario is data ([`scenario`]). Its tasks and threads write down what they do ([`books`]) as they do it ([`world`]),
//! and two things are asked of the library, of neither of which the books know from it:
//!
//! * A wait that was said to starve had come, at some moment since it began, to a point where nothing inside could end it.
//! * A wait that nothing inside can end ends. This is asked in the middle of the game, whenever a thread outside comes to
//!   [`Settle`](scenario::Act::Settle), and at the end, when there is nothing left that a thread outside could do: there a
//!   wait that was missed is a deadlock, which shuttle reports.
//!
//! # What is drawn
//!
//! One to three pools of one to two threads and more if they may grow, with and without a bound on the queue; a submitter
//! that finds it full is refused, waits, or runs the task itself; threads that time out, and spare ones. Tasks that submit
//! tasks to any of the pools and wait for them: a join, a shared or timed one, `invoke_all` and `invoke_any`, a completion
//! service of their own or one that all share, permits. They also wait for tasks that were given to nobody yet, and for
//! promises. One or two threads outside submit those tasks, run them, complete the promises, take permits, cancel tasks,
//! resize pools and shut them down.
//!
//! Not drawn: tasks that panic, masked steps, factories that fail, users' queues, help, latches and channels. Those have
//! tests of their own.
//!
//! `STARVED_SCHEDULES=1000000` asks for more schedules. A failure prints its scenario and seed; `STARVED_SEED=SEED
//! STARVED_SCHEDULES=1` plays that again.

mod scenario;
mod books;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use crate::number;
use scenario::Scenario;
use world::play;

/// Schedules of each of the two kinds for each scenario.
const SCHEDULES_EACH: usize = 2;

#[test]
fn every_wait_without_an_end_is_found_and_no_other() {
    let first = number("STARVED_SEED").unwrap_or(0);
    let schedules = number("STARVED_SCHEDULES").unwrap_or(4_400);
    let scenarios = schedules.div_ceil(2 * SCHEDULES_EACH as u64);
    for seed in first..first + scenarios {
        play_under(RandomScheduler::new_from_seed(seed, SCHEDULES_EACH), seed);
        play_under(PctScheduler::new_from_seed(seed, 3, SCHEDULES_EACH), seed);
    }
}

fn play_under(scheduler: impl Scheduler + 'static, seed: u64) {
    let scenario = Scenario::draw(seed);
    let text = format!("STARVED_SEED={seed} STARVED_SCHEDULES=1 plays this again:\n{scenario:?}");
    let mut config = Config::new();
    config.stack_size = 0x4_0000; // tasks may run on top of each other
    let run = AssertUnwindSafe(|| _ = Runner::new(scheduler, config).run(move || play(&scenario)));
    if let Err(panic) = catch_unwind(run) {
        eprintln!("{}{text}", world::where_it_stands());
        resume_unwind(panic);
    }
}
