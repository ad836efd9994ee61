//! The behaviour of a pool if its factory starts no thread.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;

use executor::{
    FifoQueue, HandOffQueue, NamedThreads, RejectReason, ThreadFactory, ThreadPoolExecutor, Worker,
    prelude::*,
};

use crate::support::{LONG, assert_matches, eventually, occupy, occupy_all, within_deadline};

/// A user's factory that fails in one of several ways when the test tells the factory to fail.
struct Troubled {
    good: AtomicUsize,
    trouble: Trouble,
}

impl ThreadFactory for Troubled {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let left = self.good.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_err() {
            return (self.trouble)(worker);
        }
        thread::Builder::new().spawn(|| worker.run()).map(drop)
    }
}

type Trouble = fn(Worker) -> io::Result<()>;

/// Every way in which a factory can fail to start a thread.
fn troubles() -> [(&'static str, Trouble); 4] {
    [
        ("it says so", |_| Err(io::Error::other("no more threads"))),
        ("it says so, and has another drop the worker", |worker| {
            thread::spawn(|| drop(worker));
            Err(io::Error::other("no more threads"))
        }),
        ("it panics", |_| std::panic::resume_unwind(Box::new("no more threads"))),
        ("it panics and keeps the worker for a moment", |worker| {
            thread::spawn(|| drop(worker));
            std::panic::resume_unwind(Box::new("no more threads"))
        }),
    ]
}

/// SIZE-23
#[test]
fn without_a_thread_and_without_a_place_to_wait_the_task_comes_back() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool =
                ThreadPoolExecutor::builder().core_threads(0).maximum_threads(9).queue(HandOffQueue::new());
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(4), trouble }).build().unwrap();
            let busy = occupy_all(&pool, 4);
            for n in 0..3 {
                let refused = pool.submit(move || n).unwrap_err();
                assert_matches!(&refused.reason, RejectReason::NoThread(error) if error.to_string().contains("no more threads"));
                refused.task.run();
                assert_eq!(refused.handle.join().unwrap(), n, "{how}");
            }
            eventually("only the threads that came are counted", || pool.stats().threads == 4);
            drop(busy);
            pool.close();
            let stats = pool.stats();
            assert_eq!((stats.completed, stats.task_count(), stats.peak_threads), (4, 4, 4), "{how}");
        }
    });
}

#[test]
fn without_a_thread_of_its_own_a_task_waits_for_one_of_those_there_are() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder().threads(3).queue(FifoQueue::bounded(10));
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(1), trouble }).build().unwrap();
            let busy = occupy(&pool);
            let waiting: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();
            eventually("only the thread that came is counted", || pool.stats().threads == 1);
            assert_eq!((pool.queued(), pool.stats().active), (5, 1), "{how}");
            drop(busy);
            for (n, handle) in waiting.into_iter().enumerate() {
                assert_eq!(handle.join_timeout(LONG).unwrap(), n, "{how}");
            }
        }
    });
}

#[test]
fn a_pool_without_a_single_thread_refuses_and_recovers() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder().threads(2);
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(0), trouble }).build().unwrap();
            let refused = pool.submit(|| 7).unwrap_err();
            assert_matches!(refused.reason, RejectReason::NoThread(_));
            assert!(!pool.prestart_core_thread(), "{how}");
            eventually("nothing is counted", || pool.stats().threads == 0);
            assert_eq!((pool.stats().task_count(), pool.stats().peak_threads), (0, 0), "{how}");
            pool.set_thread_factory(Arc::new(NamedThreads::new("better")));
            pool.execute(refused.task).unwrap();
            assert_eq!(refused.handle.join_timeout(LONG).unwrap(), 7);
            pool.close();
        }
    });
}

#[test]
fn a_pool_without_a_single_thread_can_be_shut_down() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder();
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(0), trouble }).build().unwrap();
            drop(pool.execute(|| ()).unwrap_err());
            pool.shutdown();
            assert!(pool.await_termination(LONG), "{how}");
        }
    });
}

/// When the pool asks for a second thread, the factory drops both workers. The pool must report the failure
/// to the first submitter, too.
#[test]
fn a_task_whose_thread_does_not_come_while_another_is_refused_is_cancelled_too() {
    struct Fickle(Mutex<Option<Worker>>);
    impl ThreadFactory for Fickle {
        fn start(&self, worker: Worker) -> io::Result<()> {
            let mut kept = self.0.lock().unwrap();
            if let Some(first) = kept.take() {
                drop((first, worker));
                return Err(io::Error::other("no more threads"));
            }
            *kept = Some(worker);
            Ok(())
        }
    }
    within_deadline(|| {
        for prestart in [false, true] {
            let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(Fickle(Mutex::new(None)));
            let pool = pool.build().unwrap();
            let first = pool.submit(|| 1).unwrap();
            if prestart {
                assert!(!pool.prestart_core_thread());
            } else {
                assert_matches!(pool.submit(|| 2).unwrap_err().reason, RejectReason::NoThread(_));
            }
            assert_matches!(first.join_timeout(LONG), Err(executor::JoinError::Cancelled(_)));
            assert_eq!((pool.stats().threads, pool.stats().task_count()), (0, 0));
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

/// A factory that reports that a thread has started, but starts no thread.
struct Liar(AtomicUsize);

impl ThreadFactory for Liar {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        drop(worker);
        Ok(())
    }
}

#[test]
fn a_factory_whose_threads_do_not_come_is_asked_for_each_core_thread_once_by_prestarting() {
    within_deadline(|| {
        let liar = Arc::new(Liar(AtomicUsize::new(0)));
        let builder = ThreadPoolExecutor::builder().threads(2).thread_factory(Arc::clone(&liar)).prestart();
        let pool = builder.build().unwrap();
        assert_eq!((liar.0.load(Ordering::SeqCst), pool.stats().threads), (2, 0));
        assert_eq!(pool.prestart_all_core_threads(), 2);
        assert_eq!(liar.0.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn a_factory_that_fails_is_not_asked_for_every_task_while_there_is_another_thread() {
    within_deadline(|| {
        let liar = Arc::new(Liar(AtomicUsize::new(0)));
        let pool = ThreadPoolExecutor::builder().threads(2).build().unwrap();
        let busy = occupy(&pool);
        pool.set_thread_factory(liar.clone());
        for _ in 0..10_000 {
            pool.execute(|| ()).unwrap();
        }
        // The pool waits between its attempts: for 1 ms, 2 ms, … 1 s. The test waits for at most twenty
        // seconds.
        let asked = liar.0.load(Ordering::SeqCst);
        assert!((1..=32).contains(&asked), "asked {asked} times");
        pool.set_thread_factory(Arc::new(NamedThreads::new("better"))); // the pool asks it at once
        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        assert_eq!(pool.stats().threads, 2);
        drop(busy);
        pool.close();
        assert_eq!(pool.stats().completed, 10_002);
    });
}

/// A factory that shuts its pool down and after that starts no thread.
#[derive(Default)]
struct Closing(OnceLock<Weak<ThreadPoolExecutor>>, AtomicBool);

impl ThreadFactory for Closing {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let pool = self.0.get().unwrap().upgrade().unwrap();
        pool.shutdown();
        drop(worker);
        self.1.store(pool.is_terminated(), Ordering::SeqCst);
        Err(io::Error::other("no more threads"))
    }
}

#[test]
fn a_pool_has_not_terminated_while_a_task_is_on_its_way_back_to_its_submitter() {
    within_deadline(|| {
        let factory = Arc::new(Closing::default());
        let pool = ThreadPoolExecutor::builder().thread_factory(Arc::clone(&factory));
        let pool = Arc::new(pool.build().unwrap());
        factory.0.set(Arc::downgrade(&pool)).unwrap();
        let refused = pool.submit(|| 1).unwrap_err();
        assert_matches!(&refused.reason, RejectReason::NoThread(_));
        assert!(!factory.1.load(Ordering::SeqCst), "not before the task was seen to");
        assert!(pool.is_terminated());
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 1);
    });
}
