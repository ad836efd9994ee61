//! The properties of a search for the number of threads; each property is a function. `exercise.toml` lists
//! the properties and says what each property promises.

use std::cell::Cell;

use exercises_harness::fail;

use super::exercise::how_many_threads;

const NOT_ENOUGH: &str = "more threads would do more: the best rate is that of the peak, and the rate of the answer must \
                          be at least 95 % of it";
const TOO_MANY: &str = "fewer threads are good enough, and each thread costs a stack and other resources: of the numbers \
                        whose rate is at least 95 % of the best rate, the answer is the smallest";

/// A service: a curve that gives the number of finished tasks for each number of threads.
struct Service {
    most: usize,
    rate: fn(usize) -> u64,
}

impl Service {
    /// Returns the answer, and the number of measurements that the search needed.
    fn search(&self) -> (usize, usize) {
        let measured = Cell::new(0);
        let answer = how_many_threads(self.most, |threads| {
            measured.set(measured.get() + 1);
            self.check_is_there(threads, "measure() was called with");
            (self.rate)(threads)
        });
        self.check_is_there(answer, "the answer is");
        (answer, measured.get())
    }

    fn check_is_there(&self, threads: usize, what: &str) {
        if !(1..=self.most).contains(&threads) {
            fail(
                &format!("{what} {threads}, and `most` is {}", self.most),
                "a service has one thread at least, and `most` at most: look at both ends of the search",
            );
        }
    }

    /// Asserts that the answer is good enough and that no smaller number is good enough.
    fn judge(&self) {
        let (answer, _) = self.search();
        let best = (1..=self.most).map(self.rate).max().expect("one thread at least");
        let is_enough = |threads: &usize| u128::from((self.rate)(*threads)) * 100 >= u128::from(best) * 95;
        let first = (1..=self.most).find(is_enough).expect("the best is");
        let rate = (self.rate)(answer);
        let most = self.most;
        if !is_enough(&answer) {
            fail(
                &format!(
                    "of 1 to {most} threads the answer is {answer}: they do {rate} tasks, and the best number of threads \
                     does {best}"
                ),
                NOT_ENOUGH,
            );
        }
        if answer != first {
            fail(
                &format!(
                    "of 1 to {most} threads the answer is {answer}: they do {rate} tasks, and {first} do {}",
                    (self.rate)(first)
                ),
                TOO_MANY,
            );
        }
    }
}

/// A service on eight cores. Each thread beyond the eighth costs a little.
fn computes(threads: usize) -> u64 {
    1_000 * threads.min(8) as u64 - 5 * threads.saturating_sub(8) as u64
}

/// A service on four cores. Its tasks spend nine tenths of their time waiting.
fn waits(threads: usize) -> u64 {
    4_000.min(100 * threads as u64)
}

/// A service that follows Gunther's law: each task holds a lock for a twentieth of its time, and each pair of
/// threads costs something.
fn locks(threads: usize) -> u64 {
    let n = threads as u64;
    1_000_000_000 * n / (1_000 + 50 * (n - 1) + 2 * n * (n - 1))
}

const ALL: [fn(usize) -> u64; 3] = [computes, waits, locks];

/// A service whose memory is full from the 38th thread on, so that all threads wait for the disk.
fn thrashes(threads: usize) -> u64 {
    if threads <= 37 { 1_000 * threads as u64 } else { 20_000 - threads as u64 }
}

/// A service that does more tasks with each further thread, up to the 700,000th.
fn needs_many(threads: usize) -> u64 {
    threads.min(700_000) as u64
}

pub fn a_service_that_computes() {
    for most in [8, 9, 64] {
        Service { most, rate: computes }.judge();
    }
}

pub fn a_service_that_waits() {
    for most in [10, 39, 40, 256] {
        Service { most, rate: waits }.judge();
    }
}

pub fn a_service_with_a_lock() {
    for most in [4, 22, 128, 1_000] {
        Service { most, rate: locks }.judge();
    }
    for most in [37, 38, 64, 100, 1_000] {
        Service { most, rate: thrashes }.judge();
    }
}

pub fn one_thread_is_enough() {
    let rates: [fn(usize) -> u64; 3] = [|_| 500, |_| 0, |threads| 1_000 - threads as u64];
    for rate in rates {
        for most in [1, 2, 100] {
            Service { most, rate }.judge();
        }
    }
}

pub fn only_what_there_is_is_measured() {
    for most in [1, 2, 3, 5, 7, 100] {
        for rate in ALL {
            Service { most, rate }.search();
        }
    }
}

pub fn measurements_are_few() {
    let thousand = ALL.map(|rate| (1_000, rate));
    for (most, rate) in
        thousand.into_iter().chain([(1_000_000, waits as fn(usize) -> u64), (1_000_000, needs_many)])
    {
        let (_, measured) = Service { most, rate }.search();
        let few = 4 * most.next_power_of_two().ilog2() as usize + 8;
        if measured > few {
            fail(
                &format!("for 1 to {most} threads there were {measured} measurements, and {few} are enough"),
                "a measurement takes minutes on a real service. Halve the range that is left with each step: the curve \
                 rises up to its peak, so bisection finds the peak, and then the first number that is good enough",
            );
        }
    }
}

pub fn a_rate_may_be_any_number() {
    let rates: [fn(usize) -> u64; 3] =
        [|_| u64::MAX, |threads| u64::MAX - 100 + threads as u64, |threads| u64::MAX / 64 * threads as u64];
    for rate in rates {
        Service { most: 64, rate }.judge();
    }
    // The first rates are below 100, so `best / 100 * 95` is 0. If the rates are large, their last digits
    // decide the result.
    Service { most: 64, rate: |threads| threads.min(20) as u64 }.judge();
    let digits =
        |threads: usize| if threads < 11 { u64::MAX / 20 * 19 + 8 + threads as u64 } else { u64::MAX };
    Service { most: 64, rate: digits }.judge();
}

pub fn many_threads_are_found() {
    Service { most: 1_000_000, rate: needs_many }.judge();
}
