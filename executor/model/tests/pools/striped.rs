//! Models of stripes over unreliable executors: the order of the tasks in each stripe, and how stripes are
//! made, removed and ended.

use std::sync::Arc;

use executor_model::{
    Block, DropPolicy, Executor, FifoQueue, JoinError, RejectReason, RejectedExecution, SerialExecutor,
    StripedExecutor, Task, TaskHandle, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

use crate::check;

const KEYS: usize = 2;

/// A record of the tasks of each key that have run; it checks that no two tasks of one key ran at the same
/// time.
#[derive(Clone, Default)]
struct Log {
    busy: Arc<[AtomicBool; KEYS]>,
    seen: Arc<Mutex<Vec<(usize, usize, usize)>>>,
    overlaps: Arc<AtomicUsize>,
}

impl Log {
    fn note(&self, key: usize, submitter: usize, n: usize) {
        self.overlaps.fetch_add(usize::from(self.busy[key].swap(true, SeqCst)), SeqCst);
        self.seen.lock().unwrap().push((key, submitter, n));
        self.busy[key].store(false, SeqCst);
    }

    /// Returns the number of tasks that have run. These tasks must have run one at a time, in the order of
    /// their submission.
    fn ran_in_order(&self) -> usize {
        assert_eq!(self.overlaps.load(SeqCst), 0, "one at a time");
        let seen = self.seen.lock().unwrap();
        for key in 0..KEYS {
            for submitter in 0..2 {
                let own = seen.iter().filter(|(at, who, _)| (*at, *who) == (key, submitter));
                assert!(own.map(|(_, _, n)| n).is_sorted(), "{seen:?}");
            }
        }
        seen.len()
    }
}

type Striped<E> = Arc<StripedExecutor<usize, E>>;

/// Two threads submit `tasks` tasks each, to one key after the other. Returns the handles of the accepted
/// tasks.
fn submitters<E: Executor + 'static>(striped: &Striped<E>, log: &Log, tasks: usize) -> Vec<TaskHandle<()>> {
    let submitters = [0, 1].map(|submitter| {
        let (striped, log) = (Arc::clone(striped), log.clone());
        thread::spawn(move || {
            let submit = |n| {
                let (log, key) = (log.clone(), n % KEYS);
                striped.submit_in(key, move || log.note(key, submitter, n))
            };
            (0..tasks).filter_map(|n| submit(n).ok()).collect::<Vec<_>>()
        })
    });
    submitters.into_iter().flat_map(|submitter| submitter.join().unwrap()).collect()
}

/// Returns the number of tasks that have run; all tasks must have ended.
fn join(handles: Vec<TaskHandle<()>>) -> usize {
    let ends = handles.into_iter().map(|handle| match handle.join() {
        Ok(()) => 1,
        Err(JoinError::Cancelled(_)) => 0,
        Err(error) => panic!("{error}"),
    });
    ends.sum()
}

/// Each drain task runs only one task, and then the next drain task of the stripe gets the thread. Stripes
/// are removed and made again while other threads submit to them.
#[test]
fn stripes_keep_their_order_and_strand_no_task() {
    check(|| {
        let striped = Arc::new(StripedExecutor::owning(ThreadPoolExecutor::fixed(2)).turns_of(1));
        let log = Log::default();
        let handles = submitters(&striped, &log, 3);
        assert_eq!(handles.len(), 6);
        assert_eq!(join(handles), 6);
        assert_eq!((log.ran_in_order(), striped.stats().completed), (6, 6));
        striped.close();
        assert_eq!(striped.stats().stripes, 0);
    });
}

/// One key, and one task at a time: one thread makes the stripe while another thread removes it, again and
/// again.
#[test]
fn a_stripe_that_comes_and_goes_loses_nothing() {
    check(|| {
        let striped: Striped<_> = Arc::new(StripedExecutor::over(ThreadPerTaskExecutor));
        let log = Log::default();
        let threads = [0, 1].map(|submitter| {
            let (striped, log) = (Arc::clone(&striped), log.clone());
            thread::spawn(move || {
                for n in 0..2 {
                    let log = log.clone();
                    striped
                        .submit_in(submitter * n, move || log.note(submitter * n, submitter, n))
                        .unwrap()
                        .join()
                        .unwrap();
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(log.ran_in_order(), 4);
        striped.close();
        assert_eq!(striped.stats().stripes, 0);
    });
}

/// An executor that refuses some tasks, drops some accepted tasks, and runs some tasks on the submitting
/// thread, even when a drain task submits the next drain task.
struct Doubtful;

impl Executor for Doubtful {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        thread::yield_now();
        match thread_rng().gen_range(0..4) {
            0 => Err(RejectedExecution { reason: RejectReason::Saturated, task }),
            1 => {
                drop(task);
                Ok(())
            }
            2 => {
                task.run();
                Ok(())
            }
            _ => ThreadPerTaskExecutor.execute_task(task),
        }
    }
}

#[test]
fn what_was_accepted_is_run_or_cancelled_whatever_the_executor_does() {
    check(|| {
        let striped = Arc::new(StripedExecutor::over(Doubtful).turns_of(1));
        let log = Log::default();
        let handles = submitters(&striped, &log, 3);
        let ran = join(handles);
        assert_eq!(log.ran_in_order(), ran);
        striped.close();
        assert_eq!((striped.stats().stripes, striped.stats().queued), (0, 0));
    });
}

/// An executor that accepts the first drain task of each burst, and refuses or drops all other drain tasks.
/// Nevertheless, the tasks that the first drain task takes must run.
struct OnlyFirst(AtomicUsize);

impl Executor for OnlyFirst {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.0.fetch_add(1, SeqCst) == 0 {
            return ThreadPerTaskExecutor.execute_task(task);
        }
        if thread_rng().r#gen() {
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
        let elsewhere = thread::spawn(move || drop(task));
        if thread_rng().r#gen() {
            elsewhere.join().unwrap();
        }
        Ok(())
    }
}

#[test]
fn a_head_whose_successor_is_refused_goes_on() {
    check(|| {
        let line = SerialExecutor::over(OnlyFirst(AtomicUsize::new(0))).turns_of(1);
        let gate = Arc::new(executor_model::Latch::new(1));
        let until = Arc::clone(&gate);
        line.execute(move || until.wait().unwrap()).unwrap();
        let handles: Vec<_> = (0..3).map(|n| line.submit(move || n).unwrap()).collect();
        gate.count_down();
        // If the executor accepts a drain task and drops it later, the other tasks of the stripe are
        // cancelled, too. Each task runs or is cancelled, and the order of the tasks is kept.
        let ends: Vec<_> = handles.into_iter().map(|handle| handle.join().ok()).collect();
        let ran = ends.iter().take_while(|end| end.is_some()).count();
        assert!(ends[ran..].iter().all(Option::is_none), "{ends:?}");
        line.close();
    });
}

/// Each task either runs or comes back, exactly once, no matter whether the drain tasks have begun. The test
/// also checks that the executor terminates.
#[test]
fn shut_down_now_each_task_is_run_or_handed_back() {
    check(|| {
        let pool =
            Arc::new(ThreadPoolExecutor::builder().threads(2).on_drop(DropPolicy::Cancel).build().unwrap());
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)).turns_of(1));
        let log = Log::default();
        let (own, ours) = (Arc::clone(&striped), log.clone());
        let submitter = thread::spawn(move || submitters(&own, &ours, 2));
        thread::yield_now();
        let back = striped.shutdown_now();
        assert!(striped.execute_in(0, || ()).is_err());
        let handles = submitter.join().unwrap();
        assert!(striped.await_termination(std::time::Duration::MAX));
        let (accepted, handed_back) = (handles.len(), back.len());
        drop(back);
        assert_eq!(join(handles) + handed_back, accepted);
        assert_eq!(log.ran_in_order() + handed_back, accepted);
        assert_eq!((striped.stats().stripes, striped.stats().queued), (0, 0));
        pool.close();
    });
}

#[test]
fn shut_down_now_with_its_service_only_users_tasks_come_back() {
    check(|| {
        let striped = Arc::new(StripedExecutor::owning(ThreadPoolExecutor::fixed(1)).turns_of(1));
        let log = Log::default();
        let (own, ours) = (Arc::clone(&striped), log.clone());
        let submitter = thread::spawn(move || submitters(&own, &ours, 2));
        thread::yield_now();
        let back = striped.shutdown_now();
        let handles = submitter.join().unwrap();
        assert!(striped.await_termination(std::time::Duration::MAX));
        let ids: Vec<_> = back.iter().map(Task::id).collect();
        assert!(ids.iter().all(|id| handles.iter().any(|handle| handle.id() == *id)), "{ids:?}");
        drop(back);
        assert_eq!(join(handles), log.ran_in_order());
    });
}

#[test]
fn a_shutdown_lets_all_stripes_drain_and_is_heard_of() {
    check(|| {
        let striped = Arc::new(StripedExecutor::owning(ThreadPoolExecutor::fixed(1)));
        let log = Log::default();
        let (own, ours) = (Arc::clone(&striped), log.clone());
        let submitter = thread::spawn(move || submitters(&own, &ours, 2).len());
        thread::yield_now();
        striped.close();
        assert!(striped.is_terminated());
        let ran = log.ran_in_order();
        assert_eq!(submitter.join().unwrap(), ran, "none has run after the end");
    });
}

/// Another thread shuts the pool down and receives the drain tasks of the stripes. If this thread runs a
/// drain task, the tasks of its stripe run; if this thread drops the drain task, the stripe ends.
#[test]
fn a_head_that_is_handed_out_runs_its_stripe_or_ends_it() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        let log = Log::default();
        let (own, ours) = (Arc::clone(&striped), log.clone());
        let submitter = thread::spawn(move || submitters(&own, &ours, 2));
        thread::yield_now();
        for (n, head) in pool.shutdown_now().into_iter().enumerate() {
            if n == 0 {
                head.run();
            }
        }
        let ran = join(submitter.join().unwrap());
        assert_eq!(log.ran_in_order(), ran);
        striped.close();
        pool.close();
    });
}

#[test]
fn a_task_of_a_stripe_is_cancelled_taken_out_or_run() {
    check(|| {
        let striped = Arc::new(StripedExecutor::owning(ThreadPoolExecutor::fixed(1)));
        let handles = [0, 0, 1].map(|key| striped.submit_in(key, || ()).unwrap());
        let canceller = handles[1].canceller();
        let cancels = thread::spawn(move || canceller.cancel());
        let taken = handles[2].remove();
        let [first, second, third] = handles;
        assert!(first.join().is_ok());
        assert_eq!(second.join().is_ok(), !cancels.join().unwrap());
        let was_taken = taken.is_some();
        drop(taken);
        assert_eq!(third.join().is_ok(), !was_taken);
        striped.close();
        assert_eq!((striped.stats().queued, striped.stats().stripes), (0, 0));
    });
}

/// The wrapper owns the executor, and a thread can drop the wrapper while a drain task has borrowed the
/// executor; the drop waits for all tasks.
#[test]
fn dropped_it_waits_for_the_pool_that_it_owns() {
    check(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let striped = StripedExecutor::over(ThreadPoolExecutor::fixed(1)).turns_of(1);
        for _ in 0..3 {
            let ran = Arc::clone(&ran);
            let task = move || {
                ran.fetch_add(1, SeqCst);
            };
            striped.execute_in(0, task).unwrap();
        }
        drop(striped);
        assert_eq!(ran.load(SeqCst), 3);
    });
}

/// A task of the executor below the wrapper drops the wrapper. At the same time a drain task waits for room
/// in that executor, and there will be room only when the task that drops the wrapper has ended. So the drop
/// must not wait for the blocked drain task.
#[test]
fn dropped_by_a_task_of_a_full_pool_it_has_its_head_come_back() {
    check(|| {
        let builder = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(1));
        let pool = Arc::new(builder.rejection_handler(Block::new()).build().unwrap());
        let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(1);
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let ran = Arc::clone(&ran);
            let task = move || {
                ran.fetch_add(1, SeqCst);
            };
            striped.execute_in(0, task).unwrap();
        }
        let dropped = pool.submit(move || drop(striped)).unwrap();
        pool.execute(|| ()).unwrap();
        dropped.join().unwrap();
        pool.close();
        assert_eq!(ran.load(SeqCst), 2);
    });
}
