//! Random scenarios of starvation: the test keeps its own records, which show whether a report is false or
//! missing.
//!
//! A scenario is data ([`scenario`]). The tasks and threads of the scenario record their steps ([`books`])
//! while they do these steps ([`world`]). The test checks the following two properties of the library by its
//! own records only, not by the library's answers:
//!
//! * If the library reported a wait as starving, then at some moment since the beginning of the wait, no
//!   event inside the pools could end the wait.
//! * If no event inside the pools can end a wait, the wait must end with a report. The test checks this
//!   second property during the scenario, whenever a thread outside the pools comes to
//!   [`Settle`](scenario::Act::Settle). The test checks the second property again at the end, when the
//!   threads outside the pools can do nothing more. At the end, a starving wait that the library has not
//!   reported is a deadlock, which shuttle reports.
//!
//! # What is random
//!
//! The scenario has one to three pools with one or two threads each; some pools can grow further, and some
//! have a bounded queue. If a bounded queue is full, the pool refuses the submission, or the submitter waits,
//! or the submitter runs the task itself. In some pools idle threads time out, and some pools have spare
//! threads. Tasks submit other tasks to any of the pools, and wait for these other tasks. The tasks wait in a
//! plain, shared or timed join, in `invoke_all` and `invoke_any`, for their own or a common completion
//! service, or for permits. The tasks also wait for promises, and for tasks that no pool has yet. One or two
//! threads outside the pools work on the named tasks and the pools: they submit and run these tasks, complete
//! promises, take permits, cancel tasks, and resize and shut down pools.
//!
//! Other tests cover tasks that panic, masked steps, factories that fail, users' queues, help, latches and
//! channels.
//!
//! `STARVED_SCHEDULES=1000000` asks for more schedules. A failure prints its scenario and seed, and
//! `STARVED_SEED=SEED STARVED_SCHEDULES=1` plays that scenario again.

mod scenario;
mod books;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

use crate::number;
use scenario::Scenario;
use world::play;

/// The number of schedules of each kind for each scenario.
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
