//! The properties of a search for the size of a piece; each property is a function. `exercise.toml` lists the
//! properties and says what each property promises.

use std::cell::Cell;

use exercises_harness::fail;

use super::exercise::size_of_a_piece;

const TOO_SMALL: &str = "a piece has to take at least twenty times as long as a task of no items, or more than a twentieth of \
                         the work is spent on creating tasks";
const TOO_LARGE: &str = "a smaller piece is also worth a task, and there are more pieces then: each worker wants four, so that \
                         no worker waits long for the last piece";
const TOO_MANY: &str =
    "each worker has more than four pieces: a larger one would cost less, and no worker would be idle";
const NOT_WORTH_IT: &str = "all items together are not worth a task: they are one piece";

/// Some work: `time` returns the time of a task with the given number of items.
struct Work {
    items: usize,
    workers: usize,
    time: fn(usize) -> u64,
}

impl Work {
    /// Returns the answer, and the number of measurements that the search needed.
    fn search(&self) -> (usize, usize) {
        let measured = Cell::new(0);
        let answer = size_of_a_piece(self.items, self.workers, |size| {
            measured.set(measured.get() + 1);
            if size > self.items {
                fail(
                    &format!("measure() was called with {size} of {} items", self.items),
                    "check the last size that your search measures",
                );
            }
            (self.time)(size)
        });
        if !(1..=self.items).contains(&answer) {
            fail(
                &format!("a piece of {answer} of {} items", self.items),
                "a piece has one item at least, and all of them at most",
            );
        }
        (answer, measured.get())
    }

    fn is_worth_it(&self, size: usize) -> bool {
        u128::from((self.time)(size)) >= 20 * u128::from((self.time)(0))
    }

    /// Asserts that the answer is neither too small nor too large.
    fn judge(&self) {
        let Self { items, workers, time } = *self;
        let (answer, _) = self.search();
        let said = |what: &str, cause| {
            fail(
                &format!(
                    "items: {items}, workers: {workers}, the answer: {answer}, which takes {} ns; {what}",
                    time(answer)
                ),
                cause,
            )
        };
        if !self.is_worth_it(items) {
            if answer != items {
                said("a task of no items takes more than a twentieth of the time of all items", NOT_WORTH_IT);
            }
            return;
        }
        if !self.is_worth_it(answer) {
            said(&format!("a task of no items takes {} ns", time(0)), TOO_SMALL);
        }
        let share = (items / workers.saturating_mul(4)).max(1);
        if answer > share && self.is_worth_it(answer - 1) {
            said("one item fewer would do", TOO_LARGE);
        }
        if answer < share {
            said(&format!("a quarter of a worker's share is {share}"), TOO_MANY);
        }
    }
}

/// Returns the time of work in which a task costs 2 µs, and each item costs 100 ns.
fn plain(size: usize) -> u64 {
    2_000 + 100 * size as u64
}

/// Returns the time of work in which the first 64 items are in the cache, and each further item costs a
/// hundred times as much.
fn cached(size: usize) -> u64 {
    2_000 + 10 * size as u64 + 990 * size.saturating_sub(64) as u64
}

pub fn a_task_is_a_twentieth_at_most() {
    for workers in [100, 600] {
        Work { items: 1_000_000, workers, time: plain }.judge();
    }
    Work { items: 1_000, workers: 2, time: plain }.judge();
    // Each item is expensive.
    Work { items: 1_000, workers: 1_000, time: |size| 2_000 + 20_000 * size as u64 }.judge();
}

pub fn each_worker_has_four_pieces() {
    for workers in [1, 2, 3, 8, 64] {
        Work { items: 1_000_000, workers, time: plain }.judge();
    }
}

pub fn a_task_that_costs_goes_first() {
    for items in [380, 400, 1_000] {
        for workers in [8, 1_000] {
            Work { items, workers, time: plain }.judge();
        }
    }
}

pub fn too_little_is_not_divided() {
    for items in [1, 2, 100, 379] {
        for workers in [1, 8] {
            Work { items, workers, time: plain }.judge();
        }
    }
}

pub fn items_may_cost_more_in_larger_pieces() {
    for (items, workers) in [(1_000, 64), (100_000, 1_000)] {
        Work { items, workers, time: cached }.judge();
        Work { items, workers, time: |size| 2_000 + (size as u64).pow(2) }.judge();
        Work { items, workers, time: |size| 2_000 + 1_000_000 * (size / 90) as u64 }.judge(); // the time grows in steps
    }
}

pub fn a_task_may_cost_nothing() {
    for items in [1, 3, 1_000] {
        for workers in [1, 64] {
            Work { items, workers, time: |size| size as u64 }.judge();
            Work { items, workers, time: |_| 0 }.judge();
        }
    }
}

pub fn measurements_are_few() {
    for (items, time) in [(100_000, plain as fn(usize) -> u64), (100_000, cached), (1_000_000_000, plain)] {
        let (_, measured) = Work { items, workers: 100, time }.search();
        let few = 2 * items.next_power_of_two().ilog2() as usize + 8;
        if measured > few {
            fail(
                &format!("for {items} items there were {measured} measurements, and {few} are enough"),
                "each measurement runs a task. Halve the range that is left with each measurement: if one size is worth a task, each \
                 larger size is, too",
            );
        }
    }
}

pub fn each_number_may_be_large() {
    Work { items: 1_000, workers: usize::MAX, time: plain }.judge();
    Work { items: usize::MAX, workers: 2, time: |size| 20 + size as u64 / 2 }.judge();
    Work { items: 1_000, workers: 2, time: |_| u64::MAX }.judge();
    Work { items: usize::MAX, workers: usize::MAX, time: |_| 0 }.judge();
    // The result depends on the last digits of a time, and a floating-point number would lose these digits.
    let digits = |size: usize| if size == 0 { u64::MAX / 20 } else { u64::MAX - 20 + size.min(20) as u64 };
    Work { items: 1_000, workers: 1_000, time: digits }.judge();
}

pub fn many_items_are_divided() {
    for workers in [1, 8, 100_000] {
        Work { items: 1_000_000_000, workers, time: plain }.judge();
        // A task is expensive.
        Work { items: 1_000_000_000, workers, time: |size| 2_000_000 + size as u64 }.judge();
    }
}
