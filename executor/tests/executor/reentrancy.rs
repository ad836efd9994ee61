//! User code never runs under a lock of the library. So wherever the library calls or drops user code, this
//! code can use the pool, the handle and the token. A fault here causes a deadlock, and the test fails when
//! the test's deadline comes.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use executor::{CancelToken, Canceller, ExecutorService, FutureTask, ThreadPoolExecutor, prelude::*};

use crate::support::{Signal, eventually, occupy, on_thread, within_deadline};

/// A value that uses the pool, the canceller and the token when the value is called or dropped.
#[derive(Clone)]
struct Meddler {
    pool: Arc<ThreadPoolExecutor>,
    canceller: Canceller,
    token: CancelToken,
    has_meddled: Signal,
}

impl Meddler {
    /// The field `canceller` is the canceller of the task that is being created, run or dropped.
    fn new(pool: &Arc<ThreadPoolExecutor>, canceller: Canceller) -> Self {
        Self { pool: Arc::clone(pool), canceller, token: CancelToken::new(), has_meddled: Signal::new() }
    }

    fn meddle(&self) {
        let _ = (self.pool.stats(), self.pool.queued(), self.pool.execute(|| ()));
        let _ = (self.canceller.state(), self.canceller.cancel());
        let _ = (self.token.child().cancel(), self.token.on_cancel(|| ()));
        self.has_meddled.set();
    }

    /// Returns a value whose drop uses the pool, the canceller and the token.
    fn trap(&self) -> Trap {
        Trap(self.clone())
    }
}

struct Trap(Meddler);

impl Drop for Trap {
    fn drop(&mut self) {
        self.0.meddle();
    }
}

/// Returns a task whose canceller exists before the body runs, so that the body can use the canceller.
fn task_with_meddler<T: Send + 'static>(
    pool: &Arc<ThreadPoolExecutor>,
    body: impl FnOnce(Meddler) -> T + Send + 'static,
) -> (FutureTask<T>, Meddler) {
    let (tell, told) = std::sync::mpsc::channel::<Meddler>();
    let task = FutureTask::new(move || body(told.recv().unwrap()));
    let meddler = Meddler::new(pool, task.handle.canceller());
    tell.send(meddler.clone()).unwrap();
    (task, meddler)
}

#[test]
fn the_drop_of_what_a_cancelled_task_has_captured() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let _busy = occupy(&pool);
        let outer = pool.submit(|| ()).unwrap();
        let trap = Meddler::new(&pool, outer.canceller()).trap();
        let meddled = trap.0.has_meddled.clone();
        let handle = pool.submit(move || drop(trap)).unwrap();
        assert!(handle.cancel());
        assert!(meddled.is_set());
    });
}

#[test]
fn the_drop_of_tasks_handed_back() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let _busy = occupy(&pool);
        let trap = Meddler::new(&pool, pool.submit(|| ()).unwrap().canceller()).trap();
        let meddled = trap.0.has_meddled.clone();
        pool.execute(move || drop(trap)).unwrap();
        drop(pool.shutdown_now());
        assert!(meddled.is_set());
    });
}

#[test]
fn the_drop_of_a_result_that_nobody_wants() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        // The canceller belongs to another task. A task must not capture its own canceller, because the
        // canceller and the result would then keep each other alive.
        let trap = Meddler::new(&pool, pool.submit(|| ()).unwrap().canceller()).trap();
        let meddled = trap.0.has_meddled.clone();
        drop(pool.submit(move || trap).unwrap());
        meddled.wait();
    });
}

#[test]
fn the_drop_of_a_result_that_comes_after_the_cancellation() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (task, meddler) = task_with_meddler(&pool, |meddler| {
            meddler.canceller.cancel();
            meddler.trap()
        });
        let _handle = pool.submit(task).unwrap();
        meddler.has_meddled.wait();
    });
}

#[test]
fn the_drop_of_a_payload() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (task, meddler) =
            task_with_meddler(&pool, |meddler| std::panic::resume_unwind(Box::new(meddler.trap())));
        let handle: executor::TaskHandle<()> = pool.submit(task).unwrap();
        assert!(handle.join().is_err());
        meddler.has_meddled.wait();
    });
}

#[test]
fn a_callback_that_is_told_of_the_outcome_in_time_and_late() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        for late in [false, true] {
            let busy = occupy(&pool);
            let (task, meddler) = task_with_meddler(&pool, |_| ());
            let handle = pool.submit(task).unwrap();
            let busy = if late {
                drop(busy);
                eventually("it is finished", || handle.is_finished());
                None
            } else {
                Some(busy)
            };
            let there = meddler.clone();
            handle.on_done(move |_| there.meddle());
            drop(busy);
            meddler.has_meddled.wait();
        }
    });
}

#[test]
fn a_callback_of_a_cancelled_task() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let ready = Signal::new();
        let there = ready.clone();
        let (task, meddler) = task_with_meddler(&pool, move |meddler| {
            let token = CancelToken::current();
            let callback = {
                let token = token.clone();
                move || {
                    token.cancel();
                    drop(token.child());
                    meddler.meddle();
                }
            };
            token.on_cancel(callback).keep();
            there.set();
            let _ = token.sleep(Duration::MAX);
        });
        let handle = pool.submit(task).unwrap();
        ready.wait();
        assert!(handle.cancel());
        assert!(meddler.has_meddled.is_set());
    });
}

#[test]
fn a_callback_when_the_whole_pool_is_stopped() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let ready = Signal::new();
        let there = ready.clone();
        let (task, meddler) = task_with_meddler(&pool, move |meddler| {
            let token = CancelToken::current();
            let callback = move || {
                drop(meddler.pool.shutdown_now());
                meddler.meddle();
            };
            token.on_cancel(callback).keep();
            there.set();
            let _ = token.sleep(Duration::MAX);
        });
        let _handle = pool.submit(task).unwrap();
        ready.wait();
        drop(pool.shutdown_now());
        assert!(meddler.has_meddled.is_set());
    });
}

#[test]
fn a_waker_that_is_woken_and_one_that_is_replaced() {
    struct Meddling(Meddler);
    impl Wake for Meddling {
        fn wake(self: Arc<Self>) {
            self.0.meddle();
        }
    }
    impl Drop for Meddling {
        fn drop(&mut self) {
            self.0.meddle();
        }
    }

    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let shared = handle.shared();
        let elsewhere = pool.submit(|| ()).unwrap();
        let poll_once = |future: &mut (dyn Future<Output = _> + Unpin), meddler: &Meddler| {
            let waker = Waker::from(Arc::new(Meddling(meddler.clone())));
            std::pin::Pin::new(future).poll(&mut Context::from_waker(&waker)).is_pending()
        };
        let meddler = Meddler::new(&pool, elsewhere.canceller());
        let mut polled = shared.clone();
        assert!(poll_once(&mut polled, &meddler));
        assert!(!meddler.has_meddled.is_set());
        drop(on_thread(move || task.run()).result());
        assert!(meddler.has_meddled.is_set());
        drop((shared, polled));
    });

    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (FutureTask { task, mut handle }, meddler) = task_with_meddler(&pool, |_| ());
        let waker = Waker::from(Arc::new(Meddling(meddler.clone())));
        assert!(std::pin::Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert!(!meddler.has_meddled.is_set());
        let _ = std::pin::Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop()));
        assert!(meddler.has_meddled.is_set(), "the replaced waker was dropped");
        drop(task);
    });
}

impl std::fmt::Debug for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("trap")
    }
}
impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("trap")
    }
}
impl std::error::Error for Trap {}

/// If the pool can queue the task when the factory fails, the pool drops the factory's error, or the payload
/// of the factory's panic.
#[test]
fn the_drop_of_what_a_factory_panics_or_fails_with() {
    struct Bad {
        first: std::sync::atomic::AtomicBool,
        trap: std::sync::Mutex<Option<Trap>>,
        panics: bool,
    }
    impl executor::ThreadFactory for Bad {
        fn start(&self, worker: executor::Worker) -> std::io::Result<()> {
            if self.first.swap(false, std::sync::atomic::Ordering::SeqCst) {
                return std::thread::Builder::new().spawn(|| worker.run()).map(drop);
            }
            match self.trap.lock().unwrap().take() {
                Some(trap) if self.panics => std::panic::resume_unwind(Box::new(trap)),
                Some(trap) => Err(std::io::Error::other(trap)),
                None => Err(std::io::ErrorKind::WouldBlock.into()),
            }
        }
    }

    within_deadline(|| {
        for panics in [true, false] {
            let factory = Arc::new(Bad { first: true.into(), trap: std::sync::Mutex::default(), panics });
            let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(Arc::clone(&factory));
            let pool = Arc::new(pool.build().unwrap());
            let _busy = occupy(&pool);
            let elsewhere = FutureTask::new(|| ());
            let trap = Meddler::new(&pool, elsewhere.handle.canceller()).trap();
            let meddled = trap.0.has_meddled.clone();
            *factory.trap.lock().unwrap() = Some(trap);
            pool.execute(|| ()).unwrap();
            assert!(meddled.is_set());
        }
    });
}
