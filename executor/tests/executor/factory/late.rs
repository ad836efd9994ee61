//! Threads that a pool has requested, and that start late or never.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use executor::{JoinError, RejectReason, TaskState, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};

use crate::support::{LONG, assert_matches, blocked, eventually, occupy, within_deadline};

/// A factory that reports a started thread but keeps the worker; the test decides what happens to the worker.
#[derive(Clone, Default)]
struct Hoarding(Arc<Mutex<Vec<Worker>>>);

impl Hoarding {
    fn pool(&self) -> Arc<ThreadPoolExecutor> {
        let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(self.clone());
        Arc::new(pool.build().unwrap())
    }

    fn next(&self) -> Worker {
        eventually("a worker was made", || !self.0.lock().unwrap().is_empty());
        self.0.lock().unwrap().remove(0)
    }
}

impl ThreadFactory for Hoarding {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.lock().unwrap().push(worker);
        Ok(())
    }
}

#[test]
fn a_thread_may_take_its_time_to_come() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handle = pool.submit(|| 7).unwrap();
        let stats = pool.stats();
        assert_eq!((stats.threads, stats.active, stats.queued, stats.task_count()), (1, 1, 0, 1), "{stats}");
        assert_eq!(stats.peak_threads, 1, "a thread that was requested counts, here as in the pool size");
        assert_eq!(pool.snapshot().running.len(), 1);
        let worker = hoarding.next();
        thread::spawn(|| worker.run());
        assert_eq!(handle.join_timeout(LONG).unwrap(), 7);
        pool.close();
    });
}

/// No thread that could run the tasks is left, so a thread that joins one of these tasks must not wait any
/// longer.
#[test]
fn tasks_whose_threads_all_never_come_are_cancelled_when_that_is_known() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handles = [pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap()];
        drop(hoarding.next());
        assert!(handles.iter().all(|handle| handle.state() == TaskState::Pending), "one may come yet");
        drop(hoarding.next());
        for handle in handles {
            assert_matches!(handle.join_timeout(LONG), Err(JoinError::Cancelled(_)));
        }
        assert_eq!((pool.stats().threads, pool.stats().task_count()), (0, 0));
        pool.shutdown();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn the_one_thread_that_comes_does_the_tasks_of_those_that_do_not() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handles = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        drop(hoarding.next());
        let comes = hoarding.next();
        thread::spawn(|| comes.run());
        assert_eq!(handles.map(|handle| handle.join_timeout(LONG).unwrap()), [1, 2]);
        assert_eq!(pool.stats().threads, 1);
        pool.close();
    });
}

/// While no requested thread has started yet, a submitter must not rely on any requested thread: the
/// submitter waits until a thread starts or until all starts have failed.
#[test]
fn a_submitter_waits_the_moment_until_the_first_thread_has_come_or_will_not() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let first = [pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap()];
            let third = blocked({
                let pool = Arc::clone(&pool);
                move || pool.submit(|| 3).unwrap()
            });
            assert!(third.still_waits());
            let [one, other] = [hoarding.next(), hoarding.next()];
            if comes {
                thread::spawn(|| one.run());
                assert_eq!(third.result().join_timeout(LONG).unwrap(), 3);
                drop(other);
                assert!(first.into_iter().all(|handle| handle.join_timeout(LONG).is_ok()));
            } else {
                drop((one, other));
                let third = third.result(); // the pool requested a third thread for it
                drop(hoarding.next());
                assert_matches!(third.join_timeout(LONG), Err(JoinError::Cancelled(_)));
            }
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

/// A shutdown also ends the wait for the first thread.
#[test]
fn a_submitter_that_waits_for_the_first_thread_is_refused_when_the_pool_is_shut_down() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let first = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        let third = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 3)
        });
        assert!(third.still_waits());
        pool.shutdown();
        assert_matches!(third.result().unwrap_err().reason, RejectReason::Shutdown);
        for _ in &first {
            let worker = hoarding.next();
            thread::spawn(|| worker.run());
        }
        assert!(first.into_iter().all(|handle| handle.join_timeout(LONG).is_ok()));
        assert!(pool.await_termination(LONG));
    });
}

/// If the pool cannot start a new thread for a task, the task needs one of the threads that other submitters
/// have requested.
#[test]
fn a_submitter_whose_factory_fails_waits_the_moment_until_another_thread_has_come_or_will_not() {
    struct Second(Hoarding);
    impl ThreadFactory for Second {
        fn start(&self, worker: Worker) -> io::Result<()> {
            if self.0.0.lock().unwrap().is_empty() {
                self.0.start(worker)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(Second(hoarding.clone()));
            let pool = Arc::new(pool.build().unwrap());
            let first = pool.submit(|| 1).unwrap();
            let second = blocked({
                let pool = Arc::clone(&pool);
                move || pool.submit(|| 2)
            });
            assert!(second.still_waits());
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
                assert_eq!(second.result().unwrap().join_timeout(LONG).unwrap(), 2);
                assert_eq!(first.join_timeout(LONG).unwrap(), 1);
            } else {
                drop(worker);
                assert_matches!(second.result().unwrap_err().reason, RejectReason::NoThread(_));
                assert_matches!(first.join_timeout(LONG), Err(JoinError::Cancelled(_)));
            }
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

#[test]
fn shutting_down_now_hands_back_tasks_whose_threads_have_not_come_yet() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let handle = pool.submit(|| 7).unwrap();
            let mut handed_back = pool.shutdown_now();
            assert_eq!((handed_back.len(), pool.is_terminated()), (1, false));
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
            } else {
                drop(worker);
            }
            assert!(pool.await_termination(LONG));
            assert_eq!((pool.stats().completed, handle.state()), (0, TaskState::Pending));
            handed_back.remove(0).run();
            assert_eq!(handle.join().unwrap(), 7);
        }
    });
}

#[test]
fn after_a_shutdown_a_late_thread_still_runs_its_task_and_one_that_does_not_come_cancels_it() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let handle = pool.submit(|| 7).unwrap();
            pool.shutdown();
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
                assert_eq!(handle.join_timeout(LONG).unwrap(), 7);
            } else {
                drop(worker);
                assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
            }
            assert!(pool.await_termination(LONG));
        }
    });
}

/// A factory that starts the first few workers, but no later worker.
#[derive(Default)]
struct Slow(AtomicUsize, Mutex<Vec<Worker>>);

impl ThreadFactory for Slow {
    fn start(&self, worker: Worker) -> io::Result<()> {
        if self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return thread::Builder::new().spawn(|| worker.run()).map(drop);
        }
        self.1.lock().unwrap().push(worker);
        Ok(())
    }
}

#[test]
fn the_last_thread_there_is_stays_while_others_are_only_requested() {
    within_deadline(|| {
        let slow = Arc::new(Slow(AtomicUsize::new(1), Mutex::default()));
        let pool = ThreadPoolExecutor::builder()
            .core_threads(2)
            .maximum_threads(2)
            .thread_factory(Arc::clone(&slow));
        let pool = pool.build().unwrap();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 2).unwrap(); // for the second thread
        pool.set_threads(1).unwrap(); // now the pool has one thread too many
        drop(busy);
        assert_eq!(handle.join_timeout(LONG).unwrap(), 2);
        assert_eq!(pool.submit(|| 3).unwrap().join_timeout(LONG).unwrap(), 3);
        slow.1.lock().unwrap().clear();
        pool.close();
    });
}
