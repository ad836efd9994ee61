//! Tests of tasks that borrow values, on every kind of executor.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use executor::fork_join::ForkJoinPool;
use executor::{
    BoundedExecutor, CancelToken, DirectExecutor, Discard, Executor, ExecutorService, FifoQueue,
    ManualExecutor, RejectReason, ScheduledThreadPoolExecutor, SerialExecutor, ThreadPerTaskExecutor,
    ThreadPoolExecutor, TrackingExecutor, prelude::*,
};

use crate::support::{LONG, Signal, eventually, occupy, on_thread, within_deadline};

fn every_executor(check: impl Fn(&dyn Executor)) {
    check(&DirectExecutor);
    check(&ThreadPerTaskExecutor);
    check(&ThreadPoolExecutor::fixed(2));
    check(&ThreadPoolExecutor::single());
    check(&ForkJoinPool::new(2).unwrap());
    check(&SerialExecutor::over(ThreadPoolExecutor::fixed(2)));
    check(&BoundedExecutor::over(ThreadPoolExecutor::fixed(2), 10));
    check(&TrackingExecutor::over(ThreadPoolExecutor::fixed(2)));
    check(&ScheduledThreadPoolExecutor::new(1));
}

#[test]
fn tasks_borrow_and_have_all_ended_when_the_scope_has_on_every_executor() {
    within_deadline(|| {
        every_executor(|executor| {
            let mut numbers = vec![0; 40];
            executor
                .scope(|scope| {
                    for (n, part) in numbers.chunks_mut(4).enumerate() {
                        scope.spawn(move || part.fill(n)).unwrap();
                    }
                })
                .unwrap();
            assert_eq!(numbers, (0..40).map(|n| n / 4).collect::<Vec<usize>>());
        });
    });
}

#[test]
fn a_task_may_spawn_more() {
    within_deadline(|| {
        every_executor(|executor| {
            let count = AtomicUsize::new(0);
            executor
                .scope(|scope| {
                    for _ in 0..3 {
                        scope
                            .spawn(|| {
                                count.fetch_add(1, Ordering::SeqCst);
                                scope.spawn(|| _ = count.fetch_add(10, Ordering::SeqCst)).unwrap();
                            })
                            .unwrap();
                    }
                })
                .unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 33);
        });
    });
}

#[test]
fn the_value_of_the_body_comes_back() {
    assert_eq!(DirectExecutor.scope(|_| 5), Ok(5));
}

#[test]
fn a_scope_on_the_only_worker_of_its_own_pool_runs_its_tasks_itself() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let sum = pool.submit(move || {
            let sum = AtomicUsize::new(0);
            let add = |n| _ = sum.fetch_add(n, Ordering::SeqCst);
            own.scope(|scope| {
                for n in 1..=4 {
                    scope.spawn(move || add(n)).unwrap();
                }
            })
            .unwrap();
            sum.into_inner()
        });
        assert_eq!(sum.unwrap().join().unwrap(), 10);
    });
}

#[test]
fn the_first_panic_of_a_task_is_passed_on_when_all_have_ended() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let ended = AtomicBool::new(false);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let go = Signal::new();
            pool.scope(|scope| {
                let until = go.clone();
                let ended = &ended;
                scope
                    .spawn(move || {
                        until.wait();
                        ended.store(true, Ordering::SeqCst);
                    })
                    .unwrap();
                scope
                    .spawn(move || {
                        go.set();
                        panic!("of a task");
                    })
                    .unwrap();
            })
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"of a task"));
        assert!(ended.load(Ordering::SeqCst));
        assert_eq!(pool.submit(|| 1).unwrap().join().unwrap(), 1);
    });
}

#[test]
fn if_the_body_panics_what_has_not_begun_is_dropped_and_what_has_is_waited_for() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (begun, ended, ran) = (Signal::new(), AtomicBool::new(false), AtomicBool::new(false));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|scope| {
                scope
                    .spawn(|| {
                        begun.set();
                        let cut_short = CancelToken::current().sleep(LONG).is_err();
                        ended.store(cut_short, Ordering::SeqCst);
                    })
                    .unwrap();
                scope.spawn(|| ran.store(true, Ordering::SeqCst)).unwrap();
                begun.wait();
                panic!("of the body");
            })
        }));
        let payload = panicked.map(|_: Result<(), _>| ()).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"of the body"));
        assert!(ended.load(Ordering::SeqCst), "its token was not cancelled, or it was not waited for");
        assert!(!ran.load(Ordering::SeqCst));
    });
}

#[test]
fn stopping_the_pool_drops_the_tasks_of_a_scope_and_hands_none_out() {
    within_deadline(|| {
        for over in 0..4 {
            let pool: Arc<dyn ExecutorService> = match over {
                0 => Arc::new(ThreadPoolExecutor::single()),
                1 => Arc::new(SerialExecutor::owning(ThreadPoolExecutor::single())),
                2 => Arc::new(ForkJoinPool::new(1).unwrap()),
                _ => Arc::new(TrackingExecutor::owning(ThreadPoolExecutor::single())),
            };
            let held = occupy(&*pool);
            let ran = Arc::new(AtomicBool::new(false));
            let (theirs, mark) = (Arc::clone(&pool), Arc::clone(&ran));
            let spawned = Signal::new();
            let told = spawned.clone();
            let scope = on_thread(move || {
                theirs.scope(|scope| {
                    scope.spawn(|| mark.store(true, Ordering::SeqCst)).unwrap();
                    scope.spawn(|| mark.store(true, Ordering::SeqCst)).unwrap();
                    told.set();
                })
            });
            spawned.wait();
            assert!(pool.shutdown_now().is_empty(), "{over}");
            let error = scope.result().unwrap_err();
            assert_eq!(error.to_string(), "2 tasks of the scope were dropped before they had begun");
            assert!(!ran.load(Ordering::SeqCst));
            drop(held);
        }
    });
}

#[test]
fn a_pool_that_discards_a_task_ends_its_scope() {
    within_deadline(|| {
        let pool =
            ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard).build();
        let pool = pool.unwrap();
        let held = occupy(&pool);
        let ran = AtomicUsize::new(0);
        let result = pool.scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| _ = ran.fetch_add(1, Ordering::SeqCst)).unwrap();
            }
            drop(held);
        });
        assert_eq!((result.unwrap_err().dropped, ran.load(Ordering::SeqCst)), (2, 1));
    });
}

#[test]
fn a_refused_task_is_dropped_and_the_caller_knows_why() {
    let pool = ThreadPoolExecutor::single();
    pool.shutdown();
    let result = pool.scope(|scope| scope.spawn(|| unreachable!("it was refused")));
    assert!(matches!(result, Ok(Err(RejectReason::Shutdown))));
}

#[test]
fn a_cancel_of_the_calling_task_drops_what_has_not_begun_and_reaches_what_has() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let (begun, spawned) = (Signal::new(), Signal::new());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (theirs, seen) = (Arc::clone(&pool), Arc::clone(&log));
        let (there, told) = (begun.clone(), spawned.clone());
        let token = CancelToken::new();
        let attached = token.clone();
        let scope = on_thread(move || {
            attached.attach(|| {
                theirs.scope(|scope| {
                    scope
                        .spawn(|| {
                            there.set();
                            seen.lock().unwrap().push(CancelToken::current().sleep(LONG).is_err());
                        })
                        .unwrap();
                    scope.spawn(|| seen.lock().unwrap().push(false)).unwrap();
                    told.set();
                })
            })
        });
        begun.wait();
        spawned.wait();
        token.cancel();
        assert_eq!(scope.result().unwrap_err().dropped, 1);
        assert_eq!(*log.lock().unwrap(), [true]);
    });
}

#[test]
fn a_scope_can_call_off_its_own_tasks() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (begun, cut_short) = (Signal::new(), AtomicBool::new(false));
        let result = pool.scope(|scope| {
            scope
                .spawn(|| {
                    begun.set();
                    cut_short.store(CancelToken::current().sleep(LONG).is_err(), Ordering::SeqCst);
                })
                .unwrap();
            scope.spawn(|| unreachable!("it is called off")).unwrap();
            begun.wait();
            scope.cancel();
            assert!(scope.token().is_cancelled());
        });
        assert_eq!(result.unwrap_err().dropped, 1);
        assert!(cut_short.load(Ordering::SeqCst));
        assert!(CancelToken::current().check().is_ok());
    });
}

#[test]
fn a_ticket_that_is_kept_does_not_keep_the_scope() {
    within_deadline(|| {
        let executor = Arc::new(ManualExecutor::new());
        let (theirs, ran) = (Arc::clone(&executor), Arc::new(AtomicBool::new(false)));
        let mark = Arc::clone(&ran);
        let scope = on_thread(move || {
            theirs.scope(|scope| {
                scope.spawn(|| mark.store(true, Ordering::SeqCst)).unwrap();
            })
        });
        eventually("it is pending", || executor.pending().len() == 1);
        let ticket = executor.take_next().unwrap();
        assert!(scope.still_waits());
        drop(ticket);
        assert_eq!(scope.result().unwrap_err().dropped, 1);
        assert!(!ran.load(Ordering::SeqCst));
    });
}

#[test]
fn on_a_worker_a_ticket_that_nobody_runs_does_not_keep_the_scope() {
    within_deadline(|| {
        let (manual, pool) = (Arc::new(ManualExecutor::new()), ThreadPoolExecutor::single());
        let theirs = Arc::clone(&manual);
        let count = pool.submit(move || {
            let count = AtomicUsize::new(0);
            theirs.scope(|scope| scope.spawn(|| _ = count.fetch_add(1, Ordering::SeqCst)).unwrap()).unwrap();
            count.into_inner()
        });
        assert_eq!(count.unwrap().join().unwrap(), 1);
        manual.run_all(); // the ticket comes too late
    });
}

#[test]
fn scopes_from_many_threads_at_once_lose_nothing() {
    within_deadline(|| {
        let pool = ForkJoinPool::new(2).unwrap();
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..if cfg!(miri) { 3 } else { 100 } {
                        let count = AtomicUsize::new(0);
                        pool.scope(|scope| {
                            for _ in 0..5 {
                                scope.spawn(|| _ = count.fetch_add(1, Ordering::Relaxed)).unwrap();
                            }
                        })
                        .unwrap();
                        assert_eq!(count.into_inner(), 5);
                    }
                });
            }
        });
    });
}
