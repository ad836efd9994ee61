//! Tasks that a scheduler passes to another executor when the tasks are due.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    DirectExecutor, Executor, FutureTask, JoinError, ManualExecutor, RejectReason, RejectedExecution,
    ScheduledThreadPoolExecutor, Task, TaskState, ThreadPoolExecutor, prelude::*,
};

use super::AN_HOUR;
use crate::support::{Explosions, LONG, Record, SHORT, assert_matches, eventually, within_deadline};

#[test]
fn a_task_runs_on_the_other_executor_and_not_before_its_time() {
    within_deadline(|| {
        let clock = ScheduledThreadPoolExecutor::new(1);
        let pool = Arc::new(ThreadPoolExecutor::builder().threads(1).name("other").build().unwrap());
        let later = clock.delayed(Arc::clone(&pool), SHORT);
        let begin = Instant::now();
        let task = later.submit(|| (Instant::now(), thread::current().name().map(str::to_owned))).unwrap();
        let (when, thread) = task.join_timeout(LONG).unwrap();
        assert!(when >= begin + SHORT);
        assert_eq!(thread.as_deref(), Some("other-thread-1"));
        assert_eq!(pool.stats().completed, 1);
    });
}

#[test]
fn a_task_keeps_its_id_its_name_and_its_priority() {
    within_deadline(|| {
        let (clock, other) = (ScheduledThreadPoolExecutor::new(1), Arc::new(ManualExecutor::new()));
        let later = clock.delayed(Arc::clone(&other), Duration::ZERO);
        let task = Task::new(|| ()).named("reminder").prioritized(7);
        let id = task.id();
        later.execute(task).unwrap();
        eventually("it has come", || other.pending().len() == 1);
        let task = other.take_next().unwrap();
        assert_eq!((task.id(), task.name(), task.priority()), (id, Some("reminder"), 7));
    });
}

/// An executor that drops its tasks and counts them.
#[derive(Default)]
struct Counts(AtomicUsize);

impl Executor for Counts {
    fn execute_task(&self, _task: Task) -> Result<(), RejectedExecution> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn a_cancelled_task_does_not_reach_the_other_executor() {
    within_deadline(|| {
        let (clock, other) = (ScheduledThreadPoolExecutor::new(1), Arc::new(Counts::default()));
        let later = clock.delayed(Arc::clone(&other), SHORT);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        handle.cancel();
        later.execute(task).unwrap();
        later.execute(|| ()).unwrap();
        eventually("both times have come", || clock.stats().pool.completed == 2);
        assert_eq!(other.0.load(Ordering::SeqCst), 1, "only the second task has come");
    });
}

/// When the other executor refuses the task, no caller waits any more, so no caller can get the refusal. The
/// library catches a panic of the value's drop, as in all other places.
#[test]
fn a_task_that_the_other_executor_refuses_is_cancelled() {
    within_deadline(|| {
        let (clock, pool) = (ScheduledThreadPoolExecutor::new(1), Arc::new(ThreadPoolExecutor::single()));
        let later = clock.delayed(Arc::clone(&pool), Duration::ZERO);
        pool.shutdown();
        let explosions = Explosions::default();
        let bomb = explosions.bomb();
        let task = later.submit(move || drop(bomb)).unwrap();
        assert_matches!(task.join_timeout(LONG), Err(JoinError::Cancelled(_)));
        eventually("it was dropped", || explosions.count() == 1);
        assert_eq!(clock.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7); // the clock goes on
    });
}

#[test]
fn an_ended_clock_gives_the_task_back() {
    within_deadline(|| {
        let clock = ScheduledThreadPoolExecutor::new(1);
        let later = clock.delayed(DirectExecutor, AN_HOUR);
        clock.shutdown();
        let refused = later.submit(|| 7).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 7);
        drop(clock);
        assert_matches!(later.submit(|| ()).unwrap_err().reason, RejectReason::Shutdown);
    });
}

#[test]
fn dropping_the_clock_cancels_what_waits_and_its_tasks_can_be_taken_out() {
    within_deadline(|| {
        let clock = ScheduledThreadPoolExecutor::new(1);
        let ran = Record::new();
        let later = clock.delayed(DirectExecutor, AN_HOUR);
        let notes = ran.clone();
        later.execute(move || notes.add("by hand")).unwrap();
        let taken = clock.shutdown_now();
        assert_eq!(taken.len(), 1);
        for task in taken {
            task.run(); // gives the task to the other executor now
        }
        assert_eq!(ran.so_far(), ["by hand"]);

        let clock = ScheduledThreadPoolExecutor::new(1);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        clock.delayed(DirectExecutor, AN_HOUR).execute(task).unwrap();
        drop(clock);
        assert_eq!(handle.state(), TaskState::Cancelled);
    });
}
