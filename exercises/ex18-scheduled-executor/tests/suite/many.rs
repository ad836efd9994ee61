//! The properties of schedulers with many entries, and of two schedulers at the same time.

use exercises_harness::{fail, panic_on_purpose};

use super::below::Calls;
use super::exercise::{Millis, TaskHandle};
use super::log::{Trial, nothing};
use super::{CANCELLED, MISSED, ORDER, PANIC};

const AT_SIZE: &str = "what holds for three entries holds for any number of entries that are due at the same time or cancelled, and for \
                       any number of runs that a series has missed or panicked in";
const EACH_ITS_OWN: &str = "what a scheduler knows is in the scheduler and in its entries. Another scheduler in the same process has its \
                            own numbers, clock and shutdown, even if a run of one scheduler uses the other";

/// The number of entries of each kind.
const MANY: u32 = 300;

pub fn many_entries_run_at_their_times() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property looks for no race
    }
    let trial = Trial::over(&Calls::at_once(false));
    let _same: Vec<TaskHandle> = (1..=MANY).map(|number| trial.once(10, number, nothing())).collect();
    let falling = (1..=MANY).map(|place| trial.once(Millis::from(1000 - place), MANY + place, nothing()));
    let _falling: Vec<TaskHandle> = falling.collect();
    for entry in (1..=MANY).map(|_| trial.once(500, 0, nothing())).collect::<Vec<_>>() {
        trial.cancel(&entry);
    }
    trial.clock.advance_to(1000);
    trial.until_ended(600, AT_SIZE);
    let in_order: Vec<u32> = (1..=MANY).chain((MANY + 1..=2 * MANY).rev()).collect();
    let begun = trial.log.begun();
    if let Some(place) = (0..in_order.len()).find(|place| begun.get(*place) != in_order.get(*place)) {
        let (wanted, seen) = (in_order[place], begun.get(place).copied().unwrap_or_default());
        let cause = if seen == 0 { CANCELLED } else { ORDER };
        fail(
            &format!(
                "of {} runs, number {place} should be a run of entry {wanted}, but it is a run of entry {seen}",
                begun.len()
            ),
            cause,
        );
    }
    let mut left = 100;
    let panics_often = move |_: &TaskHandle| {
        left -= i32::from(left > 0);
        if left > 0 {
            panic_on_purpose()
        }
    };
    let series = trial.every(1, 1000, Box::new(panics_often));
    for runs in 1..=20 {
        trial.clock.advance_to(1000 + runs);
        trial.until_ended(600 + runs as usize, PANIC);
    }
    trial.clock.advance_to(1300);
    trial.until_ended(900, MISSED);
    trial.cancel(&series);
    trial.end();
}

pub fn two_schedulers_do_not_know_each_other() {
    let (one, other) = (Trial::on_threads(), Trial::on_threads());
    let of_the_other = other.once(10, 2, nothing());
    let _cancels = one.once(10, 1, Box::new(move |_| of_the_other.cancel()));
    one.clock.advance_to(10);
    one.until_ended(1, EACH_ITS_OWN);
    other.check_dropped(2, "a run of another scheduler has cancelled the entry", EACH_ITS_OWN);
    one.end();
    let _entry = other.once(10, 3, nothing());
    other.check(&[], EACH_ITS_OWN);
    other.clock.advance_to(10);
    other.until_ended(1, EACH_ITS_OWN);
    other.check(&[3], EACH_ITS_OWN);
    other.end();
}
