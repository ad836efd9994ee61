//! Scenarios for the ways in which a task can end.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

use executor::{
    CallerRuns, CancelToken, CancellableTask, Cancelled, CancellingExecutor, DirectExecutor, Discard,
    DiscardOldest, FifoQueue, FutureTask, JoinError, Task, TaskHandle, ThreadPerTaskExecutor,
    ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, Signal, fail, large, large_task, occupy, run_until_cancelled, until};

pub(crate) fn submitted_and_joined() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        let handles: Vec<_> = (0..100).map(|_| pool.submit(large()).unwrap()).collect();
        assert!(handles.into_iter().all(|handle| handle.join_timeout(LONG).unwrap() == 200));
    }
}

pub(crate) fn executed() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        for n in 0..100 {
            pool.execute(move || assert!(n < 100)).unwrap();
            pool.execute(Task::new(large_task()).named(format!("task {n}")).prioritized(n)).unwrap();
        }
        pool.close();
    }
}

pub(crate) fn handles_dropped() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        (0..100).for_each(|_| drop(pool.submit(large()).unwrap()));
        (0..100).for_each(|_| drop(pool.submit(large()).unwrap().canceller()));
    }
}

pub(crate) fn handles_that_outlive_the_pool() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let done: Vec<_> = (0..10).map(|_| pool.submit(large()).unwrap()).collect();
        let busy = occupy(&pool);
        let waiting: Vec<_> = (0..10).map(|_| pool.submit(large()).unwrap()).collect();
        let handed_back = pool.shutdown_now();
        drop(busy);
        drop(pool);
        drop((done, handed_back, waiting));
    }
}

pub(crate) fn cancelled_in_the_queue() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..100).map(|_| pool.submit(large()).unwrap()).collect();
        assert!(handles.iter().all(TaskHandle::cancel));
        drop(busy);
        drop(handles);
        pool.close();
    }
}

pub(crate) fn cancelled_before_they_came() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        for _ in 0..10 {
            let FutureTask { task, handle } = FutureTask::new(large());
            assert!(handle.cancel());
            pool.execute(task).unwrap();
        }
        drop(busy);
    }
}

pub(crate) fn cancelled_while_they_ran() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(2);
        for _ in 0..10 {
            let handle = run_until_cancelled(&pool);
            assert!(handle.cancel());
            assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
        }
        let handle = run_until_cancelled(&pool);
        assert!(handle.canceller().cancel_keep_running());
        drop(pool.shutdown_now());
    }
}

pub(crate) fn panics_read_and_unread() -> impl Fn() + Sync {
    let heard = Arc::new(AtomicUsize::new(0));
    move || {
        let counted = Arc::clone(&heard);
        let handler = move |_: &executor::panics::PanicReport<'_>| _ = counted.fetch_add(1, Ordering::SeqCst);
        let pool = ThreadPoolExecutor::builder().threads(2).panic_handler(handler).build().unwrap();
        let before = heard.load(Ordering::SeqCst);
        for _ in 0..10 {
            assert!(pool.submit(fail).unwrap().join().is_err());
            drop(pool.submit(fail).unwrap());
            pool.execute(Task::new(fail).named("bad")).unwrap();
            pool.submit(fail).unwrap().on_done(drop);
        }
        pool.close();
        until("the unread ones are reported", || heard.load(Ordering::SeqCst) == before + 20);
    }
}

pub(crate) fn panics_after_a_cancel() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::single();
        let (begun, release) = (Signal::default(), Signal::default());
        let there = (begun.clone(), release.clone());
        let handle = pool.submit(move || {
            there.0.set();
            there.1.wait();
            fail();
        });
        begun.wait();
        assert!(handle.as_ref().unwrap().cancel());
        release.set();
        pool.close();
    }
}

pub(crate) fn taken_out_and_purged() -> impl Fn() + Sync {
    || {
        let pool = ThreadPoolExecutor::fixed(1);
        let busy = occupy(&pool);
        let handles: Vec<_> = (0..40).map(|_| pool.submit(large()).unwrap()).collect();
        assert!(handles[..10].iter().all(|handle| handle.remove().is_some()));
        assert!(handles[10..20].iter().all(|handle| pool.remove(handle.id()).is_some()));
        assert!(handles[20..30].iter().all(TaskHandle::cancel));
        pool.purge();
        drop(busy);
    }
}

pub(crate) fn refused() -> impl Fn() + Sync {
    || {
        let full = || ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
        let pools = [full(), full().rejection_handler(CallerRuns), full().rejection_handler(Discard)];
        for pool in pools.into_iter().chain([full().rejection_handler(DiscardOldest)]) {
            let pool = pool.build().unwrap();
            let busy = occupy(&pool);
            let handles: Vec<_> = (0..5).map(|_| pool.submit(large())).collect();
            drop(busy);
            pool.shutdown();
            drop(pool.submit(large()));
            drop(handles);
        }
    }
}

/// A task that receives from a channel until it is cancelled.
struct Receive(mpsc::Receiver<()>, mpsc::Sender<()>);

impl CancellableTask for Receive {
    type Output = ();

    fn run(self, _: &CancelToken) -> Result<(), Cancelled> {
        self.0.recv_timeout(LONG).map_err(|_| Cancelled)
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let sender = self.1.clone();
        move || _ = sender.send(())
    }
}

pub(crate) fn with_their_own_canceller() -> impl Fn() + Sync {
    || {
        let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(2));
        for _ in 0..5 {
            let (sender, receiver) = mpsc::channel();
            let handle = executor.submit_task(Receive(receiver, sender)).unwrap();
            assert!(handle.cancel());
        }
    }
}

pub(crate) fn without_a_pool() -> impl Fn() + Sync {
    || {
        DirectExecutor.execute(large_task()).unwrap();
        assert_eq!(DirectExecutor.submit(large()).unwrap().join().unwrap(), 200);
        assert!(DirectExecutor.submit(fail).unwrap().join().is_err());
        let threads = ThreadPerTaskExecutor::new();
        threads.execute(large_task()).unwrap();
        assert_eq!(threads.submit(large()).unwrap().join().unwrap(), 200);
        assert!(run_until_cancelled(&threads).cancel());
        drop(Task::new(large_task()));
        drop(FutureTask::new(large()));
    }
}
