//! The properties about the times at which runs begin, and about events that must not delay runs.

use exercises_harness::{fail, live_threads};

use super::below::{Calls, Desk};
use super::exercise::{Clock, Millis, TaskHandle};
use super::log::{Does, Trial, nothing, panics};
use super::{
    BELOW_RUNS, BUSY, DRIFT, EARLIER, EARLY, FOREVER, GOES_ON, KEEPS_A_THREAD, LATE, LONG, MISSED, ORDER,
    OVERLAP, PANIC, SPINS, WITHIN,
};
use crate::below::Gate;
use crate::probe::{Shared, others_come_to_rest, until_others_wait};
use crate::sync::Arc;

/// The action of a run that takes long: the run waits until the gate is open.
fn waits_at(gate: &Arc<Gate>) -> Does {
    let gate = Arc::clone(gate);
    Box::new(move |_| gate.pass())
}

pub fn nothing_runs_before_its_time() {
    let trial = Trial::on_threads();
    trial.clock.advance_to(5);
    let _entry = trial.once(10, 1, nothing());
    trial.check(&[], EARLY);
    trial.clock.advance_to(14);
    trial.check(&[], EARLY);
    trial.clock.wake(); // a wait may end for no reason
    trial.check(&[], EARLY);
    trial.clock.advance_to(15);
    trial.until_ended(1, LATE);
    trial.clock.advance_to(100);
    trial.check(&[1], "without a period a closure runs once");
    trial.end();
}

pub fn runs_happen_where_the_executor_calls_them() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    let _entry = trial.once(10, 1, nothing());
    trial.clock.advance_to(10);
    below.until_given(1, BELOW_RUNS);
    trial.check(&[], BELOW_RUNS);
    below.call_all(BELOW_RUNS);
    trial.check(&[1], BELOW_RUNS);
    trial.end();
}

pub fn the_earliest_is_the_first() {
    let trial = Trial::over(&Calls::at_once(false));
    let delays = [30, 10, 20, 10, 10, 10];
    let _entries: Vec<TaskHandle> =
        delays.into_iter().zip(1..).map(|(delay, number)| trial.once(delay, number, nothing())).collect();
    trial.clock.advance_to(30);
    trial.until_ended(6, ORDER);
    trial.check(&[2, 4, 5, 6, 3, 1], ORDER);
    trial.end();
}

pub fn an_earlier_entry_wakes_the_thread() {
    for (sleeps, unit) in [(true, 1), (false, 1), (true, 1_000_000)] {
        let trial = Trial::on_threads();
        let _late = trial.once(100 * unit, 1, nothing());
        if sleeps {
            others_come_to_rest();
        }
        let _soon = trial.once(10 * unit, 2, nothing());
        trial.clock.advance_to(10 * unit);
        trial.until_ended(1, EARLIER);
        trial.check(&[2], EARLY);
        trial.clock.advance_to(100 * unit);
        trial.until_ended(2, LATE);
        trial.end();
        trial.join();
    }
}

pub fn the_thread_sleeps_while_nothing_is_due() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    until_others_wait("nothing is scheduled, and the thread never sleeps", SPINS);
    let _late = trial.once(100, 1, nothing());
    until_others_wait("nothing is due, and the thread never sleeps", SPINS);
    let series = trial.every(10, 2, waits_at(&gate));
    trial.clock.advance_to(35);
    gate.until_reached(LATE);
    until_others_wait(
        "a run of a series is under way, the time of the next run has passed, and the thread never sleeps",
        SPINS,
    );
    trial.cancel(&series);
    until_others_wait("the only series was cancelled, and the thread never sleeps", SPINS);
    gate.open();
    trial.end();
}

pub fn schedule_and_cancel_wait_for_nobody() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    let entries: Arc<Shared<Vec<TaskHandle>>> = Arc::default();
    let schedules = |number: u32, delay: Millis, does: Does| {
        let (work, scheduler) = (trial.work(number, does), Arc::clone(&trial.scheduler));
        let entries = Arc::clone(&entries);
        let call = move || {
            let entry = scheduler.schedule(delay, None, work);
            entries.with(|entries| entries.push(entry));
        };
        Box::new(call) as Box<dyn FnOnce() + Send>
    };
    others_come_to_rest();
    trial.at_once("schedule()", "the thread sleeps", BUSY, schedules(1, 10, waits_at(&gate)));
    others_come_to_rest();
    trial.at_once("schedule()", "the thread sleeps until a time", BUSY, schedules(2, 100, nothing()));
    trial.clock.advance_to(10);
    gate.until_reached(LATE);
    trial.at_once("schedule()", "a run is under way", BUSY, schedules(3, 200, nothing()));
    for entry in entries.with(std::mem::take) {
        trial.at_once("cancel()", "a run is under way", BUSY, Box::new(move || entry.cancel()));
    }
    gate.open();
    trial.end();
}

pub fn a_long_run_delays_no_other() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    let _entries =
        [trial.once(10, 1, waits_at(&gate)), trial.once(10, 2, nothing()), trial.once(20, 3, nothing())];
    trial.clock.advance_to(10);
    gate.until_reached(LATE);
    trial.until_begun(2, LONG);
    trial.clock.advance_to(20);
    trial.until_begun(3, LONG);
    gate.open();
    trial.until_ended(3, LONG);
    trial.end();
}

pub fn a_series_keeps_to_its_times() {
    let trial = Trial::on_threads();
    let (clock, mut runs) = (Arc::clone(&trial.clock), 0);
    let third_takes_long = move |_: &TaskHandle| {
        runs += 1;
        if runs == 3 {
            clock.advance_to(37);
        }
    };
    let _series = trial.every(10, 1, Box::new(third_takes_long));
    trial.clock.advance_to(13); // the first run is late
    trial.until_ended(1, GOES_ON);
    trial.clock.advance_to(19);
    trial.check(&[1], DRIFT);
    trial.clock.advance_to(20);
    trial.until_ended(2, DRIFT);
    trial.clock.advance_to(30);
    trial.until_ended(3, DRIFT);
    trial.check(&[1; 3], DRIFT);
    trial.clock.advance_to(40);
    trial.until_ended(4, DRIFT);
    trial.check(&[1; 4], DRIFT);
    trial.end();
}

pub fn a_series_leaves_no_run_out() {
    let trial = Trial::on_threads();
    let _series = trial.every(10, 1, nothing());
    trial.clock.advance_to(10);
    trial.until_ended(1, GOES_ON);
    trial.clock.advance_to(45);
    trial.until_ended(4, MISSED);
    trial.check(&[1; 4], MISSED);
    trial.clock.advance_to(50);
    trial.until_ended(5, MISSED);
    trial.check(&[1; 5], MISSED);
    trial.end();
}

pub fn runs_of_a_series_never_overlap() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    let _series = trial.every(10, 1, waits_at(&gate));
    others_come_to_rest();
    let threads = live_threads();
    trial.clock.advance_to(10);
    gate.until_reached(LATE);
    trial.clock.advance_to(30);
    if others_come_to_rest() && live_threads() > threads + 1 {
        fail(
            "a run of a series is under way, and another thread of the executor waits for its end",
            KEEPS_A_THREAD,
        );
    }
    trial.check(&[1], OVERLAP);
    gate.open();
    trial.until_ended(3, GOES_ON);
    trial.check(&[1; 3], OVERLAP);
    trial.end();
}

pub fn a_panic_ends_one_run() {
    for trial in Trial::on_each() {
        let _entries =
            [trial.once(10, 1, panics()), trial.every(10, 2, panics()), trial.once(10, 3, nothing())];
        trial.clock.advance_to(10);
        trial.until_ended(3, PANIC);
        for (time, runs) in [(20, 4), (30, 5)] {
            trial.clock.advance_to(time);
            trial.until_ended(runs, PANIC);
        }
        let times = trial.log.times_of(2);
        if times != [10, 20, 30] {
            fail(&format!("a series whose runs all panic has run at these times: {times:?}"), PANIC);
        }
        trial.until_dropped(1, "the entry's only run has panicked", PANIC);
        trial.end();
        trial.join();
    }
}

pub fn a_run_may_use_the_scheduler() {
    for below in [Calls::at_once(false), Calls::at_once(true)] {
        let trial = Trial::over(&below);
        let entries: Arc<Shared<Vec<TaskHandle>>> = Arc::default();
        let (same, kept) = (Arc::clone(&trial), Arc::clone(&entries));
        let other = trial.once(100, 4, nothing());
        let uses = move |_: &TaskHandle| {
            let new = [same.once(0, 2, nothing()), same.once(5, 3, nothing())];
            other.cancel();
            kept.with(|kept| kept.extend(new));
        };
        let _entry = trial.once(10, 1, Box::new(uses));
        trial.clock.advance_to(10);
        trial.until_ended(2, WITHIN);
        trial.clock.advance_to(15);
        trial.until_ended(3, WITHIN);
        trial.clock.advance_to(100);
        trial.check(&[1, 2, 3], WITHIN);
        trial.end();
    }
}

pub fn no_delay_is_too_long() {
    let trial = Trial::on_threads();
    trial.clock.advance_to(1000);
    let _first = trial.once(Millis::MAX, 1, nothing());
    let rarely = trial.work(2, nothing());
    let rarely = trial.scheduler.schedule(5, Some(Millis::MAX), rarely);
    let _once = trial.once(10, 3, nothing());
    trial.clock.advance_to(1005);
    trial.until_ended(1, FOREVER);
    trial.check(&[2], FOREVER);
    trial.clock.advance_to(1010);
    trial.until_ended(2, FOREVER);
    trial.clock.advance_to(1_000_000);
    trial.check(&[2, 3], FOREVER);
    let _far = trial.every(2_500_000_000, 4, nothing());
    for (now, runs) in [(2_501_000_000, &[2, 3, 4][..]), (5_001_000_000, &[2, 3, 4, 4])] {
        trial.clock.advance_to(now);
        trial.until_ended(runs.len(), FOREVER);
        trial.check(runs, FOREVER);
    }
    trial.cancel(&rarely);
    trial.until_dropped(2, "a series whose next run is never due was cancelled", FOREVER);
    trial.end();
}
