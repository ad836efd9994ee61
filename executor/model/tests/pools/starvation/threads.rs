//! Threads that could end a wait: a thread outside the pool, a free thread, a thread that the pool has
//! requested, and a thread that is about to end.

use std::io;
use std::sync::{Arc, OnceLock, Weak};

use executor_model::{
    FifoQueue, FutureTask, Hooks, JoinError, Latch, ThreadFactory, ThreadPoolBuilder, ThreadPoolExecutor,
    Worker, prelude::*,
};
use shuttle::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::{fixed, join, page, shared};
use crate::{check, thread, without_new_threads};

fn growing(most: usize) -> ThreadPoolBuilder {
    ThreadPoolExecutor::builder().core_threads(1).maximum_threads(most).queue(FifoQueue::bounded(4))
}

// ----- against a task on a thread outside -----

/// One task waits for another task, which a thread outside the pool runs. A third task waits for the first
/// task.
#[test]
fn a_task_that_ends_elsewhere_is_waited_for() {
    check(|| {
        let pools = [fixed(1), fixed(1)];
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let outside = thread::spawn(move || task.run());
        let first = pools[0].submit(move || join(handle)).unwrap();
        let second = pools[1].submit(move || join(first)).unwrap();
        assert_eq!(second.join().unwrap(), Some(Some(7)));
        outside.join().unwrap();
    });
}

/// The other thread is idle, about to sleep, about to wake up, or awake already.
#[test]
fn a_thread_that_is_free_is_counted_on() {
    check(|| {
        let pool = shared(ThreadPoolExecutor::builder().threads(2).prestart());
        assert!(page(&pool).join().unwrap());
        assert!(page(&pool).join().unwrap());
        pool.close();
        assert_eq!(pool.stats().starved, 0);
    });
}

/// During a search, the other thread can take the task, run it and end. A report must name a task that has
/// not begun.
#[test]
fn a_task_that_ends_while_somebody_looks_is_not_reported() {
    check(|| {
        let pool = shared(ThreadPoolExecutor::builder().threads(2).prestart());
        let own = Arc::clone(&pool);
        let page = pool.submit(move || match own.submit(|| ()).unwrap().join() {
            Err(JoinError::Starved(handle, report)) => report.chain().len() == 1 && handle.cancel(),
            ended => ended.is_ok(),
        });
        pool.set_threads(1).unwrap();
        assert!(page.unwrap().join().unwrap(), "its task had ended");
        pool.close();
    });
}

// ----- against growth -----

#[test]
fn a_pool_that_may_have_another_thread_starts_it() {
    check(|| {
        let pool = shared(growing(2));
        let from_outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || drop(pool.execute(|| ()))
        });
        assert!(page(&pool).join().unwrap());
        from_outside.join().unwrap();
        pool.close();
        assert_eq!((pool.stats().starved, pool.stats().peak_threads.min(2)), (0, pool.stats().peak_threads));
    });
}

/// A chain of three waits needs three threads, but the pool has only two.
#[test]
fn a_pool_has_no_more_threads_than_its_maximum() {
    check(|| {
        let pool = shared(growing(2));
        let own = Arc::clone(&pool);
        let outer = pool.submit(move || join(page(&own)));
        assert_ne!(outer.unwrap().join().unwrap(), Some(true));
        pool.close();
        assert_eq!((pool.stats().starved, pool.stats().peak_threads), (1, 2));
    });
}

#[test]
fn a_thread_that_cannot_be_started_is_not_counted_on() {
    check(|| {
        let pool = shared(growing(2));
        let own = Arc::clone(&pool);
        let page = pool.submit(move || {
            let header = own.submit(|| ()).unwrap();
            without_new_threads(|| join(header))
        });
        assert!(page.unwrap().join().unwrap().is_none());
        pool.close();
    });
}

/// A factory that starts the first thread. For the second thread, the factory only reports a start, and
/// another thread drops the worker later.
struct DropsLater(AtomicBool);

impl ThreadFactory for DropsLater {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let comes = !self.0.swap(true, SeqCst);
        drop(thread::spawn(move || if comes { worker.run() } else { drop(worker) }));
        Ok(())
    }
}

#[test]
fn a_thread_that_was_ordered_and_does_not_come_is_waited_for_no_longer() {
    check(|| {
        let pool = shared(growing(2).thread_factory(DropsLater(AtomicBool::new(false))));
        assert!(!page(&pool).join().unwrap());
        pool.close();
    });
}

// ----- against `set_threads` -----

/// The new thread starts before the wait, during the wait and before the report, or after the report.
#[test]
fn more_threads_end_the_wait_or_come_too_late() {
    check(|| {
        let pool = fixed(1);
        let page = page(&pool);
        pool.set_threads(2).unwrap();
        let has_run = page.join().unwrap();
        pool.close();
        assert_eq!(pool.stats().starved, u64::from(!has_run));
    });
}

#[test]
fn the_last_free_thread_leaves_and_the_one_that_waits_is_told() {
    check(|| {
        let (pool, until) = (fixed(2), Arc::new(Latch::new(1)));
        let end = Arc::clone(&until);
        let busy = pool.submit(move || until.wait().unwrap()).unwrap();
        let (own, begun) = (Arc::clone(&pool), Arc::new(Latch::new(1)));
        let says = Arc::clone(&begun);
        let page = pool.submit(move || {
            says.count_down();
            join(own.submit(|| ()).unwrap()).is_some()
        });
        begun.wait().unwrap(); // so both threads have begun
        pool.set_threads(1).unwrap();
        end.count_down();
        busy.join().unwrap();
        assert!(!page.unwrap().join().unwrap());
        pool.close();
    });
}

/// A thread waits in a hook; the pool no longer counts this thread. The other thread of the pool is free.
#[test]
fn a_thread_that_has_left_its_pool_is_not_one_of_those_that_wait() {
    struct WaitsAtTheEnd(OnceLock<Weak<ThreadPoolExecutor>>);
    impl Hooks for WaitsAtTheEnd {
        fn worker_ended(&self) {
            let pool = self.0.get().and_then(Weak::upgrade);
            if let Some(Ok(handle)) = pool.map(|pool| pool.submit(|| ())) {
                handle.join().expect("a thread is free");
            }
        }
    }
    check(|| {
        let hooks = Arc::new(WaitsAtTheEnd(OnceLock::new()));
        let pool = shared(ThreadPoolExecutor::builder().threads(2).prestart().hooks(Arc::clone(&hooks)));
        hooks.0.set(Arc::downgrade(&pool)).unwrap();
        pool.set_threads(1).unwrap();
        pool.submit(|| ()).unwrap().join().unwrap();
        pool.close();
        assert_eq!(pool.stats().starved, 0);
    });
}
