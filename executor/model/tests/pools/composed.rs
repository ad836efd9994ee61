//! Executors over other executors: a serial executor over an executor that refuses tasks, and a bound that
//! must hold no matter how a task ends.

use std::sync::Arc;

use executor_model::{
    BoundedExecutor, DropPolicy, Executor, JoinError, RejectReason, RejectedExecution, SerialExecutor, Task,
    TaskHandle, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

/// A record of the tasks that have run; it checks that no two of these tasks ran at the same time.
#[derive(Clone, Default)]
struct Log {
    busy: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<(usize, usize)>>>,
    overlaps: Arc<AtomicUsize>,
}

impl Log {
    fn note(&self, submitter: usize, n: usize) {
        self.overlaps.fetch_add(usize::from(self.busy.swap(true, SeqCst)), SeqCst);
        self.seen.lock().unwrap().push((submitter, n));
        self.busy.store(false, SeqCst);
    }

    fn is_in_order(&self, submitters: usize) {
        assert_eq!(self.overlaps.load(SeqCst), 0, "one at a time");
        let seen = self.seen.lock().unwrap();
        for submitter in 0..submitters {
            let own: Vec<_> = seen.iter().filter(|(who, _)| *who == submitter).map(|(_, n)| *n).collect();
            assert!(own.is_sorted(), "{own:?}");
        }
    }
}

/// Each submitter submits two tasks to the serial executor. Returns the handles of the accepted tasks.
fn submitters<E: Executor + 'static>(line: &Arc<SerialExecutor<E>>, log: &Log) -> Vec<TaskHandle<()>> {
    let submitters: Vec<_> = (0..2)
        .map(|submitter| {
            let (line, log) = (Arc::clone(line), log.clone());
            thread::spawn(move || {
                let submit = |n| {
                    let log = log.clone();
                    line.submit(move || log.note(submitter, n))
                };
                (0..2).filter_map(|n| submit(n).ok()).collect::<Vec<_>>()
            })
        })
        .collect();
    submitters.into_iter().flat_map(|submitter| submitter.join().unwrap()).collect()
}

#[test]
fn a_line_runs_one_task_at_a_time_and_leaves_none() {
    check(|| {
        let line = Arc::new(SerialExecutor::over(ThreadPoolExecutor::fixed(2)));
        let log = Log::default();
        let handles = submitters(&line, &log);
        assert_eq!(handles.len(), 4);
        for handle in handles {
            handle.join().unwrap();
        }
        log.is_in_order(2);
        line.executor().close();
    });
}

/// An executor that refuses some tasks, and drops some of the tasks that it has accepted.
struct Doubtful;

impl Executor for Doubtful {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        thread::yield_now();
        match thread_rng().gen_range(0..3) {
            0 => Err(RejectedExecution { reason: RejectReason::Saturated, task }),
            1 => {
                drop(task);
                Ok(())
            }
            _ => ThreadPerTaskExecutor.execute_task(task),
        }
    }
}

#[test]
fn what_a_line_has_accepted_is_run_or_cancelled_whatever_the_executor_does() {
    check(|| {
        let line = Arc::new(SerialExecutor::over(Doubtful));
        let log = Log::default();
        let handles = submitters(&line, &log);
        let (accepted, mut run) = (handles.len(), 0);
        for handle in handles {
            match handle.join() {
                Ok(()) => run += 1,
                Err(JoinError::Cancelled(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        log.is_in_order(2);
        assert_eq!(log.seen.lock().unwrap().len(), run, "of {accepted}");
        assert_eq!(line.waiting(), 0);
    });
}

#[test]
fn a_task_of_a_line_is_cancelled_or_run() {
    check(|| {
        let line = Arc::new(SerialExecutor::over(ThreadPoolExecutor::fixed(1)));
        let handles = [1, 2].map(|n| line.submit(move || n).unwrap());
        let cancellers = handles.each_ref().map(TaskHandle::canceller);
        let cancels = thread::spawn(move || cancellers.map(|task| task.cancel()));
        let ends = handles.map(|handle| handle.join().is_ok());
        let cancelled = cancels.join().unwrap();
        assert_eq!(ends, cancelled.map(|cancelled| !cancelled));
        line.submit(|| ()).unwrap().join().unwrap();
        assert_eq!(line.waiting(), 0);
        line.executor().close();
    });
}

#[test]
fn permits_come_back_from_tasks_that_are_run_cancelled_refused_and_dropped() {
    check(|| {
        let builder = ThreadPoolExecutor::builder().on_drop(DropPolicy::Cancel);
        let bounded = Arc::new(BoundedExecutor::over(builder.build().unwrap(), 2));
        let most = Arc::new(AtomicUsize::new(0));
        let now = Arc::new(AtomicUsize::new(0));
        let submitter = {
            let (bounded, now, most) = (Arc::clone(&bounded), Arc::clone(&now), Arc::clone(&most));
            thread::spawn(move || {
                for n in 0..3 {
                    let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                    let task = bounded.submit(move || {
                        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                        now.fetch_sub(1, SeqCst);
                    });
                    if n == 1
                        && let Ok(task) = task
                    {
                        task.cancel();
                    }
                }
            })
        };
        thread::yield_now();
        drop(bounded.executor().shutdown_now());
        submitter.join().unwrap();
        assert!(most.load(SeqCst) <= 2);
        assert!(bounded.executor().await_termination(std::time::Duration::MAX));
        assert_eq!(bounded.under_way(), 0);
    });
}
