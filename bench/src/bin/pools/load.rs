//! The input and the result of a measurement, and the loops that all sides use.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use bench::contest::Cost;
use cpu_time::ProcessTime;

use crate::books;

/// The number of tasks, the number of threads that submit them, and the number of threads that run them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) tasks: u64,
    pub(crate) submitters: usize,
    pub(crate) workers: usize,
}

/// The cost of all tasks in total.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) wall: Duration,
    /// The processor time of the whole process. The value is `None` if the system does not report
    /// the processor time.
    pub(crate) cpu: Option<Duration>,
    /// The number of tasks that the submitters ran themselves.
    pub(crate) inline: u64,
}

impl Measured {
    /// Returns the cost of a task.
    pub(crate) fn for_each_of(self, tasks: u64) -> Cost {
        let tasks = tasks as f64;
        Cost { inline: self.inline as f64 / tasks, ..Cost::of(self.wall, self.cpu, tasks) }
    }
}

/// Measures elapsed time and processor time.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: ProcessTime,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { cpu: ProcessTime::now(), wall: Instant::now() }
    }

    pub(crate) fn stop(self) -> Measured {
        Measured { wall: self.wall.elapsed(), cpu: Some(self.cpu.elapsed()), inline: 0 }
    }
}

/// The body of a task, as a separate type, so that a closure that calls the body captures only the number.
pub(crate) trait Body: Fn(u64) + Copy + Send + Sync + 'static {}

impl<F: Fn(u64) + Copy + Send + Sync + 'static> Body for F {}

/// Does almost nothing.
#[inline]
pub(crate) fn tiny(number: u64) {
    books::note(number);
}

/// The number of steps in a short task of the row `unequal`, and the factor by which a long task is longer.
const STEPS: u64 = 16;
const LONGER: u64 = 100;

/// Computes a little; one task in 32, chosen without a pattern, computes 100 times as much.
#[inline]
pub(crate) fn unequal(number: u64) {
    let is_long = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59 == 0;
    let steps = if is_long { STEPS * LONGER } else { STEPS };
    compute(number, steps);
    books::note(number);
}

/// Marsaglia's xorshift: the compiler cannot combine two of its steps into one.
#[inline]
pub(crate) fn compute(number: u64, steps: u64) {
    let mut x = number + 1;
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x);
}

/// Measures a pool whose threads have already started: from the first submission until all tasks have run and
/// `finish` has ended the pool. Then the function checks the record.
pub(crate) fn measure<P: Sync>(
    load: &Load,
    pool: P,
    submit: impl Fn(&P, u64) + Sync,
    finish: impl FnOnce(P),
) -> Measured {
    books::open();
    let watch = Stopwatch::start();
    let inline = from_submitters(load, |number| submit(&pool, number));
    finish(pool);
    let measured = watch.stop();
    books::check(load.tasks);
    Measured { inline, ..measured }
}

/// Submits the tasks from this thread, or from `load.submitters` other threads. Returns how many
/// tasks the submitters ran themselves.
fn from_submitters(load: &Load, submit: impl Fn(u64) + Sync) -> u64 {
    if load.submitters == 1 {
        (0..load.tasks).for_each(submit);
        return books::ran_here();
    }
    thread::scope(|scope| {
        let submitter = |first: usize| {
            let submit = &submit;
            scope.spawn(move || {
                (0..load.tasks).skip(first).step_by(load.submitters).for_each(submit);
                books::ran_here()
            })
        };
        let submitters: Vec<_> = (0..load.submitters).map(submitter).collect();
        submitters.into_iter().map(|submitter| submitter.join().expect("it has nothing to panic about")).sum()
    })
}

/// Measures one call after the other; each call must return the number that it received.
pub(crate) fn round_trips(load: &Load, call: impl FnMut(u64) -> u64) -> Measured {
    let watch = Stopwatch::start();
    let sum = (0..load.tasks).map(call).fold(0, u64::wrapping_add);
    let measured = watch.stop();
    assert_eq!(sum, books::sum_below(load.tasks), "what the calls returned");
    measured
}

/// Measures the submissions, and then as many results, in the order in which the tasks complete.
pub(crate) fn completions(load: &Load, submit: impl FnMut(u64), mut take: impl FnMut() -> u64) -> Measured {
    let watch = Stopwatch::start();
    (0..load.tasks).for_each(submit);
    let sum = (0..load.tasks).map(|_| take()).fold(0, u64::wrapping_add);
    let measured = watch.stop();
    assert_eq!(sum, books::sum_below(load.tasks), "the results that came");
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_captures_its_number_alone() {
        fn size_of_task(body: impl Body) -> usize {
            let number = 0_u64;
            size_of_val(&move || body(number))
        }
        assert_eq!((size_of_task(tiny), size_of_task(unequal)), (8, 8));
    }

    #[test]
    fn the_submitters_share_the_tasks_out() {
        for submitters in [1, 3] {
            let load = Load { tasks: 10, submitters, workers: 0 };
            let submitted = std::sync::Mutex::new(Vec::new());
            from_submitters(&load, |number| submitted.lock().unwrap().push(number));
            let mut submitted = submitted.into_inner().unwrap();
            submitted.sort_unstable();
            assert_eq!(submitted, (0..10).collect::<Vec<_>>());
        }
    }
}
