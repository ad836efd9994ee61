//! The tasks and a board: the key of each task is chosen before the time begins, and the board shows whether
//! the tasks kept their order.

use std::sync::atomic::{AtomicU32, Ordering};

use bench::figures::mix;

/// The number of tasks in a run, and the number of their keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) tasks: u32,
    pub(crate) keys: u32,
    pub(crate) skewed: bool,
    pub(crate) workers: usize,
}

/// The keys of all tasks, and, for each key, the number of its tasks that have run.
pub(crate) struct Board {
    /// The key of each task, and the task's number among the tasks of that key.
    tasks: Vec<(u32, u32)>,
    keys: Vec<Key>,
    out_of_order: AtomicU32,
}

#[derive(Default)]
struct Key {
    tasks: u32,
    ran: AtomicU32,
}

impl Board {
    pub(crate) fn new(load: &Load) -> Self {
        let mut keys: Vec<_> = (0..load.keys).map(|_| Key::default()).collect();
        let number = |key: u32| {
            let tasks = &mut keys[key as usize].tasks;
            *tasks += 1;
            (key, *tasks - 1)
        };
        let tasks = drawn(load).into_iter().map(number).collect();
        Self { tasks, keys, out_of_order: AtomicU32::new(0) }
    }

    /// Returns each task's number together with its key.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.tasks.iter().map(|(key, _)| *key))
    }

    /// The body of a task, for a side that keeps the order. The body reads and writes in two separate relaxed
    /// steps. So the board notices tasks of one key that run at the same time or out of order.
    pub(crate) fn run(&self, task: u32) {
        let (key, number) = self.tasks[task as usize];
        let ran = &self.keys[key as usize].ran;
        let before = ran.load(Ordering::Relaxed);
        if before != number {
            self.out_of_order.fetch_add(1, Ordering::Relaxed);
        }
        ran.store(before + 1, Ordering::Relaxed);
    }

    /// The body of a task, for a side that keeps no order.
    pub(crate) fn run_unordered(&self, task: u32) {
        let (key, _) = self.tasks[task as usize];
        self.keys[key as usize].ran.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the measurement with an error unless every task ran exactly once and in its order.
    pub(crate) fn check(&self) {
        for (n, key) in self.keys.iter().enumerate() {
            assert_eq!(key.ran.load(Ordering::Relaxed), key.tasks, "tasks of key {n}");
        }
        assert_eq!(self.out_of_order.load(Ordering::Relaxed), 0, "tasks that ran out of order");
    }
}

/// Returns the keys, evenly distributed or skewed. If they are skewed, the second key is half as frequent as
/// the first key, the third key a third as frequent, and so on.
fn drawn(load: &Load) -> Vec<u32> {
    let mut sum = 0.0;
    let ranks = if load.skewed { load.keys } else { 0 };
    let up_to: Vec<f64> = (1..=ranks)
        .map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        })
        .collect();
    let key = |task| {
        let drawn = mix(u64::from(task)) >> 11;
        if load.skewed {
            let place = drawn as f64 / (1_u64 << 53) as f64 * sum;
            let key = up_to.partition_point(|&sum| sum < place);
            u32::try_from(key).expect("there are as many as keys").min(load.keys - 1)
        } else {
            u32::try_from(drawn % u64::from(load.keys)).expect("less than the number of keys")
        }
    };
    (0..load.tasks).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_keys_are_skewed_and_even_ones_are_not() {
        let frequency = |skewed| {
            let load = Load { tasks: 100_000, keys: 1000, skewed, workers: 1 };
            let keys = drawn(&load);
            assert!(keys.iter().all(|&key| key < 1000));
            keys.iter().filter(|&&key| key == 0).count()
        };
        assert!((50..200).contains(&frequency(false)));
        assert!((12_000..15_000).contains(&frequency(true)), "1 / H(1000) is 0.134");
    }

    #[test]
    fn a_task_out_of_order_shows() {
        let board = Board::new(&Load { tasks: 3, keys: 1, skewed: false, workers: 1 });
        board.run(0);
        board.run(2);
        board.run(1);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| board.check()))
            .expect_err("2 came before 1");
    }
}
