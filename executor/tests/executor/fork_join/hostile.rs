//! Tests computations that disturb the pool at the worst moments.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use executor::fork_join::{ForkJoinPool, InvokeError, fork, in_pool, join, par_map};
use executor::{DirectExecutor, ExecutorService, ThreadPoolExecutor, prelude::*};

use super::{fibonacci, pool};
use crate::support::{Explosions, LONG, Signal, eventually, within_deadline};

/// A value that calls a closure when the value is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn is_usable(pool: &ForkJoinPool) {
    assert_eq!(pool.invoke(|| fibonacci(12)).unwrap(), 144);
    assert!(pool.await_quiescence(LONG));
    assert_eq!((pool.stats().queued, pool.stats().unfinished), (0, 0));
}

#[test]
fn a_half_whose_captures_panic_when_they_are_dropped_leaves_the_pool_usable() {
    within_deadline(|| {
        for threads in [1, 2] {
            let (pool, explosions) = (pool(threads), Explosions::default());
            for _ in 0..50 {
                let bomb = explosions.bomb();
                let ended = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| join(|| 1, move || drop(bomb)))));
                assert!(ended.is_err());
                let bomb = explosions.bomb();
                let forked = pool.invoke(|| fork(move || drop(bomb))).unwrap();
                assert!(forked.join().is_err());
            }
            assert_eq!(explosions.count(), 100);
            is_usable(&pool);
        }
    });
}

#[test]
fn a_payload_that_panics_when_it_is_dropped_does_not_take_a_worker_along() {
    within_deadline(|| {
        let (pool, explosions) = (pool(2), Explosions::default());
        for _ in 0..50 {
            let (one, other) = (explosions.bomb(), explosions.bomb());
            // Both halves panic: if the second half has begun, the panic handler gets the payload of the
            // second half.
            let both = || join(move || resume_unwind(Box::new(one)), move || resume_unwind(Box::new(other)));
            let payload =
                catch_unwind(AssertUnwindSafe(|| pool.invoke(both))).map(|_: Result<((), ()), _>| ());
            std::mem::forget(payload.unwrap_err());
            let bomb = explosions.bomb();
            drop(pool.invoke(|| fork(move || resume_unwind(Box::new(bomb)))).map(drop));
        }
        assert!(pool.await_quiescence(LONG));
        is_usable(&pool);
    });
}

#[test]
fn a_join_in_a_drop_while_a_join_unwinds_has_both_results() {
    within_deadline(|| {
        for threads in [1, 2] {
            let (pool, sum) = (pool(threads), AtomicUsize::new(0));
            let fails = || {
                let _joins = OnDrop(|| {
                    let (a, b) = join(|| fibonacci(10), || fibonacci(11));
                    sum.fetch_add(usize::try_from(a + b).unwrap(), Ordering::SeqCst);
                });
                resume_unwind(Box::new("it unwinds"))
            };
            for _ in 0..20 {
                let ended = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| join(fails, || fibonacci(5)))));
                let payload = ended.map(|_: Result<((), _), _>| ()).unwrap_err();
                assert_eq!(payload.downcast_ref(), Some(&"it unwinds"));
            }
            assert_eq!(sum.load(Ordering::SeqCst), 20 * 144);
            is_usable(&pool);
        }
    });
}

#[test]
fn captures_that_join_when_they_are_dropped_unrun_do_so_on_any_thread() {
    within_deadline(|| {
        let (pool, sum) = (pool(1), AtomicUsize::new(0));
        let captured = OnDrop(|| {
            let (a, b) = join(|| 1, || 2);
            sum.fetch_add(a + b, Ordering::SeqCst);
        });
        let second = move || drop(captured);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            pool.invoke(|| join(|| resume_unwind(Box::new("first")), second))
        }));
        assert!(ended.map(|_: Result<((), ()), _>| ()).is_err());
        assert_eq!(sum.load(Ordering::SeqCst), 3);
        is_usable(&pool);
    });
}

/// Makes `depth` nested calls, in the first halves or in the second halves.
fn dive(depth: u32, to_the_left: bool) -> u32 {
    if depth == 0 {
        return 0;
    }
    let deeper = || dive(depth - 1, to_the_left) + 1;
    let (a, b) = if to_the_left { join(deeper, || 0) } else { join(|| 0, deeper) };
    a + b
}

#[test]
fn joins_may_be_nested_ten_thousand_deep_to_either_side() {
    within_deadline(|| {
        for threads in [1, 2, 4] {
            let pool = ForkJoinPool::builder().threads(threads).stack_size(64 << 20).build().unwrap();
            for to_the_left in [true, false] {
                assert_eq!(pool.invoke(|| dive(10_000, to_the_left)).unwrap(), 10_000);
            }
            is_usable(&pool);
        }
    });
}

#[test]
fn a_hundred_thousand_forks_that_nobody_joins_all_run() {
    within_deadline(|| {
        for threads in [1, 2] {
            let (pool, ran) = (pool(threads), Arc::new(AtomicUsize::new(0)));
            let fork_all = || {
                for _ in 0..100_000 {
                    let ran = Arc::clone(&ran);
                    drop(fork(move || _ = ran.fetch_add(1, Ordering::Relaxed)));
                }
            };
            pool.invoke(fork_all).unwrap(); // run by a guest, who leaves the forked tasks behind
            assert!(pool.await_quiescence(LONG));
            assert_eq!(ran.load(Ordering::SeqCst), 100_000);
        }
    });
}

#[test]
fn a_pool_whose_last_owner_is_its_own_worker_ends() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (go, own) = (Signal::new(), Arc::clone(&pool));
        let until = go.clone();
        let dropped = pool.submit(move || {
            until.wait();
            let forked = fork(|| fibonacci(10));
            drop(own);
            forked.join().unwrap() + join(|| 1, || 2).0
        });
        drop(pool);
        go.set();
        assert_eq!(dropped.unwrap().join().unwrap(), 56);
    });
}

#[test]
fn joins_that_run_while_their_pool_is_stopped_have_both_results() {
    within_deadline(|| {
        for round in 0..100 {
            let pool = Arc::new(pool(1 + round % 3));
            let (begun, own) = (Signal::new(), Arc::clone(&pool));
            let there = begun.clone();
            let caller = thread::spawn(move || {
                own.invoke(|| {
                    there.set();
                    fibonacci(15)
                })
            });
            begun.wait();
            if round % 2 == 0 {
                pool.shutdown();
            } else {
                drop(pool.shutdown_now());
            }
            assert_eq!(caller.join().unwrap().unwrap(), 610);
            assert!(pool.await_termination(LONG));
            assert!(matches!(pool.invoke(|| ()), Err(InvokeError::Rejected(_))));
        }
    });
}

type Last = RefCell<Option<OnDrop<Box<dyn FnMut()>>>>;

thread_local! {
    static LAST: Last = const { RefCell::new(None) };
}

#[test]
fn a_thread_that_ends_may_still_join_and_fork_and_invoke() {
    within_deadline(|| {
        for is_used_before in [true, false] {
            let (pool, (tell, told)) = (Arc::new(pool(2)), mpsc::channel());
            let own = Arc::clone(&pool);
            let ends = move || {
                let outer = Arc::clone(&own);
                let last = move || {
                    let here = own.invoke(|| fibonacci(10)).unwrap();
                    let forked = fork(|| 2).join().unwrap();
                    tell.send((here, join(|| 1, || 2), forked, in_pool())).unwrap();
                };
                LAST.set(Some(OnDrop(Box::new(last))));
                if is_used_before {
                    // The library creates its thread-locals after `LAST`, so the library's thread-locals are
                    // destroyed before `LAST`.
                    outer.invoke(|| join(|| 1, || 2)).unwrap();
                }
            };
            thread::spawn(ends).join().unwrap();
            assert_eq!(told.recv_timeout(LONG).unwrap(), (55, (1, 2), 2, false));
            is_usable(&pool);
        }
    });
}

#[test]
fn a_scope_in_a_join_in_a_scope_ends_on_one_worker_and_on_several() {
    within_deadline(|| {
        for threads in [1, 2, 4] {
            let (pool, plain, count) = (pool(threads), ThreadPoolExecutor::single(), AtomicUsize::new(0));
            let add = || _ = count.fetch_add(1, Ordering::SeqCst);
            let inner = || (0..2).for_each(|_| pool.scope(|scope| scope.spawn(add).unwrap()).unwrap());
            let middle = || _ = join(inner, || plain.scope(|scope| scope.spawn(add).unwrap()).unwrap());
            pool.scope(|scope| (0..20).for_each(|_| scope.spawn(middle).unwrap())).unwrap();
            assert_eq!(count.load(Ordering::SeqCst), 60);
            is_usable(&pool);
        }
    });
}

#[test]
fn a_loop_that_panics_drops_each_result_that_it_has_made() {
    within_deadline(|| {
        for threads in [1, 3] {
            let (pool, born, gone) = (pool(threads), AtomicUsize::new(0), AtomicUsize::new(0));
            let make = |n: usize| {
                if n == 700 {
                    resume_unwind(Box::new("seven hundred"));
                }
                born.fetch_add(1, Ordering::SeqCst);
                OnDrop(|| _ = gone.fetch_add(1, Ordering::SeqCst))
            };
            for _ in 0..20 {
                let ended = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| drop(par_map(0..1000, make)))));
                assert!(ended.is_err());
                assert_eq!(born.load(Ordering::SeqCst), gone.load(Ordering::SeqCst));
            }
            assert!(born.load(Ordering::SeqCst) > 0);
            is_usable(&pool);
        }
    });
}

#[test]
fn a_guest_may_wait_for_what_another_guest_brings_about() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (tell, told) = mpsc::channel();
        let own = Arc::clone(&pool);
        let waits = thread::spawn(move || own.invoke(move || told.recv_timeout(LONG).unwrap()).unwrap());
        eventually("the first is in", || pool.stats().active == 1);
        pool.invoke(move || tell.send(join(|| 3, || 4)).unwrap()).unwrap();
        assert_eq!(waits.join().unwrap(), (3, 4));
        is_usable(&pool);
    });
}

#[test]
fn a_guest_that_unwinds_waits_for_its_half_that_was_stolen() {
    within_deadline(|| {
        let pool = pool(2);
        let (stolen, go, ended) = (Signal::new(), Signal::new(), AtomicUsize::new(0));
        let first = || {
            stolen.wait();
            go.set();
            resume_unwind(Box::new("the guest"))
        };
        let second = || {
            stolen.set();
            go.wait();
            ended.fetch_add(usize::try_from(fibonacci(10)).unwrap(), Ordering::SeqCst);
        };
        let result = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| join(first, second))));
        assert!(result.map(|_: Result<((), ()), _>| ()).is_err());
        assert_eq!(ended.load(Ordering::SeqCst), 55);
        assert!(!in_pool());
        is_usable(&pool);
    });
}

#[test]
fn a_pool_is_the_current_one_as_long_as_it_runs_the_caller() {
    within_deadline(|| {
        let (outer, inner) = (pool(1), pool(1));
        let currents = || (outer.is_current(), inner.is_current());
        assert_eq!(currents(), (false, false));
        assert_eq!(outer.invoke(currents).unwrap(), (true, false));
        assert_eq!(outer.invoke(|| inner.invoke(currents).unwrap()).unwrap(), (false, true));
        assert_eq!(inner.invoke(|| outer.invoke(currents).unwrap()).unwrap(), (true, false));
        // The innermost call is again a call of the outer pool. The only worker of the outer pool waits
        // during this call, so the call either succeeds or starves.
        let around = outer.invoke(|| inner.invoke(|| outer.invoke(currents)).unwrap()).unwrap();
        assert!(matches!(around, Ok((true, false)) | Err(InvokeError::Starved(_))), "{around:?}");
        DirectExecutor
            .scope(|scope| scope.spawn(|| assert_eq!(currents(), (false, false))).unwrap())
            .unwrap();
        assert!(!outer.is_shutdown());
    });
}
