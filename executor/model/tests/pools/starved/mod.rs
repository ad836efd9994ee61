//! Random starvation: judged by the test's own records, no report is false and no report is missing.
//!
//! A scenario is data ([`scenario`]). The tasks and threads of the scenario record their steps ([`books`])
//! while they make them ([`world`]). The test checks the following two properties of the library by its own
//! records only, not by the library's answers:
//!
//! * If a wait was reported as starving, then at some moment since its beginning nothing inside could end
//!   it.
//! * If nothing inside can end a wait, the wait must end with a report. The test checks this during the
//!   scenario, whenever a thread outside comes to [`Settle`](scenario::Act::Settle). The test checks the
//!   second property again at the end, when the threads outside can do nothing more. At the end, a missed
//!   wait is a deadlock, which shuttle reports.
//!
//! # What is random
//!
//! The scenario has one to three pools with one or two threads each; some pools can grow further, and some
//! have a bounded queue. If a bounded queue is full, the submitter is refused, waits, or runs the task
//! itself. Some threads time out, and some threads are spare threads. Tasks submit other tasks to any of the
//! pools and wait for them. The tasks wait by a plain, shared or timed join, by `invoke_all` and
//! `invoke_any`, by their own or a common completion service, or by permits. The tasks also wait for
//! promises, and for tasks that no pool has yet. One or two threads outside the pools submit the named tasks,
//! run them, complete the promises, take permits, cancel tasks, resize pools and shut them down.
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
