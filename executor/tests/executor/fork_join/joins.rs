//! Tests the two halves of a join.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use executor::fork_join::{in_pool, join, worker_index};
use executor::{CancelToken, ThreadPoolExecutor, masked, prelude::*};

use super::{fibonacci, pool};
use crate::support::{LONG, Signal, eventually, within_deadline};

/// FJ-5, FJ-57
#[test]
fn a_deep_recursion_gives_the_right_result_with_every_number_of_workers() {
    let (n, value) = if cfg!(miri) { (9, 34) } else { (22, 17_711) };
    within_deadline(move || {
        for threads in [1, 2, 3, 4, 8] {
            let pool = pool(threads);
            assert_eq!(pool.invoke(move || fibonacci(n)).unwrap(), value);
            assert!(pool.await_quiescence(LONG));
            let stats = pool.stats();
            assert_eq!((stats.queued, stats.queued_submissions, stats.unfinished), (0, 0, 0));
        }
    });
}

fn merge_sort(numbers: &mut [u32], scratch: &mut [u32]) {
    if numbers.len() < 2 {
        return;
    }
    let middle = numbers.len() / 2;
    let (left, right) = numbers.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    join(|| merge_sort(left, left_scratch), || merge_sort(right, right_scratch));
    let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
    for place in scratch.iter_mut() {
        let from_left = r.peek().is_none_or(|r| l.peek().is_some_and(|l| l <= r));
        *place = *if from_left { l.next() } else { r.next() }.unwrap();
    }
    numbers.copy_from_slice(scratch);
}

#[test]
fn halves_borrow_and_change_what_is_theirs() {
    within_deadline(|| {
        let mut x = 1_u32;
        let mut numbers: Vec<_> = (0..if cfg!(miri) { 207 } else { 20_007 })
            .map(|_| {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                x >> 16
            })
            .collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        let mut scratch = vec![0; numbers.len()];
        pool(4).invoke(|| merge_sort(&mut numbers, &mut scratch)).unwrap();
        assert_eq!(numbers, sorted);
    });
}

#[test]
fn with_two_workers_both_halves_run_at_the_same_time() {
    within_deadline(|| {
        let pool = pool(2);
        let (a, b) = (Signal::new(), Signal::new());
        let meet = |own: &Signal, other: &Signal| {
            own.set();
            other.wait();
            worker_index()
        };
        let (one, other) = pool.invoke(|| join(|| meet(&a, &b), || meet(&b, &a))).unwrap();
        assert!(one.is_some() && other.is_some() && one != other);
    });
}

/// FJ-17
#[test]
fn a_panic_in_either_half_crosses_the_join_and_leaves_the_pool_usable() {
    within_deadline(|| {
        let pool = pool(2);
        for _ in 0..if cfg!(miri) { 1 } else { 50 } {
            let first = || join(|| panic!("first"), || fibonacci(8));
            let second = || join(|| fibonacci(8), || panic!("second"));
            let in_first = catch_unwind(AssertUnwindSafe(|| pool.invoke(first))).unwrap_err();
            assert_eq!(in_first.downcast_ref(), Some(&"first"));
            let in_second = catch_unwind(AssertUnwindSafe(|| pool.invoke(second))).unwrap_err();
            assert_eq!(in_second.downcast_ref(), Some(&"second"));
            assert_eq!(pool.invoke(|| fibonacci(10)).unwrap(), 55);
        }
    });
}

#[test]
fn if_the_first_half_panics_a_second_one_that_nobody_has_begun_is_dropped() {
    let pool = pool(1);
    let ran = AtomicBool::new(false);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        pool.invoke(|| join(|| panic!("at once"), || ran.store(true, Ordering::Relaxed)))
    }));
    assert!(panicked.is_err() && !ran.load(Ordering::Relaxed));
}

#[test]
fn if_the_first_half_panics_the_join_waits_for_a_second_one_that_has_begun() {
    within_deadline(|| {
        let pool = pool(2);
        let (begun, ended) = (Signal::new(), AtomicBool::new(false));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let first = || {
                begun.wait();
                panic!("while the other runs");
            };
            let second = || {
                begun.set();
                std::thread::sleep(std::time::Duration::from_millis(30));
                ended.store(true, Ordering::SeqCst);
            };
            pool.invoke(|| {
                let panicked = catch_unwind(AssertUnwindSafe(|| join(first, second)));
                assert!(ended.load(Ordering::SeqCst), "it borrows from a frame that is gone");
                panicked.unwrap_err()
            })
        }));
        assert_eq!(panicked.unwrap().unwrap().downcast_ref(), Some(&"while the other runs"));
    });
}

#[test]
fn a_panic_deep_in_a_fine_recursion_arrives_and_every_frame_is_left() {
    fn dive(depth: u32, open: &AtomicUsize) -> u64 {
        struct Open<'a>(&'a AtomicUsize);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        open.fetch_add(1, Ordering::SeqCst);
        let _open = Open(open);
        assert!(depth > 0, "at the bottom");
        let (a, b) = join(|| fibonacci(depth), || dive(depth - 1, open));
        a + b
    }
    let (times, depth) = if cfg!(miri) { (1, 5) } else { (20, 14) };
    within_deadline(move || {
        let pool = pool(3);
        for _ in 0..times {
            let open = AtomicUsize::new(0);
            let panicked = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| dive(depth, &open))));
            assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"at the bottom"));
            assert_eq!(open.load(Ordering::SeqCst), 0);
        }
    });
}

/// FJ-26, FJ-27, FJ-28, FJ-52, FJ-53
#[test]
fn a_thread_knows_whether_it_is_a_worker() {
    assert!(!in_pool() && worker_index().is_none());
    let pool = pool(2);
    let (inside, index) = pool.invoke(|| (in_pool(), worker_index())).unwrap();
    assert!(inside && index.is_some_and(|index| index < 4));
    let plain = ThreadPoolExecutor::single();
    assert!(!plain.submit(in_pool).unwrap().join().unwrap());
}

#[test]
fn outside_any_pool_a_join_works_in_the_common_one() {
    within_deadline(|| {
        assert_eq!(fibonacci(16), 987);
        let (a, b) = join(in_pool, in_pool);
        assert!(a && b && !in_pool());
        let plain = ThreadPoolExecutor::single();
        assert_eq!(plain.submit(|| fibonacci(12)).unwrap().join().unwrap(), 144);
    });
}

#[test]
fn a_pool_can_be_called_from_a_worker_of_another() {
    within_deadline(|| {
        let (outer, inner) = (pool(2), pool(2));
        let sum = outer.invoke(|| {
            let (a, b) = join(|| inner.invoke(|| fibonacci(10)), || inner.invoke(|| fibonacci(11)));
            a.unwrap() + b.unwrap()
        });
        assert_eq!(sum.unwrap(), 144);
    });
}

#[test]
fn a_cancel_of_the_caller_reaches_both_halves_wherever_they_run() {
    within_deadline(|| {
        let pool = pool(2);
        let token = CancelToken::new();
        let begun = [Signal::new(), Signal::new()];
        let wait = |begun: &Signal| {
            begun.set();
            CancelToken::current().sleep(LONG)
        };
        std::thread::scope(|scope| {
            let computation =
                scope.spawn(|| token.attach(|| pool.invoke(|| join(|| wait(&begun[0]), || wait(&begun[1])))));
            begun.iter().for_each(Signal::wait);
            token.cancel();
            let (a, b) = computation.join().unwrap().unwrap();
            assert!(a.is_err() && b.is_err());
        });
    });
}

#[test]
fn a_half_of_a_masked_join_is_masked_where_it_is_stolen() {
    within_deadline(|| {
        let pool = pool(2);
        let token = CancelToken::new();
        token.cancel();
        let stolen = Signal::new();
        let nap = || executor::Latch::new(0).wait();
        let second = || {
            stolen.set();
            nap()
        };
        let first = || {
            stolen.wait();
            nap()
        };
        // The computation begins although the token is cancelled, because the caller of `invoke` was not
        // cancelled.
        let (a, b) = pool.invoke(|| token.attach(|| masked(|| join(first, second)))).unwrap();
        assert!(a.is_ok() && b.is_ok());
    });
}

#[test]
fn an_invocation_by_a_cancelled_caller_does_not_begin_while_the_workers_are_busy() {
    within_deadline(|| {
        let pool = pool(1);
        let (busy, release) = (Signal::new(), Signal::new());
        let (started, until) = (busy.clone(), release.clone());
        pool.execute(move || {
            started.set();
            until.wait();
        })
        .unwrap();
        busy.wait();
        let token = CancelToken::new();
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| token.attach(|| pool.invoke(|| unreachable!("it was called off"))));
            eventually("it waits", || pool.stats().queued_submissions == 1);
            token.cancel();
            let result: Result<(), _> = caller.join().unwrap();
            assert!(matches!(result, Err(executor::fork_join::InvokeError::Cancelled)));
        });
        release.set();
    });
}

#[test]
fn a_lock_may_be_held_across_a_join() {
    fn count(depth: u32, total: &Mutex<u64>) {
        if depth > 0 {
            join(|| count(depth - 1, total), || count(depth - 1, total));
        }
        *total.lock().unwrap() += 1;
    }
    let (times, depth, calls) = if cfg!(miri) { (1, 3, 15) } else { (20, 8, 511) };
    within_deadline(move || {
        let pool = pool(4);
        for _ in 0..times {
            let (total, outer) = (Mutex::new(0), Mutex::new(()));
            // Four computations want the same lock, and each of them joins while it holds the lock.
            let whole = || {
                let _held = outer.lock().unwrap();
                count(depth, &total);
            };
            pool.invoke(|| join(|| join(whole, whole), || join(whole, whole))).unwrap();
            assert_eq!(*total.lock().unwrap(), 4 * calls);
        }
    });
}
