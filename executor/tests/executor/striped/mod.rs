//! Tests of stripes: order, independence, settings and queries.

mod below;
mod ends;
mod keys;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use executor::{
    BoundedExecutor, ExecutorCompletionService, FutureTask, JoinError, RejectReason, Stripe, StripedExecutor,
    TaskState, ThreadPoolExecutor, WaitsFor, prelude::*,
};

use crate::support::{LONG, Record, Signal, assert_matches, blocked, eventually, occupy, within_deadline};

type Striped<K> = StripedExecutor<K, ThreadPoolExecutor>;

fn striped<K: Send + 'static>(threads: usize) -> Striped<K> {
    StripedExecutor::owning(ThreadPoolExecutor::fixed(threads))
}

/// Keeps a stripe busy until the test sets the returned signal. The function returns as soon as the stripe is
/// busy.
fn hold<K: std::hash::Hash + Eq + Send + 'static>(striped: &Striped<K>, key: K) -> Signal {
    let (begun, end) = (Signal::new(), Signal::new());
    let (is_begun, until) = (begun.clone(), end.clone());
    striped
        .execute_in(key, move || {
            is_begun.set();
            until.wait();
        })
        .unwrap();
    begun.wait();
    end
}

/// Runs tasks of one stripe after the other. Each task records its stripe and number when it runs. Two tasks
/// of one stripe must not run at the same time.
fn run_in_order(keys: usize, tasks: usize, work: impl Fn(usize) + Send + Sync + Clone + 'static) {
    let striped = striped(4);
    let busy: Arc<Vec<AtomicBool>> = Arc::new((0..keys).map(|_| AtomicBool::new(false)).collect());
    let (log, overlaps) = (Record::new(), Arc::new(AtomicUsize::new(0)));
    for n in 0..tasks {
        for key in 0..keys {
            let (busy, log, overlaps, work) =
                (Arc::clone(&busy), log.clone(), Arc::clone(&overlaps), work.clone());
            let task = move || {
                // The stripe keeps these accesses in order, so `Relaxed` is enough.
                overlaps.fetch_add(usize::from(busy[key].swap(true, Ordering::Relaxed)), Ordering::SeqCst);
                work(n);
                log.add((key, n));
                busy[key].store(false, Ordering::Relaxed);
            };
            striped.execute_in(key, task).unwrap();
        }
    }
    assert!(!striped.is_shutdown());
    striped.shutdown();
    assert!(striped.is_shutdown());
    assert!(striped.await_termination(LONG) && striped.is_terminated());
    assert_eq!(overlaps.load(Ordering::SeqCst), 0);
    let log = log.so_far();
    for key in 0..keys {
        let own = log.iter().filter(|(other, _)| *other == key).map(|(_, n)| *n);
        assert!(own.eq(0..tasks), "{key}");
    }
}

/// STRIPE-1, STRIPE-8
#[test]
fn tasks_of_one_stripe_run_in_the_order_of_their_submission() {
    within_deadline(|| {
        run_in_order(1, 100, |n| (0..n % 7).for_each(|_| std::thread::yield_now())); // tasks of unequal length
    });
}

/// STRIPE-11, STRIPE-12
#[test]
fn so_do_those_of_many_stripes_quick_and_slow_ones() {
    within_deadline(|| {
        run_in_order(50, 100, |_| ());
        run_in_order(20, 50, |n| (0..n % 5).for_each(|_| std::thread::yield_now()));
    });
}

/// STRIPE-13
#[test]
fn three_submitters_with_a_stripe_each_all_keep_their_order() {
    within_deadline(|| {
        let striped = striped(3);
        let log = Record::new();
        std::thread::scope(|scope| {
            for stripe in 0..3 {
                let (striped, log) = (&striped, log.clone());
                scope.spawn(move || {
                    for n in 0..50 {
                        let log = log.clone();
                        striped.execute_in(stripe, move || log.add((stripe, n))).unwrap();
                    }
                });
            }
        });
        striped.close();
        let log = log.so_far();
        for stripe in 0..3 {
            assert!(log.iter().filter(|(other, _)| *other == stripe).map(|(_, n)| *n).eq(0..50));
        }
    });
}

/// STRIPE-5
#[test]
fn tasks_without_a_stripe_wait_for_no_other() {
    within_deadline(|| {
        let striped = striped::<()>(2);
        let both = Arc::new(Barrier::new(2)); // the barrier opens only if two tasks run at once
        let meet = || {
            let both = Arc::clone(&both);
            striped.submit(move || both.wait()).unwrap()
        };
        for handle in [meet(), meet()] {
            handle.join_timeout(LONG).unwrap();
        }
        let end = hold(&striped, ());
        assert_eq!(striped.submit(|| 1).unwrap().join_timeout(LONG).unwrap(), 1);
        end.set();
    });
}

#[test]
fn stripes_do_not_wait_for_each_other() {
    within_deadline(|| {
        let striped = striped(2);
        let both = Arc::new(Barrier::new(2));
        let meet = |key| {
            let both = Arc::clone(&both);
            striped.submit_in(key, move || both.wait()).unwrap()
        };
        for handle in ["a", "b"].map(meet) {
            handle.join_timeout(LONG).unwrap();
        }
    });
}

/// A task sees the value that the previous task of its stripe wrote without a lock, no matter which threads
/// run the two tasks.
#[test]
fn a_task_sees_what_those_before_it_in_its_stripe_did() {
    within_deadline(|| {
        let striped = striped(4);
        let counts: Arc<Vec<AtomicUsize>> = Arc::new((0..8).map(|_| AtomicUsize::new(0)).collect());
        for _ in 0..500 {
            for key in 0..8 {
                let counts = Arc::clone(&counts);
                let add =
                    move || counts[key].store(counts[key].load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                striped.execute_in(key, add).unwrap();
            }
        }
        striped.close();
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 500));
    });
}

/// STRIPE-4
#[test]
fn results_of_one_stripe_come_out_of_a_completion_service_in_order() {
    within_deadline(|| {
        let striped = Arc::new(striped(4));
        let service = ExecutorCompletionService::new(Stripe::of(Arc::clone(&striped), "one"));
        let mut results = Vec::new();
        for pause in 0..2 {
            for n in 0..50 {
                let _ = service.submit(move || pause * 50 + n).unwrap();
            }
            for _ in 0..50 {
                results.push(service.take().unwrap().unwrap().join().unwrap());
            }
            // The pause lasts until the stripe is removed, so the executor must make the stripe again
            // afterwards.
            eventually("the stripe is gone", || striped.stats().stripes == 0);
        }
        assert!(results.into_iter().eq(0..100));
    });
}

#[test]
fn a_panic_or_a_cancel_in_the_middle_of_a_stripe_does_not_stop_it() {
    within_deadline(|| {
        let striped = striped(2);
        let end = hold(&striped, 7);
        let first = striped.submit_in(7, || 1).unwrap();
        let bad = striped.submit_in(7, || panic!("in the stripe")).unwrap();
        striped.execute_in(7, || panic!("unheard")).unwrap();
        let cancelled = striped.submit_in(7, || 2).unwrap();
        let taken = striped.submit_in(7, || 3).unwrap();
        let cancels_itself = FutureTask::cancellable(|token| {
            token.cancel();
            token.check().map(|()| 4)
        });
        let cancels_itself = striped.submit_in(7, cancels_itself).unwrap();
        let last = striped.submit_in(7, || 5).unwrap();
        assert!(cancelled.cancel());
        let task = taken.remove().expect("it waits in the stripe");
        assert_eq!((striped.stats().queued, taken.state()), (5, TaskState::Pending));
        end.set();
        assert_eq!((first.join().unwrap(), last.join_timeout(LONG).unwrap()), (1, 5));
        assert_matches!(bad.join(), Err(JoinError::Panicked(_)));
        assert_matches!(cancelled.join(), Err(JoinError::Cancelled(_)));
        assert_matches!(cancels_itself.join(), Err(JoinError::Cancelled(_)));
        drop(task.run());
        assert_eq!(taken.join().unwrap(), 3);
    });
}

#[test]
fn a_running_task_is_cancelled_and_the_next_one_is_not() {
    within_deadline(|| {
        let striped = striped(1);
        let begun = Signal::new();
        let tell = begun.clone();
        let nap = FutureTask::cancellable(move |token| {
            tell.set();
            token.sleep(std::time::Duration::MAX)
        });
        let nap = striped.submit_in(0, nap).unwrap();
        let next = striped.submit_in(0, || executor::CancelToken::current().is_cancelled()).unwrap();
        begun.wait();
        assert!(nap.cancel());
        assert!(!next.join_timeout(LONG).unwrap());
    });
}

#[test]
fn cancelled_tasks_do_not_count_and_are_cleared_out() {
    within_deadline(|| {
        let striped = striped(1);
        let end = hold(&striped, 0);
        let handles: Vec<_> = (0..1000).map(|n| striped.submit_in(n % 10, move || n).unwrap()).collect();
        assert_eq!(striped.stats().queued, 1000);
        for handle in &handles[..900] {
            handle.cancel();
        }
        let stats = striped.stats();
        assert_eq!((stats.queued, stats.stripes, stats.running), (100, 10, 1));
        end.set();
        for handle in handles.into_iter().skip(900) {
            handle.join_timeout(LONG).unwrap();
        }
        eventually("the stripes are gone", || striped.stats().stripes == 0);
        assert_eq!((striped.stats().queued, striped.stats().completed), (0, 101));
    });
}

/// Without turns, the first stripe would keep the only thread until this stripe is empty.
#[test]
fn stripes_take_turns() {
    within_deadline(|| {
        let striped = StripedExecutor::over(Arc::new(ThreadPoolExecutor::single())).turns_of(3);
        let busy = occupy(striped.executor());
        let log = Arc::new(Mutex::new(Vec::new()));
        for key in ["a", "b", "c"] {
            for _ in 0..6 {
                let log = Arc::clone(&log);
                striped.execute_in(key, move || log.lock().unwrap().push(key)).unwrap();
            }
        }
        let last = Arc::clone(&log);
        striped.execute(move || last.lock().unwrap().push("-")).unwrap();
        drop(busy);
        eventually("all have run", || log.lock().unwrap().len() == 19);
        assert_eq!(log.lock().unwrap().concat(), "aaabbbccc-aaabbbccc");
    });
}

#[test]
fn a_stripe_has_a_bound_of_its_own_and_numbers() {
    within_deadline(|| {
        let striped = Arc::new(striped(2));
        let end = hold(&striped, "busy");
        let stripe = Arc::new(BoundedExecutor::over(Stripe::of(Arc::clone(&striped), "busy"), 2));
        let handles = [1, 2].map(|n| stripe.submit(move || n).unwrap());
        let stats = stripe.executor().stats();
        assert_eq!((stats.queued, stats.running), (2, 1));
        assert_eq!(stripe.executor().key(), &"busy");
        let printed = format!("{:?}", stripe.executor());
        assert!(printed.contains("busy") && printed.contains("queued: 2"), "{printed}");
        let own = Arc::clone(&stripe);
        let third = blocked(move || own.submit(|| 3).unwrap());
        assert_eq!(striped.submit_in("idle", || 4).unwrap().join_timeout(LONG).unwrap(), 4);
        assert!(third.still_waits());
        end.set();
        assert_eq!(handles.map(|handle| handle.join().unwrap()), [1, 2]);
        assert_eq!(third.result().join().unwrap(), 3);
        let idle = striped.stripe("unused").stats();
        assert_eq!((idle.queued, idle.running), (0, 0));
    });
}

#[test]
fn it_prints_itself_and_the_executor_below() {
    within_deadline(|| {
        let striped = striped(1);
        let end = hold(&striped, 1);
        for key in [1, 1, 2] {
            striped.execute_in(key, || ()).unwrap();
        }
        let printed = format!("{striped:?}");
        for part in ["stripes: 2", "queued: 3", "running: 1", "completed: 0", "PoolStats"] {
            assert!(printed.contains(part), "{part} in {printed}");
        }
        end.set();
    });
}

#[test]
fn whoever_has_joined_a_task_finds_it_counted() {
    within_deadline(|| {
        let striped = striped(2);
        for n in 1..=200 {
            striped.submit_in(n % 3, || ()).unwrap().join().unwrap();
            assert_eq!(striped.stats().completed, n);
        }
    });
}

#[test]
fn a_submitter_that_is_cancelled_while_it_waits_gets_its_task_back() {
    within_deadline(|| {
        let (asked, answer) = (Signal::new(), Signal::new());
        let below = below::Slow { asked: asked.clone(), answer: answer.clone() };
        let striped = Arc::new(StripedExecutor::over(below));
        let own = Arc::clone(&striped);
        let first = crate::support::on_thread(move || own.submit_in(0, || 1).unwrap().join().unwrap());
        asked.wait();
        let (own, token) = (Arc::clone(&striped), executor::CancelToken::new());
        let until = token.clone();
        let second =
            blocked(move || until.attach(|| own.submit_in(0, || 2).map_err(|refused| refused.reason)));
        assert!(second.still_waits());
        token.cancel();
        assert_matches!(second.result(), Err(RejectReason::Interrupted));
        answer.set();
        assert_eq!(first.result(), 1);
    });
}

#[test]
fn a_stripe_whose_task_waits_for_a_later_one_of_its_own_is_found() {
    within_deadline(|| {
        let striped = Arc::new(striped(4));
        let own = Arc::clone(&striped);
        let waits = striped.submit_in("a", move || match own.submit_in("a", || ()).unwrap().join() {
            Err(JoinError::Starved(_, report)) => report,
            other => panic!("it overtakes the task that waits for it: {other:?}"),
        });
        let report = waits.unwrap().join_timeout(LONG).unwrap();
        let [wait] = report.chain() else { panic!("{report}") };
        assert_matches!(&wait.waits_for, WaitsFor::Queued { pool, .. } if pool == "a striped executor");
        // A task can wait for tasks of other stripes.
        let own = Arc::clone(&striped);
        let waits = striped.submit_in("a", move || own.submit_in("b", || 1).unwrap().join().unwrap());
        assert_eq!(waits.unwrap().join_timeout(LONG).unwrap(), 1);
    });
}

#[test]
fn two_stripes_whose_tasks_wait_crosswise_are_found() {
    within_deadline(|| {
        let striped = Arc::new(striped(4));
        let both = Arc::new(Barrier::new(2));
        let waits = [("a", "b"), ("b", "a")].map(|(own_key, other_key)| {
            let (own, both) = (Arc::clone(&striped), Arc::clone(&both));
            let task = move || {
                both.wait(); // both stripes are busy now
                matches!(own.submit_in(other_key, || ()).unwrap().join(), Err(JoinError::Starved(..)))
            };
            striped.submit_in(own_key, task).unwrap()
        });
        let found = waits.map(|waits| waits.join_timeout(LONG).unwrap());
        assert!(found[0] || found[1]);
    });
}

#[test]
fn a_stripe_behind_a_thread_that_waits_for_it_is_found() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
        let own = Arc::clone(&striped);
        let waits = pool.submit(move || {
            own.execute_in("a", || ()).unwrap();
            matches!(own.submit_in("a", || ()).unwrap().join(), Err(JoinError::Starved(..)))
        });
        assert!(waits.unwrap().join_timeout(LONG).unwrap());
    });
}
