//! The rows, and the data that each side needs for them: the delays, which are the same for all sides, and an
//! account of the tasks that have run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bench::figures::mix;

/// A row of the comparison.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) tasks: usize,
    pub(crate) figures: &'static [Figure],
}

pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    /// The unit in which the figure is given, in nanoseconds.
    pub(crate) unit: f64,
    /// The goal: our value is at most this fraction of the value for Java.
    pub(crate) goal: f64,
}

/// The first and the third rows are workload H.
pub(crate) const ROWS: [Row; 4] = [
    Row {
        name: "insert",
        what: "200000 tasks for the time between 10 and 20 minutes from now",
        tasks: 200_000,
        figures: &[Figure { name: "time", label: "ns per task", unit: 200_000.0, goal: 1.0 }],
    },
    Row {
        name: "cancel",
        what: "200000 such tasks are taken back, in another order",
        tasks: 200_000,
        figures: &[Figure { name: "time", label: "ns per task", unit: 200_000.0, goal: 1.0 }],
    },
    Row {
        name: "lateness",
        what: "2000 tasks, one each 500 µs: from the time for which each was planned to its begin",
        tasks: 2_000,
        figures: &[
            Figure { name: "p50", label: "µs, half of them are no later", unit: 1_000.0, goal: 0.4 },
            Figure { name: "p99", label: "µs, 99 of 100 are no later", unit: 1_000.0, goal: 1.0 },
        ],
    },
    Row {
        name: "burst",
        what: "100000 tasks for the same moment: from that moment until all have run",
        tasks: 100_000,
        figures: &[Figure { name: "time", label: "ns per task", unit: 100_000.0, goal: 0.6 }],
    },
];

/// The time from the first submission of the rows `lateness` and `burst` to the first due time.
pub(crate) const LEAD: Duration = Duration::from_millis(300);

const APART: Duration = Duration::from_micros(500);

pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().expect("it takes less than centuries")
}

/// Returns a delay between 10 and 20 minutes; the delays are the same in each round, and in Java.
pub(crate) fn far(task: usize) -> Duration {
    Duration::from_nanos(600_000_000_000 + mix(task as u64) % 600_000_000_000)
}

/// Returns all tasks, each of them once, in an order unrelated to their times. 77 777 has no factor in common
/// with the number of tasks.
pub(crate) fn shuffled(tasks: usize) -> impl Iterator<Item = usize> {
    (0..tasks).map(move |n| n * 77_777 % tasks)
}

/// The times at which tasks are due, and how late each task began.
pub(crate) struct Account {
    start: Instant,
    /// The lateness of each task in nanoseconds, in the order of the tasks; the value of a task that has not
    /// run is the maximum.
    late: Mutex<Vec<u64>>,
    ran: AtomicUsize,
}

impl Account {
    pub(crate) fn of(tasks: usize) -> &'static Self {
        let (late, ran) = (Mutex::new(vec![u64::MAX; tasks]), AtomicUsize::new(0));
        Box::leak(Box::new(Self { start: Instant::now() + LEAD, late, ran })) // so no task counts references to it
    }

    /// Returns the time when a task of the row `lateness` is due.
    pub(crate) fn due(&self, task: usize) -> Instant {
        self.start + APART * u32::try_from(task).expect("there are few")
    }

    /// Returns the time when all tasks of the row `burst` are due.
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// The body of a task of the row `lateness`.
    pub(crate) fn begins(&self, task: usize) {
        let now = Instant::now();
        let late = now.checked_duration_since(self.due(task)).expect("none runs before its time");
        self.late.lock().expect("no thread panics")[task] = nanos(late);
        self.ran.fetch_add(1, Ordering::Release);
    }

    /// The body of a task of the row `burst`.
    pub(crate) fn counts(&self) {
        self.ran.fetch_add(1, Ordering::Release);
    }

    /// Waits until all tasks have run. Returns the p50 and the p99 of the tasks' lateness.
    pub(crate) fn lateness(&self) -> Vec<u64> {
        let tasks = self.late.lock().expect("no thread panics").len();
        self.until_all_have_run(tasks);
        let mut late = self.late.lock().expect("no thread panics").clone();
        assert!(!late.contains(&u64::MAX), "each has run");
        late.sort_unstable();
        vec![late[late.len() / 2], late[late.len() * 99 / 100]]
    }

    /// Waits until `tasks` tasks have run. Returns the time since the start.
    pub(crate) fn burst(&self, tasks: usize) -> Vec<u64> {
        self.until_all_have_run(tasks);
        vec![nanos(self.start.elapsed())]
    }

    /// Waits until `tasks` tasks have run.
    pub(crate) fn until_all_have_run(&self, tasks: usize) {
        let end = Instant::now() + Duration::from_mins(1);
        while self.ran.load(Ordering::Acquire) < tasks {
            assert!(Instant::now() < end, "tasks are lost");
            thread::sleep(Duration::from_micros(200));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_taken_back_once() {
        for tasks in ROWS.map(|row| row.tasks) {
            let mut order: Vec<usize> = shuffled(tasks).collect();
            order.sort_unstable();
            assert!(order.into_iter().eq(0..tasks));
        }
    }
}
