//! These tests show how the priorities and names of a strand's tasks affect the queue of the executor below
//! the strand.

mod crowds; // a hundred thousand lines
mod hostile; // hostile queues, and shutdowns at the wrong moment
mod queue; // the queue itself, compared with one that is too simple to be wrong

use std::cmp::Ordering;
use std::sync::Arc;

use executor::{
    BoundedExecutor, Executor, FifoQueue, FutureTask, LifoQueue, ManualExecutor, PriorityQueue,
    SerialExecutor, StripedExecutor, Task, ThreadPoolExecutor, TrackingExecutor, WorkQueue, prelude::*,
};

use crate::support::{Occupied, Record, Signal, eventually, occupy, within_deadline};

/// A pool of one thread that stays busy until all tasks of a test wait in the queue.
struct Held {
    pool: Arc<ThreadPoolExecutor>,
    busy: Occupied,
    log: Record<&'static str>,
}

impl Held {
    fn with(queue: impl WorkQueue + 'static) -> Self {
        let pool = Arc::new(ThreadPoolExecutor::builder().threads(1).queue(queue).build().unwrap());
        let busy = occupy(&pool);
        Self { pool, busy, log: Record::new() }
    }

    fn by_priority() -> Self {
        Self::with(PriorityQueue::new())
    }

    fn striped(&self) -> StripedExecutor<&'static str, Arc<ThreadPoolExecutor>> {
        StripedExecutor::over(Arc::clone(&self.pool))
    }

    /// A task that records its name when it runs.
    fn task(&self, name: &'static str, priority: i32) -> Task {
        let log = self.log.clone();
        Task::new(move || log.add(name)).named(name).prioritized(priority)
    }

    fn queued(&self) -> Vec<String> {
        self.pool.snapshot().queued
    }

    /// Frees the thread, and returns the names of the tasks in the order in which the tasks ran. After a
    /// shutdown a strand cannot submit its next drain task, so the function waits for the tasks before it
    /// shuts the pool down.
    fn order(self) -> Vec<&'static str> {
        drop(self.busy);
        eventually("all has run", || {
            let stats = self.pool.stats();
            stats.queued + stats.active == 0
        });
        self.pool.close();
        self.log.so_far()
    }
}

fn by_priority(a: &Task, b: &Task) -> Ordering {
    a.priority().cmp(&b.priority())
}

#[test]
fn a_line_waits_at_the_place_of_its_task_and_under_its_name() {
    within_deadline(|| {
        let held = Held::by_priority();
        let striped = held.striped();
        for (name, priority) in [("low", 1), ("high", 9), ("middle", 5)] {
            striped.execute_in(name, held.task(name, priority)).unwrap();
        }
        striped.execute(held.task("no stripe", 6)).unwrap();
        let serial = SerialExecutor::over(Arc::clone(&held.pool));
        serial.execute(held.task("serial", 7)).unwrap();
        let bounded = BoundedExecutor::over(Arc::clone(&held.pool), 100);
        bounded.execute(held.task("bounded", 8)).unwrap();
        held.pool.execute(held.task("plain", 3)).unwrap();
        let expected = ["high", "bounded", "serial", "no stripe", "middle", "plain", "low"];
        assert_eq!(held.queued(), expected);
        assert_eq!(held.order(), expected);
    });
}

/// The drain tasks of a stripe and of a serial executor rise in each queue that orders by priority, even if
/// the queue is full.
#[test]
fn a_line_that_waits_rises_with_a_more_urgent_task() {
    let queues: [fn() -> Box<dyn WorkQueue>; 4] = [
        || Box::new(PriorityQueue::new()),
        || Box::new(PriorityQueue::by(by_priority)),
        || Box::new(PriorityQueue::new().bounded(3)),
        || Box::new(PriorityQueue::by(by_priority).bounded(3)),
    ];
    within_deadline(move || {
        for queue in queues {
            for is_striped in [true, false] {
                let held = Held::with(queue());
                let (striped, serial) = (held.striped(), SerialExecutor::over(Arc::clone(&held.pool)));
                let in_line =
                    |task| if is_striped { striped.execute_in("a", task) } else { serial.execute(task) };
                in_line(held.task("first", 1)).unwrap();
                held.pool.execute(held.task("plain", 5)).unwrap();
                held.pool.execute(held.task("lower", 0)).unwrap();
                assert_eq!(held.queued(), ["plain", "first", "lower"]);
                in_line(held.task("urgent", 9)).unwrap();
                in_line(held.task("last", 2)).unwrap();
                assert_eq!(held.queued(), ["first", "plain", "lower"]);
                assert_eq!(held.order(), ["first", "urgent", "last", "plain", "lower"]);
            }
        }
    });
}

#[test]
fn a_line_that_rises_comes_after_its_equals_and_one_that_does_not_keeps_its_place() {
    within_deadline(|| {
        for queue in [PriorityQueue::new(), PriorityQueue::by(by_priority)] {
            let held = Held::with(queue);
            let striped = held.striped();
            striped.execute_in("rises", held.task("rises", 1)).unwrap();
            striped.execute_in("stays", held.task("stays", 5)).unwrap();
            held.pool.execute(held.task("plain", 5)).unwrap();
            striped.execute_in("rises", held.task("has risen", 5)).unwrap();
            striped.execute_in("stays", held.task("still", 5)).unwrap();
            assert_eq!(held.queued(), ["stays", "plain", "rises"]);
            assert_eq!(held.order(), ["stays", "still", "plain", "rises", "has risen"]);
        }
    });
}

#[test]
fn zero_is_more_urgent_than_less() {
    within_deadline(|| {
        let held = Held::by_priority();
        let striped = held.striped();
        striped.execute_in("a", held.task("a", -5)).unwrap();
        striped.execute_in("b", held.task("b", -5)).unwrap();
        held.pool.execute(held.task("plain", -1)).unwrap();
        striped.execute_in("b", held.task("of no priority", 0)).unwrap();
        assert_eq!(held.order(), ["b", "of no priority", "plain", "a"]);
    });
}

#[test]
fn a_line_does_not_fall_while_it_waits() {
    within_deadline(|| {
        let held = Held::by_priority();
        let striped = held.striped();
        striped.execute_in("a", held.task("a", 1)).unwrap();
        let urgent = striped.submit_in("a", FutureTask::new(|| ()).prioritized(9)).unwrap();
        let removed = striped.submit_in("a", FutureTask::new(|| ()).prioritized(12)).unwrap();
        held.pool.execute(held.task("plain", 5)).unwrap();
        assert!(urgent.cancel() && removed.remove().is_some());
        assert_eq!(held.order(), ["a", "plain"]);
    });
}

/// Each turn has the priority of the most urgent task that is still in the strand.
#[test]
fn a_successor_has_the_priority_of_what_is_left() {
    within_deadline(|| {
        for (priorities, plain, expected) in [
            ([9, 1, 1], 5, ["1st", "plain", "2nd", "3rd"]),
            ([1, 9, 1], 5, ["1st", "2nd", "plain", "3rd"]),
            ([-1, -1, 9], 5, ["1st", "2nd", "3rd", "plain"]),
            ([9, 0, -3], -1, ["1st", "2nd", "plain", "3rd"]),
        ] {
            let held = Held::by_priority();
            let striped = held.striped().turns_of(1);
            for (name, priority) in ["1st", "2nd", "3rd"].into_iter().zip(priorities) {
                striped.execute_in("a", held.task(name, priority)).unwrap();
            }
            held.pool.execute(held.task("plain", plain)).unwrap();
            assert_eq!(held.order(), expected, "{priorities:?}");
        }
    });
}

/// A task that comes while its strand runs makes the next turn more urgent, not the current turn.
#[test]
fn what_comes_while_the_line_runs_counts_for_its_next_turn() {
    within_deadline(|| {
        let held = Held::by_priority();
        let striped = Arc::new(held.striped().turns_of(1));
        let (own, urgent, plain) = (Arc::clone(&striped), held.task("urgent", 9), held.task("plain", 5));
        let pool = Arc::clone(&held.pool);
        let first = move || {
            pool.execute(plain).unwrap();
            own.execute_in("a", urgent).unwrap();
        };
        striped.execute_in("a", first).unwrap();
        striped.execute_in("a", held.task("2nd", 0)).unwrap();
        assert_eq!(held.order(), ["2nd", "urgent", "plain"]);
    });
}

#[test]
fn where_priorities_mean_nothing_a_line_keeps_its_place() {
    let queues: [(Box<dyn WorkQueue>, [&str; 4]); 3] = [
        (Box::new(FifoQueue::unbounded()), ["1st", "a", "urgent", "2nd"]),
        (Box::new(FifoQueue::bounded(3)), ["1st", "a", "urgent", "2nd"]),
        (Box::new(LifoQueue::unbounded()), ["2nd", "a", "urgent", "1st"]),
    ];
    within_deadline(move || {
        for (queue, expected) in queues {
            let held = Held::with(queue);
            let striped = held.striped();
            held.pool.execute(held.task("1st", 0)).unwrap();
            striped.execute_in("a", held.task("a", 0)).unwrap();
            held.pool.execute(held.task("2nd", 0)).unwrap();
            striped.execute_in("a", held.task("urgent", 9)).unwrap();
            assert_eq!(held.order(), expected);
        }
        let alphabetic = PriorityQueue::by(|a, b| b.name().cmp(&a.name()));
        let held = Held::with(alphabetic);
        let striped = held.striped();
        for key in ["a", "b"] {
            // The drain tasks of these two stripes have no name and equal priorities.
            striped.execute_in(key, held.task(key, 0)).unwrap();
        }
        held.pool.execute(held.task("with a name", 0)).unwrap();
        striped.execute_in("a", held.task("urgent", 9)).unwrap();
        assert_eq!(held.order(), ["a", "urgent", "b", "with a name"]);
    });
}

/// The drain task rises through other executors, each of which wraps the drain task in its own way.
#[test]
fn a_line_rises_through_what_is_between_it_and_the_queue() {
    fn check<E: Executor + 'static>(held: Held, below: E) {
        let striped = StripedExecutor::over(below);
        striped.execute_in("a", held.task("a", 1)).unwrap();
        held.pool.execute(held.task("plain", 5)).unwrap();
        striped.execute_in("a", held.task("urgent", 9)).unwrap();
        assert_eq!(held.queued(), ["a", "plain"]);
        assert_eq!(held.order(), ["a", "urgent", "plain"]);
    }
    within_deadline(|| {
        let held = Held::by_priority();
        let pool = Arc::clone(&held.pool);
        check(held, BoundedExecutor::over(TrackingExecutor::over(pool), 10));
        let held = Held::by_priority();
        let pool = Arc::clone(&held.pool);
        check(held, SerialExecutor::over(StripedExecutor::<(), _>::over(pool)));
        let held = Held::by_priority();
        let line = SerialExecutor::over(Arc::clone(&held.pool));
        line.execute(held.task("before it", 0)).unwrap();
        let striped = StripedExecutor::over(Arc::new(line));
        striped.execute_in("a", held.task("a", 1)).unwrap();
        striped.execute_in("b", held.task("b", 1)).unwrap();
        held.pool.execute(held.task("plain", 5)).unwrap();
        striped.execute_in("b", held.task("urgent", 9)).unwrap();
        assert_eq!(held.queued(), ["before it", "plain"]);
        assert_eq!(held.order(), ["before it", "a", "b", "urgent", "plain"], "each line keeps its order");
    });
}

#[test]
fn a_ticket_that_waits_has_the_name_of_the_task_that_would_run_first() {
    within_deadline(|| {
        let held = Held::by_priority();
        let striped = held.striped();
        let named = |name| FutureTask::new(|| ()).named(name);
        let first = striped.submit_in("a", named("1st").prioritized(1)).unwrap();
        let second = striped.submit_in("a", named("2nd")).unwrap();
        let third = striped.submit_in("a", || ()).unwrap();
        assert_eq!(held.queued(), ["1st"]);
        first.cancel();
        assert_eq!(held.queued(), ["2nd"]);
        let taken_out = second.remove();
        assert_eq!(held.queued(), [third.id().to_string()]);
        third.cancel();
        assert_eq!(held.queued().len(), 1, "the ticket still waits, although it has nothing to do");
        drop(taken_out);
        striped.submit_in("a", named("4th")).unwrap().cancel_keep_running();
        assert!(held.order().is_empty());
    });
}

/// While a task of the strand runs, the drain task has this task's name. While a task without a name runs,
/// the drain task shows the drain task's own number.
#[test]
fn a_ticket_that_runs_has_the_name_of_the_task_that_runs() {
    within_deadline(|| {
        for is_nested in [false, true] {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1));
            let line = SerialExecutor::over(Arc::clone(&pool));
            let below: Arc<dyn Executor> =
                if is_nested { Arc::new(SerialExecutor::over(line)) } else { Arc::new(line) };
            let tasks = [Some("1st"), None, Some("3rd"), Some("4th"), None].map(|name| {
                let (begun, end) = (Signal::new(), Signal::new());
                let (is_begun, until) = (begun.clone(), end.clone());
                let task = Task::new(move || {
                    is_begun.set();
                    until.wait();
                });
                below.execute(if let Some(name) = name { task.named(name) } else { task }).unwrap();
                (name, begun, end)
            });
            for (name, begun, end) in tasks {
                begun.wait();
                let running = pool.snapshot().running;
                assert_eq!(running.len(), 1);
                assert_eq!(running[0].strip_prefix('#').map_or(Some(&*running[0]), |_| None), name);
                end.set();
            }
            let after = pool.submit(FutureTask::new(|| ()).named("after it")).unwrap();
            after.join().unwrap();
            pool.close();
        }
    });
}

#[test]
fn a_line_that_is_handed_out_has_its_priority() {
    within_deadline(|| {
        let manual = Arc::new(ManualExecutor::new());
        let striped = StripedExecutor::over(Arc::clone(&manual));
        striped.execute_in("a", Task::new(|| ()).named("1st").prioritized(1)).unwrap();
        striped.execute_in("a", Task::new(|| ()).named("urgent").prioritized(9)).unwrap();
        let pending = manual.pending();
        assert_eq!(pending[0].name.as_deref(), Some("1st"));
        let ticket = manual.take(pending[0].id).unwrap();
        assert_eq!((ticket.id(), ticket.priority(), ticket.name()), (pending[0].id, 9, None));
        ticket.run();
        eventually("both have run", || striped.stats().completed == 2);
    });
}
