//! The properties about the end of an entry: by `cancel()`, after its last run, or at the end of the
//! scheduler.

use exercises_harness::{fail, live_threads};

use super::below::Desk;
use super::exercise::TaskHandle;
use super::log::{Trial, nothing};
use super::{
    AFTER_THE_LAST, BUSY, CANCELLED, COMES_BACK, DROPPED, ENDS, LATE, LET_GO, LONG, NO_WAIT_FOR_RUNS,
    OWN_END, SHUT_FOR_GOOD, UNDER_LOCK,
};
use crate::below::{Gate, on_a_thread};
use crate::probe::{Shared, others_come_to_rest};
use crate::sync::Arc;

pub fn a_cancelled_entry_is_dropped_and_does_not_run() {
    let trial = Trial::on_threads();
    let entries = [trial.once(10, 1, nothing()), trial.every(10, 2, nothing()), trial.once(10, 3, nothing())];
    for (entry, number) in entries.iter().zip([1, 2]) {
        trial.cancel(entry);
        trial.check_dropped(number, "cancel() has returned", LET_GO);
    }
    let _next = trial.once(10, 4, nothing());
    trial.cancel(&entries[0]); // does nothing
    trial.clock.advance_to(50);
    trial.until_ended(2, CANCELLED);
    trial.until_dropped(3, "its only run has ended", AFTER_THE_LAST);
    let _last = trial.once(10, 5, nothing());
    trial.cancel(&entries[2]); // does nothing, because this entry has run
    trial.clock.advance_to(60);
    trial.until_ended(3, CANCELLED);
    let mut begun = trial.log.begun();
    begun.sort_unstable();
    if begun != [3, 4, 5] {
        let seen = format!("entries 3, 4 and 5 were not cancelled; the entries that have run are {begun:?}");
        fail(&seen, CANCELLED);
    }
    trial.end();
}

pub fn a_run_that_has_not_begun_can_be_cancelled() {
    let below = Desk::new();
    let trial = Trial::over(&below);
    let entries = [trial.once(10, 1, nothing()), trial.every(10, 2, nothing())];
    trial.clock.advance_to(10);
    below.until_given(2, LONG);
    for (entry, number) in entries.iter().zip([1, 2]) {
        trial.cancel(entry);
        trial.check_dropped(
            number,
            "the inner executor has not called the job yet, and cancel() has returned",
            CANCELLED,
        );
    }
    below.call_all(CANCELLED);
    trial.check(&[], CANCELLED);
    trial.end();
}

pub fn a_cancelled_series_does_not_come_back() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    let passes = Arc::clone(&gate);
    let series = trial.every(10, 1, Box::new(move |_| passes.pass()));
    trial.clock.advance_to(10);
    gate.until_reached(LATE);
    gate.open(); // so the run may end before, during or after the cancel
    let cancels = move || series.cancel();
    trial.at_once("cancel()", "a run of the entry may be under way", BUSY, Box::new(cancels));
    trial.until_dropped(1, "cancel() has returned, and no run is under way", COMES_BACK);
    trial.clock.advance_to(50);
    trial.check(&[1], COMES_BACK);
    trial.end();
}

pub fn a_run_may_cancel_its_own_entry() {
    for trial in Trial::on_each() {
        let _series = trial.every(10, 1, Box::new(TaskHandle::cancel));
        trial.clock.advance_to(10);
        trial.until_ended(1, OWN_END);
        trial.until_dropped(1, "a run has cancelled its own entry, and has ended", OWN_END);
        trial.clock.advance_to(50);
        trial.check(&[1], OWN_END);
        trial.end();
        trial.join();
    }
}

pub fn what_has_run_for_the_last_time_is_dropped() {
    let trial = Trial::on_threads();
    let _entry = trial.once(10, 1, nothing());
    trial.clock.advance_to(10);
    trial.until_ended(1, LATE);
    trial.until_dropped(1, "its only run has ended", AFTER_THE_LAST);
    trial.end();
}

pub fn what_is_dropped_may_use_the_scheduler() {
    let trial = Trial::on_threads();
    let entries: Arc<Shared<Vec<TaskHandle>>> = Arc::default();
    let at_drop = |other: u32| {
        let (same, kept) = (Arc::clone(&trial), Arc::clone(&entries));
        let schedules = move || {
            let entry = same.once(1000, other, nothing());
            entry.cancel();
            kept.with(|kept| kept.push(entry));
        };
        Some(Box::new(schedules) as Box<dyn FnOnce() + Send>)
    };
    let of = |number: u32| trial.work_with(number, nothing(), at_drop(10 + number));
    let cancelled = trial.scheduler.schedule(10, None, of(1));
    trial.at_once(
        "cancel()",
        "a value that the call drops uses the scheduler",
        UNDER_LOCK,
        Box::new(move || cancelled.cancel()),
    );
    let _once = trial.scheduler.schedule(10, None, of(2));
    trial.clock.advance_to(10);
    trial.until_ended(1, UNDER_LOCK);
    trial.until_dropped(2, "its only run has ended", UNDER_LOCK);
    let _late = trial.scheduler.schedule(100, None, of(3));
    let scheduler = Arc::clone(&trial.scheduler);
    let shuts_down = Box::new(move || scheduler.shutdown());
    trial.at_once("shutdown()", "a value that the call drops uses the scheduler", UNDER_LOCK, shuts_down);
    let (scheduler, late) = (Arc::clone(&trial.scheduler), of(4));
    let schedules = move || drop(scheduler.schedule(100, None, late));
    trial.at_once(
        "schedule()",
        "after shutdown(), the call drops a value that uses the scheduler",
        UNDER_LOCK,
        Box::new(schedules),
    );
    trial.join();
}

pub fn shutdown_ends_the_thread_and_drops_what_waits() {
    for sleeps in [true, false] {
        let trial = Trial::on_threads();
        let _entries = [trial.once(100, 1, nothing()), trial.every(100, 2, nothing())];
        if sleeps {
            others_come_to_rest();
        }
        trial.shutdown(ENDS);
        if live_threads() > 0 {
            fail("shutdown() has returned, and the thread of the scheduler has not ended", ENDS);
        }
        for number in [1, 2] {
            trial.check_dropped(number, "shutdown() has returned", DROPPED);
        }
        trial.clock.advance_to(200);
        trial.check(&[], DROPPED);
        trial.shutdown("a second shutdown() finds nothing to do, and returns");
    }
}

pub fn shutdown_waits_for_no_run() {
    let (trial, gate) = (Trial::on_threads(), Gate::new());
    let passes = Arc::clone(&gate);
    let _series = trial.every(10, 1, Box::new(move |_| passes.pass()));
    trial.clock.advance_to(10);
    gate.until_reached(LATE);
    let scheduler = Arc::clone(&trial.scheduler);
    let shuts_down = Box::new(move || scheduler.shutdown());
    trial.at_once("shutdown()", "a run is under way", NO_WAIT_FOR_RUNS, shuts_down);
    gate.open();
    trial.until_dropped(
        1,
        "shutdown() has returned, and the run that was under way has ended",
        SHUT_FOR_GOOD,
    );
    trial.clock.advance_to(50);
    trial.check(&[1], SHUT_FOR_GOOD);
    trial.join();
}

pub fn after_shutdown_nothing_is_kept() {
    let trial = Trial::on_threads();
    let same = Arc::clone(&trial);
    let schedules = move || drop(same.once(10, 1, nothing()));
    let other = on_a_thread("other", Box::new(schedules)); // before, during or after the shutdown
    trial.shutdown(ENDS);
    drop(other.join());
    trial.check_dropped(1, "shutdown() and schedule() have returned", SHUT_FOR_GOOD);
    let entry = trial.every(10, 2, nothing());
    trial.check_dropped(2, "schedule() was called after shutdown(), and has returned", SHUT_FOR_GOOD);
    trial.cancel(&entry);
    trial.clock.advance_to(10);
    trial.check(&[], SHUT_FOR_GOOD);
    trial.join();
}
