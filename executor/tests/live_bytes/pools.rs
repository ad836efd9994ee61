//! Scenarios for pools and their threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, FifoQueue, HandOffQueue, LifoQueue, PriorityQueue, RejectReason, TaskHandle, ThreadFactory,
    ThreadPoolExecutor, Worker, prelude::*,
};

use crate::support::{Signal, all_others_sleep, large, large_task, occupy, until};

pub(crate) fn never_used() -> impl Fn() + Sync {
    || {
        drop(ThreadPoolExecutor::fixed(2));
        drop(ThreadPoolExecutor::cached());
        drop(ThreadPoolExecutor::single());
        drop(ThreadPoolExecutor::builder().threads(3).prestart().build().unwrap());
        drop(ThreadPoolExecutor::builder().threads(3).name("unbuilt"));
        ThreadPoolExecutor::fixed(1).close();
        drop(ThreadPoolExecutor::fixed(1).shutdown_now());
    }
}

pub(crate) fn every_queue() -> impl Fn() + Sync {
    || {
        let builder = || ThreadPoolExecutor::builder().core_threads(1).maximum_threads(1);
        let pools = [
            builder().queue(LifoQueue::unbounded()),
            builder().queue(PriorityQueue::new()),
            builder().queue(PriorityQueue::by(|a, b| a.id().cmp(&b.id()))),
            builder().queue(FifoQueue::bounded(10)),
            builder().queue(HandOffQueue::new()),
        ];
        for pool in pools {
            let pool = pool.build().unwrap();
            let busy = occupy(&pool);
            let handles: Vec<_> = (0..5).map(|_| pool.submit(large())).collect();
            assert!(handles.iter().flatten().take(2).all(TaskHandle::cancel));
            drop(busy);
            drop(pool);
            drop(handles);
        }
    }
}

pub(crate) fn dropped_on_its_own_thread() -> impl Fn() + Sync {
    || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let (begun, dropped) = (Signal::default(), Signal::default());
        let there = (Arc::clone(&pool), begun.clone(), dropped.clone());
        let last = pool.submit(move || {
            there.1.set();
            there.2.wait();
            drop(there.0);
        });
        begun.wait();
        drop(pool);
        dropped.set();
        last.unwrap().join().unwrap();
    }
}

pub(crate) fn handed_back() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..10).map(|_| pool.submit(large()).unwrap()).collect();
        (0..10).for_each(|_| pool.execute(large_task()).unwrap());
        let mut handed_back = pool.shutdown_now();
        assert_eq!(handed_back.len(), 20);
        handed_back.drain(..5).for_each(|task| drop(task.run()));
        drop(handed_back);
        assert_eq!(handles.into_iter().filter_map(|handle| handle.join().ok()).count(), 5);
        drop(busy);
    }
}

/// Each burst is larger than the burst before, so a queue that kept its memory would grow in each round. When
/// the pool is idle again, it must not use more memory than before.
pub(crate) fn bursts_in_a_pool_that_stays() -> impl Fn() + Sync {
    let pool = ThreadPoolExecutor::builder().threads(1).prestart().build().unwrap();
    let tasks = AtomicUsize::new(10_000);
    move || {
        let busy = occupy(&pool);
        for _ in 0..tasks.fetch_add(1_000, Ordering::Relaxed) {
            pool.execute(|| ()).unwrap();
        }
        drop(busy);
        until("the burst is over", || pool.stats().queued == 0 && pool.stats().active == 0);
        until("the worker sleeps", all_others_sleep);
    }
}

pub(crate) fn workers_that_time_out() -> impl Fn() + Sync {
    let pool = ThreadPoolExecutor::builder().core_threads(0).maximum_threads(3).keep_alive(Duration::ZERO);
    let pool = pool.queue(HandOffQueue::new()).build().unwrap();
    move || {
        for _ in 0..3 {
            let busy = [occupy(&pool), occupy(&pool), occupy(&pool)];
            drop(busy);
            until("the workers have timed out", || pool.stats().threads == 0);
        }
    }
}

/// A factory whose threads have no names. In each round a different worker remains, and a longer number in
/// the worker's name would need one more byte.
struct Nameless;

impl ThreadFactory for Nameless {
    fn start(&self, worker: Worker) -> std::io::Result<()> {
        thread::Builder::new().spawn(move || worker.run()).map(drop)
    }
}

pub(crate) fn workers_in_surplus() -> impl Fn() + Sync {
    let pool = ThreadPoolExecutor::builder().core_threads(1).maximum_threads(4).queue(HandOffQueue::new());
    let pool = pool.thread_factory(Nameless).build().unwrap();
    drop(occupy(&pool));
    move || {
        // The new maximum is one more than the number of busy threads, because the idle thread may not wait
        // for a task yet.
        pool.set_maximum_threads(4).unwrap();
        let busy = [occupy(&pool), occupy(&pool), occupy(&pool)];
        pool.set_maximum_threads(1).unwrap();
        drop(busy);
        until("the surplus is gone", || pool.stats().threads == 1);
        // The worker that remains may have begun just now. After the worker has counted its first task, it
        // allocates no more memory.
        until("it waits for a task", || pool.execute(|| ()).is_ok());
        until("it has run it", || pool.stats().completed == pool.stats().task_count());
    }
}

/// A factory that starts no thread until the test permits it.
struct Reluctant(Arc<AtomicBool>);

impl ThreadFactory for Reluctant {
    fn start(&self, worker: Worker) -> std::io::Result<()> {
        if self.0.load(Ordering::SeqCst) {
            return Nameless.start(worker);
        }
        Err(std::io::Error::other("no thread"))
    }
}

pub(crate) fn threads_that_do_not_come() -> impl Fn() + Sync {
    || {
        let comes = Arc::new(AtomicBool::new(false));
        let factory = Reluctant(Arc::clone(&comes));
        let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(factory).build().unwrap();
        for _ in 0..3 {
            assert!(matches!(pool.submit(large()).unwrap_err().reason, RejectReason::NoThread(_)));
        }
        comes.store(true, Ordering::SeqCst);
        assert_eq!(pool.submit(large()).unwrap().join().unwrap(), 200);
    }
}

pub(crate) fn hung_on_a_token_that_stays() -> impl Fn() + Sync {
    let token = CancelToken::new();
    move || {
        let hangs = |token| ThreadPoolExecutor::builder().threads(2).cancel_token(token).build().unwrap();
        let pool = hangs(&token);
        pool.execute(large_task()).unwrap();
        pool.close();
        drop(hangs(&token));
        let round = token.child();
        let (pool, stopper) = (hangs(&round), hangs(&round).stopper());
        let busy = occupy(&pool);
        pool.execute(large_task()).unwrap();
        round.cancel();
        drop(busy);
        assert!(stopper.is_terminated());
    }
}
