//! Tests of handles as futures: a thread joins a handle, but an asynchronous task can await the handle.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use executor::{
    CancelToken, FutureTask, JoinError, TaskError, TaskState, ThreadPoolExecutor, block_on, prelude::*,
};

use crate::support::{LONG, Signal, assert_matches, blocked, occupy, on_every_executor, within_deadline};

/// A waker that counts how often it is called.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn waker() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        let waker = Waker::from(Arc::clone(&count));
        (count, waker)
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn a_handle_can_be_awaited() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let sum = async {
                let (two, three) = (executor.submit(|| 2).unwrap(), executor.submit(|| 3).unwrap());
                two.await.unwrap() + three.await.unwrap()
            };
            assert_eq!(pollster::block_on(sum), 5);
        });
    });
}

#[test]
fn an_awaiting_task_is_woken_by_the_outcome() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 1).unwrap();
        let awaiting = blocked(move || pollster::block_on(handle));
        assert!(awaiting.still_waits());
        drop(busy);
        assert_eq!(awaiting.result().unwrap(), 1);
    });
}

#[test]
fn awaiting_tells_of_a_panic_and_of_a_cancellation() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::<()>::new(|| std::panic::resume_unwind(Box::new("no")));
        task.run();
        assert_matches!(pollster::block_on(handle), Err(TaskError::Panicked(panic)) if panic.message() == "no");

        let FutureTask { task, handle } = FutureTask::new(|| ());
        let awaiting = blocked(move || pollster::block_on(handle));
        drop(task);
        assert_matches!(awaiting.result(), Err(TaskError::Cancelled(_)));
    });
}

#[test]
fn it_wakes_once_and_only_the_waker_of_the_last_poll() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    let mut handle = pin!(handle);
    let ((first, first_waker), (last, last_waker)) = (Count::waker(), Count::waker());
    assert!(handle.as_mut().poll(&mut Context::from_waker(&first_waker)).is_pending());
    assert!(handle.as_mut().poll(&mut Context::from_waker(&last_waker)).is_pending());
    assert_eq!((first.get(), last.get()), (0, 0));
    task.run();
    assert_eq!((first.get(), last.get()), (0, 1));
    assert_matches!(handle.poll(&mut Context::from_waker(&last_waker)), Poll::Ready(Ok(1)));
}

#[test]
fn a_finished_handle_is_ready_at_the_first_poll() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    task.run();
    let (count, waker) = Count::waker();
    assert_matches!(pin!(handle).poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(1)));
    assert_eq!((count.get(), Arc::strong_count(&count)), (0, 2), "not woken, and the waker was not kept");
}

#[test]
fn the_waker_is_dropped_with_the_outcome() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    let mut handle = pin!(handle);
    let (count, waker) = Count::waker();
    assert!(handle.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(Arc::strong_count(&count), 2);
    task.run();
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn polling_again_after_the_result_panics() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    task.run();
    let (mut handle, mut context) = (pin!(handle), Context::from_waker(Waker::noop()));
    assert!(handle.as_mut().poll(&mut context).is_ready());
    assert!(catch_unwind(AssertUnwindSafe(|| handle.as_mut().poll(&mut context))).is_err());
}

/// Asynchronous code can await a handle on any runtime. In this test one runtime polls a handle, and then
/// another runtime polls the same handle; both get the same result.
#[test]
fn two_runtimes_can_await_handles_of_one_pool() {
    within_deadline(|| {
        let tokio = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let pool = ThreadPoolExecutor::fixed(2);
        let busy = [occupy(&pool), occupy(&pool)];
        let numbers =
            |range: std::ops::Range<u64>| range.map(|n| pool.submit(move || n).unwrap()).collect::<Vec<_>>();

        let (for_tokio, for_smol) = (numbers(0..50), numbers(50..100));
        let on_tokio = blocked(move || {
            tokio().block_on(async {
                let tasks: Vec<_> = for_tokio.into_iter().map(tokio::spawn).collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.unwrap().unwrap();
                }
                sum
            })
        });
        let on_smol = blocked(move || {
            let smol = async_executor::Executor::new(); // the one under `smol`
            let tasks: Vec<_> = for_smol.into_iter().map(|handle| smol.spawn(handle)).collect();
            pollster::block_on(smol.run(async {
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.unwrap();
                }
                sum
            }))
        });
        let mut travels = pool.submit(|| 7).unwrap();
        tokio().block_on(async {
            let once =
                std::future::poll_fn(|context| Poll::Ready(pin!(&mut travels).poll(context).is_pending()));
            assert!(once.await, "the pool is busy");
        });
        let travels = blocked(move || pollster::block_on(travels));
        drop(busy);
        assert_eq!(on_tokio.result() + on_smol.result(), (0..100).sum::<u64>());
        assert_eq!(travels.result().unwrap(), 7);
    });
}

#[test]
fn a_handle_may_be_polled_first_and_joined_later_and_the_other_way_round() {
    within_deadline(|| {
        let FutureTask { task, mut handle } = FutureTask::new(|| 1);
        let (count, waker) = Count::waker();
        assert!(pin!(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        let joining = blocked(move || handle.join());
        task.run();
        assert_eq!(joining.result().unwrap(), 1);
        assert_eq!(count.get(), 0, "the thread has taken the place of the waker");

        let FutureTask { task, handle } = FutureTask::new(|| 2);
        let Err(JoinError::TimedOut(handle)) = handle.join_timeout(Duration::ZERO) else {
            panic!("no thread has run it");
        };
        let awaiting = blocked(move || pollster::block_on(handle));
        task.run();
        assert_eq!(awaiting.result().unwrap(), 2);
    });
}

// ----- a handle whose drop cancels its task -----

#[test]
fn a_dropped_future_cancels_its_task_in_the_queue_and_while_it_runs() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (tell, told) = mpsc::channel();
        let (begun, there) = (Signal::new(), Signal::new());
        let runs = begun.clone();
        let running = pool.submit(move || {
            runs.set();
            tell.send(CancelToken::current().sleep(LONG).unwrap_err()).unwrap();
        });
        let mut running = running.unwrap().cancel_on_drop();
        let waiting = pool.submit(move || there.set()).unwrap().cancel_on_drop();
        begun.wait();
        assert!(pin!(&mut running).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(waiting);
        assert_eq!(pool.stats().queued, 0);
        drop(running); // as a time-out or a `select!` does
        let cancelled = told.recv_timeout(LONG).unwrap();
        assert_eq!(cancelled.reason().unwrap().message(), Some("its handle was dropped"));
    });
}

#[test]
fn a_handle_that_cancels_on_drop_gives_the_result_and_can_be_disarmed() {
    let FutureTask { task, handle } = FutureTask::new(|| 7);
    let handle = handle.cancel_on_drop();
    task.run();
    assert_eq!(block_on(handle).unwrap().unwrap(), 7);

    let FutureTask { task, handle } = FutureTask::new(|| 7);
    let handle = handle.cancel_on_drop().into_handle();
    let canceller = handle.canceller();
    drop(handle);
    assert_eq!(canceller.state(), TaskState::Pending);
    task.run();
}

// ----- a thread that waits for a future -----

#[test]
fn a_thread_that_waits_for_a_future_is_woken() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let (two, three) = (pool.submit(|| 2).unwrap(), pool.submit(|| 3).unwrap());
        let waits = blocked(move || block_on(async { two.await.unwrap() + three.await.unwrap() }));
        assert!(waits.still_waits());
        drop(busy);
        assert_eq!(waits.result().unwrap(), 5);
    });
}

#[test]
fn a_cancel_ends_the_wait_for_a_future_and_reaches_what_the_future_owns() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let token = CancelToken::new();
        let own = token.clone();
        let waits = blocked(move || own.attach(|| block_on(handle.cancel_on_drop())));
        token.cancel_because("the client hung up");
        let cancelled = waits.result().unwrap_err();
        assert_eq!(cancelled.reason().unwrap().message(), Some("the client hung up"));
        assert!(task.is_cancelled());
    });
}

#[test]
fn a_future_that_is_ready_is_not_hidden_from_a_cancelled_task() {
    let token = CancelToken::new();
    token.cancel();
    token.attach(|| {
        assert_eq!(block_on(std::future::ready(7)).unwrap(), 7);
        assert!(block_on(std::future::pending::<()>()).is_err());
    });
}

/// One future waits during a poll, and another future panics in its last poll: neither the wait nor the panic
/// harms the next wait of the thread.
#[test]
fn a_future_can_wait_and_can_panic() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let inner = || block_on(pool.submit(|| 1).unwrap()).unwrap().unwrap();
        assert_eq!(block_on(async { inner() + pool.submit(|| 2).unwrap().await.unwrap() }).unwrap(), 3);
        let explodes = async {
            pool.submit(|| ()).unwrap().await.unwrap();
            std::panic::resume_unwind(Box::new("no"));
        };
        assert!(catch_unwind(AssertUnwindSafe(|| block_on(explodes))).is_err());
        assert_eq!(inner(), 1);
    });
}
