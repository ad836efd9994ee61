//! Tests very deep recursions, and forks late in a recursion. Such recursions are rare in reasonable
//! programs, but they are possible.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor::fork_join::{ForkJoinPool, InvokeError, blocking, fork, join};
use executor::{CancelToken, TaskHandle, masked, prelude::*};

use super::{fibonacci, pool};
use crate::support::{LONG, Signal, Spot, eventually, within_deadline};

/// A value that calls a closure when the value is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_destructor_may_join_also_while_its_thread_unwinds() {
    within_deadline(|| {
        for pool in [pool(1), pool(2)] {
            let sum = AtomicUsize::new(0);
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                pool.invoke(|| {
                    let _joins = OnDrop(|| {
                        let (a, b) = join(|| fibonacci(10), || fibonacci(11));
                        sum.fetch_add(usize::try_from(a + b).unwrap(), Ordering::SeqCst);
                    });
                    panic!("with a destructor that joins");
                })
            }));
            assert!(panicked.is_err());
            assert_eq!(sum.load(Ordering::SeqCst), 144);
        }
    });
}

#[test]
fn a_destructor_of_what_a_second_half_has_captured_may_panic() {
    within_deadline(|| {
        let pool = pool(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pool.invoke(|| {
                let bomb = OnDrop(|| panic!("of the destructor"));
                join(|| panic!("of the first half"), move || drop(bomb))
            })
        }));
        let payload = panicked.map(|_: Result<((), ()), _>| ()).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"of the first half"));
        assert_eq!(pool.invoke(|| fibonacci(10)).unwrap(), 55);
    });
}

#[test]
fn a_payload_whose_destructor_panics_ends_neither_the_worker_nor_the_caller() {
    within_deadline(|| {
        let pool = pool(2);
        let both = Arc::new(std::sync::Barrier::new(2));
        let fail = |both: &std::sync::Barrier| {
            both.wait();
            panic_any(OnDrop(|| panic!("of the payload")));
        };
        // Both halves panic: the caller gets the payload of one panic, and the pool drops the payload of the
        // other panic.
        let panicked =
            catch_unwind(AssertUnwindSafe(|| pool.invoke(|| join(|| fail(&both), || fail(&both)))));
        std::mem::forget(panicked);
        drop(pool.submit(|| panic_any(OnDrop(|| panic!("of the payload")))).unwrap());
        assert!(pool.await_quiescence(LONG));
        assert_eq!(pool.invoke(|| fibonacci(10)).unwrap(), 55);
    });
}

fn nested_left(depth: u32) -> u64 {
    if depth == 0 { 0 } else { join(|| nested_left(depth - 1), || 1).pipe_sum() }
}

fn nested_right(depth: u32) -> u64 {
    if depth == 0 { 0 } else { join(|| 1, || nested_right(depth - 1)).pipe_sum() }
}

trait PipeSum {
    fn pipe_sum(self) -> u64;
}

impl PipeSum for (u64, u64) {
    fn pipe_sum(self) -> u64 {
        self.0 + self.1
    }
}

#[test]
fn a_recursion_of_ten_thousand_levels_needs_stack_and_nothing_else() {
    within_deadline(|| {
        for threads in [1, 3] {
            let pool = ForkJoinPool::builder().threads(threads).stack_size(256 << 20).build().unwrap();
            assert_eq!(pool.invoke(|| nested_left(10_000)).unwrap(), 10_000);
            assert_eq!(pool.invoke(|| nested_right(10_000)).unwrap(), 10_000);
        }
    });
}

#[test]
fn a_recursion_with_handles_may_be_deeper_than_help_goes() {
    fn dive(depth: u32) -> u32 {
        if depth == 0 { 0 } else { fork(move || dive(depth - 1)).join().unwrap() + 1 }
    }
    within_deadline(|| {
        for threads in [1, 2, 3] {
            let pool = ForkJoinPool::builder().threads(threads).stack_size(64 << 20).build().unwrap();
            assert_eq!(pool.invoke(|| dive(1_000)).unwrap(), 1_000);
        }
    });
}

#[test]
fn many_forks_that_nobody_joins_all_run() {
    within_deadline(|| {
        let pool = pool(2);
        let ran = Arc::new(AtomicUsize::new(0));
        pool.invoke(|| {
            for _ in 0..200_000 {
                let ran = Arc::clone(&ran);
                drop(fork(move || _ = ran.fetch_add(1, Ordering::Relaxed)));
            }
        })
        .unwrap();
        drop(pool);
        assert_eq!(ran.load(Ordering::SeqCst), 200_000);
    });
}

#[test]
fn a_pool_may_be_dropped_by_its_own_worker() {
    within_deadline(|| {
        for _ in 0..100 {
            let pool = Arc::new(pool(2));
            let own = Arc::clone(&pool);
            let go = Signal::new();
            let until = go.clone();
            let task = pool.submit(move || {
                until.wait();
                drop(own);
                fork(|| fibonacci(8)).join().unwrap() + fibonacci(8)
            });
            drop(pool);
            go.set();
            assert_eq!(task.unwrap().join().unwrap(), 42);
        }
    });
}

#[test]
fn a_pool_that_is_stopped_refuses_to_invoke() {
    let pool = pool(1);
    assert!(pool.shutdown_now().is_empty());
    assert!(matches!(pool.invoke(|| ()), Err(InvokeError::Rejected(_))));
    assert!(pool.is_terminated());
}

#[test]
fn shutdowns_while_joins_run_leave_every_result_whole() {
    within_deadline(|| {
        for round in 0..100 {
            let pool = pool(3);
            let begun = Signal::new();
            std::thread::scope(|scope| {
                let computation = scope.spawn(|| {
                    pool.invoke(|| {
                        begun.set();
                        fibonacci(16)
                    })
                });
                begun.wait();
                if round % 2 == 0 {
                    pool.shutdown();
                } else {
                    assert!(pool.shutdown_now().is_empty());
                }
                assert_eq!(computation.join().unwrap().unwrap(), 987);
            });
            assert!(pool.await_termination(LONG));
        }
    });
}

type Last = std::cell::RefCell<Option<OnDrop<Box<dyn FnMut()>>>>;

#[test]
fn a_thread_local_of_a_worker_may_join_when_the_worker_leaves() {
    thread_local! {
        static LAST: Last = const { std::cell::RefCell::new(None) };
    }
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).keep_alive(Duration::ZERO).build().unwrap();
        let (told, sum) = std::sync::mpsc::channel();
        pool.execute(move || {
            let joins = move || {
                let (a, b) = join(|| fibonacci(8), || fibonacci(9));
                told.send(a + b).unwrap();
            };
            LAST.set(Some(OnDrop(Box::new(joins))));
        })
        .unwrap();
        assert_eq!(sum.recv_timeout(LONG), Ok(55));
    });
}

#[test]
fn pools_that_invoke_each_other_end_or_say_that_they_starve() {
    within_deadline(|| {
        let (one, other) = (pool(1), pool(1));
        let ended = one.invoke(|| other.invoke(|| one.invoke(|| 7)));
        assert!(matches!(ended, Ok(Ok(Ok(7) | Err(InvokeError::Starved(_))))), "{ended:?}");
    });
}

#[test]
fn a_name_that_no_thread_can_have_is_no_trap() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(2).name("a\0b").build().unwrap();
        assert_eq!(pool.invoke(|| fibonacci(10)).unwrap(), 55);
    });
}

#[test]
fn a_stack_that_no_system_gives_is_refused_and_no_trap() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(2).stack_size(usize::MAX).build().unwrap();
        assert!(matches!(pool.invoke(|| fibonacci(10)), Err(InvokeError::Rejected(_))));
    });
}

#[test]
fn what_a_fork_has_captured_is_dropped_where_it_may_panic() {
    within_deadline(|| {
        let pool = pool(1);
        let (begun, go) = (Signal::new(), Signal::new());
        let (there, until) = (begun.clone(), go.clone());
        let task = pool.submit(move || {
            let bombs: Vec<TaskHandle<()>> = (0..3)
                .map(|_| {
                    let bomb = OnDrop(|| panic!("of the destructor"));
                    fork(move || drop(bomb))
                })
                .collect();
            there.set();
            until.wait();
            bombs.iter().all(TaskHandle::is_finished)
        });
        begun.wait();
        assert!(pool.shutdown_now().is_empty());
        go.set();
        assert!(task.unwrap().join().unwrap());
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_scope_in_a_join_in_a_scope_borrows_from_all_of_them() {
    within_deadline(|| {
        for threads in [1, 2, 4] {
            let pool = pool(threads);
            let count = AtomicUsize::new(0);
            let add = |n| _ = count.fetch_add(n, Ordering::Relaxed);
            pool.scope(|outer| {
                for _ in 0..3 {
                    outer
                        .spawn(|| {
                            let inner = || {
                                pool.scope(|scope| {
                                    for _ in 0..3 {
                                        scope.spawn(|| add(1)).unwrap();
                                    }
                                    outer.spawn(|| add(100)).unwrap();
                                })
                                .unwrap();
                            };
                            join(inner, inner);
                        })
                        .unwrap();
                }
            })
            .unwrap();
            assert_eq!(count.into_inner(), 618);
        }
    });
}

/// A masked step must not be cut off, so the scope in this step runs its closures.
#[test]
fn a_masked_scope_on_the_only_worker_runs_its_closures_although_the_task_is_cancelled() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let ran = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&ran);
        let task = pool.submit(move || {
            CancelToken::current().cancel();
            masked(|| own.scope(|scope| scope.spawn(|| mark.store(true, Ordering::SeqCst)).unwrap()))
        });
        let task = task.unwrap();
        let _ = task.join();
        assert!(pool.await_quiescence(LONG), "the scope has not ended");
        assert!(ran.load(Ordering::SeqCst));
    });
}

#[test]
fn what_a_task_of_a_scope_spawns_is_run_by_the_scope_that_waits_on_the_last_free_worker() {
    within_deadline(|| {
        let pool = Arc::new(executor::ThreadPoolExecutor::fixed(2));
        let slot = Arc::new(Mutex::new(None::<TaskHandle<()>>));
        let (own, its) = (Arc::clone(&pool), Arc::clone(&slot));
        let (begun, go) = (Signal::new(), Signal::new());
        let (there, until) = (begun.clone(), go.clone());
        let at_its_end = Spot::default();
        let scope_ends = at_its_end.clone();
        let scoped = pool.submit(move || {
            own.scope(|scope| {
                scope
                    .spawn(|| {
                        there.set();
                        until.wait();
                        scope.spawn(|| ()).unwrap();
                    })
                    .unwrap();
                there.wait();
                scope_ends.arrive();
            })
            .unwrap();
        });
        begun.wait();
        // In the queue, the task that waits for the scope is before the inner task.
        let waits = pool.submit(move || its.lock().unwrap().take().unwrap().join());
        *slot.lock().unwrap() = Some(scoped.unwrap());
        at_its_end.wait_until_blocked(); // the scope must get the report
        go.set();
        waits.unwrap().join().unwrap().unwrap();
    });
}

#[test]
fn many_forks_may_be_joined_in_the_order_of_forking() {
    within_deadline(|| {
        let pool = pool(1);
        let sum = pool.invoke(|| {
            let forks: Vec<_> = (0..50_000_u64).map(|n| fork(move || n)).collect();
            forks.into_iter().map(|fork| fork.join().unwrap()).sum::<u64>()
        });
        assert_eq!(sum.unwrap(), 49_999 * 25_000);
    });
}

#[test]
fn what_blocks_inside_what_blocks_has_one_stand_in() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(3).build().unwrap();
        let (inside, release) = (Arc::new(AtomicUsize::new(0)), Signal::new());
        for _ in 0..3 {
            let (inside, release) = (Arc::clone(&inside), release.clone());
            pool.execute(move || {
                let wait = || {
                    inside.fetch_add(1, Ordering::SeqCst);
                    release.wait();
                };
                if inside.load(Ordering::SeqCst) == 0 {
                    blocking(|| blocking(|| blocking(wait)));
                } else {
                    wait();
                }
            })
            .unwrap();
        }
        eventually("two are there", || inside.load(Ordering::SeqCst) == 2);
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!((inside.load(Ordering::SeqCst), pool.stats().workers), (2, 2));
        release.set();
        assert!(pool.await_quiescence(LONG));
    });
}
