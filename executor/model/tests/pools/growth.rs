//! Threads start and end because of a pool's size, keep-alive time and factory, and every task still gets a
//! thread.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    Block, FifoQueue, HandOffQueue, JoinError, Latch, RejectReason, ThreadFactory, ThreadPoolExecutor,
    Worker, prelude::*,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

const KEEP_ALIVE: Duration = Duration::from_secs(1);

#[test]
fn a_task_that_comes_as_the_last_thread_times_out_is_run() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().core_threads(0).keep_alive(KEEP_ALIVE).build().unwrap();
        for n in 0..3 {
            // If a task has no thread, shuttle reports a deadlock.
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().threads), (3, 0));
    });
}

#[test]
fn a_task_handed_to_a_thread_as_it_times_out_is_run() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().core_threads(0).maximum_threads(2).keep_alive(KEEP_ALIVE);
        let pool = pool.queue(HandOffQueue::new()).rejection_handler(Block::new()).build().unwrap();
        let pool = Arc::new(pool);
        let other = thread::spawn({
            let pool = Arc::clone(&pool);
            move || (0..2).map(|n| pool.submit(move || n).unwrap().join().unwrap()).sum::<i32>()
        });
        for n in 0..2 {
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        assert_eq!(other.join().unwrap(), 1);
        pool.close();
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.task_count(), stats.threads), (4, 4, 0));
    });
}

#[test]
fn core_threads_that_may_time_out_do_not_leave_a_task_behind() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().threads(2).keep_alive(KEEP_ALIVE).core_timeout(true);
        let pool = pool.build().unwrap();
        let handles: Vec<_> = (0..4).map(|n| pool.submit(move || n).unwrap()).collect();
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(handle.join().unwrap(), n);
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().threads), (4, 0));
    });
}

#[test]
fn tasks_submitted_while_the_sizes_change_run_once_each() {
    check(|| {
        let pool =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(3).queue(FifoQueue::bounded(2));
        let pool = Arc::new(pool.rejection_handler(Block::new()).build().unwrap());
        let runs: Arc<[AtomicUsize; 5]> = Arc::default();
        let submitter = thread::spawn({
            let (pool, runs) = (Arc::clone(&pool), Arc::clone(&runs));
            move || {
                for task in 0..5 {
                    let runs = Arc::clone(&runs);
                    pool.execute(move || _ = runs[task].fetch_add(1, SeqCst)).unwrap();
                }
            }
        });
        pool.set_core_threads(0).unwrap();
        pool.set_maximum_threads(1).unwrap();
        pool.set_maximum_threads(2).unwrap();
        pool.set_core_threads(2).unwrap();
        submitter.join().unwrap();
        pool.close();
        assert!(runs.iter().all(|runs| runs.load(SeqCst) == 1), "{runs:?}");
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.task_count(), stats.threads), (5, 5, 0));
        assert!(stats.peak_threads <= 3);
    });
}

/// The thread that is woken for a task can be a surplus thread; in this case, another thread must take the
/// task.
#[test]
fn a_thread_that_is_one_too_many_leaves_the_task_to_another() {
    check(|| {
        let pool =
            ThreadPoolExecutor::builder().core_threads(0).maximum_threads(2).queue(FifoQueue::bounded(4));
        let pool = Arc::new(pool.threads_first().build().unwrap());
        let both_here = Arc::new(Latch::new(2));
        let tasks = [(); 2].map(|()| {
            let both_here = Arc::clone(&both_here);
            pool.submit(move || {
                both_here.count_down();
                both_here.wait().unwrap();
            })
        });
        for task in tasks {
            task.unwrap().join().unwrap();
        }
        let resizer = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.set_maximum_threads(1).unwrap()
        });
        for n in 0..2 {
            // If a task has no thread, shuttle reports a deadlock.
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        resizer.join().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 4);
    });
}

#[test]
fn a_higher_core_size_starts_threads_for_tasks_that_wait_for_each_other() {
    check(|| {
        let pool = ThreadPoolExecutor::builder()
            .core_threads(1)
            .maximum_threads(2)
            .queue(FifoQueue::bounded(2))
            .build()
            .unwrap();
        let both_here = Arc::new(Latch::new(2));
        let tasks = [(); 2].map(|()| {
            let both_here = Arc::clone(&both_here);
            pool.submit(move || {
                both_here.count_down();
                both_here.wait().unwrap();
            })
        });
        pool.set_core_threads(2).unwrap();
        for task in tasks {
            task.unwrap().join().unwrap(); // otherwise shuttle reports a deadlock
        }
        pool.close();
    });
}

/// The results that the factory returns in its first calls, one after the other. In all later calls, the
/// factory starts threads.
struct Script(AtomicUsize, &'static [Call]);

#[derive(Clone, Copy)]
enum Call {
    Starts,
    Fails,
    /// Reports that a thread has started; another thread drops the worker later.
    DropsLater,
}

impl ThreadFactory for Script {
    fn start(&self, worker: Worker) -> io::Result<()> {
        match self.1.get(self.0.fetch_add(1, SeqCst)) {
            Some(Call::Fails) => return Err(io::ErrorKind::WouldBlock.into()),
            Some(Call::DropsLater) => drop(thread::spawn(move || drop(worker))),
            Some(Call::Starts) | None => drop(thread::spawn(move || worker.run())),
        }
        Ok(())
    }
}

/// Two submitters submit two tasks each to a pool whose factory follows the script. Each task is refused or
/// runs once, or its handle reports a cancellation because the factory started no thread. The test also
/// checks that the pool terminates.
fn nothing_is_left_over(script: &'static [Call]) {
    check(move || {
        let factory = Script(AtomicUsize::new(0), script);
        let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(factory).build().unwrap();
        let pool = Arc::new(pool);
        let submit = {
            let pool = Arc::clone(&pool);
            move || {
                let runs = Arc::new(AtomicUsize::new(0));
                let handles = [(); 2].map(|()| {
                    let runs = Arc::clone(&runs);
                    pool.submit(move || _ = runs.fetch_add(1, SeqCst))
                });
                let mut ran = 0;
                for handle in handles {
                    match handle.map(executor_model::TaskHandle::join) {
                        Ok(Ok(())) => ran += 1,
                        Ok(Err(JoinError::Cancelled(_))) => {}
                        Ok(Err(other)) => panic!("{other}"),
                        Err(refused) => {
                            assert!(matches!(refused.reason, RejectReason::NoThread(_)), "{refused}");
                        }
                    }
                }
                assert_eq!(runs.load(SeqCst), ran);
                ran as u64
            }
        };
        let other = thread::spawn(submit.clone());
        let ran = submit() + other.join().unwrap();
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.active, stats.queued), (ran, 0, 0), "{stats}");
        pool.shutdown();
        assert!(pool.await_termination(Duration::MAX)); // otherwise shuttle reports a deadlock
        assert_eq!(pool.stats().threads, 0);
    });
}

#[test]
fn nothing_is_left_over_by_a_factory_that_fails() {
    nothing_is_left_over(&[Call::Fails, Call::Starts, Call::Fails]);
}

#[test]
fn nothing_is_left_over_by_a_factory_that_drops_its_workers_later() {
    nothing_is_left_over(&[Call::DropsLater, Call::DropsLater]);
    nothing_is_left_over(&[Call::DropsLater; 4]); // every worker is dropped
}

#[test]
fn nothing_is_left_over_by_a_factory_that_fails_and_drops_its_workers_later() {
    nothing_is_left_over(&[Call::DropsLater, Call::Fails, Call::DropsLater, Call::Fails]);
}
